package store

import (
	"context"
	"encoding/json"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A ledger is the events that a batch on PostgreSQL told, which it need not
// ask for. Those after the last number that is taken were undone.
type ledger struct{ told []written }

// A written event is one as it is in the log: its payload is text.
type written struct {
	coord.Event
	payload string
}

// read returns the event as who reads it gets it.
func (w written) read() (e coord.Event, err error) {
	e = w.Event
	e.Facts, e.Payload = nil, nil
	err = json.Unmarshal([]byte(w.payload), &e.Payload)
	complete(&e)
	return e, err
}

// keepTold remembers events that were told.
func (tx *Tx) keepTold(ctx context.Context, events []written) error {
	k, known, err := tx.Known(ctx, eventSeq, events[0].OrgID)
	if !known || err != nil {
		return err
	}
	l := k.Memo.(*ledger)
	l.told = append(l.told[:events[0].Seq-k.Began-1], events...)
	return nil
}

// toldAfter returns the events after seq, if they are known.
func (tx *Tx) toldAfter(ctx context.Context, org string, seq int64, limit int) (events []coord.Event, known bool, err error) {
	k, known, err := tx.Known(ctx, eventSeq, org)
	if !known || err != nil || seq < k.Began {
		return nil, known && err != nil, err
	}
	from, to := min(seq, k.Now)-k.Began, k.Now-k.Began
	for _, w := range k.Memo.(*ledger).told[from:min(to, from+int64(limit))] {
		e, err := w.read()
		if err != nil {
			return nil, true, err
		}
		events = append(events, e)
	}
	return events, true, nil
}
