package eventlog_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

const org = "acme"

func addOrg(t *testing.T, s *store.Store) {
	t.Helper()
	err := s.Write(t.Context(), org, func(tx *store.Tx) error {
		return tx.InsertOrg(t.Context(), coord.Org{
			ID:        org,
			Slug:      org,
			Name:      org,
			DataMode:  coord.DataFull,
			Plan:      "self_hosted",
			CreatedAt: tx.Now,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func emit(ctx context.Context, s *store.Store, text string) error {
	return s.Write(ctx, org, func(tx *store.Tx) error {
		return tx.Emit(ctx, coord.Event{OrgID: org, Type: coord.EventOrgUpdated, Payload: map[string]any{"text": text}})
	})
}

// run starts a log on s until the test ends.
func run(t *testing.T, s *store.Store) *eventlog.Log {
	l := eventlog.New(s, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return l
}

// take reads n events and checks that they are after, after+1, ...
func take(t *testing.T, sub *eventlog.Sub, after int64, n int) (texts []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	for len(texts) < n {
		entries, err := sub.Next(ctx)
		if err != nil {
			t.Fatalf("after %d events: %v", len(texts), err)
		}
		for _, e := range entries {
			if after++; e.Seq != after {
				t.Fatalf("event %d came where %d was due", e.Seq, after)
			}
			texts = append(texts, fmt.Sprint(e.Payload["text"]))
		}
	}
	return texts
}

// Eight writers commit at once through two openings of the database; readers
// that begin at any point see every event once and in order.
func TestFollowersSeeEveryEventOnceInOrder(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		here, there := storetest.OpenDSN(t, dsn), storetest.OpenDSN(t, dsn)
		addOrg(t, here)
		local, remote := run(t, here), run(t, there)
		const writers, each = 8, 25
		var wg sync.WaitGroup
		for i := range writers {
			s := here
			if i%2 == 1 {
				s = there
			}
			wg.Go(func() {
				for j := range each {
					if err := emit(t.Context(), s, fmt.Sprintf("%d/%d", i, j)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		var readers sync.WaitGroup
		for i := range 6 {
			l := local
			if i%2 == 1 {
				l = remote
			}
			readers.Go(func() {
				after := int64(i * 10)
				sub := l.Follow(org, after)
				defer sub.Close()
				seen := map[string]bool{}
				for _, text := range take(t, sub, after, writers*each-int(after)) {
					if seen[text] {
						t.Errorf("%s came twice", text)
					}
					seen[text] = true
				}
			})
		}
		wg.Wait()
		readers.Wait()
	})
}

func TestFollowingFromNowSkipsThePast(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		addOrg(t, s)
		l := run(t, s)
		if err := emit(t.Context(), s, "before"); err != nil {
			t.Fatal(err)
		}
		sub, err := l.FollowNow(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		if err := emit(t.Context(), s, "after"); err != nil {
			t.Fatal(err)
		}
		if got := take(t, sub, 1, 1); got[0] != "after" {
			t.Errorf("got %v", got)
		}
	})
}

// A follower who fell behind what is kept in memory reads from the database.
func TestAFollowerMayFallFarBehind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		addOrg(t, s)
		l := run(t, s)
		quick, slow := l.Follow(org, 0), l.Follow(org, 0)
		defer quick.Close()
		defer slow.Close()
		const n = 1200 // more than is kept
		for range 12 {
			err := s.Write(t.Context(), org, func(tx *store.Tx) error {
				for range n / 12 {
					if err := tx.Emit(t.Context(), coord.Event{OrgID: org, Type: coord.EventOrgUpdated}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		take(t, quick, 0, n)
		take(t, slow, 0, n)
	})
}

func TestAFollowerWaitsNoLongerThanItsContext(t *testing.T) {
	s := storetest.Open(t)
	addOrg(t, s)
	sub := run(t, s).Follow(org, 0)
	defer sub.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if entries, err := sub.Next(ctx); err == nil {
		t.Errorf("Next = %v", entries)
	}
}
