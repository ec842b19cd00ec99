package work

import (
	"context"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// Lapses returns when an intent's claims end, if nothing more happens; of one
// that is closed, when they ended.
func Lapses(i store.IntentRow, p *policy.Effective) coord.Time {
	switch {
	case i.ClosedAt != nil:
		return *i.ClosedAt
	case i.Status == coord.IntentInReview || i.Status == coord.IntentBlocked && i.Resume == coord.IntentInReview:
		return i.LastActivityAt.Add(time.Duration(p.ReviewExpireDays) * 24 * time.Hour)
	}
	return i.LastActivityAt.Add(time.Duration(p.IntentExpireHours) * time.Hour)
}

// Show is shown for one intent, by the rules of its repo.
func Show(ctx context.Context, tx *store.Tx, i store.IntentRow, who coord.Caller) (coord.Intent, error) {
	rules, err := tx.EffectivePolicy(ctx, who.OrgID, i.Repo.ID)
	if err != nil {
		return coord.Intent{}, err
	}
	return shown(i, who, rules), nil
}

// shown returns an intent as the caller may see it: with its claims, and the
// title of a draft only to its owner.
func shown(i store.IntentRow, who coord.Caller, p *policy.Effective) coord.Intent {
	i.Claims = live.ClaimsOf(i)
	for k := range i.Claims {
		i.Claims[k].ExpiresAt = Lapses(i, p).Ptr()
	}
	if i.Status == coord.IntentDraft && i.Owner.ID != who.UserID {
		i.Title, i.Summary, i.PlanMD = "Draft", nil, nil
	}
	return i.Intent
}

// GetIntent returns one intent.
func (s *Service) GetIntent(ctx context.Context, who coord.Caller, in wire.GetIntent) (out coord.Intent, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		i, err := FindIntent(ctx, tx, who, in.Ref)
		if err == nil {
			out, err = Show(ctx, tx, i, who)
		}
		return err
	})
	return out, err
}

// FindIntent returns the intent that a ref names; what is no ref is not found.
func FindIntent(ctx context.Context, tx *store.Tx, who coord.Caller, ref string) (store.IntentRow, error) {
	n, ok := coord.ParseIntentRef(ref)
	if !ok {
		return store.IntentRow{}, problem.Newf(problem.NotFound, "%q is not an intent; refs look like INT-7", ref)
	}
	return tx.Intent(ctx, who.OrgID, n)
}

// ListIntents returns intents, newest first.
func (s *Service) ListIntents(ctx context.Context, who coord.Caller, in wire.ListIntents) (out wire.Page[coord.Intent], err error) {
	want := store.IntentFilter{Limit: in.Limit + 1, Statuses: intentStatuses(in.Status)}
	if err := ground.Uncursor(in.Cursor, &want.Before); err != nil {
		return out, err
	}
	if want.Changed, err = ground.Moment("changed_since", in.Since); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		if want.Owner, err = PersonFilter(ctx, tx, who, "owner", in.Owner); err != nil {
			return err
		}
		if want.Repo, err = RepoFilter(ctx, tx, who, in.Repo); err != nil {
			return err
		}
		rules, err := tx.Policies(ctx, who.OrgID)
		if err != nil {
			return err
		}
		rows, err := tx.Intents(ctx, who.OrgID, want)
		if err != nil {
			return err
		}
		rows, out.NextCursor = ground.Page(rows, in.Limit, func(i store.IntentRow) []any { return []any{i.Number} })
		out.Items = make([]coord.Intent, len(rows))
		for k, i := range rows {
			if i.Handoff, err = tx.LastHandoff(ctx, i.ID); err != nil {
				return err
			}
			out.Items[k] = shown(i, who, policy.Merge(rules[""], rules[i.Repo.ID]))
		}
		return nil
	})
	return out, err
}

func intentStatuses(names []string) (out []coord.IntentStatus) {
	for _, n := range names {
		if n == "live" {
			out = append(out, coord.LiveIntentStatuses()...)
		} else {
			out = append(out, coord.IntentStatus(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// PersonFilter reads "me" or an email out of a field.
func PersonFilter(ctx context.Context, tx *store.Tx, who coord.Caller, field, owner string) (string, error) {
	switch {
	case owner == "":
		return "", nil
	case owner == "me" && who.Personal():
		return who.UserID, nil
	case owner == "me":
		return "", problem.InvalidField(field, "a service token is nobody; name an email")
	}
	m, err := tx.MemberByEmail(ctx, who.OrgID, owner)
	if problem.KindOf(err) == problem.NotFound { // who has left may have left work behind
		if id, known := tx.FormerOwner(ctx, who.OrgID, owner); known == nil && id != "" {
			return id, nil
		}
	}
	return m.ID, err
}
