package moments

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ruling"
	"github.com/svc-hq/svc/internal/server/store"
)

// Who waited in vain has a wish: it is told once, with the next prompt or edit,
// that what it waited for is free. A wish is kept with what the session has been
// told, ends with the session, and with the intent that it was for.
const (
	wishKey   = "wish " // before the kind and name of the target
	wishOver  = "over"
	noIntent  = "-"
	maxWishes = 5 // that a session has at a time
)

// wishOf names what somebody waits for: its kind, which says how to look at it,
// and its name.
func wishOf(in *wire.WaitFor, t *target) string {
	kind := "path"
	switch {
	case in.Intent != nil:
		kind = "intent"
	case in.Conflict != nil:
		kind = "conflict"
	case in.Symbol != nil && scope.IsResource(t.name):
		kind = "resource"
	case in.Symbol != nil:
		kind = "symbol"
	}
	return wishKey + kind + " " + t.name
}

// wish notes what a wait that is over leaves: a wish where its target is still
// busy, and none any more where it is free.
func (s *Service) wish(ctx context.Context, w *wait, out *wire.Waited) error {
	who, in, t, noted := w.who, w.in, w.target, false
	err := s.Write(ctx, *who, func(tx *store.Tx) (err error) {
		noted = false
		sess := t.place.Session
		if sess == nil {
			if sess, err = s.work.ActingSession(ctx, tx, *who, in.SessionID, ""); err != nil || sess == nil {
				return nil // which of several agents it is may not be known
			}
		}
		heard, err := tx.Told(ctx, sess.ID)
		if err != nil {
			return err
		}
		key, own := wishOf(in, t), noIntent
		if sess.Intent != nil && sess.Intent.Status.Live() {
			own = sess.Intent.Ref
		}
		was := heard[key]
		switch standing := len(wishes(heard)); {
		case out.Status == "free" && was != "" && was != wishOver:
			return tx.Tell(ctx, sess.ID, key, wishOver)
		case out.Status == "free", (was == "" || was == wishOver) && standing >= maxWishes:
			return nil
		}
		noted = true
		return tx.Tell(ctx, sess.ID, key, own)
	})
	if noted && err == nil {
		out.Suggestion += " You are told with a later prompt or edit once it is free."
	}
	return err
}

// wishes are the standing ones among what a session has been told.
func wishes(heard map[string]string) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(heard)) {
		if strings.HasPrefix(key, wishKey) && heard[key] != wishOver {
			keys = append(keys, key)
		}
	}
	return keys
}

// wishNews tells that what the session waited for is free.
func (h *hook) wishNews(ctx context.Context) error {
	for _, key := range wishes(h.brief.heard) {
		if mark := h.brief.heard[key]; mark != noIntent && (h.intent == nil || h.intent.Ref != mark) { // it was for work that ended
			if err := h.Tell(ctx, h.session.ID, key, wishOver); err != nil {
				return err
			}
			continue
		}
		kind, name, _ := strings.Cut(strings.TrimPrefix(key, wishKey), " ")
		free, err := h.isFree(ctx, kind, name)
		if err != nil {
			return err
		}
		if free {
			h.brief.add(rankLanding, key, wishOver, marker.Say(wishText(kind, name), ruling.MaxLine), nil)
		}
	}
	return nil
}

// isFree looks at what a session waited for.
func (h *hook) isFree(ctx context.Context, kind, name string) (bool, error) {
	switch kind {
	case "intent":
		n, _ := coord.ParseIntentRef(name)
		i, err := h.Intent(ctx, h.Who.OrgID, n)
		return over(i.Status.Live(), err)
	case "conflict":
		n, _ := coord.ParseConflictRef(name)
		c, err := h.Conflict(ctx, h.Who.OrgID, n)
		return over(c.Status.Live(), err)
	}
	w := h.Live.Worker(h.worker())
	if w == nil {
		return false, nil
	}
	what := map[string]engine.Target{"path": {Path: name}, "symbol": {Symbol: name}, "resource": {Contract: name}}[kind]
	return len(engine.Holders(h.Live.View(), w, what)) == 0, nil
}

// over reports whether a record is over: one that is gone, with its repository, is.
func over(live bool, err error) (bool, error) {
	if problem.KindOf(err) == problem.NotFound {
		return true, nil
	}
	return err == nil && !live, err
}

// wishText says what is free, and what to do next.
func wishText(kind, name string) string {
	name = peertext.Quoted(name)
	switch kind {
	case "intent":
		return name + ", which you waited for, is over. Pull the latest state, then go on with what depended on it."
	case "conflict":
		return name + ", which you waited for, is over. Go on with what it kept you from."
	case "resource":
		return name + ", which you waited for, is free. Call wait_for with symbol " + name + " again to have it."
	}
	return name + ", which you waited for, is free. Pull the latest state, then edit it; an exclusive claim is granted by wait_for with " +
		kind + " " + name + "."
}
