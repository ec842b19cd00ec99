package db

import (
	"context"
	"sync"
)

// A span is the ids of the events of an org that a transaction told.
type span struct{ first, last int64 }

// settled are those who are told how writes ended.
type settled struct {
	mu  sync.Mutex
	fns []func(org string, upTo int64)
}

// WhenSettled has fn told, before anybody else hears of it, how a transaction
// ended that told events of an org: up to which it is committed, or 0 if they
// were undone. An index that was told of events before their commit knows by
// this whether they came to be.
func (d *DB) WhenSettled(fn func(org string, upTo int64)) {
	d.settled.mu.Lock()
	defer d.settled.mu.Unlock()
	d.settled.fns = append(d.settled.fns, fn)
}

func (s *settled) tell(org string, upTo int64) {
	s.mu.Lock()
	fns := s.fns
	s.mu.Unlock()
	for _, fn := range fns {
		fn(org, upTo)
	}
}

func (s *settled) undone(told map[string]int64) {
	for org := range told {
		s.tell(org, 0)
	}
}

func (s *settled) committed(done []*Tx) {
	last := map[string]int64{}
	for _, tx := range done {
		for org, told := range tx.wakes {
			last[org] = max(last[org], told.last)
		}
	}
	for org, upTo := range last {
		s.tell(org, upTo)
	}
}

// NoteEvents notes which events of an org the transaction told: those from first to
// last.
func (tx *Tx) NoteEvents(org string, first, last int64) {
	if tx.wakes == nil {
		tx.wakes = map[string]span{}
	}
	if told := tx.wakes[org]; told.first > 0 {
		first = told.first
	}
	tx.wakes[org] = span{first, last}
}

// passOn tells the writes that follow in the same transaction what this one
// told.
func (tx *Tx) passOn() {
	for org, told := range tx.wakes {
		if tx.before[org] == 0 {
			tx.before[org] = told.first
		}
	}
}

// Uncommitted returns the id of the first event of an org that the transaction
// of tx told, 0 if it told none so far.
func (tx *Tx) Uncommitted(org string) int64 {
	if first := tx.before[org]; first > 0 {
		return first
	}
	return tx.wakes[org].first
}

// AwaitRound waits until the writes of an org that have begun in this process
// are committed or undone.
func (d *DB) AwaitRound(ctx context.Context, org string) error {
	var round chan struct{}
	if d.writer == nil {
		round = d.batches.underWay(org)
	} else if r := d.writer.round.Load(); r != nil {
		round = *r
	}
	if round == nil {
		return nil
	}
	select {
	case <-round:
		return nil
	case <-ctx.Done():
		return d.wrap(ctx.Err())
	}
}
