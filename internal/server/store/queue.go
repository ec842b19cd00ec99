package store

import (
	"context"
	"sync"
)

// queues make the writers of one org wait for one another within the process.
type queues struct {
	mu   sync.Mutex
	orgs map[string]*queue
}

type queue struct {
	slot  chan struct{}
	users int
}

// enter waits for the org's turn and returns how to end it.
func (q *queues) enter(ctx context.Context, org string) (done func(), err error) {
	q.mu.Lock()
	if q.orgs == nil {
		q.orgs = map[string]*queue{}
	}
	o := q.orgs[org]
	if o == nil {
		o = &queue{slot: make(chan struct{}, 1)}
		q.orgs[org] = o
	}
	o.users++
	q.mu.Unlock()
	leave := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if o.users--; o.users == 0 {
			delete(q.orgs, org)
		}
	}
	select {
	case o.slot <- struct{}{}:
		return func() { <-o.slot; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
