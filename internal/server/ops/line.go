package ops

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
)

// lines hold those who wait, one line per target. One goroutine per line looks
// at the target after each event, for each waiter in the order in which they
// came: the first who waited is told first, and what it takes is taken when
// the second looks.
type lines struct {
	mu    sync.Mutex
	open  map[string]*line
	watch map[string]*lookout // by org
}

type line struct {
	waiters []*waiter
	kick    chan struct{} // somebody joined, or something happened
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
	ctx    context.Context
	intent string // their live intent, if any
	try    func(ctx context.Context, behind []string) (wire.Waited, error)
	last   wire.Waited // what the latest look saw, guarded by lines.mu
	done   chan waitEnd
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

// watched makes a line one that is poked at each event of an org. The caller
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

// follow pokes a lookout's lines at each event. A subscription that ends is made
// anew, and all look again at what they may have missed.
func (s *Service) follow(ctx context.Context, org string, w *lookout) {
	sub, err := s.log.FollowNow(ctx, org)
	w.err = err
	close(w.ready)
	for err == nil {
		for _, ended := sub.Next(ctx); ended == nil; _, ended = sub.Next(ctx) {
			s.pokeAll(w)
		}
		sub.Close()
		for sub, err = s.log.FollowNow(ctx, org); err != nil && ctx.Err() == nil; sub, err = s.log.FollowNow(ctx, org) {
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
		s.pokeAll(w)
	}
}

// followAgain is the pause before a subscription is tried again.
const followAgain = 500 * time.Millisecond

func (s *Service) pokeAll(w *lookout) {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	for l := range w.lines {
		l.poke()
	}
}

// serve looks at the line's target after each event and for each newcomer. It
// begins once events are followed, so that nothing falls in between.
func (s *Service) serve(ctx context.Context, w *lookout, l *line) {
	<-w.ready
	if w.err != nil {
		s.round(l, w.err)
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.kick:
			s.round(l, nil)
		}
	}
}

// round looks for each waiter in order. failed, if set, is everybody's end.
func (s *Service) round(l *line, failed error) {
	s.lines.mu.Lock()
	waiters := slices.Clone(l.waiters)
	s.lines.mu.Unlock()
	behind := make([]string, len(waiters))
	for i, w := range waiters {
		behind[i] = w.intent
	}
	for i, w := range waiters {
		out, err := wire.Waited{}, failed
		if err == nil {
			if w.ctx.Err() != nil {
				continue
			}
			out, err = w.try(w.ctx, behind[i+1:])
		}
		s.lines.mu.Lock()
		w.last = out
		s.lines.mu.Unlock()
		if err != nil || out.Status == "free" {
			select {
			case w.done <- waitEnd{out, err}:
			default: // told already
			}
		}
	}
}
