package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/memory"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/people"
	"github.com/svc-hq/svc/internal/server/store"
)

// Sweep ends what nobody has touched for too long: quiet sessions and intents
// without activity. Several replicas may run it: whoever comes second finds
// nothing left to do.
func (s *Service) Sweep(ctx context.Context) error {
	var orgs []coord.Org
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		orgs, err = tx.Orgs(ctx)
		return err
	})
	if err != nil {
		return err
	}
	failed := []error{} // of one org, which must not keep the others waiting
	for _, o := range orgs {
		if err := s.sweepOrg(ctx, o.ID); err != nil {
			failed = append(failed, fmt.Errorf("org %s: %w", o.ID, err))
		}
	}
	return errors.Join(append(failed, s.Store.Write(ctx, people.SigninLock, func(tx *store.Tx) error {
		return ground.FirstError(tx.ForgetHookReplies(ctx, tx.Now.Add(-HookReplyKept)),
			tx.ForgetLineMaps(ctx, live.MapsKept), tx.ForgetPatches(ctx, tx.Now.Add(-patchesKept)), tx.DeleteExpiredSignins(ctx),
			tx.DeleteOldStatuses(ctx, memory.Window))
	}))...)
}

func (s *Service) sweepOrg(ctx context.Context, org string) error {
	due, err := s.due(ctx, org)
	if err != nil || !due {
		return err
	}
	return s.Alter(ctx, ground.System(org), func(c *ground.Change) error {
		sessions, err := c.QuietSessions(ctx, org, c.Now.Add(-Expiry))
		if err != nil {
			return err
		}
		for _, x := range sessions {
			if err := expireSession(ctx, c, x); err != nil {
				return err
			}
		}
		intents, err := expired(ctx, c.Tx, org)
		if err != nil {
			return err
		}
		for i := range intents {
			if err := End(ctx, c, &intents[i], coord.IntentExpired, coord.EventIntentExpired); err != nil {
				return err
			}
		}
		return ground.FirstError(shareUnattended(ctx, c, org), forgetStale(ctx, c, org))
	})
}

// shareUnattended shares the exclusive claims that stand in somebody's way and
// for which nobody has given a sign of life within the policy's grace.
func shareUnattended(ctx context.Context, c *ground.Change, org string) error {
	rows, err := unattended(ctx, c.Tx, org)
	for k := range rows {
		if err != nil {
			return err
		}
		i := &rows[k]
		released := Release(i)
		if err = c.ShareClaim(ctx, i, "shared: its session ended, and nobody answered for it"); err == nil {
			err = TellIntent(ctx, c, coord.EventIntentReleased, *i)
		}
		if err == nil {
			err = PassOn(ctx, c, released)
		}
	}
	return err
}

// unattended returns the intents whose exclusive claim is in somebody's way
// and whose grace is over: it runs from when the last session ended, or from
// when the claim began to be in the way, whichever was later.
func unattended(ctx context.Context, tx *store.Tx, org string) (out []store.IntentRow, err error) {
	rows, err := tx.Unattended(ctx, org)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	rules, err := tx.Policies(ctx, org)
	if err != nil {
		return nil, err
	}
	for _, u := range rows {
		grace := time.Duration(policy.Merge(rules[""], rules[u.Repo.ID]).ExclusiveGraceMinutes) * time.Minute
		asked := max(*u.Left, u.InTheWaySince)
		if u.LastActivityAt <= asked && asked.Add(grace) <= tx.Now {
			out = append(out, u.IntentRow)
		}
	}
	return out, nil
}

// due looks without a lock whether there is anything to sweep.
func (s *Service) due(ctx context.Context, org string) (due bool, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		sessions, err := tx.QuietSessions(ctx, org, tx.Now.Add(-Expiry))
		if err != nil || len(sessions) > 0 {
			due = true
			return err
		}
		intents, err := expired(ctx, tx, org)
		if due = len(intents) > 0; err != nil || due {
			return err
		}
		claims, err := unattended(ctx, tx, org)
		if due = len(claims) > 0; err != nil || due {
			return err
		}
		branches, err := tx.Branches(ctx, org, stale(tx))
		due = len(branches) > 0
		return err
	})
	return due, err
}

func expireSession(ctx context.Context, c *ground.Change, x store.SessionRow) error {
	// It ended as its time was up; that we noticed later is our affair.
	return c.EndAndSettle(ctx, x, x.LastHeartbeatAt.Add(Expiry), wire.SessionEndedPayload{Tool: x.Tool, Expired: true})
}

// maxExpired bounds what one sweep of an org ends: the next one goes on.
const maxExpired = 500

// expired returns the live intents without activity for longer than their
// repo's policy allows. How long that is differs, so none is passed over for
// others that are quiet, too, and may be.
func expired(ctx context.Context, tx *store.Tx, org string) (out []store.IntentRow, err error) {
	rules, err := tx.Policies(ctx, org)
	if err != nil {
		return nil, err
	}
	merged := map[string]*policy.Effective{}
	for after := 0; ; {
		rows, err := tx.QuietIntents(ctx, org, tx.Now.Add(-time.Hour), after)
		if err != nil || len(rows) == 0 {
			return out, err
		}
		for _, i := range rows {
			if merged[i.Repo.ID] == nil {
				merged[i.Repo.ID] = policy.Merge(rules[""], rules[i.Repo.ID])
			}
			if Lapses(i, merged[i.Repo.ID]) <= tx.Now {
				out = append(out, i)
			}
			if after = i.Number; len(out) == maxExpired {
				return out, nil
			}
		}
	}
}

// HookReplyKept is how long a retry of an event gets the same answer.
const HookReplyKept = 48 * time.Hour
