package work

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// UpdateIntent changes a live intent and returns its conflicts.
func (s *Service) UpdateIntent(ctx context.Context, who coord.Caller, in wire.UpdateIntent) (wire.Declared, error) {
	return s.updateIntent(ctx, who, in.Ref, in.IfMatch, in.IntentPatch, in.Note, nil)
}

// UpdateIntentTool is UpdateIntent as an agent calls it.
func (s *Service) UpdateIntentTool(ctx context.Context, who coord.Caller, in wire.IntentUpdate) (wire.Declared, error) {
	return s.updateIntent(ctx, who, string(in.Intent), wire.IfMatch{}, in.Patch, in.Note, in.SessionID)
}

func (s *Service) updateIntent(ctx context.Context, who coord.Caller, ref string, seen wire.IfMatch, patch wire.IntentPatch,
	note, session *string) (out wire.Declared, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		i, err := ownIntent(ctx, c, ref)
		if err != nil {
			return err
		}
		if !i.Status.Live() {
			return closedIntent(i)
		}
		sess, err := s.speaksFor(ctx, c, session, i.Repo.ID)
		if err != nil {
			return err
		}
		if sess != nil && ground.WorkerOf(*sess) != i.ID {
			sess = nil // an admin's, at something else
		}
		now, err := Show(ctx, c.Tx, i, who) // a draft's title is not everybody's to see
		if err == nil {
			err = seen.Check(now.Tag())
		}
		if err != nil {
			return err
		}
		if out.Met, err = Revise(ctx, c, &i, patch, note, sess); err != nil {
			return err
		}
		out.Intent, err = Show(ctx, c.Tx, i, who)
		return err
	})
	return out, err
}

// Revise changes a live intent and returns its conflicts. by is the session
// that works on it, if it is one that asks: the answer tells it of them.
func Revise(ctx context.Context, c *ground.Change, i *store.IntentRow, patch wire.IntentPatch, note *string,
	by *store.SessionRow) (met wire.Met, err error) {
	was := i.Status
	deps, err := applyPatch(ctx, c, i, patch)
	if err != nil {
		return met, err
	}
	if note != nil {
		i.Note = note
	}
	i.LastActivityAt = c.Now
	released, err := Lease(ctx, c, i)
	if err != nil {
		return met, err
	}
	if err := Honour(ctx, c, i); err != nil {
		return met, err
	}
	if err := c.SaveIntent(ctx, i); err != nil {
		return met, err
	}
	if deps != nil {
		if err := c.SetDependencies(ctx, i.ID, ids(deps)); err != nil {
			return met, err
		}
	}
	facts := ground.IntentFacts(*i)
	facts.PreviousStatus = was
	if err := c.TellOf(ctx, coord.EventIntentUpdated, i.ID, i.Repo.ID, facts); err != nil {
		return met, err
	}
	if err := passOn(ctx, c, i, released); err != nil {
		return met, err
	}
	return answerWith(ctx, c, i, by)
}

// speaksFor finds the session that a call about something in a repo acts as,
// if any, and attributes what follows to it.
func (s *Service) speaksFor(ctx context.Context, c *ground.Change, session *string, repo string) (*store.SessionRow, error) {
	if session == nil && c.Who.SessionID == "" && c.Who.Via != coord.ViaTool {
		return nil, nil
	}
	sess, err := s.ActingSession(ctx, c.Tx, c.Who, session, repo)
	if err == nil && sess != nil {
		c.Who.SessionID = sess.ID
	}
	return sess, err
}

// ownIntent returns an intent that the caller owns or, as an admin, may change.
func ownIntent(ctx context.Context, c *ground.Change, ref string) (store.IntentRow, error) {
	i, err := FindIntent(ctx, c.Tx, c.Who, ref)
	if err != nil {
		return i, err
	}
	user := c.Who.UserID
	if !c.Who.Personal() { // a service token acts for whoever made it
		if user, err = c.TokenCreator(ctx, c.Who.TokenID); err != nil {
			return i, err
		}
	}
	if i.Owner.ID == user || c.Who.Role.IsAdmin() {
		return i, nil
	}
	return i, problem.Newf(problem.Forbidden, "%s belongs to %s; only its owner or an admin changes it", i.Ref,
		peertext.QuotedName(i.Owner.Name))
}

func closedIntent(i store.IntentRow) error {
	return problem.Newf(problem.Conflict, "%s is closed (%s); declare a new intent", i.Ref, i.Status)
}

// applyPatch writes what changes into an intent. It returns the new dependencies,
// or nil if they stay.
func applyPatch(ctx context.Context, c *ground.Change, i *store.IntentRow, p wire.IntentPatch) ([]store.Dependency, error) {
	if p.Title != nil {
		if i.Title = strings.TrimSpace(*p.Title); i.Title == "" {
			return nil, problem.InvalidField("title", "must not be blank")
		}
	}
	if p.Summary != nil || p.Clears("summary") {
		i.Summary = p.Summary
	}
	if p.PlanMD != nil || p.Clears("plan_md") {
		i.PlanMD = p.PlanMD
	}
	if p.Clears("branch") {
		i.Branch = nil
	}
	if p.Branch != nil {
		if *p.Branch != "" && !scope.ValidBranch(*p.Branch) {
			return nil, problem.InvalidField("branch", "is no name for a branch: git would refuse it, or part of it cannot be seen")
		}
		i.Branch = ground.Optional(*p.Branch)
	}
	if p.PRNumber != nil || p.Clears("pr_number") {
		i.PRNumber = p.PRNumber
	}
	if err := patchScope(i, p); err != nil {
		return nil, err
	}
	if p.Status != nil {
		i.Resume = coord.IntentStatus(*p.Status)
		if i.Status != coord.IntentBlocked { // a blocked one returns to it by itself
			i.Status = i.Resume
		}
	} else if i.Status == coord.IntentDraft {
		i.Status, i.Resume = coord.IntentActive, coord.IntentActive
	}
	return patchDependencies(ctx, c, i, p)
}

func patchScope(i *store.IntentRow, p wire.IntentPatch) error {
	if p.ScopeAdd == nil && p.ScopeRemove == nil {
		return nil
	}
	var add, remove coord.ScopeSet
	var bad []problem.Field
	if p.ScopeAdd != nil {
		set, wrong := scope.Canonical("scope_add", *p.ScopeAdd)
		add, bad = set, wrong
	}
	if p.ScopeRemove != nil {
		set, wrong := scope.Canonical("scope_remove", *p.ScopeRemove)
		remove, bad = set, append(bad, wrong...)
	}
	merge := func(have, add, remove []string) []string {
		out := slices.Concat(have, add)
		slices.Sort(out)
		return slices.DeleteFunc(slices.Compact(out), func(x string) bool { return slices.Contains(remove, x) })
	}
	i.Scope = coord.ScopeSet{
		Paths:     merge(i.Scope.Paths, add.Paths, remove.Paths),
		Symbols:   merge(i.Scope.Symbols, add.Symbols, remove.Symbols),
		Contracts: merge(i.Scope.Contracts, add.Contracts, remove.Contracts),
	}
	i.Observed = merge(i.Observed, nil, remove.Paths)
	for name, list := range map[string][]string{"paths": i.Scope.Paths, "symbols": i.Scope.Symbols, "contracts": i.Scope.Contracts} {
		if len(list) > MaxScope {
			bad = append(bad, problem.Field{Path: "scope_add." + name, Message: "an intent holds at most 200 of them; remove some"})
		}
	}
	return problem.Invalid(bad)
}

// MaxScope is how many items each list of a scope holds, also after updates.
const MaxScope = 200

func patchDependencies(ctx context.Context, c *ground.Change, i *store.IntentRow, p wire.IntentPatch) ([]store.Dependency, error) {
	if p.DependsOnAdd == nil && p.DependsOnRemove == nil {
		return nil, nil
	}
	deps, err := c.Dependencies(ctx, i.ID)
	if err != nil {
		return nil, err
	}
	add, err := dependencies(ctx, c, "depends_on_add", p.DependsOnAdd, *i)
	if err != nil {
		return nil, err
	}
	deps = append(deps, add...)
	for k, ref := range p.DependsOnRemove {
		n, ok := coord.ParseIntentRef(string(ref))
		if !ok {
			return nil, problem.InvalidField(fmt.Sprintf("depends_on_remove[%d]", k), "%q is not an intent; refs look like INT-7", string(ref))
		}
		deps = slices.DeleteFunc(deps, func(d store.Dependency) bool { return d.Number == n })
	}
	slices.SortFunc(deps, func(a, b store.Dependency) int { return a.Number - b.Number })
	deps = slices.CompactFunc(deps, func(a, b store.Dependency) bool { return a.ID == b.ID })
	if len(deps) > 20 {
		return nil, problem.InvalidField("depends_on_add", "an intent depends on at most 20 others")
	}
	i.DependsOn = refsOf(deps)
	return deps, nil
}
