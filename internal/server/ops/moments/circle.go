package moments

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// lingers is how long a wait that timed out still counts: an agent waits in
// turns of a minute.
const lingers = 30 * time.Second

// enterWait notes who waits for whom. If the caller's wait would close a circle
// it returns how to get out of it instead: all of them would wait for ever.
// Waits are noted in the database, where other replicas see them.
func (s *Service) enterWait(ctx context.Context, w *wait) (id string, circle *wire.Waited, err error) {
	who, in, t := w.who, w.in, w.target
	seen, err := t.holders(ctx, nil)
	if err != nil || len(seen.holders) == 0 {
		return "", nil, err
	}
	err = s.Write(ctx, *who, func(tx *store.Tx) error {
		sess := t.place.Session
		if sess == nil {
			// Which of several agents it is may not be known: then no circle is.
			if sess, err = s.work.ActingSession(ctx, tx, *who, in.SessionID, ""); err != nil || sess == nil {
				return nil
			}
		}
		me := sess.ID
		if sess.Intent != nil && sess.Intent.Status.Live() {
			me = sess.Intent.Ref
		}
		w := store.WaitRow{ID: ground.NewID(), Worker: me, Target: t.name, Since: tx.Now,
			Until: tx.Now.Add(time.Duration(in.TimeoutSeconds)*time.Second + lingers)}
		for _, h := range seen.holders {
			w.Holders = append(w.Holders, holderKey(h.Party))
		}
		waits, err := tx.Waits(ctx, who.OrgID)
		if err != nil {
			return err
		}
		if chain := circleOf(waits, w); chain != nil {
			circle = &wire.Waited{Status: "still_busy", Holders: seen.holders, Holder: &seen.holders[0], Suggestion: circleText(chain,
				seen.holders[0])}
			return nil
		}
		id = w.ID
		return tx.AddWait(ctx, who.OrgID, w)
	})
	return id, circle, err
}

// holderKey names who is in the way as waits name who waits.
func holderKey(p coord.Party) string {
	switch {
	case p.Intent != nil:
		return p.Intent.Ref
	case p.SessionID != nil:
		return *p.SessionID
	}
	return ""
}

// circleOf returns the waits that a new one would close into a circle, the new
// one first, or nil.
func circleOf(waits []store.WaitRow, w store.WaitRow) []store.WaitRow {
	var walk func(chain []store.WaitRow) []store.WaitRow
	walk = func(chain []store.WaitRow) []store.WaitRow {
		last := chain[len(chain)-1]
		for _, next := range waits {
			// Who waits for the same thing stands in the same line: the first of
			// it goes on, so that they are in nobody's way.
			if next.Worker == w.Worker || next.Target == last.Target || !slices.Contains(last.Holders, next.Worker) ||
				slices.ContainsFunc(chain, func(c store.WaitRow) bool { return c.Worker == next.Worker }) {
				continue
			}
			longer := append(slices.Clone(chain), next)
			if slices.Contains(next.Holders, w.Worker) {
				return longer
			}
			if found := walk(longer); found != nil {
				return found
			}
		}
		return nil
	}
	return walk([]store.WaitRow{w})
}

// circleText tells who waits for whom, and how to get out of it.
func circleText(chain []store.WaitRow, holder wire.WaitHolder) string {
	steps := make([]string, len(chain))
	for i, w := range chain {
		name := w.Worker
		if i == 0 {
			name = "you"
		}
		verb := "waits"
		if i == 0 {
			verb = "would wait"
		}
		steps[i] = fmt.Sprintf("%s %s for %s", name, verb, peertext.Quoted(w.Target))
	}
	last := chain[len(chain)-1]
	ask := "the holder"
	if holder.User != nil {
		ask = peertext.QuotedName(holder.User.Name)
	}
	return fmt.Sprintf("Waiting would never end: %s, which you hold. Let go of %s (`intent_update` with scope_remove, or "+
		"`intent_close`), or ask %s (`message_send`) to release theirs first.",
		strings.Join(steps, ", and "), peertext.Quoted(last.Target), ask)
}

// leaveWait forgets a wait that is over. One that timed out is forgotten when
// its time is up: its agent may be about to wait again.
func (s *Service) leaveWait(ctx context.Context, who *coord.Caller, id string) {
	if id == "" {
		return
	}
	err := s.Write(context.WithoutCancel(ctx), *who, func(tx *store.Tx) error { return tx.DropWait(context.WithoutCancel(ctx), id) })
	if err != nil {
		s.Logger.WarnContext(ctx, "a wait that is over stays noted until its time is up", "err", err)
	}
}
