package moments

import (
	"context"
	"encoding/json"

	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
)

// replyKey is what the answer to an event is kept under, for who sends it again.
// It is empty for an event that has no key.
func (e *hookEvent) replyKey() string {
	if e.DedupeKey == "" {
		return ""
	}
	return e.keyOf(e.DedupeKey)
}

// keyOf is the same for another event of who sent this one.
func (e *hookEvent) keyOf(dedupe string) string { return e.who.UserID + " " + dedupe }

// kept returns the answer that a retried event got, or nil.
func kept(ctx context.Context, c *ground.Change, key string) (*wire.HookReply, error) {
	if key == "" {
		return nil, nil
	}
	text, err := c.HookReply(ctx, c.Who.OrgID, key)
	if err != nil || text == nil {
		return nil, err
	}
	var reply wire.HookReply
	return &reply, json.Unmarshal(text, &reply)
}

// repeat tells again what was told in answers that did not arrive in time.
func (h *hook) repeat(ctx context.Context) error {
	for _, key := range h.event.Unheard {
		lost, err := kept(ctx, h.Change, h.event.keyOf(key))
		if err != nil {
			return err
		}
		if lost == nil {
			continue
		}
		for _, text := range []string{lost.Reason, lost.InjectContext} {
			if text != "" {
				h.brief.add(rankConflict, "", "", excerpt.Dots(text, wire.MaxHookContext-reserve-1), nil)
			}
		}
	}
	return nil
}

func keep(ctx context.Context, c *ground.Change, e *hookEvent, reply wire.HookReply) error {
	if e.DedupeKey == "" {
		return nil
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	return c.KeepHookReply(ctx, c.Who.OrgID, e.replyKey(), text)
}
