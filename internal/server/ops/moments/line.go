package moments

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/eventlog"
)

// lines hold those who wait, one line per target. After an event that may have
// freed it, one goroutine per line looks at the target, for each waiter in the
// order in which they came: the first who waited is told first, and what it
// takes is taken when the second looks.
type lines struct {
	mu    sync.Mutex
	open  map[string]*line
	watch map[string]*lookout // by org
}

type line struct {
	waiters []*waiter
	kick    chan struct{} // somebody is to look
	stop    context.CancelFunc
}

// A lookout follows an org's events for all of its lines.
type lookout struct {
	lines map[*line]bool
	ready chan struct{} // closed once it follows, or cannot
	err   error         // why it cannot, set before ready is closed
	stop  context.CancelFunc
}

// A waiter is one who waits. try looks at the target for them.
type waiter struct {
	ctx      context.Context
	intent   string // their live intent, if any
	try      func(ctx context.Context, behind []string) (look, error)
	claims   bool                    // whether claims are in the way
	concerns func(*coord.Event) bool // whether to look after an event, though the claim in the way stands
	done     chan *waitEnd

	// Guarded by lines.mu:
	look bool // to be done
	last look // what the latest saw
}

// A look is what one saw.
type look struct {
	wire.Waited
	// held is a claim that was in the way: while it stands, there is no need
	// to look again. Nil where there was none, such as behind recorded changes.
	held *standing
}

type waitEnd struct {
	out wire.Waited
	err error
}

// queueUp puts a waiter into the line of a target; leave must be called.
func (s *Service) queueUp(org, key string, w *waiter) (leave func()) {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	l := s.lines.open[key]
	if l == nil {
		ctx, cancel := context.WithCancel(context.Background())
		l = &line{kick: make(chan struct{}, 1), stop: cancel}
		s.lines.open[key] = l
		go s.serve(ctx, s.watched(org, l), l)
	}
	l.waiters = append(l.waiters, w)
	w.look = true
	if w.intent != "" { // its claim may be all that was in the way of those before
		l.lookAll()
	}
	l.poke()
	return func() {
		s.lines.mu.Lock()
		defer s.lines.mu.Unlock()
		l.waiters = slices.DeleteFunc(l.waiters, func(x *waiter) bool { return x == w })
		if len(l.waiters) == 0 {
			l.stop()
			delete(s.lines.open, key)
			s.unwatched(org, l)
		}
	}
}

func (l *line) poke() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// lookAll makes everybody look. The caller holds lines.mu.
func (l *line) lookAll() {
	for _, w := range l.waiters {
		w.look = true
	}
	l.poke()
}

// watched makes a line one that hears of an org's events. The caller
// holds lines.mu.
func (s *Service) watched(org string, l *line) *lookout {
	w := s.lines.watch[org]
	if w == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w = &lookout{lines: map[*line]bool{}, ready: make(chan struct{}), stop: cancel}
		s.lines.watch[org] = w
		go s.follow(ctx, org, w)
	}
	w.lines[l] = true
	return w
}

// unwatched undoes watched. The caller holds lines.mu.
func (s *Service) unwatched(org string, l *line) {
	w := s.lines.watch[org]
	if delete(w.lines, l); len(w.lines) == 0 {
		w.stop()
		delete(s.lines.watch, org)
	}
}

// follow has a lookout's waiters look at what events may have freed. A
// subscription that ends is made anew, and all look again at what they may have
// missed.
func (s *Service) follow(ctx context.Context, org string, w *lookout) {
	sub, err := s.followNow(ctx, org)
	w.err = err
	close(w.ready)
	for err == nil {
		for batch, ended := sub.Next(ctx); ended == nil; batch, ended = sub.Next(ctx) {
			s.Live.Heard(org, sub.After())
			if s.freed(ctx, org, w, batch) != nil {
				s.lookAll(w)
			}
		}
		sub.Close()
		for sub, err = s.followNow(ctx, org); err != nil && ctx.Err() == nil; sub, err = s.followNow(ctx, org) {
			select {
			case <-ctx.Done():
			case <-time.After(followAgain):
			}
		}
		if ctx.Err() != nil {
			if err == nil {
				sub.Close()
			}
			return
		}
		s.lookAll(w)
	}
}

// followNow follows an org's events from now on. What was before is seen by
// whoever looks from now on.
func (s *Service) followNow(ctx context.Context, org string) (*eventlog.Sub, error) {
	sub, err := s.Log.FollowNow(ctx, org)
	if err == nil {
		s.Live.Heard(org, sub.After())
	}
	return sub, err
}

// followAgain is the pause before a subscription is tried again.
const followAgain = 500 * time.Millisecond

func (s *Service) lookAll(w *lookout) {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	for l := range w.lines {
		l.lookAll()
	}
}

// serve looks at the line's target when somebody is to. It begins once events
// are followed, so that nothing falls in between.
func (s *Service) serve(ctx context.Context, w *lookout, l *line) {
	<-w.ready
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.kick:
			s.round(l, w.err) // whoever joins a line that hears nothing is told so, too
		}
	}
}

// attempt is one waiter's look. A panic ends their wait, not the process.
func (s *Service) attempt(w *waiter, behind []string) (out look, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.Logger.Error("a wait panicked", "panic", r, "stack", string(debug.Stack()))
			err = errors.New("a wait panicked")
		}
	}()
	return w.try(w.ctx, behind)
}

// round looks in order for each waiter that is to. failed, if set, is
// everybody's end.
func (s *Service) round(l *line, failed error) {
	s.lines.mu.Lock()
	var due []int
	behind := make([]string, len(l.waiters))
	for i, w := range l.waiters {
		behind[i] = w.intent
		if w.look || failed != nil {
			due = append(due, i)
		}
		w.look = false
	}
	waiters := slices.Clone(l.waiters)
	s.lines.mu.Unlock()
	for _, i := range due {
		w, out, err := waiters[i], look{}, failed
		if err == nil {
			if w.ctx.Err() != nil {
				continue
			}
			out, err = s.attempt(w, behind[i+1:])
		}
		s.lines.mu.Lock()
		w.last = out
		s.lines.mu.Unlock()
		if err != nil || out.Status == "free" {
			select {
			case w.done <- &waitEnd{out.Waited, err}:
			default: // told already
			}
		}
	}
}
