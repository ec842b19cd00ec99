package api

import (
	"slices"
	"strings"

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
