package moments

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	maxNearby      = 20
	maxNearbyPaths = 20
)

// CheckScope tells what some work would collide with. It writes nothing.
func (s *Service) CheckScope(ctx context.Context, who coord.Caller, in wire.ScopeCheck) (out wire.ScopeChecked, err error) {
	set, bad := scope.Canonical("", coord.ScopeSet{Paths: in.Paths, Symbols: in.Symbols, Contracts: in.Contracts})
	if err := problem.Invalid(bad); err != nil {
		return out, err
	}
	if len(set.Paths)+len(set.Symbols)+len(set.Contracts) == 0 {
		return out, problem.InvalidField("paths", "give at least one path, symbol or contract to check")
	}
	var p work.Place
	err = s.Read(ctx, func(tx *store.Tx) error {
		p, err = s.work.Spot(ctx, tx, who, in.SessionID, in.Repo)
		return err
	})
	if err != nil {
		return out, err
	}
	now := s.Store.Now()
	err = s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
		w := p.Worker(ix, who)
		rules, _ := ix.Rules(p.Repo.ID)
		found := engine.Check(ix, w, set)
		if p.Session == nil { // a person asks, not one of their agents: own work is not in the way
			found = slices.DeleteFunc(found, func(f engine.Finding) bool { return f.Other(w.ID).User.ID == who.UserID && who.Personal() })
		}
		d := engine.Judge(ix, w, found, now)
		out = wire.ScopeChecked{Decision: wire.Decision(d.Action), Reason: d.Reason, Repo: w.Repo, Findings: []wire.ScopeFinding{}}
		for _, f := range found {
			out.Findings = append(out.Findings, scopeFinding(f, w.ID, now, rules.Enforcement))
		}
		switch {
		case out.Reason != "":
		case len(found) > 0:
			out.Reason = "others work nearby, but nothing that should stop you"
		default:
			out.Reason = "nobody else is working on this"
		}
		return nil
	})
	return out, err
}

func scopeFinding(f engine.Finding, self string, now coord.Time, ceiling coord.Severity) wire.ScopeFinding {
	other, role := f.Holder, coord.Holder
	if f.Holder.ID == self && self != "" {
		other, role = f.Challenger, coord.Challenger
	}
	text, suggestion := engine.Explain(f, self, now)
	blocking := f.Severity == coord.SeverityBlock && ceiling == coord.SeverityBlock
	return wire.ScopeFinding{Kind: f.Kind, Severity: f.Severity, Blocking: blocking, With: ground.PartyOf(role, other), Place: f.Place,
		Explanation: text, Suggestion: suggestion, Evidence: f.Evidence}
}

// GetTeamContext tells what the team is doing around the caller's work.
func (s *Service) GetTeamContext(ctx context.Context, who coord.Caller, in wire.TeamContext) (out wire.TeamPicture, err error) {
	set, bad := scope.Canonical("", coord.ScopeSet{Paths: in.Paths})
	if err := problem.Invalid(bad); err != nil {
		return out, err
	}
	var p work.Place
	var spoken []store.Spoken
	err = s.Read(ctx, func(tx *store.Tx) error {
		if p, err = s.work.Spot(ctx, tx, who, in.SessionID, in.Repo); err != nil {
			return err
		}
		if spoken, err = tx.Spoken(ctx, who.OrgID, p.Repo.ID, tx.Now.Add(-statusKept)); err != nil {
			return err
		}
		return s.ownPicture(ctx, tx, who, p, &out)
	})
	if err != nil {
		return out, err
	}
	err = s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
		out.Nearby = nearby(ix, p.Worker(ix, who), set, in.Query)
		out.CrossRepoChanges = crossChanges(ix, p.Repo.ID)
		if _, text := engine.GoesAfter(ix, p.Worker(ix, who).ID); text != "" {
			out.Landing = &text
		}
		return nil
	})
	addStatuses(out.Nearby, spoken)
	return out, err
}

// addStatuses tells of others' work what its agents said last.
func addStatuses(all []wire.Nearby, spoken []store.Spoken) {
	for i := range all {
		for _, said := range spoken { // the latest heard of first
			mine := all[i].SessionID != nil && said.Session == *all[i].SessionID ||
				all[i].Intent != nil && said.Intent != nil && *said.Intent == all[i].Intent.Number
			if mine && (all[i].StatusAt == nil || said.At > *all[i].StatusAt) {
				all[i].StatusText, all[i].StatusAt = &said.Text, &said.At
			}
		}
	}
}

// statusKept is how long what an agent said last tells anything.
const statusKept = 72 * time.Hour

// ownPicture fills in the caller's own intent and conflicts.
func (s *Service) ownPicture(ctx context.Context, tx *store.Tx, who coord.Caller, p work.Place, out *wire.TeamPicture) error {
	out.Repo = coord.RepoName{ID: p.Repo.ID, FullName: p.Repo.FullName}
	out.Conflicts = []coord.Conflict{}
	if p.Session != nil && p.Session.IntentID != nil {
		i, err := tx.IntentByID(ctx, who.OrgID, *p.Session.IntentID)
		if err != nil {
			return err
		}
		if i.Status.Live() {
			record, err := work.Show(ctx, tx, i, who)
			if err != nil {
				return err
			}
			out.Intent = &record
		}
	}
	if !who.Personal() {
		return nil
	}
	rows, err := tx.Conflicts(ctx, who.OrgID, store.ConflictFilter{
		Repo:     p.Repo.ID,
		User:     who.UserID,
		Statuses: coord.LiveConflictStatuses(),
		Limit:    50,
		History:  true,
	})
	if err != nil {
		return err
	}
	if out.Conflicts, err = work.ConflictsFor(ctx, tx, rows, who, p.Session); err != nil {
		return err
	}
	out.UnreadMessages, err = tx.CountUndelivered(ctx, who.OrgID, who.UserID)
	return err
}

// nearby returns others' live work in the repo: what overlaps the paths first,
// then what the words match, then the latest. Without paths, what the caller's
// own claims are on is meant. What it only observes always is: nobody raises a
// conflict about that, so this is where it is told.
func nearby(ix *engine.Index, self *engine.Worker, set coord.ScopeSet, query *string) []wire.Nearby {
	kinds := map[string][]string{}
	for _, f := range engine.Check(ix, self, withOwn(set, self.Claims)) {
		if o := f.Other(self.ID); o != nil && !slices.Contains(kinds[o.ID], string(f.Kind)) {
			kinds[o.ID] = append(kinds[o.ID], string(f.Kind))
		}
	}
	type ranked struct {
		*engine.Worker
		score int
	}
	var all []ranked
	for _, id := range ix.Workers(self.Repo.ID) {
		w := ix.Worker(id)
		if w.ID == self.ID || w.Outside != nil && len(kinds[id]) == 0 {
			continue
		}
		if slices.ContainsFunc(w.Lineages, func(l string) bool { return slices.Contains(self.Lineages, l) }) {
			continue
		}
		score := 10 * len(kinds[id])
		if query != nil && w.Intent != nil && w.Intent.Status != coord.IntentDraft {
			score += commonWords(*query, w.Intent.Title)
		}
		all = append(all, ranked{w, score})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Or(b.score-a.score, cmp.Compare(b.Since, a.Since)) })
	out := []wire.Nearby{}
	for _, r := range all[:min(len(all), maxNearby)] { // a thousand may be at work; few are told of
		out = append(out, nearbyOf(ix, r.Worker, kinds[r.ID]))
	}
	return out
}

func nearbyOf(ix *engine.Index, w *engine.Worker, kinds []string) wire.Nearby {
	n := wire.Nearby{User: w.User, Since: w.Since, Paths: pathsOf(ix, w), Kinds: kinds, Overlaps: len(kinds) > 0}
	p := ground.PartyOf(coord.Holder, w)
	n.Intent, n.SessionID, n.Branch, n.Outside = p.Intent, p.SessionID, p.Branch, p.Outside
	if w.Tool != "" {
		n.Tool = &w.Tool
	}
	if len(w.Claims) > 0 && w.Claims[0].Mode != coord.Wanted {
		n.Mode = &w.Claims[0].Mode
	}
	return n
}

// withOwn adds the caller's own claims to what was asked for: all of them if
// nothing was.
func withOwn(set coord.ScopeSet, claims []coord.Claim) coord.ScopeSet {
	asked := len(set.Paths) > 0
	for _, c := range claims {
		if asked && c.Mode != coord.Observe || c.Mode == coord.Wanted {
			continue
		}
		switch c.Kind {
		case coord.ClaimPath:
			set.Paths = append(set.Paths, c.Selector)
		case coord.ClaimSymbol:
			set.Symbols = append(set.Symbols, c.Selector)
		case coord.ClaimContract:
			set.Contracts = append(set.Contracts, c.Selector)
		}
	}
	return set
}

func commonWords(a, b string) (n int) {
	have := strings.Fields(strings.ToLower(b))
	for _, w := range strings.Fields(strings.ToLower(a)) {
		if len(w) > 2 && slices.Contains(have, w) {
			n++
		}
	}
	return n
}

// pathsOf returns what a worker claims and has changed.
func pathsOf(ix *engine.Index, w *engine.Worker) []string {
	out := []string{}
	for _, c := range w.Claims {
		if c.Kind == coord.ClaimPath && c.Mode != coord.Wanted {
			out = append(out, c.Selector)
		}
	}
	for _, c := range ix.Changes(w.ID) {
		out = append(out, c.Facts.Path)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxNearbyPaths)]
}

// crossChanges returns the contracts that are being changed in linked repos.
func crossChanges(ix *engine.Index, repo string) []wire.CrossChange {
	out := []wire.CrossChange{}
	for _, linked := range ix.Links(repo) {
		for _, id := range ix.Workers(linked) {
			w := ix.Worker(id)
			for _, c := range ix.Changes(id) {
				for _, k := range c.Facts.Contracts {
					if k.Role != coord.Provides || k.Change == coord.Same || k.Change == coord.Added {
						continue
					}
					p := ground.PartyOf(coord.Challenger, w)
					out = append(out, wire.CrossChange{
						Repo:          w.Repo,
						Contract:      k.Key,
						Change:        k.Change,
						Compatibility: k.Compatibility,
						Detail:        k.Detail,
						By:            p.User,
						Intent:        p.Intent,
						Path:          c.Facts.Path,
					})
				}
			}
		}
	}
	return out
}

// ListSessions returns agent sessions, the latest heard of first.
func (s *Service) ListSessions(ctx context.Context, who coord.Caller, in wire.ListSessions) (out wire.Page[coord.Session], err error) {
	want := store.SessionFilter{Limit: in.Limit + 1}
	if err := ground.Uncursor(in.Cursor, &want.Before, &want.BeforeID); err != nil {
		return out, err
	}
	if want.Changed, err = ground.Moment("changed_since", in.Since); err != nil {
		return out, err
	}
	out.Items = []coord.Session{}
	err = s.Read(ctx, func(tx *store.Tx) error {
		rules, err := tx.Policies(ctx, who.OrgID)
		if err != nil {
			return err
		}
		snags, err := tx.Snags(ctx, who.OrgID)
		if err != nil {
			return err
		}
		if want.Repo, err = work.RepoFilter(ctx, tx, who, in.Repo); err != nil {
			return err
		}
		if want.User, err = work.PersonFilter(ctx, tx, who, "person", in.Person); err != nil {
			return err
		}
		// Being active is a matter of time and policy, so it is judged here
		// and pages are filled from as many rows as it takes.
		var found []store.SessionRow
		for more := true; more && len(found) <= in.Limit; {
			rows, err := tx.Sessions(ctx, who.OrgID, want)
			if err != nil {
				return err
			}
			more = len(rows) == want.Limit
			for _, row := range rows {
				want.Before, want.BeforeID = row.LastHeartbeatAt, row.ID
				row.Status = work.StatusOf(tx, rules, row)
				if row.Standing = snags.Of(row); sessionWanted(in, row.Session) {
					found = append(found, row)
				}
			}
		}
		found, out.NextCursor = ground.Page(found, in.Limit, func(s store.SessionRow) []any { return []any{s.LastHeartbeatAt, s.ID} })
		for _, row := range found {
			out.Items = append(out.Items, sessionShown(row, who))
		}
		return nil
	})
	return out, err
}

// sessionWanted tells whether a list asks for a session.
func sessionWanted(in wire.ListSessions, s coord.Session) bool {
	is := s.Status
	if len(in.State) > 0 && !slices.Contains(in.State, s.State) {
		return false
	}
	if in.Active != nil && *in.Active != (is == coord.SessionActive) {
		return false
	}
	live := is == coord.SessionActive || is == coord.SessionIdle
	return len(in.Status) == 0 || slices.Contains(in.Status, string(is)) || live && slices.Contains(in.Status, "live")
}

// GetSession returns one agent session.
func (s *Service) GetSession(ctx context.Context, who coord.Caller, in wire.SessionID) (out coord.Session, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		row, err := findSession(ctx, tx, who, in.ID)
		out = row
		return err
	})
	return out, err
}

func findSession(ctx context.Context, tx *store.Tx, who coord.Caller, id string) (out coord.Session, err error) {
	if err := ground.WantUUID(id, "no such session in this org"); err != nil {
		return out, err
	}
	row, err := tx.Session(ctx, who.OrgID, id)
	if err != nil {
		return out, err
	}
	rules, err := tx.Policies(ctx, who.OrgID)
	if err != nil {
		return out, err
	}
	snags, err := tx.Snags(ctx, who.OrgID)
	row.Status = work.StatusOf(tx, rules, row)
	row.Standing = snags.Of(row)
	return sessionShown(row, who), err
}

// EndSession ends a session whose agent will not say so itself: it crashed, or
// its machine is gone. The claims stay with its intent.
func (s *Service) EndSession(ctx context.Context, who coord.Caller, in wire.SessionID) (out coord.Session, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		if err := ground.WantUUID(in.ID, "no such session in this org"); err != nil {
			return err
		}
		row, err := c.Session(ctx, who.OrgID, in.ID)
		if err != nil {
			return err
		}
		if row.User.ID != who.UserID && !who.Role.IsAdmin() {
			return problem.Newf(problem.Forbidden, "only its person and admins can end a session")
		}
		if err := endSession(ctx, c, &row, nil); err != nil {
			return err
		}
		out, err = findSession(ctx, c.Tx, who, in.ID)
		return err
	})
	return out, err
}

// sessionShown hides the title of somebody else's draft.
func sessionShown(row store.SessionRow, who coord.Caller) coord.Session {
	if row.Intent != nil && row.Intent.Status == coord.IntentDraft && row.User.ID != who.UserID {
		name := *row.Intent
		name.Title = nil
		row.Intent = &name
	}
	return row.Session
}

// GetPresence returns teammates' live agents, never the caller's own.
func (s *Service) GetPresence(ctx context.Context, who coord.Caller, in wire.Presence) (out wire.Page[wire.Online], err error) {
	out.Items = []wire.Online{}
	err = s.Read(ctx, func(tx *store.Tx) error {
		rules, err := tx.Policies(ctx, who.OrgID)
		if err != nil {
			return err
		}
		want := store.SessionFilter{NotUser: who.UserID, Unended: true, Since: tx.Now.Add(-work.Expiry)}
		if want.Repo, err = work.RepoFilter(ctx, tx, who, in.Repo); err != nil {
			return err
		}
		first := ""
		if in.SessionID != "" {
			own, err := work.OwnSession(ctx, tx, who, in.SessionID)
			if err != nil {
				return err
			}
			first = own.Repo.ID
		}
		snags, err := tx.Snags(ctx, who.OrgID)
		if err != nil {
			return err
		}
		rows, err := tx.Sessions(ctx, who.OrgID, want)
		slices.SortStableFunc(rows, func(a, b store.SessionRow) int {
			return cmp.Compare(boolInt(b.Repo.ID == first), boolInt(a.Repo.ID == first))
		})
		for _, row := range rows[:min(len(rows), in.Limit)] {
			row.Status = work.StatusOf(tx, rules, row)
			row.Standing = snags.Of(row)
			x := sessionShown(row, who)
			out.Items = append(out.Items, wire.Online{
				SessionID:    x.ID,
				Developer:    x.User,
				Tool:         x.Tool,
				Repo:         x.Repo,
				Branch:       x.Branch,
				Intent:       x.Intent,
				Status:       x.Status,
				State:        x.State,
				LastActivity: x.LastHeartbeatAt,
				StatusText:   x.StatusText,
				StatusAt:     x.StatusAt,
			})
		}
		return err
	})
	return out, err
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
