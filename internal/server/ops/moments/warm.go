package moments

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	warmEvery = 30 * time.Second // less than after which a connection is asked whether it lives
	warmed    = 16               // connections
	far       = 20 * time.Millisecond
	measures  = 4 // of which the best counts: the first also begins, and a busy machine is not far away
)

// KeepWarm finds out whether the database is far away. If so it keeps connections
// at hand that have been told of what a decision asks: to make one and tell it
// takes more ways there and back than an agent waits for.
func (s *Service) KeepWarm(ctx context.Context) {
	for s.Store.Name() == "postgres" {
		s.MeasureDistance(ctx)
		if s.Live.Far.Load() && s.Store.Readers() < warmed { // else they would be kept from who needs them
			s.rehearse(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(warmEvery):
		}
	}
}

// MeasureDistance finds out how long the way to the database and back takes, at
// best. One connection is asked what costs nothing: a rehearsal has statements
// prepared, on a connection that is perhaps new, and on a busy machine that
// takes as long as a long way.
func (s *Service) MeasureDistance(ctx context.Context) {
	best := time.Duration(math.MaxInt64)
	err := s.Read(ctx, func(tx *store.Tx) error {
		for range measures {
			began := time.Now()
			if err := tx.Echo(ctx); err != nil {
				return err
			}
			best = min(best, time.Since(began))
		}
		return nil
	})
	if err == nil { // a database that does not answer is told of elsewhere
		s.Live.Far.Store(best >= far)
	}
}

// rehearse asks, of nobody, what decisions ask, on so many connections at once
// as are kept. One that cannot be had now is told the next time.
func (s *Service) rehearse(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, warmEvery)
	defer cancel()
	var open, ended sync.WaitGroup
	open.Add(warmed)
	for range warmed {
		ended.Go(func() {
			arrived := sync.OnceFunc(open.Done)
			defer arrived()
			_ = s.Read(ctx, func(tx *store.Tx) error {
				arrived()
				open.Wait() // else they would take turns with one
				return tx.Foresee(ctx, func() { askOfNobody(ctx, tx) })
			})
		})
	}
	ended.Wait()
}

func askOfNobody(ctx context.Context, tx *store.Tx) {
	nobody := uuid.Nil.String()
	tx.CallerByToken(ctx, "")
	live.Rehearse(ctx, tx, nobody)
	tx.RepoByRemotes(ctx, nobody, []string{"none"})
	tx.SessionByName(ctx, nobody, nobody, "", "", nobody)
	tx.Turned(ctx, store.SessionRow{Session: coord.Session{ID: nobody, OrgID: nobody}})
}
