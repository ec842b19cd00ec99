package outgoing_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A past is an org with random events, and what is needed to count them by
// hand.
type past struct {
	ops      *ops.Rooms
	who      coord.Caller
	now      time.Time
	users    []coord.User
	repos    []coord.Repo
	sessions map[string]store.SessionRow
	events   []coord.Event
}

func makePast(t *testing.T, st *store.Store, n int) *past {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	p := &past{now: time.Date(2026, 11, 15, 13, 45, 0, 0, time.UTC), sessions: map[string]store.SessionRow{}}
	clock := p.now
	st.SetClock(func() time.Time { return clock })
	p.ops = ops.New(st, eventlog.New(st, quiet), live.New(st), quiet, ops.Config{PublicURL: "https://svc.example"})
	made, err := p.ops.People.Bootstrap(t.Context(), "Acme", "ana@example.com", "Ana")
	if err != nil {
		t.Fatal(err)
	}
	p.who = coord.Caller{OrgID: made.Org.ID, UserID: made.User.ID, Role: coord.Owner, Via: coord.ViaCookie}
	p.users = []coord.User{made.User}
	for _, name := range []string{"ben", "cleo"} {
		m, err := p.ops.People.AddMember(t.Context(), p.who, wire.AddMember{Email: name + "@example.com", Name: name, Role: coord.Member})
		if err != nil {
			t.Fatal(err)
		}
		p.users = append(p.users, m.User)
	}
	for _, name := range []string{"acme/api", "acme/web"} {
		r, err := p.ops.Work.CreateRepo(t.Context(), p.who, wire.CreateRepo{FullName: name, Provider: coord.GitHub, DefaultBranch: "main"})
		if err != nil {
			t.Fatal(err)
		}
		p.repos = append(p.repos, r)
	}
	r := rand.New(rand.NewPCG(1, 2))
	ctx := t.Context()
	for i := range 6 {
		clock = p.now
		row := store.SessionRow{Session: coord.Session{
			ID:              uuid.Must(uuid.NewV7()).String(),
			OrgID:           p.who.OrgID,
			User:            p.users[i%3],
			Repo:            coord.RepoName{ID: p.repos[i%2].ID},
			Tool:            []string{"claude-code", "codex", "cursor"}[i%3],
			ExternalID:      fmt.Sprint(i),
			LineageID:       fmt.Sprint(i),
			TokenID:         "t",
			StartedAt:       coord.TimeOf(p.now),
			LastHeartbeatAt: coord.TimeOf(p.now),
		}}
		if err := st.Write(ctx, p.who.OrgID, func(tx *store.Tx) error { return tx.InsertSession(ctx, row) }); err != nil {
			t.Fatal(err)
		}
		p.sessions[row.ID] = row
	}
	ids := make([]string, 0, 6)
	for id := range p.sessions {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	types := []coord.EventType{coord.EventIntentDeclared, coord.EventConflictDetected,
		coord.EventHookBlocked, coord.EventHookStaleWrite, coord.EventHookWarned, coord.EventConflictResolved,
		coord.EventConflictOverridden, coord.EventConflictFeedback, coord.EventMessageSent,
		coord.EventQuestionAsked, coord.EventSessionStarted, coord.EventChangeRecorded, coord.EventIntentClosed}
	for range n {
		clock = p.now.Add(-time.Duration(r.Int64N(int64(100 * 24 * time.Hour)))).Truncate(time.Millisecond)
		e := coord.Event{
			OrgID:   p.who.OrgID,
			Type:    types[r.IntN(len(types))],
			Payload: map[string]any{},
			Subject: coord.Entity{Kind: "x", ID: fmt.Sprintf("cf-%d", r.IntN(30))},
		}
		switch r.IntN(4) {
		case 0:
			e.Actor = coord.Entity{Kind: "system", ID: "svc"}
		case 1:
			e.Actor = coord.Entity{Kind: "user", ID: p.users[r.IntN(3)].ID}
		default:
			e.Actor = coord.Entity{Kind: "session", ID: ids[r.IntN(len(ids))]}
		}
		if i := r.IntN(3); i < 2 {
			e.RepoID = p.repos[i].ID
		}
		switch e.Type {
		case coord.EventConflictResolved:
			e.Payload["resolution"] = []string{"agreed", "cleared", "false_positive"}[r.IntN(3)]
		case coord.EventConflictFeedback:
			e.Payload["verdict"] = []string{"useful", "false_positive", "too_late"}[r.IntN(3)]
		case coord.EventSessionStarted:
			e.Subject.ID = ids[r.IntN(len(ids))]
		}
		if err := st.Write(ctx, p.who.OrgID, func(tx *store.Tx) error { return tx.Emit(ctx, e) }); err != nil {
			t.Fatal(err)
		}
		e.OccurredAt = coord.TimeOf(clock)
		p.events = append(p.events, e)
	}
	clock = p.now
	return p
}

// byHand counts the events one by one, without SQL and without the tables of
// the code under test.
func (p *past) byHand(days int, repo string) (
	totals wire.Totals, daily map[string]wire.Totals, heat [7][24]int, members, repos map[string]wire.Totals, clients map[string]int,
) {
	daily, members, repos, clients = map[string]wire.Totals{}, map[string]wire.Totals{}, map[string]wire.Totals{}, map[string]int{}
	midnight := time.Date(p.now.Year(), p.now.Month(), p.now.Day(), 0, 0, 0, 0, time.UTC)
	alarms := map[string]bool{}
	for _, e := range p.events {
		at := e.OccurredAt.Std()
		isFalse := e.Payload["resolution"] == "false_positive" || e.Payload["verdict"] == "false_positive"
		again := isFalse && alarms[e.Subject.ID] // it was counted with the first verdict, whenever that was
		alarms[e.Subject.ID] = alarms[e.Subject.ID] || isFalse
		if at.Before(midnight.AddDate(0, 0, 1-days)) || repo != "" && e.RepoID != repo {
			continue
		}
		var one wire.Totals
		switch e.Type {
		case "intent.declared":
			one.Intents = 1
		case "conflict.detected":
			one.Conflicts = 1
		case "hook.blocked":
			one.Blocked = 1
		case coord.EventHookStaleWrite:
			one.StaleWrites = 1
		case "hook.warned":
			one.Warned = 1
		case "conflict.overridden":
			one.Overridden = 1
		case "message.sent":
			one.Messages = 1
		case "question.asked":
			one.Questions = 1
		case "session.started":
			one.Sessions = 1
			clients[p.sessions[e.Subject.ID].Tool]++
		case "conflict.resolved", "conflict.feedback":
			switch {
			case isFalse && !again:
				one.FalsePositives = 1
			case !isFalse && e.Type == "conflict.resolved":
				one.Resolved = 1
			}
		}
		if one == (wire.Totals{}) {
			continue
		}
		totals = plus(totals, one)
		daily[at.Format(time.DateOnly)] = plus(daily[at.Format(time.DateOnly)], one)
		weekday := map[string]int{
			"Monday":    0,
			"Tuesday":   1,
			"Wednesday": 2,
			"Thursday":  3,
			"Friday":    4,
			"Saturday":  5,
			"Sunday":    6,
		}[at.Weekday().String()]
		heat[weekday][at.Hour()]++
		switch e.Actor.Kind {
		case "user":
			members[e.Actor.ID] = plus(members[e.Actor.ID], one)
		case "session":
			u := p.sessions[e.Actor.ID].User.ID
			members[u] = plus(members[u], one)
		}
		if e.RepoID != "" {
			repos[e.RepoID] = plus(repos[e.RepoID], one)
		}
	}
	return totals, daily, heat, members, repos, clients
}

func plus(a, b wire.Totals) wire.Totals {
	return wire.Totals{
		Intents:        a.Intents + b.Intents,
		Conflicts:      a.Conflicts + b.Conflicts,
		Blocked:        a.Blocked + b.Blocked,
		StaleWrites:    a.StaleWrites + b.StaleWrites,
		Warned:         a.Warned + b.Warned,
		Resolved:       a.Resolved + b.Resolved,
		Overridden:     a.Overridden + b.Overridden,
		FalsePositives: a.FalsePositives + b.FalsePositives,
		Messages:       a.Messages + b.Messages,
		Questions:      a.Questions + b.Questions,
		Sessions:       a.Sessions + b.Sessions,
	}
}

func TestStatsAgreeWithCountingByHand(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		p := makePast(t, st, 1500)
		p.compareWithHand(t)
		if err := p.ops.Outgoing.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.compareWithHand(t) // from the sums of the days that are over
	})
}

func (p *past) compareWithHand(t *testing.T) {
	t.Helper()
	for _, days := range []int{7, 30, 90} {
		for _, repo := range []string{"", "acme/api"} {
			got, err := p.ops.Outgoing.GetStats(t.Context(), p.who, wire.GetStats{Days: days, Repo: repo})
			if err != nil {
				t.Fatal(err)
			}
			id := ""
			if repo != "" {
				id = p.repos[0].ID
			}
			p.compare(t, fmt.Sprintf("%d days of %q", days, repo), got, days, id)
		}
	}
}

func (p *past) compare(t *testing.T, name string, got wire.Stats, days int, repo string) {
	t.Helper()
	totals, daily, heat, members, repos, clients := p.byHand(days, repo)
	gotDaily, gotMembers, gotRepos := map[string]wire.Totals{}, map[string]wire.Totals{}, map[string]wire.Totals{}
	gotClients := map[string]int{}
	for _, d := range got.Daily {
		if d.Totals != (wire.Totals{}) {
			gotDaily[d.Date] = d.Totals
		}
	}
	for _, m := range got.Members {
		gotMembers[m.User.ID] = m.Totals
	}
	for _, r := range got.Repos {
		gotRepos[r.Repo.ID] = r.Totals
	}
	for _, c := range got.TopClients {
		gotClients[c.Client] = c.Sessions
	}
	for part, pair := range map[string][2]any{
		"totals": {totals, got.Totals}, "daily": {daily, gotDaily}, "heatmap": {heat, got.Heatmap}, "members": {members, gotMembers},
		"repos": {repos, gotRepos}, "clients": {clients, gotClients},
		"time saved": {0, got.TimeSavedMinutes}, // events alone prove nothing: no conflict is behind these
		"days":       {days, len(got.Daily)}, "last day": {p.now.Format(time.DateOnly), got.Daily[len(got.Daily)-1].Date},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s, %s (-by hand +stats):\n%s", name, part, diff)
		}
	}
	if days == 90 && (totals.Intents == 0 || totals.FalsePositives == 0 || totals.Resolved == 0) {
		t.Errorf("%s: the past has nothing to count: %+v", name, totals)
	}
}

func TestStatsOfAnUnknownRepo(t *testing.T) {
	p := makePast(t, storetest.Open(t), 0)
	if _, err := p.ops.Outgoing.GetStats(t.Context(), p.who,
		wire.GetStats{Days: 7, Repo: "acme/nowhere"}); problem.KindOf(err) != problem.NotFound {
		t.Errorf("an unknown repo = %v, want not found", err)
	}
}

func TestTheFeedNamesWhatEventsMention(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		p := makePast(t, st, 20)
		feed, err := p.ops.Outgoing.GetFeed(t.Context(), p.who, wire.ListEvents{List: wire.List{Limit: 200}})
		if err != nil {
			t.Fatal(err)
		}
		want := wire.FeedRef{Kind: "repo", Label: "acme/api", URL: "https://svc.example/repos/acme/api"}
		if got := feed.Refs[p.repos[0].ID]; got != want {
			t.Errorf("repo ref = %+v, want %+v", got, want)
		}
		if got := feed.Refs[p.users[1].ID]; got.Label != "ben" || got.Kind != "user" {
			t.Errorf("user ref = %+v", got)
		}
		for _, e := range feed.Items {
			for _, id := range []string{e.Actor.ID, e.Subject.ID} {
				if _, named := feed.Refs[id]; !named && len(id) == 36 && e.Subject.Kind != "org" {
					t.Errorf("%s: %s has no name", e.Type, id)
				}
			}
		}
		for id, s := range p.sessions {
			if ref, ok := feed.Refs[id]; ok && ref.Label != s.Tool+" of "+s.User.Name {
				t.Errorf("session ref = %+v", ref)
			}
		}
	})
}

// A stretch of the past is what all events hold of it, page by page, also
// where several happened at one moment.
func TestEventsOfAStretch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		p := makePast(t, st, 60)
		list := func(in wire.ListEvents) (out []coord.Event) {
			for in.Limit = 7; ; {
				page, err := p.ops.Outgoing.ListEvents(t.Context(), p.who, in)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, page.Items...)
				if page.NextCursor == nil {
					return out
				}
				in.Cursor = *page.NextCursor
			}
		}
		all := list(wire.ListEvents{})
		for _, b := range [][2]int{{len(all) - 1, 0}, {len(all) / 2, len(all) / 4}, {10, 3}, {5, 5}} {
			since, until := all[b[0]].OccurredAt, all[b[1]].OccurredAt
			var want []int64
			for _, e := range all {
				if e.OccurredAt >= since && e.OccurredAt < until {
					want = append(want, e.Seq)
				}
			}
			var got []int64
			for _, e := range list(wire.ListEvents{Since: since.String(), Until: until.String()}) {
				got = append(got, e.Seq)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("from %s to %s (-all of them +listed):\n%s", since, until, diff)
			}
		}
		_, err := p.ops.Outgoing.ListEvents(t.Context(), p.who, wire.ListEvents{Since: "yesterday"})
		if problem.KindOf(err) != problem.Validation {
			t.Errorf("since yesterday = %v", err)
		}
	})
}
