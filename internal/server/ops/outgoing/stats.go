package outgoing

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

const day = 24 * time.Hour

// counted says which total an event of a type adds to. Conflicts that were
// resolved or called a false alarm need a look at the event itself.
var counted = map[coord.EventType]func(*wire.Totals) *int{
	coord.EventIntentDeclared:     func(t *wire.Totals) *int { return &t.Intents },
	coord.EventConflictDetected:   func(t *wire.Totals) *int { return &t.Conflicts },
	coord.EventHookBlocked:        func(t *wire.Totals) *int { return &t.Blocked },
	coord.EventHookStaleWrite:     func(t *wire.Totals) *int { return &t.StaleWrites },
	coord.EventHookWarned:         func(t *wire.Totals) *int { return &t.Warned },
	coord.EventConflictOverridden: func(t *wire.Totals) *int { return &t.Overridden },
	coord.EventMessageSent:        func(t *wire.Totals) *int { return &t.Messages },
	coord.EventQuestionAsked:      func(t *wire.Totals) *int { return &t.Questions },
	coord.EventSessionStarted:     func(t *wire.Totals) *int { return &t.Sessions },
}

// GetStats returns the figures of the last days.
func (s *Service) GetStats(ctx context.Context, who coord.Caller, in wire.GetStats) (out wire.Stats, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		today := coord.TimeOf(tx.Now.Std().Truncate(day))
		w := store.StatsWindow{Since: today.Add(-time.Duration(in.Days-1) * day), Until: today.Add(day)}
		if w.Repo, err = work.RepoFilter(ctx, tx, who, in.Repo); err != nil {
			return err
		}
		out, err = statsOf(ctx, tx, who.OrgID, w)
		return err
	})
	return out, err
}

// A sum adds events up in every way that stats show them.
type sum struct {
	out     wire.Stats
	members map[string]*wire.Totals
	repos   map[string]*wire.Totals
	tools   map[string]int
}

// statsOf computes the stats of a window of whole days: from the sums of those
// that are over, and from the log for the rest.
func statsOf(ctx context.Context, tx *store.Tx, org string, w store.StatsWindow) (wire.Stats, error) {
	s := &sum{members: map[string]*wire.Totals{}, repos: map[string]*wire.Totals{}, tools: map[string]int{}}
	s.out.Days, s.out.Since = int(w.Until.Sub(w.Since)/day), w.Since
	for d := w.Since; d < w.Until; d = d.Add(day) {
		s.out.Daily = append(s.out.Daily, wire.Day{Date: d.Std().Format(time.DateOnly)})
	}
	rest := w
	if w.Since == midnight(w.Since) { // sums are of days in UTC
		summed, err := tx.SummedUntil(ctx, org)
		if err != nil {
			return s.out, err
		}
		rest.Since = min(max(summed, w.Since), w.Until)
		if err := s.addSums(ctx, tx, org, store.StatsWindow{Since: w.Since, Until: rest.Since, Repo: w.Repo}); err != nil {
			return s.out, err
		}
	}
	err := countLog(ctx, tx, org, rest, func(at coord.Time, user, repo, figure string, n int) {
		s.add(at, user, repo, n, fieldOf(figure))
		s.heat(at, at.Std().Hour(), n)
	})
	if err != nil {
		return s.out, err
	}
	tools, err := tx.CountTools(ctx, org, rest)
	if err != nil {
		return s.out, err
	}
	for _, t := range tools {
		s.tools[t.Tool] += t.Count
	}
	if s.out.TimeSaved, err = savedIn(ctx, tx, org, w); err != nil {
		return s.out, err
	}
	return s.finish(ctx, tx, org)
}

// addSums adds what is summed up.
func (s *sum) addSums(ctx context.Context, tx *store.Tx, org string, w store.StatsWindow) error {
	sums, err := tx.Sums(ctx, org, w)
	for _, x := range sums {
		switch x.Figure {
		case figureHeat:
			for hour, n := range unpacked(x.Detail, x.Count) {
				s.heat(x.Day, hour, n)
			}
		case figureTool:
			s.tools[x.Detail] += x.Count
		default:
			if field := fieldOf(x.Figure); field != nil { // of a version that counts more
				s.add(x.Day, x.User, x.Repo, x.Count, field)
			}
		}
	}
	return err
}

func (s *sum) add(at coord.Time, user, repo string, n int, field func(*wire.Totals) *int) {
	*field(&s.out.Totals) += n
	*field(&s.out.Daily[at.Sub(s.out.Since)/day].Totals) += n
	bump(s.members, user, n, field)
	bump(s.repos, repo, n, field)
}

func (s *sum) heat(at coord.Time, hour, n int) {
	s.out.Heatmap[(int(at.Std().Weekday())+6)%7][hour] += n
}

func bump(of map[string]*wire.Totals, id string, n int, field func(*wire.Totals) *int) {
	if id == "" {
		return
	}
	if of[id] == nil {
		of[id] = &wire.Totals{}
	}
	*field(of[id]) += n
}

func (s *sum) finish(ctx context.Context, tx *store.Tx, org string) (wire.Stats, error) {
	s.out.TopClients, s.out.Members, s.out.Repos = []wire.ClientCount{}, []wire.MemberTotals{}, []wire.RepoTotals{}
	for tool, n := range s.tools {
		s.out.TopClients = append(s.out.TopClients, wire.ClientCount{Client: tool, Sessions: n})
	}
	slices.SortFunc(s.out.TopClients, func(a, b wire.ClientCount) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Client, b.Client))
	})
	users, err := tx.UsersByID(ctx, keys(s.members))
	if err != nil {
		return s.out, err
	}
	for id, t := range s.members {
		if u, ok := users[id]; ok {
			s.out.Members = append(s.out.Members, wire.MemberTotals{User: u, Totals: *t})
		}
	}
	repos, err := tx.Repos(ctx, org)
	if err != nil {
		return s.out, err
	}
	for _, r := range repos {
		if t := s.repos[r.ID]; t != nil {
			s.out.Repos = append(s.out.Repos, wire.RepoTotals{Repo: coord.RepoName{ID: r.ID, FullName: r.FullName}, Totals: *t})
		}
	}
	slices.SortFunc(s.out.Members, func(a, b wire.MemberTotals) int {
		return cmp.Or(cmp.Compare(busy(b.Totals), busy(a.Totals)), cmp.Compare(a.User.ID, b.User.ID))
	})
	slices.SortFunc(s.out.Repos, func(a, b wire.RepoTotals) int {
		return cmp.Or(cmp.Compare(busy(b.Totals), busy(a.Totals)), cmp.Compare(a.Repo.FullName, b.Repo.FullName))
	})
	return s.out, nil
}

// busy is how much happened in all.
func busy(t wire.Totals) int {
	return t.Intents + t.Conflicts + t.Blocked + t.StaleWrites + t.Warned + t.Resolved + t.Overridden + t.FalsePositives + t.Messages +
		t.Questions + t.Sessions
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
