package moments

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ruling"
	"github.com/svc-hq/svc/internal/server/store"
)

// Turning points of conflicts are told once to each session whose work they
// concern: what it heard last is noted, and compared with what is so now.

// recall finds the session's work and its live conflicts, for who has not
// settled them just now.
func (h *hook) recall(ctx context.Context) error {
	if h.intent == nil && h.session.IntentID != nil {
		i, err := h.IntentByID(ctx, h.Who.OrgID, *h.session.IntentID)
		if err != nil {
			return err
		}
		if i.Status.Live() {
			h.intent = &i
		}
	}
	rows, err := h.Conflicts(ctx, h.Who.OrgID, store.ConflictFilter{Worker: h.worker(), Statuses: coord.LiveConflictStatuses(), History: true})
	h.found = rows
	return err
}

// conflictNews tells what has become of the session's conflicts since it heard
// of them: new ones of severity warn and block, work that was merged into its
// lines, and every turning point of what it knows.
func (h *hook) conflictNews(ctx context.Context) error {
	findings := h.Findings(h.worker())
	merged, err := h.endings(ctx, findings)
	if err != nil {
		return err
	}
	for i := range findings {
		f := &findings[i]
		at := slices.IndexFunc(h.found, func(c store.ConflictRow) bool { return c.Fingerprint == f.Fingerprint })
		if at < 0 || f.Severity.Rank() < coord.SeverityWarn.Rank() && !toldAsInfo(f.Kind) {
			continue
		}
		row := h.found[at]
		if merged[f.Fingerprint] { // told with the end of what it was before
			if err := h.Tell(ctx, h.session.ID, ground.HeardKey(f.Fingerprint), ground.HeardMark(ground.HeardRow(row, h.worker()))); err != nil {
				return err
			}
			continue
		}
		h.conflictItem(row.Ref, ground.HeardRow(row, h.worker()), orderOf(row), f)
	}
	if err := h.withdrawals(ctx, findings); err != nil {
		return err
	}
	return h.TurnsTold(ctx, h.session.ID)
}

// toldAsInfo reports whether agents hear of a kind whose severity is info: what
// there is to do about it, only they can do, and no edit is warned of it.
func toldAsInfo(k coord.ConflictKind) bool {
	return k == coord.RebaseNeeded || k == coord.DuplicateWork
}

// withdrawals tells a holder of attempts that were taken back, also of those
// that it has not heard of: nothing about its claim happens behind its back.
func (h *hook) withdrawals(ctx context.Context, findings []engine.Finding) error {
	const most = 20
	rows, err := h.Conflicts(ctx, h.Who.OrgID, store.ConflictFilter{Worker: h.worker(),
		Statuses: []coord.ConflictStatus{coord.ConflictResolved},
		Limit:    most})
	for _, row := range rows {
		if err != nil {
			return err
		}
		key := ground.HeardKey(row.Fingerprint)
		heard := ground.ReadHeard(h.brief.heard, key)
		if row.Holder != h.worker() || row.Resolution == nil || *row.Resolution != coord.ResolvedWithdrawn ||
			*row.ClosedAt < h.session.StartedAt ||
			heard != nil && (heard.Ref == row.Ref || !heard.Over) ||
			slices.ContainsFunc(h.found, func(c store.ConflictRow) bool { return c.Fingerprint == row.Fingerprint }) {
			continue
		}
		var end engine.Ending
		if end, err = h.ending(ctx, row, findings, map[string]bool{}); err == nil {
			mark := ground.HeardMark(engine.Heard{Ref: row.Ref, Severity: row.Severity, Over: true})
			h.brief.add(rankConflict, key, mark, marker.Say(engine.TellEnding(end, h.worker()), ruling.MaxLine), nil)
		}
	}
	return err
}

func orderOf(row store.ConflictRow) string {
	if o := ground.Order(row.Actions); o != nil {
		return o.By.Name
	}
	return ""
}

// conflictItem tells of a finding, unless this session has heard of it and
// nothing has become of it since.
func (h *hook) conflictItem(ref string, now engine.Heard, order string, f *engine.Finding) {
	key := ground.HeardKey(f.Fingerprint)
	heard := ground.ReadHeard(h.brief.heard, key)
	turn := engine.TurnOf(heard, now)
	switch turn {
	case engine.TurnNone:
		return
	case engine.TurnNew:
		order = ""
		text, suggestion := engine.Explain(*f, h.worker(), h.Now)
		h.brief.add(rankConflict, key, ground.HeardMark(now), ruling.Line(ref, f, text, suggestion), nil)
		return
	}
	text := engine.TellTurn(turn, heard, *f, h.worker(), h.Now, order)
	h.brief.add(rankConflict, key, ground.HeardMark(now), ruling.Line(ref, f, text, coord.Suggestion{}), nil)
}

// endings tells which conflicts that the session heard of are over, why, and
// what to do now. It returns the fingerprints of merged work that it told of.
func (h *hook) endings(ctx context.Context, findings []engine.Finding) (map[string]bool, error) {
	merged := map[string]bool{}
	for key := range h.brief.heard {
		print, ok := strings.CutPrefix(key, ground.HeardPrefix)
		heard := ground.ReadHeard(h.brief.heard, key)
		if !ok || heard == nil || heard.Over || slices.ContainsFunc(h.found, func(c store.ConflictRow) bool { return c.Fingerprint == print }) {
			continue
		}
		last, err := h.LastConflict(ctx, h.Who.OrgID, print)
		if err != nil {
			return nil, err
		}
		if last == nil || last.Status.Live() {
			continue
		}
		mark := ground.HeardMark(engine.Heard{Ref: last.Ref, Severity: last.Severity, Over: true})
		if last.Holder != h.worker() && last.Challenger != h.worker() {
			if h.mayReturnTo(last.Holder) || h.mayReturnTo(last.Challenger) {
				continue // told when the session is back at that work
			}
			// The session has left that work for good: not its affair any more.
			if err := h.Tell(ctx, h.session.ID, key, mark); err != nil {
				return nil, err
			}
			continue
		}
		end, err := h.ending(ctx, *last, findings, merged)
		if err != nil {
			return nil, err
		}
		h.brief.add(rankConflict, key, mark, marker.Say(engine.TellEnding(end, h.worker()), ruling.MaxLine), nil)
	}
	return merged, nil
}

// mayReturnTo reports whether work is alive and its person's own, so that the
// session can take it up again.
func (h *hook) mayReturnTo(worker string) bool {
	w := h.Live.Worker(worker)
	return w != nil && w.User.ID == h.session.User.ID
}

// ending gathers how a conflict came to its end.
func (h *hook) ending(ctx context.Context, last store.ConflictRow, findings []engine.Finding, merged map[string]bool) (engine.Ending,
	error) {
	row, err := h.Conflict(ctx, h.Who.OrgID, last.Number)
	if err != nil {
		return engine.Ending{}, err
	}
	holds := row.Holder == h.worker()
	end := engine.Ending{Ref: row.Ref, Kind: row.Kind, Status: row.Status, Holds: holds, Other: otherSide(row, holds), Reader: h.session.User,
		Order: orderOf(row)}
	if row.Resolution != nil {
		end.Resolution = *row.Resolution
	}
	if row.Override != nil {
		end.By = row.Override.By.Name
	} else if n := len(row.Actions); n > 0 {
		end.By = row.Actions[n-1].By.Name
	}
	if end.Other.Intent != nil {
		i, err := h.Intent(ctx, h.Who.OrgID, end.Other.Intent.Number)
		if err != nil {
			return end, err
		}
		if end.Other.Intent.Title = i.Title; i.SessionID != nil {
			end.Other.Session = *i.SessionID
		}
		if !i.Status.Live() {
			end.Became = i.Status
		}
		end.Shared = !holds && row.Kind == coord.ExclusiveClaim && i.Status.Live() && i.EffectiveMode != coord.Exclusive
	}
	if holds && row.Kind == coord.ExclusiveClaim && h.intent != nil {
		end.Shared = h.intent.Mode == coord.Exclusive && h.intent.EffectiveMode != coord.Exclusive
	}
	for _, f := range findings {
		if f.Kind == coord.RebaseNeeded && end.Became == coord.IntentMerged && f.Holder.Ref() == end.Other.Ref() {
			end.Meets, merged[f.Fingerprint] = f.Place, true
		}
	}
	return end, nil
}

// otherSide returns the side of a conflict that does not read, as it was.
func otherSide(row store.ConflictRow, holds bool) *engine.Worker {
	w, role := &engine.Worker{ID: row.Holder, Repo: row.Repo}, coord.Holder
	if holds {
		w.ID, role = row.Challenger, coord.Challenger
	}
	for _, p := range row.Parties {
		if p.Role != role {
			continue
		}
		w.Repo = p.Repo
		if p.User != nil {
			w.User = *p.User
		}
		if p.Branch != nil {
			w.Branch = *p.Branch
		}
		if p.Intent != nil {
			w.Intent = &engine.Intent{Number: p.Intent.Number, Status: p.Intent.Status}
		}
	}
	return w
}
