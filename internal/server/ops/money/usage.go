package money

import (
	"context"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/plan"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// admitted remembers who was counted in which month, so that a tool call
// writes only the first time.
type admitted struct {
	mu    sync.Mutex
	month string
	users map[string]bool // by org and user
	told  map[string]bool // which limits were told of: by org, month and limit
}

// Admit counts a tool's caller as an active developer of the month, or refuses
// one more than the plan allows.
func (s *Service) Admit(ctx context.Context, who coord.Caller) error {
	month := store.Month(s.Store.Now())
	key := who.OrgID + " " + who.UserID
	s.admitted.mu.Lock()
	if s.admitted.month != month {
		s.admitted.month, s.admitted.users = month, map[string]bool{}
	}
	known := s.admitted.users[key]
	s.admitted.mu.Unlock()
	if known {
		return nil
	}
	err := s.Write(ctx, who, func(tx *store.Tx) error { return s.admit(ctx, tx, who, month) })
	if problem.KindOf(err) == problem.PlanLimit {
		return s.LimitReached(ctx, who, limitDevelopers, err)
	}
	if err == nil {
		s.admitted.mu.Lock()
		if s.admitted.month == month { // else they are to be counted in the new one
			s.admitted.users[key] = true
		}
		s.admitted.mu.Unlock()
	}
	return err
}

func (s *Service) admit(ctx context.Context, tx *store.Tx, who coord.Caller, month string) error {
	n, known, err := tx.CountActive(ctx, who.OrgID, month, who.UserID)
	if err != nil || known {
		return err
	}
	org, err := tx.Org(ctx, who.OrgID)
	if err != nil {
		return err
	}
	if limit := plan.Limits(org.Plan).Developers; limit > 0 && n >= limit {
		return problem.Newf(problem.PlanLimit,
			"the %s plan has room for %d active developers this month; an admin can upgrade under Settings, Billing", org.Plan, limit)
	}
	return tx.AddActive(ctx, who.OrgID, month, who.UserID)
}

// The limits of a plan.
const (
	LimitRepos      = "repos"
	limitDevelopers = "developers"
)

// LimitReached tells, once a month, that somebody was refused because of a
// limit of the plan, and returns the refusal.
func (s *Service) LimitReached(ctx context.Context, who coord.Caller, limit string, refusal error) error {
	month := store.Month(s.Store.Now())
	key := who.OrgID + " " + month + " " + limit
	s.admitted.mu.Lock()
	told := s.admitted.told[key]
	s.admitted.mu.Unlock()
	if told {
		return refusal
	}
	if err := s.Write(ctx, who, func(tx *store.Tx) error { return TellLimit(ctx, tx, who, limit) }); err != nil {
		return err
	}
	s.admitted.mu.Lock()
	defer s.admitted.mu.Unlock()
	if s.admitted.told == nil {
		s.admitted.told = map[string]bool{}
	}
	s.admitted.told[key] = true
	return refusal
}

// TellLimit tells that a limit of the plan is reached, if nobody has this
// month.
func TellLimit(ctx context.Context, tx *store.Tx, who coord.Caller, limit string) error {
	month := store.Month(tx.Now)
	first, err := tx.NotePlan(ctx, who.OrgID, month, limit)
	if err != nil || !first {
		return err
	}
	org, err := tx.Org(ctx, who.OrgID)
	if err != nil {
		return err
	}
	allowed := plan.Limits(org.Plan)
	return ground.Emit(ctx, tx, who, ground.Happening{Type: coord.EventPlanLimitReached, Subject: coord.Entity{Kind: "org", ID: who.OrgID},
		Payload: wire.PlanLimitPayload{
			Plan:    org.Plan,
			Limit:   limit,
			Allowed: map[string]int{LimitRepos: allowed.Repos, limitDevelopers: allowed.Developers}[limit],
			Month:   month,
		}})
}

// usageWarnings returns the limits of an org's plan that are near or reached.
func usageWarnings(l plan.Limit, repos, developers int) []wire.UsageWarning {
	out := []wire.UsageWarning{}
	for _, w := range []wire.UsageWarning{
		{Limit: LimitRepos, Used: repos, Allowed: l.Repos},
		{Limit: limitDevelopers, Used: developers, Allowed: l.Developers},
	} {
		if plan.Near(w.Used, w.Allowed) {
			w.Reached = w.Used >= w.Allowed
			out = append(out, w)
		}
	}
	return out
}

// GetUsage tells how much of its plan an org uses this month.
func (s *Service) GetUsage(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Usage, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		if out, err = Usage(ctx, tx, who.OrgID); err == nil && !who.Role.IsAdmin() {
			out.Developers = []wire.ActiveDeveloper{}
		}
		return err
	})
	return out, err
}

// Usage returns what an org uses of its plan this month.
func Usage(ctx context.Context, tx *store.Tx, id string) (out wire.Usage, err error) {
	org, err := tx.Org(ctx, id)
	if err != nil {
		return out, err
	}
	l := plan.Limits(org.Plan)
	out = wire.Usage{Plan: org.Plan, Period: store.Month(tx.Now), Limits: limitsOf(org.Plan), Developers: []wire.ActiveDeveloper{}}
	if out.Repos, err = tx.CountRepos(ctx, id); err != nil {
		return out, err
	}
	active, err := tx.ActiveDevelopers(ctx, id, out.Period)
	out.ActiveDevelopers = len(active)
	for _, a := range active {
		out.Developers = append(out.Developers, wire.ActiveDeveloper{User: a.User, FirstActiveAt: a.FirstAt})
	}
	out.Warnings = usageWarnings(l, out.Repos, out.ActiveDevelopers)
	return out, err
}

// limitsOf returns what a plan allows; nil is no limit.
func limitsOf(name string) wire.UsageLimits {
	l := plan.Limits(name)
	return wire.UsageLimits{Repos: limitOf(l.Repos), Developers: limitOf(l.Developers)}
}

func limitOf(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
