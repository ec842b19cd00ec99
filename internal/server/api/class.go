package api

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/trail"
)

// A Class is what an operation is to those who wait for it. When there is more
// to do than can be done, whatever can wait best is refused first: lists and
// figures, then what is recorded, and whether an edit may go on last of all.
type Class int

const (
	byMethod Class = iota // as the route says: reading with GET, else recording

	Reading   // lists and figures
	Recording // what changes something, and what an agent has to know to begin
	Deciding  // whether an edit may go on
	Waiting   // streams and waits: they are many and do nothing, and have limits of their own
	Vital     // whether the service is well; never refused
)

// classes are those that take room, by who is let in first.
var classes = []Class{Deciding, Recording, Reading}

func (c Class) String() string {
	return [...]string{"by method", "reading", "recording", "deciding", "waiting", "vital"}[c]
}

// asking are the events of a hook that ask and record nothing.
var asking = []wire.HookEvent{wire.HookPreEdit, wire.HookPreShell, wire.HookPrePush}

// MayDecide reports whether a call of op may be about an edit, as its input says.
func (op *Op) MayDecide() bool {
	return op.Class == Deciding || op.Run.Input == reflect.TypeFor[wire.EvaluateHook]()
}

// unchecked answers a question about an edit for which there was no room. The
// edit goes on, since a service that is busy must not keep anybody from working;
// that nobody looked is said, never passed over.
func unchecked(in any, err error) (reply wire.HookReply, is bool) {
	hook, isHook := in.(*wire.EvaluateHook)
	if err == nil || !isHook || !slices.Contains(asking, hook.Event) ||
		!errors.Is(err, ErrBusy) && problem.KindOf(err) != problem.RateLimited {
		return reply, false
	}
	return wire.HookReply{Decision: wire.Allow, Conflicts: []wire.HookConflict{}, Unchecked: wire.UncheckedBusy,
		InjectContext: "svc could not check this edit: it has more to do than it can. Others may be at work in the same place."}, true
}

// A Decision is one answer to the question whether an edit may go on.
type Decision struct {
	Event  wire.HookEvent
	Answer string // allow, warn, block, unchecked or failed
	Kind   string // of what it ran into, or why nobody looked
	Took   time.Duration
	Stages trail.Notes
}

// decided tells of an answer, if in asked about an edit.
func (a *API) decided(ctx context.Context, in, out any, err error, took time.Duration) {
	hook, isHook := in.(*wire.EvaluateHook)
	if a.Decided == nil || !isHook || !slices.Contains(asking, hook.Event) {
		return
	}
	d := Decision{Event: hook.Event, Answer: "failed", Kind: "none", Took: took, Stages: trail.Of(ctx).Noted()}
	if reply, ok := out.(wire.HookReply); ok && err == nil {
		d.Answer = string(reply.Decision)
		switch {
		case reply.Unchecked != "":
			d.Answer, d.Kind = "unchecked", string(reply.Unchecked)
		case reply.Decision != wire.Allow && len(reply.Conflicts) > 0:
			d.Kind = string(reply.Conflicts[0].Kind)
		case reply.Decision != wire.Allow:
			d.Kind = "other"
		}
	}
	a.Decided(d)
}

// ClassOf returns the class of a call of op. Some operations are of one or of
// another, as their input says.
func (op *Op) ClassOf(in any) Class {
	switch in := in.(type) {
	case *wire.EvaluateHook:
		if slices.Contains(asking, in.Event) {
			return Deciding
		}
	case *wire.InboxTool:
		if in.WaitSeconds > 0 {
			return Waiting
		}
	}
	switch {
	case op.Class != byMethod:
		return op.Class
	case strings.HasPrefix(op.Route, "GET "):
		return Reading
	}
	return Recording
}
