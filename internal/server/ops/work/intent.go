package work

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// DeclareIntent announces work and returns what it collides with. A collision
// is not an error: the intent stands and the caller decides. Declaring again
// on the same branch updates the live intent; declaring from a session with a
// draft promotes the draft.
func (s *Service) DeclareIntent(ctx context.Context, who coord.Caller, in wire.DeclareIntent) (wire.Declared, error) {
	return s.PostIntent(ctx, who, wire.PostIntent{DeclareIntent: in})
}

// PostIntent is DeclareIntent over REST, where somebody may also announce work
// that is no session's, such as a command that runs for a while.
func (s *Service) PostIntent(ctx context.Context, who coord.Caller, post wire.PostIntent) (out wire.Declared, err error) {
	in := post.DeclareIntent
	title := strings.TrimSpace(in.Title)
	if title == "" {
		return out, problem.InvalidField("title", "must not be blank")
	}
	in.Title = title
	if in.Branch != nil {
		if in.Branch = ground.Optional(*in.Branch); in.Branch != nil && !scope.ValidBranch(*in.Branch) {
			return out, problem.InvalidField("branch", "is no name for a branch: git would refuse it, or part of it cannot be seen")
		}
	}
	var set coord.ScopeSet
	if in.Scope != nil {
		canonical, bad := scope.Canonical("scope", *in.Scope)
		if err := problem.Invalid(bad); err != nil {
			return out, err
		}
		set = canonical
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		p, err := s.Locate(ctx, c.Tx, who, in.SessionID, in.Repo)
		if err != nil {
			return err
		}
		s.called.note(who, in.Repo, p.Repo.ID)
		owner, err := s.intentOwner(ctx, c.Tx, who, p)
		if err := ground.FirstError(err, Watched(p.Repo)); err != nil {
			return err
		}
		if post.Separate {
			p.Session, in.Branch = nil, nil
		}
		if in.SessionID == nil && who.SessionID == "" && onAnother(p.Session, in.Branch) {
			p.Session = nil // a board declares for an agent that has not begun: the latest session is another's
		}
		i, err := intentToDeclare(ctx, c, p, owner, in.Branch)
		if err != nil {
			return err
		}
		deps, err := dependencies(ctx, c, "depends_on", in.DependsOn, i)
		if err != nil {
			return err
		}
		declare(&i, in, set, deps)
		if out.Met, err = saveDeclared(ctx, c, &i, deps, p.Session); err != nil {
			return err
		}
		out.Intent, err = Show(ctx, c.Tx, i, who)
		return err
	}, func(tx *store.Tx) {
		if who.UserID != "" {
			tx.Member(ctx, who.OrgID, who.UserID)
		}
		if in.SessionID == nil && who.SessionID == "" && who.Personal() {
			RecentSessions(ctx, tx, who)
		}
		tx.Policies(ctx, who.OrgID)
		s.foreseePlace(ctx, tx, who, in)
	})
	return out, err
}

// onAnother reports whether a session is on another branch than the one that is
// meant.
func onAnother(session *store.SessionRow, branch *string) bool {
	return session != nil && branch != nil && session.Branch != nil && *session.Branch != *branch
}

// intentOwner returns who will own what the caller declares. A service token
// declares for whoever made it: work needs a person.
func (s *Service) intentOwner(ctx context.Context, tx *store.Tx, who coord.Caller, p Place) (coord.User, error) {
	user := who.UserID
	if user == "" {
		by, err := tx.TokenCreator(ctx, who.TokenID)
		if err != nil {
			return coord.User{}, err
		}
		user = by
	}
	m, err := tx.Member(ctx, who.OrgID, user)
	if err != nil {
		return coord.User{}, problem.Newf(problem.Forbidden, "nobody in this org would own the intent: the person who made this token has left")
	}
	if !m.Role.CanOwnIntents() {
		return coord.User{}, problem.Newf(problem.Forbidden, "the role %s cannot own intents; it takes owner, admin or member", m.Role)
	}
	return m.User, nil
}

// intentToDeclare returns the intent that a declaration updates, or a new one:
// the session's own on that branch, else one that its owner left on it. What
// another live session works on is that session's: two agents of one person
// are two workers.
func intentToDeclare(ctx context.Context, c *ground.Change, p Place, owner coord.User, branch *string) (i store.IntentRow, err error) {
	if branch == nil && p.Session != nil {
		branch = p.Session.Branch
	}
	err = c.Foresee(ctx, func() {
		if p.Session != nil {
			c.Changes(ctx, c.Who.OrgID, p.Repo.ID, live.CopyOf(p.Session.Session))
		}
		if p.Session != nil && p.Session.IntentID != nil {
			foreseeIntent(ctx, c.Tx, c.Who.OrgID, *p.Session.IntentID)
		}
		if branch != nil {
			c.LiveIntentsOn(ctx, c.Who.OrgID, p.Repo.ID, owner.ID, *branch)
		}
	})
	if err != nil {
		return i, err
	}
	if p.Session != nil && p.Session.IntentID != nil {
		i, err := c.IntentByID(ctx, c.Who.OrgID, *p.Session.IntentID)
		if err != nil {
			return i, err
		}
		sameBranch := branch == nil || i.Branch == nil || *branch == *i.Branch
		taken, err := takenFrom(ctx, c, i, p.Session)
		if err != nil {
			return i, err
		}
		if !taken && i.Status.Live() && i.Owner.ID == owner.ID && (i.Status == coord.IntentDraft || sameBranch) {
			if branch != nil {
				i.Branch = branch
			}
			return i, nil
		}
	}
	if branch != nil {
		found, err := LeftOn(ctx, c, p.Repo.ID, owner.ID, *branch, p.Session)
		if err != nil || found != nil {
			if found != nil {
				i = *found
			}
			return i, err
		}
	}
	return store.IntentRow{Intent: coord.Intent{
		ID:        ground.NewID(),
		OrgID:     c.Who.OrgID,
		Status:    coord.IntentActive,
		Resume:    coord.IntentActive,
		Repo:      coord.RepoName{ID: p.Repo.ID, FullName: p.Repo.FullName},
		Owner:     owner,
		Branch:    branch,
		CreatedAt: c.Now,
		BlockedBy: []coord.Blocker{},
	}}, nil
}

// declare writes a declaration into an intent. What it leaves out of an
// update stays as it was.
func declare(i *store.IntentRow, in wire.DeclareIntent, set coord.ScopeSet, deps []store.Dependency) {
	i.Title, i.Mode = in.Title, in.Mode
	if in.Summary != nil {
		i.Summary = in.Summary
	}
	if in.PlanMD != nil {
		i.PlanMD = in.PlanMD
	}
	if in.ExternalRef != nil {
		i.ExternalRef = in.ExternalRef
	}
	if in.Scope != nil {
		i.Scope = set
	}
	if in.DependsOn != nil || i.DependsOn == nil {
		i.DependsOn = refsOf(deps)
	}
}

// saveDeclared stores a declared intent, binds the session and returns the
// conflicts.
func saveDeclared(ctx context.Context, c *ground.Change, i *store.IntentRow, deps []store.Dependency,
	session *store.SessionRow) (met wire.Met, err error) {
	event := coord.EventIntentDeclared
	isNew := i.Number == 0
	if isNew {
		n, err := c.NextIntentNumber(ctx, c.Who.OrgID)
		if err != nil {
			return met, err
		}
		i.Number, i.Ref = n, coord.IntentRef(n)
	} else if i.Status != coord.IntentDraft {
		event = coord.EventIntentUpdated
	}
	if i.Status == coord.IntentDraft {
		i.Status, i.Resume = coord.IntentActive, coord.IntentActive
	}
	i.LastActivityAt = c.Now
	if session != nil {
		i.SessionID = &session.ID
	}
	released, err := Lease(ctx, c, i)
	if err != nil {
		return met, err
	}
	if err := Honour(ctx, c, i); err != nil {
		return met, err
	}
	if err := saveFor(ctx, c, i, deps, session, isNew); err != nil {
		return met, err
	}
	if session != nil {
		if err := Bind(ctx, c, *session, *i); err != nil {
			return met, err
		}
	}
	if err := TellIntent(ctx, c, event, *i); err != nil {
		return met, err
	}
	if err := passOn(ctx, c, i, released); err != nil {
		return met, err
	}
	return answerWith(ctx, c, i, session)
}

// saveFor saves an intent that a session is about to work on, or nobody.
func saveFor(ctx context.Context, c *ground.Change, i *store.IntentRow, deps []store.Dependency, session *store.SessionRow,
	isNew bool) error {
	if len(deps) > 0 || deps != nil && !isNew {
		return ground.FirstError(c.SaveIntent(ctx, i), c.SetDependencies(ctx, i.ID, ids(deps)))
	}
	var at []store.SessionRow
	if !isNew {
		var err error
		if at, err = c.Sessions(ctx, c.Who.OrgID, store.UnendedOn(i.ID)); err != nil {
			return err
		}
	}
	if session != nil && session.EndedAt == nil && (session.IntentID == nil || *session.IntentID != i.ID) {
		at = append(at, *session)
		slices.SortFunc(at, func(a, b store.SessionRow) int { // as they are read
			return cmp.Or(cmp.Compare(b.LastHeartbeatAt, a.LastHeartbeatAt), cmp.Compare(b.ID, a.ID))
		})
	}
	return c.SaveKnown(ctx, i, at, isNew)
}

// Bind makes an intent a session's own, and what the session changed before
// the intent's.
func Bind(ctx context.Context, c *ground.Change, session store.SessionRow, i store.IntentRow) error {
	if session.IntentID != nil && *session.IntentID == i.ID {
		return nil
	}
	if err := c.BindSession(ctx, session.ID, i.ID); err != nil {
		return err
	}
	if !c.Knows(i.ID) || session.IntentID != nil {
		if err := foreseeSettling(ctx, c, i.ID, session.IntentID); err != nil {
			return err
		}
	}
	if err := reassign(ctx, c, i.Repo.ID, live.CopyOf(session.Session), session.ID, i.ID); err != nil || session.IntentID == nil {
		return err
	}
	return leave(ctx, c, session, i)
}

// foreseeSettling asks for what settling an intent asks for, and settling the
// one that it takes over from.
func foreseeSettling(ctx context.Context, c *ground.Change, id string, from *string) error {
	return c.Foresee(ctx, func() {
		if !c.Knows(id) {
			foreseeIntent(ctx, c.Tx, c.Who.OrgID, id)
		}
		if from != nil {
			foreseeIntent(ctx, c.Tx, c.Who.OrgID, *from)
		}
	})
}

// leave lets a session's former intent go on without it. A draft that nobody
// else works on was this session's work: its changes go along, and it ends.
func leave(ctx context.Context, c *ground.Change, session store.SessionRow, to store.IntentRow) error {
	old, err := c.IntentByID(ctx, c.Who.OrgID, *session.IntentID)
	if err != nil || !old.Status.Live() {
		return err
	}
	others, err := c.Sessions(ctx, c.Who.OrgID, store.UnendedOn(old.ID))
	if err != nil {
		return err
	}
	if old.Status != coord.IntentDraft || len(others) > 0 {
		if err := TellIntent(ctx, c, coord.EventIntentUpdated, old); err != nil {
			return err
		}
		return c.PutIntent(ctx, old)
	}
	if err := reassign(ctx, c, to.Repo.ID, live.CopyOf(session.Session), old.ID, to.ID); err != nil {
		return err
	}
	outcome := coord.OutcomeAbandoned
	old.Outcome = &outcome
	return End(ctx, c, &old, coord.IntentAbandoned, coord.EventIntentClosed)
}

// reassign makes the changes that count to one worker count to another.
func reassign(ctx context.Context, c *ground.Change, repo, copy, from, to string) error {
	rows, err := c.Changes(ctx, c.Who.OrgID, repo, copy)
	if err != nil {
		return err
	}
	moved := 0
	for _, row := range rows {
		hit := false
		for k := range row.Touched {
			if row.Touched[k].Worker == from {
				row.Touched[k].Worker, hit = to, true
			}
		}
		if !hit {
			continue
		}
		moved++
		if err := c.SaveChange(ctx, c.Who.OrgID, row); err != nil {
			return err
		}
		c.Live.PutChange(live.ChangeOf(row))
	}
	if moved == 0 {
		return nil
	}
	return c.TellOf(ctx, coord.EventChangeRecorded, to, repo, wire.ChangePayload{Copy: copy, Files: moved})
}

// Honour decides whether an exclusive claim is granted.
func Honour(ctx context.Context, c *ground.Change, i *store.IntentRow) error {
	i.EffectiveMode, i.ModeNote = i.Mode, nil
	if i.Mode != coord.Exclusive {
		return nil
	}
	rules, err := c.EffectivePolicy(ctx, c.Who.OrgID, i.Repo.ID)
	if err != nil {
		return err
	}
	files, err := c.RepoFiles(ctx, i.Repo.ID)
	if err != nil {
		return err
	}
	w := asWorker(c, *i)
	if _, err := c.Member(ctx, c.Who.OrgID, i.Owner.ID); err != nil {
		left := "not exclusive: its owner has left the org"
		i.EffectiveMode, i.ModeNote = coord.Shared, &left
		return nil
	}
	mode, note := engine.HonourExclusive(c.Live.View(), w, files, rules.ExclusiveMaxFiles)
	i.EffectiveMode = mode
	if note != "" {
		i.ModeNote = &note
	}
	return nil
}

// AfterIntent settles an intent's conflicts after a change of it and returns
// them.
func AfterIntent(ctx context.Context, c *ground.Change, i *store.IntentRow) ([]store.ConflictRow, error) {
	if err := c.PutIntent(ctx, *i); err != nil {
		return nil, err
	}
	rows, err := c.Settle(ctx, i.ID)
	if err != nil {
		return nil, err
	}
	c.Touched[i.ID] = true
	if err := c.Reblock(ctx); err != nil {
		return nil, err
	}
	clear(c.Touched)
	*i, err = c.IntentNow(ctx, i.ID)
	return rows, err
}

// answerWith is AfterIntent for an answer that tells the worst of the conflicts
// to the session that works on the intent, if it is one that asks.
func answerWith(ctx context.Context, c *ground.Change, i *store.IntentRow, session *store.SessionRow) (met wire.Met, err error) {
	rows, err := AfterIntent(ctx, c, i)
	if err != nil {
		return met, err
	}
	if len(rows) > wire.MostMet {
		slices.SortStableFunc(rows, func(a, b store.ConflictRow) int { return b.Severity.Rank() - a.Severity.Rank() })
		met.MoreConflicts = len(rows) - wire.MostMet
		rows = rows[:wire.MostMet]
	}
	if session != nil && c.Who.Via == coord.ViaTool {
		if err := c.Heard(ctx, session.ID, i.ID, rows[:min(len(rows), wire.ToldConflicts)]); err != nil {
			return met, err
		}
	}
	if err := c.PartiesNow(ctx, c.Who.OrgID, rows); err != nil { // what was found may have blocked them
		return met, err
	}
	met.Conflicts = make([]coord.Conflict, len(rows))
	for k, r := range rows { // as this side reads them
		side := coord.Holder
		if r.Challenger == i.ID {
			side = coord.Challenger
		}
		met.Conflicts[k] = r.For(side)
	}
	return met, nil
}

// ConflictsFor returns conflicts as the caller reads them, under the session
// they act as, if any.
func ConflictsFor(ctx context.Context, tx *store.Tx, rows []store.ConflictRow, who coord.Caller,
	sess *store.SessionRow) ([]coord.Conflict, error) {
	if err := tx.PartiesNow(ctx, who.OrgID, rows); err != nil {
		return nil, err
	}
	out := make([]coord.Conflict, len(rows))
	for i, r := range rows {
		out[i] = r.For(readingSide(r, who, sess))
	}
	return out, nil
}

// TellIntent writes an event about an intent of which there is no more to say.
func TellIntent(ctx context.Context, c *ground.Change, t coord.EventType, i store.IntentRow) error {
	return c.TellOf(ctx, t, i.ID, i.Repo.ID, ground.IntentFacts(i))
}
