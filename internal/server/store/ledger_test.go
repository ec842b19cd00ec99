package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// TestCountersAndEventsAreThoseOfTheDatabase: writes that share a transaction
// may know an org's counters and what they told without asking. Whatever fails
// among them, and whoever tells something beside them, they know what is there.
func TestCountersAndEventsAreThoseOfTheDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		org := uuid.NewString()
		addOrg(t, s, org)
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 1))
		var mu sync.Mutex
		var numbers []int // of the intents of writes that were acknowledged
		var wg sync.WaitGroup
		for i := range 60 {
			count, end, lock := r.IntN(4), r.IntN(8), org
			if i%15 == 14 {
				lock = "" // queues with nobody
			}
			wg.Go(func() {
				var took []int
				err := s.Write(t.Context(), lock, func(tx *store.Tx) (err error) {
					if lock == "" {
						took, err = tell(t.Context(), tx, org, count)
					} else {
						took, err = tellAndLook(t.Context(), tx, org, count)
					}
					switch {
					case err != nil:
						return err
					case end == 0:
						return errOnPurpose
					case end == 1: // known only after it has ended
						_, err = tx.ExecContext(t.Context(), `INSERT INTO migrations (version, name) VALUES ($1, 'one of us')`, -i)
					}
					return err
				})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					numbers = append(numbers, took...)
				} else if !strings.Contains(err.Error(), errOnPurpose.Error()) && end != 1 {
					t.Errorf("seed %d, write %d: %v", seed, i, err)
				}
			})
		}
		wg.Wait()
		slices.Sort(numbers)
		for i, n := range numbers {
			if n != i+1 {
				t.Fatalf("seed %d: the intents have the numbers %v", seed, numbers)
			}
		}
		err := s.Read(t.Context(), func(tx *store.Tx) error { _, err := look(t.Context(), tx, org); return err })
		if err != nil {
			t.Errorf("seed %d: in the end %v", seed, err)
		}
	})
}

// TestAnUndoneLookLosesNoNumber: who asks for the counters has them written; if
// that is undone, what writes before it took must not be.
func TestAnUndoneLookLosesNoNumber(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		org := uuid.NewString()
		addOrg(t, s, org)
		for range 20 {
			var wg sync.WaitGroup
			for i := range 12 {
				wg.Go(func() {
					err := s.Write(t.Context(), org, func(tx *store.Tx) error {
						if i%2 == 0 {
							_, err := tell(t.Context(), tx, org, 1)
							return err
						}
						if _, err := look(t.Context(), tx, org); err != nil {
							return err
						}
						return errOnPurpose
					})
					if err != nil && !strings.Contains(err.Error(), errOnPurpose.Error()) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if err := s.Read(t.Context(), func(tx *store.Tx) error { _, err := look(t.Context(), tx, org); return err }); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// tell tells events and takes a number for each.
func tell(ctx context.Context, tx *store.Tx, org string, count int) (took []int, err error) {
	for n := range count {
		number, err := tx.NextIntentNumber(ctx, org)
		if err != nil {
			return nil, err
		}
		took = append(took, number)
		e := coord.Event{OrgID: org, Type: coord.EventMessageSent, Facts: map[string]any{"n": n, "text": "<ä>\u2028", "none": nil},
			Actor: coord.Entity{Kind: "user", ID: "u"}, Subject: coord.Entity{Kind: "message", ID: fmt.Sprint(number)}, RepoID: "r"}
		if err := tx.Emit(ctx, e); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// tellAndLook looks, tells and looks again.
func tellAndLook(ctx context.Context, tx *store.Tx, org string, count int) (took []int, err error) {
	before, err := look(ctx, tx, org)
	if err != nil {
		return nil, err
	}
	if took, err = tell(ctx, tx, org, count); err != nil {
		return nil, err
	}
	after, err := look(ctx, tx, org)
	if err == nil && after != before+int64(count) {
		err = fmt.Errorf("%d events were told after %d, and the last is %d", count, before, after)
	}
	return took, err
}

// look compares what may be known with what is read.
func look(ctx context.Context, tx *store.Tx, org string) (last int64, err error) {
	if last, err = tx.LastSeq(ctx, org); err != nil {
		return 0, err
	}
	read, err := tx.Events(ctx, org, store.EventFilter{Limit: 1000})
	if err != nil {
		return 0, err
	}
	slices.Reverse(read)
	for _, from := range []int64{0, max(last-3, 0), last} {
		known, err := tx.EventsAfter(ctx, org, from, 1000)
		if err != nil {
			return 0, err
		}
		if len(known) != len(read)-int(from) || len(known) > 0 && !reflect.DeepEqual(known, read[from:]) {
			return 0, fmt.Errorf("after %d of %d it knows %+v, and there are %+v", from, last, known, read[from:])
		}
	}
	var row int64
	err = tx.QueryRowContext(ctx, `SELECT event_seq FROM orgs WHERE id = $1 AND event_seq >= 0`, org).Scan(&row)
	if err == nil && (row != last || int(last) != len(read)) {
		err = fmt.Errorf("the last event is %d, its row says %d, and there are %d", last, row, len(read))
	}
	return last, err
}
