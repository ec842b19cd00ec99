package ops

import (
	"context"
	"slices"
	"sync"

	"github.com/svc-hq/svc/internal/core/wire"
)

// lines hold those who wait, one line per target. One goroutine per line looks
// at the target after each event, for each waiter in the order in which they
// came: the first who waited is told first, and what it takes is taken when
// the second looks.
type lines struct {
	mu   sync.Mutex
	open map[string]*line
}

type line struct {
	waiters []*waiter
	kick    chan struct{} // somebody joined
	stop    context.CancelFunc
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
		go s.serve(ctx, org, l)
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
		}
	}
}

func (l *line) poke() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// serve looks at the line's target after each event and for each newcomer.
func (s *Service) serve(ctx context.Context, org string, l *line) {
	sub, err := s.log.FollowNow(ctx, org)
	if err != nil {
		s.round(l, err)
		return
	}
	defer sub.Close()
	go func() {
		for {
			if _, err := sub.Next(ctx); err != nil {
				return
			}
			l.poke()
		}
	}()
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
