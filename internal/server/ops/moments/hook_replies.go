package moments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/problem"
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
// One that was given to another question is a conflict; an empty asked takes
// whatever there is.
func kept(ctx context.Context, c *ground.Change, key, asked string) (*wire.HookReply, error) {
	if key == "" {
		return nil, nil
	}
	text, err := c.HookReply(ctx, c.Who.OrgID, key)
	if err != nil || text == nil {
		return nil, err
	}
	var was keptReply
	if err := json.Unmarshal(text, &was); err != nil {
		return nil, err
	}
	if asked != "" && was.Asked != "" && was.Asked != asked {
		return nil, problem.Newf(problem.Conflict, "dedupe_key was used for another event; each event has a key of its own, and a retry sends "+
			"the same body")
	}
	return &was.HookReply, nil
}

// A keptReply is an answer with what was asked: a key alone must not bring the
// answer to another question.
type keptReply struct {
	wire.HookReply
	Asked string `json:"asked"`
}

// asked names what an event asks: its session, its kind and its body. What only
// tells of the client, or of how earlier events fared, may differ in a retry.
func (e *hookEvent) asked() string {
	body := *e.HookRequest
	body.DedupeKey, body.Session.Key, body.Session.ParentKey = "", "", ""
	body.Client, body.FailOpens, body.StaleWrites, body.Unheard = wire.HookClient{}, 0, 0, nil
	text, err := json.Marshal(body)
	if err != nil {
		return "?"
	}
	sum := sha256.Sum256(append([]byte(e.name()+"\n"), text...))
	return hex.EncodeToString(sum[:])
}

// repeat tells again what was told in answers that did not arrive in time. One
// of them may have repeated another.
func (h *hook) repeat(ctx context.Context) error {
	var texts []string
	for _, key := range h.event.Unheard {
		lost, err := kept(ctx, h.Change, h.event.keyOf(key), "")
		if err != nil {
			return err
		}
		if lost == nil {
			continue
		}
		for _, text := range []string{lost.Reason, lost.InjectContext} {
			known := slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, text) })
			if !known {
				texts = append(slices.DeleteFunc(texts, func(t string) bool { return strings.Contains(text, t) }), text)
			}
		}
	}
	for _, text := range texts {
		if text != "" {
			h.brief.add(rankConflict, "", "", excerpt.Dots(text, wire.MaxHookContext-reserve-1), nil)
		}
	}
	return nil
}

func keep(ctx context.Context, c *ground.Change, e *hookEvent, reply wire.HookReply) error {
	if e.DedupeKey == "" {
		return nil
	}
	text, err := json.Marshal(keptReply{reply, e.asked()})
	if err != nil {
		return err
	}
	return c.KeepHookReply(ctx, c.Who.OrgID, e.replyKey(), text)
}
