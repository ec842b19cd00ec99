package moments

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// numberholders returns who is in the way of one more number of a resource:
// all who have one, if there is none left. Nobody is, once the caller's intent
// has one.
func (s *Service) numberholders(who *coord.Caller, t *target, r scope.Resource) func(context.Context, []string) (sight, error) {
	return func(ctx context.Context, _ []string) (seen sight, err error) {
		seen.outcome = "released"
		if r.Kind == scope.Migrations {
			return seen, nil // there is always a next one
		}
		var rules *policy.Effective
		has := false
		err = s.Read(ctx, func(tx *store.Tx) error {
			if rules, err = tx.EffectivePolicy(ctx, who.OrgID, t.place.Repo.ID); err != nil || t.intent == "" {
				return err
			}
			i, err := tx.IntentByID(ctx, who.OrgID, t.intent)
			_, has = work.Leased(i, t.resource)
			return err
		})
		if err != nil || has {
			return seen, err
		}
		first, last := policy.Range(rules.ResourceRanges[r.Kind]).Ends()
		err = s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
			held := engine.NumbersHeld(ix, r.Kind)
			mode := coord.Exclusive
			for n := first; n <= last; n++ {
				w := held[n]
				if w == nil {
					seen.holders = nil
					return nil
				}
				h := engine.Hold{Worker: w, Evidence: []engine.HoldEvidence{{Via: coord.ViaClaim, Selector: r.With(n).String(), Mode: &mode}}}
				if !slices.ContainsFunc(seen.holders, func(o wire.WaitHolder) bool { return o.Intent != nil && o.Intent.Ref == w.Ref() }) {
					seen.holders = append(seen.holders, waitHolder(h))
				}
			}
			return nil
		})
		return seen, err
	}
}

// lease gives the caller's intent what it asked for and what is free now, and
// returns how it stands with the target.
func (s *Service) lease(ctx context.Context, who *coord.Caller, t *target) (out *coord.Lease, err error) {
	err = s.Alter(ctx, *who, func(c *ground.Change) error {
		i, err := c.IntentByID(ctx, who.OrgID, t.intent)
		if err != nil || !i.Status.Live() {
			return err
		}
		l, has := work.Leased(i, t.resource)
		if l == nil || has {
			out = l
			return nil
		}
		if _, err := work.Revise(ctx, c, &i, wire.IntentPatch{}, nil, nil); err != nil {
			return err
		}
		out, _ = work.Leased(i, t.resource)
		return nil
	})
	return out, err
}
