package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/trail"
)

// Limits are how much is taken on at once, on one replica.
type Limits struct {
	Room      int // operations at work; reading may fill half of it, recording three quarters
	Reading   int // of these, lists and figures: they take the processor, and edits must not wait for it
	Queue     int // that wait for room, of each class
	PerCaller int // requests of one token, or of one person's browsers
	Streams   int // of one token
	Tabs      int // streams of one person's browsers
	Stays     int // streams and waits of all

	Patience time.Duration // how long a call waits for room; 0 for what is usual in its class
}

// DefaultLimits are those of a service that nobody has set others for.
func DefaultLimits() Limits {
	return Limits{
		Room:      256,
		Reading:   max(8, 4*runtime.GOMAXPROCS(0)),
		Queue:     1024,
		PerCaller: 64,
		Streams:   5,
		Tabs:      20,
		Stays:     10_000,
	}
}

// patience is how long a call waits for room. Hosts give a hook before an edit
// less than half a second.
var patience = map[Class]time.Duration{Reading: 2 * time.Second, Recording: 2 * time.Second, Deciding: 300 * time.Millisecond}

// ErrBusy is in an error that says that there is too much to do.
var ErrBusy = errors.New("too much to do")

// busy says that there is too much to do, and when to come back.
func busy(c Class) error {
	said := map[Class]string{
		Reading:   "lists and figures wait while agents work",
		Recording: "edits are still being checked",
		Deciding:  "not even edits can be checked",
		Waiting:   "there is no room for another stream or wait",
	}[c]
	return fmt.Errorf("%w (%w)", &problem.Error{
		Kind:       problem.Unavailable,
		Detail:     "the service has more to do than it can: " + said + "; try again in a moment",
		RetryAfter: map[Class]time.Duration{Reading: 5 * time.Second, Waiting: 5 * time.Second}[c] + time.Second,
	}, ErrBusy)
}

// A gate lets calls in. It is the one place that says no for want of room.
type gate struct {
	Limits

	mu      sync.Mutex
	work    [Vital]int
	total   int
	queues  [Vital][]*turn
	refused [Vital]int
	calls   map[string]int // under way, by caller
	asks    map[string]int // of these, decisions: whatever else a caller has under way, an edit can be asked about
	begun   map[string][]*visit
	spare   [][]*visit     // empty ones
	stays   map[string]int // streams that are open, by caller
	staying int            // streams and waits
}

// A turn is a place in a queue.
type turn struct {
	come chan struct{}
	in   bool
}

func newGate(l Limits) *gate {
	return &gate{Limits: l,
		calls: map[string]int{}, asks: map[string]int{}, begun: map[string][]*visit{}, stays: map[string]int{}}
}

// room reports whether one more of a class may work. What a higher class may
// fill, a lower one leaves free for it.
func (g *gate) room(c Class) bool {
	switch c {
	case Reading:
		return g.total < g.Room/2 && g.work[c] < g.Reading
	case Recording:
		return g.total < g.Room*3/4
	}
	return g.total < g.Room
}

// enter waits for room for a call of a class, until the visit leaves.
func (v *visit) enter(ctx context.Context, c Class) error {
	g := v.gate
	switch c {
	case Vital:
		return nil
	case Waiting:
		leave, err := g.stay("", 0)
		v.stays = leave
		return err
	}
	g.mu.Lock()
	if len(g.queues[c]) == 0 && g.room(c) {
		g.begin(c)
		v.room = c
		g.mu.Unlock()
		return nil
	}
	if len(g.queues[c]) >= g.Queue {
		g.refused[c]++
		g.mu.Unlock()
		return busy(c)
	}
	t := &turn{come: make(chan struct{})}
	g.queues[c] = append(g.queues[c], t)
	g.mu.Unlock()
	_, step := trail.In(ctx, trail.Room)
	defer step.End()
	return v.await(ctx, c, t)
}

// await waits for one's turn.
func (v *visit) await(ctx context.Context, c Class, t *turn) (err error) {
	g := v.gate
	timer := time.NewTimer(cmp.Or(g.Patience, patience[c]))
	defer timer.Stop()
	select {
	case <-t.come:
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = busy(c)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.in { // if only at the last moment
		v.room = c
		return nil
	}
	g.queues[c] = slices.DeleteFunc(g.queues[c], func(x *turn) bool { return x == t })
	if errors.Is(err, ErrBusy) {
		g.refused[c]++
	}
	return err
}

func (g *gate) begin(c Class) {
	g.work[c]++
	g.total++
}

// end gives room back and lets in whoever comes next.
func (g *gate) end(c Class) {
	g.work[c]--
	g.total--
	for _, c := range classes {
		for len(g.queues[c]) > 0 && g.room(c) {
			t := g.queues[c][0]
			g.queues[c] = g.queues[c][1:]
			t.in = true
			close(t.come)
			g.begin(c)
		}
	}
}

// callerKey names a token, or a person's browsers; nobody's is empty.
func callerKey(who *coord.Caller) string { return cmp.Or(who.TokenID, who.UserID) }

// A visit is a call on its way in, with all that it holds at the gate until it
// leaves: each edit of each agent is one.
type visit struct {
	gate  *gate
	key   string         // its caller's
	among map[string]int // the calls of its caller that it is counted with
	room  Class          // that it takes room of
	stays func()         // ends a wait
	input Input
	given any    // the input, once it is asked for
	tag   string // with what the cursors of a list are marked
}

// admit counts a call of a caller. Decisions have as many places as all else
// together, of their own.
func (v *visit) admit(c Class) error {
	if v.key == "" {
		return nil
	}
	g := v.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	from := g.calls
	if c == Deciding {
		from = g.asks
	}
	if from[v.key] >= g.PerCaller {
		return problem.Later(time.Second, "you have %d requests under way already; let one end first", g.PerCaller)
	}
	from[v.key]++
	v.among = from
	return nil
}

// makeRoom gives room back. Whoever holds none need not.
func (v *visit) makeRoom() {
	if v.stays != nil {
		v.stays()
		v.stays = nil
	}
	if v.room == byMethod {
		return
	}
	v.gate.mu.Lock()
	defer v.gate.mu.Unlock()
	v.gate.end(v.room)
	v.room = byMethod
}

// leave gives back all that a visit holds.
func (v *visit) leave() {
	v.makeRoom()
	if v.among == nil {
		return
	}
	v.gate.mu.Lock()
	defer v.gate.mu.Unlock()
	drop(v.among, v.key)
	v.among = nil
}

// receive reads an input that may be about an edit.
func (v *visit) receive(in any) error {
	v.arrive()
	defer v.arrived()
	return v.input.Decode(in)
}

// arrive notes a body that may ask about an edit and is on its way: what it is,
// it tells itself. It takes no place until it is there; of a caller with too many
// of them the oldest is given up, so that who begins bodies without end keeps
// nobody's next question out, their own neither.
func (v *visit) arrive() {
	g := v.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	bodies, known := g.begun[v.key]
	if !known && len(g.spare) > 0 {
		bodies, g.spare = g.spare[len(g.spare)-1], g.spare[:len(g.spare)-1]
	}
	if bodies = append(bodies, v); len(bodies) > g.PerCaller {
		bodies[0].input.GiveUp()
		bodies = slices.Delete(bodies, 0, 1)
	}
	g.begun[v.key] = bodies
}

// arrived notes that the body is there, or that it never will be.
func (v *visit) arrived() {
	g := v.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	left := slices.DeleteFunc(g.begun[v.key], func(x *visit) bool { return x == v })
	if g.begun[v.key] = left; len(left) == 0 {
		delete(g.begun, v.key)
		if left != nil && len(g.spare) < g.Room {
			g.spare = append(g.spare, left)
		}
	}
}

// stay counts a stream or a wait; with a key also of a caller, who may have
// most of them.
func (g *gate) stay(key string, most int) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case key != "" && g.stays[key] >= most:
		return nil, problem.Later(5*time.Second, "you have %d streams open already; close one, or use a token for each program", most)
	case g.staying >= g.Stays:
		g.refused[Waiting]++
		return nil, busy(Waiting)
	}
	g.staying++
	if key != "" {
		g.stays[key]++
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.staying--
		drop(g.stays, key)
	}, nil
}

// drop counts one less under a key.
func drop(from map[string]int, key string) {
	if from[key]--; from[key] <= 0 {
		delete(from, key)
	}
}

// Stream makes room for a stream of who until leave is called.
func (a *API) Stream(who coord.Caller) (leave func(), err error) {
	most := a.gate.Streams
	if who.Via == coord.ViaCookie {
		most = a.gate.Tabs
	}
	return a.gate.stay(callerKey(&who), most)
}

// Load is how many calls of a class work and wait, and how many were refused.
type Load struct{ Work, Queue, Refused int }

// Staying returns how many streams are open and how many calls wait for
// something to happen.
func (a *API) Staying() (streams, waits int) {
	a.gate.mu.Lock()
	defer a.gate.mu.Unlock()
	for _, n := range a.gate.stays {
		streams += n
	}
	return streams, a.gate.staying - streams
}

// Load returns how much there is to do.
func (a *API) Load() map[Class]Load {
	g := a.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[Class]Load{Waiting: {Work: g.staying, Refused: g.refused[Waiting]}}
	for _, c := range classes {
		out[c] = Load{g.work[c], len(g.queues[c]), g.refused[c]}
	}
	return out
}
