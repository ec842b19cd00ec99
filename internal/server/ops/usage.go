package ops

import (
	"context"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/plan"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// admitted remembers who was counted in which month, so that a tool call
// writes only the first time.
type admitted struct {
	mu    sync.Mutex
	month string
	users map[string]bool // by org and user
}

// Admit counts a tool's caller as an active developer of the month, or refuses
// one more than the plan allows.
func (s *Service) Admit(ctx context.Context, who coord.Caller) error {
	month := store.Month(s.store.Now())
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
	err := s.write(ctx, who, func(tx *store.Tx) error { return s.admit(ctx, tx, who, month) })
	if err == nil {
		s.admitted.mu.Lock()
		s.admitted.users[key] = true
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
		return problem.Newf(problem.PlanLimit, "the %s plan has room for %d active developers this month; an admin can upgrade under Settings, Billing", org.Plan, limit)
	}
	return tx.AddActive(ctx, who.OrgID, month, who.UserID)
}

// GetUsage tells how much of its plan an org uses this month.
func (s *Service) GetUsage(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Usage, err error) {
	err = s.read(ctx, func(tx *store.Tx) error {
		org, err := tx.Org(ctx, who.OrgID)
		if err != nil {
			return err
		}
		l := plan.Limits(org.Plan)
		out = wire.Usage{Plan: org.Plan, Period: store.Month(tx.Now), Limits: wire.UsageLimits{Repos: limitOf(l.Repos), Developers: limitOf(l.Developers)}}
		if out.Repos, err = tx.CountRepos(ctx, who.OrgID); err != nil {
			return err
		}
		active, err := tx.ActiveDevelopers(ctx, who.OrgID, out.Period)
		if err != nil {
			return err
		}
		out.ActiveDevelopers = len(active)
		if !who.Role.IsAdmin() {
			return nil
		}
		out.Developers = []wire.ActiveDeveloper{}
		for _, a := range active {
			out.Developers = append(out.Developers, wire.ActiveDeveloper{User: a.User, FirstActiveAt: a.FirstAt})
		}
		return nil
	})
	return out, err
}

func limitOf(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
