package api

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
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

// mayDecide reports whether a call of op may be about an edit, as its input says.
func (op Op) mayDecide() bool {
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

// ClassOf returns the class of a call of op. Some operations are of one or of
// another, as their input says.
func (op Op) ClassOf(in any) Class {
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
