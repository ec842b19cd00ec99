package store

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A ledger is the events that a batch on PostgreSQL told, which it need not
// ask for. Those after the last number that is taken were undone.
type ledger struct{ told []coord.Event }

// keepTold remembers events that were told, as who reads them gets them.
func (tx *Tx) keepTold(ctx context.Context, events []coord.Event, first int64) error {
	k, known, err := tx.Known(ctx, eventSeq, events[0].OrgID)
	if !known || err != nil {
		return err
	}
	l := k.Memo.(*ledger)
	l.told = l.told[:first-k.Began-1]
	for i, e := range events {
		text := js(e.Facts)
		e.Facts, e.Payload = nil, nil
		if err := json.Unmarshal([]byte(text), &e.Payload); err != nil {
			return err
		}
		e.Seq, e.OccurredAt = first+int64(i), tx.Now
		complete(&e)
		l.told = append(l.told, e)
	}
	return nil
}

// toldAfter returns the events after seq, if they are known.
func (tx *Tx) toldAfter(ctx context.Context, org string, seq int64, limit int) (events []coord.Event, known bool, err error) {
	k, known, err := tx.Known(ctx, eventSeq, org)
	if !known || err != nil || seq < k.Began {
		return nil, known && err != nil, err
	}
	from, to := min(seq, k.Now)-k.Began, k.Now-k.Began
	return slices.Clone(k.Memo.(*ledger).told[from:min(to, from+int64(limit))]), true, nil
}
