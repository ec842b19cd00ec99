package hook

import (
	"context"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/rebase"
	"github.com/svc-hq/svc/internal/core/wire"
)

// When the default branch moves, as far as this clone knows, a session learns at
// its next hook whether its own work still applies, and whether somebody has
// done it already. Nothing is fetched for that.

// landedTimeout is how long an agent waits for that; where it takes longer, the
// end of a turn tries once more.
var landedTimeout = 2 * time.Second

// tellLanded queues the verdict on the work of each working copy whose default
// branch moved since this session looked.
func (r *runner) tellLanded(ctx context.Context, sends []send) {
	event := r.call.Event
	if !slices.Contains([]wire.HookEvent{wire.HookSessionStart, wire.HookPrompt, wire.HookPostEdit, wire.HookStop}, event) {
		return // an agent waits for the answer before a tool, and is told after it
	}
	looked := map[string]bool{}
	for _, s := range sends {
		if s.as != nil || looked[s.at.Root] || !r.spool.Remembers() {
			continue
		}
		looked[s.at.Root] = true
		for _, l := range landings(s.at) {
			l.key = spool.Hash(s.at.Root, l.name)[:24]
			last, known := r.spool.Read("landed-" + l.key)
			switch {
			case !known || event == wire.HookSessionStart:
				r.spool.Put("landed-"+l.key, l.tip) // what landed before it began is no news
			case last != l.tip:
				r.tellVerdict(ctx, s, l)
			}
		}
	}
}

// A landing is where the default branch is, and how that is called.
type landing struct{ name, tip, key string }

// landings are the default branch as origin last told and, in a working copy
// that has something else checked out, as this clone itself has it: work may be
// merged here and not be pushed yet.
func landings(at *place) (out []landing) {
	def := at.DefaultBranch()
	if def == "" {
		return nil
	}
	upstream := at.Ref("refs/remotes/origin/" + def)
	if upstream != "" {
		out = append(out, landing{name: "origin/" + def, tip: upstream})
	}
	if at.Head().Branch != def {
		if local := at.Ref("refs/heads/" + def); local != "" {
			out = append(out, landing{name: def, tip: local})
		}
	}
	return out
}

// tellVerdict works out what becomes of the work at one place, and tells it once
// of every commit.
func (r *runner) tellVerdict(ctx context.Context, s send, l landing) {
	if r.spool.Has("onto-" + l.tip) { // by its other name
		r.spool.Put("landed-"+l.key, l.tip)
		return
	}
	limit := landedTimeout
	if slow, _ := r.spool.Read("slow-" + l.key); slow == l.tip {
		if r.call.Event != wire.HookStop {
			return
		}
		limit = turnTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(limit))
	defer cancel()
	v, err := rebase.Of(ctx, s.at.Repo, l.tip)
	if err != nil {
		r.log(err)
		if limit == landedTimeout && ctx.Err() != nil {
			r.spool.Put("slow-"+l.key, l.tip)
			return
		}
	}
	r.spool.Put("landed-"+l.key, l.tip)
	r.spool.Put("onto-"+l.tip, "")
	if err != nil {
		return
	}
	if text := v.Text(l.name); text != "" {
		r.spool.QueueContext(text)
	}
}
