package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/engine/order"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// GetLanding tells in which order the live work of a repository costs the
// fewest lines to write again, or what an order costs that somebody would like.
func (s *Service) GetLanding(ctx context.Context, who coord.Caller, in wire.GetLanding) (out wire.Landing, err error) {
	var first []string
	var rows []store.ConflictRow
	err = s.Read(ctx, func(tx *store.Tx) error {
		repo, err := FindRepo(ctx, tx, who, in.Repo)
		if err != nil {
			return err
		}
		out.Repo = coord.RepoName{ID: repo.ID, FullName: repo.FullName}
		for k, ref := range in.If {
			i, err := FindIntent(ctx, tx, who, ref)
			if problem.KindOf(err) == problem.NotFound || err == nil && !i.Status.Live() {
				return problem.InvalidField(fmt.Sprintf("if[%d]", k), "%q is no live intent", ref)
			}
			if err != nil {
				return err
			}
			first = append(first, i.ID)
		}
		rows, err = tx.Conflicts(ctx, who.OrgID, store.ConflictFilter{Repo: repo.ID, Statuses: coord.LiveConflictStatuses()})
		return err
	})
	if err != nil {
		return out, err
	}
	err = s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
		l := engine.LandingOrder(ix, out.Repo.ID, first)
		out.LandingPrice, out.Best, out.Steps = priceOf(l.Price), priceOf(l.Best), make([]wire.LandingStep, len(l.Steps))
		landed := map[string]bool{}
		for k, step := range l.Steps {
			out.Steps[k] = landingStep(k+1, step, landed, rows)
			landed[step.Worker.ID] = true
		}
		return nil
	})
	return out, err
}

func priceOf(p order.Price) wire.LandingPrice {
	return wire.LandingPrice{LinesRedone: p.Lines, Breaks: p.Breaks}
}

func landingStep(place int, step engine.LandingStep, landed map[string]bool, rows []store.ConflictRow) wire.LandingStep {
	p := ground.PartyOf(coord.Holder, step.Worker)
	out := wire.LandingStep{Place: place, Intent: p.Intent, SessionID: p.SessionID, User: p.User, Repo: p.Repo, Branch: p.Branch,
		Outside: p.Outside, Reason: step.Reason, Redo: make([]wire.LandingRedo, len(step.Redo)), Conflicts: []string{},
		LandingPrice: priceOf(step.Price)}
	for k, r := range step.Redo {
		after := cmp.Or(r.After.Ref(), outsideName(r.After), r.After.User.Name)
		out.Redo[k] = wire.LandingRedo{After: after, Kind: r.Kind, Place: r.Place, Lines: r.Lines, Break: r.Break}
	}
	for _, row := range rows {
		if row.Holder == step.Worker.ID && landed[row.Challenger] || row.Challenger == step.Worker.ID && landed[row.Holder] {
			out.Conflicts = append(out.Conflicts, row.Ref)
		}
	}
	slices.Sort(out.Conflicts)
	return out
}

// outsideName names work of people who do not use svc, "" for others'.
func outsideName(w *engine.Worker) string {
	if w.Outside == nil {
		return ""
	}
	return strings.TrimSpace(w.Outside.Name() + " " + w.Branch)
}

// sequence puts into words in which order the sides of a conflict best land, or
// returns nil where that is not known.
func sequence(c *ground.Change, row store.ConflictRow) *string {
	var order []engine.LandingStep
	for _, step := range engine.LandingOrder(c.Live.View(), row.Repo.ID, nil).Steps {
		if step.Worker.ID == row.Holder || step.Worker.ID == row.Challenger {
			order = append(order, step)
		}
	}
	if len(order) != 2 || order[0].Worker.Ref() == "" || order[1].Worker.Ref() == "" {
		return nil
	}
	why := order[1].Reason
	text := fmt.Sprintf("%s lands first, then %s: %s", order[0].Worker.Ref(), order[1].Worker.Ref(), strings.ToLower(why[:1])+why[1:])
	return &text
}
