package outgoing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// Figures of daily sums that are no event's type.
const (
	figureResolved = "resolved"
	figureFalse    = "false_alarm"
	figureHeat     = "heat"
	figureTool     = "tool"
)

// settling is how long after midnight a day is summed up: a write that began
// before it may be committed after it.
const settling = 15 * time.Minute

// Tidy seals the log, sums up the days that are over, and forgets what is older than each
// org's retention_days. Several replicas may run it.
func (s *Service) Tidy(ctx context.Context) error {
	if err := s.Seal(ctx); err != nil {
		return err
	}
	var orgs []coord.Org
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		orgs, err = tx.Orgs(ctx)
		return err
	})
	var failed []error // of one org, which must not keep the others waiting
	for _, o := range orgs {
		until, err := s.sumUp(ctx, o.ID)
		if err == nil {
			err = s.forgetOld(ctx, o.ID, until)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("org %s: %w", o.ID, err))
		}
	}
	return errors.Join(append(failed, err)...)
}

// sumDays is how many days are summed up at once, where there are many.
const sumDays = 10

// sumUp sums up an org's days, a few at a time, and returns up to when it came.
func (s *Service) sumUp(ctx context.Context, org string) (until coord.Time, err error) {
	for {
		var from, next coord.Time
		var sums []store.Sum
		err := s.Read(ctx, func(tx *store.Tx) (err error) {
			if from, err = tx.SummedUntil(ctx, org); err != nil {
				return err
			}
			over := midnight(tx.Now.Add(-settling))
			first, err := tx.NextEventAt(ctx, org, from)
			if err != nil || from >= over {
				return err
			}
			if first == 0 || first >= over {
				next = over
				return nil
			}
			next = min(midnight(first).Add(sumDays*day), over)
			sums, err = daySums(ctx, tx, org, store.StatsWindow{Since: midnight(first), Until: next})
			return err
		})
		if err != nil || next == 0 {
			return from, err
		}
		err = s.Store.Write(ctx, org, func(tx *store.Tx) error {
			_, err := tx.SaveSums(ctx, org, from, next, sums)
			return err
		})
		if err != nil {
			return from, err
		}
	}
}

func midnight(t coord.Time) coord.Time { return coord.TimeOf(t.Std().Truncate(day)) }

// daySums counts what happened on each day of a window.
func daySums(ctx context.Context, tx *store.Tx, org string, w store.StatsWindow) ([]store.Sum, error) {
	byKey := map[store.Sum]int{}
	hours := map[store.Sum]*[24]int{} // one row each: there would be two dozen a day
	err := countLog(ctx, tx, org, w, func(moment coord.Time, user, repo, figure string, n int) {
		at := midnight(moment)
		byKey[store.Sum{Day: at, Figure: figure, User: user, Repo: repo}] += n
		heat := store.Sum{Day: at, Figure: figureHeat, Repo: repo}
		if hours[heat] == nil {
			hours[heat] = &[24]int{}
		}
		hours[heat][moment.Std().Hour()] += n
	})
	if err != nil {
		return nil, err
	}
	tools, err := tx.CountTools(ctx, org, w)
	for _, t := range tools {
		at := coord.Time(t.Day * day.Milliseconds())
		byKey[store.Sum{Day: at, Figure: figureTool, Repo: t.Repo, Detail: t.Tool}] += t.Count
	}
	out := make([]store.Sum, 0, len(byKey)+len(hours))
	for k, by := range hours {
		k.Detail, k.Count = packed(*by)
		out = append(out, k)
	}
	for k, n := range byKey {
		k.Count = n
		out = append(out, k)
	}
	return out, err
}

// packed writes how much happened in each hour of a day as text, and returns
// how much it was in all.
func packed(by [24]int) (text string, total int) {
	b := make([]byte, 0, 64)
	for i, n := range by {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
		total += n
	}
	return string(b), total
}

// unpacked reads what packed wrote. Two days that were alike to the hour have
// become one row where two repos were merged: their total says so. An hour
// alone is from before days were packed.
func unpacked(text string, total int) (by [24]int) {
	if hour, err := strconv.Atoi(text); err == nil {
		by[hour%24] = total
		return by
	}
	sum := 0
	for i, n := range strings.SplitN(text, ",", 24) {
		by[i], _ = strconv.Atoi(n) // we wrote it
		sum += by[i]
	}
	for i := range by {
		by[i] = by[i] * total / max(sum, 1)
	}
	return by
}

// countLog counts a window's events from the log, by figure.
func countLog(ctx context.Context, tx *store.Tx, org string, w store.StatsWindow,
	add func(at coord.Time, user, repo, figure string, n int)) error {
	types := make([]coord.EventType, 0, len(counted))
	for t := range counted {
		types = append(types, t)
	}
	counts, err := tx.CountEvents(ctx, org, w, types)
	if err != nil {
		return err
	}
	for _, c := range counts {
		add(coord.Time(c.Hour*time.Hour.Milliseconds()), c.User, c.Repo, string(c.Type), c.Count)
	}
	verdicts := []coord.EventType{coord.EventConflictResolved, coord.EventConflictFeedback}
	events, err := tx.PersonalEvents(ctx, org, w, verdicts)
	if err != nil {
		return err
	}
	for _, e := range events {
		switch {
		case isFalse(e.Event):
			earlier, err := tx.Events(ctx, org, store.EventFilter{Types: verdicts, Subject: e.Subject.ID, Before: e.Seq})
			if err != nil {
				return err
			}
			if !anyFalse(earlier) { // once each, at the time of the first verdict
				add(e.OccurredAt, e.User, e.RepoID, figureFalse, 1)
			}
		case e.Type == coord.EventConflictResolved:
			add(e.OccurredAt, e.User, e.RepoID, figureResolved, 1)
		}
	}
	return nil
}

func isFalse(e coord.Event) bool {
	return e.Payload["resolution"] == string(coord.ResolvedFalsePositive) || e.Payload["verdict"] == string(coord.VerdictFalsePositive)
}

func anyFalse(events []coord.Event) bool {
	for _, e := range events {
		if isFalse(e) {
			return true
		}
	}
	return false
}

// fieldOf returns the total that a figure adds to.
func fieldOf(figure string) func(*wire.Totals) *int {
	switch figure {
	case figureResolved:
		return func(t *wire.Totals) *int { return &t.Resolved }
	case figureFalse:
		return func(t *wire.Totals) *int { return &t.FalsePositives }
	}
	return counted[coord.EventType(figure)]
}

const (
	stepRows  = 100                   // in one step
	stepPause = 20 * time.Millisecond // between two, in which others write
)

// inSteps runs a write again and again, until it has fewer rows than a step has.
func (s *Service) inSteps(ctx context.Context, lock string, step func(*store.Tx) (rows int, err error)) error {
	for {
		var n int
		if err := s.Store.Write(ctx, lock, func(tx *store.Tx) (err error) {
			n, err = step(tx)
			return err
		}); err != nil || n < stepRows {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(stepPause):
		}
	}
}

// forgetOld drops what is older than the org keeps, in small steps, and never
// an event whose day is not summed up.
func (s *Service) forgetOld(ctx context.Context, org string, summed coord.Time) error {
	var before coord.Time
	err := s.Read(ctx, func(tx *store.Tx) error {
		rules, err := tx.Policies(ctx, org)
		before = min(summed, tx.Now.Add(-time.Duration(policy.Merge(rules[""]).RetentionDays)*day))
		return err
	})
	for _, kind := range store.Stales {
		if err == nil {
			err = s.inSteps(ctx, org, func(tx *store.Tx) (int, error) { return tx.Forget(ctx, kind, org, before, stepRows) })
		}
	}
	return err
}
