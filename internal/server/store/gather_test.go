package store_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// TestAStatementFailsItsOwnWrite: what a statement did may be known only when
// the write ends. It is that write that fails, and none that shares its commit.
func TestAStatementFailsItsOwnWrite(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const writers = 60
		var wg sync.WaitGroup
		var taken atomic.Int64
		for i := range writers {
			wg.Go(func() {
				name := fmt.Sprintf("own %d", i)
				if i%3 == 0 {
					name = "everybody's"
				}
				err := s.Write(t.Context(), "x", func(tx *store.Tx) error {
					_, err := tx.ExecContext(t.Context(), `INSERT INTO migrations (version, name) VALUES ($1, $2)`, -i, name)
					return err
				})
				if err == nil && i%3 == 0 {
					taken.Add(1)
				}
				if err != nil && i%3 != 0 {
					t.Errorf("%s failed: %v", name, err)
				}
			})
		}
		wg.Wait()
		var n int
		err := s.Read(t.Context(), func(tx *store.Tx) error {
			return tx.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM migrations WHERE name LIKE 'own %' OR name = 'everybody''s'`).Scan(&n)
		})
		if want := writers - writers/3 + 1; err != nil || taken.Load() != 1 || n != want {
			t.Errorf("%d took the name that one can have, and %d are there, want %d (%v)", taken.Load(), n, want, err)
		}
	})
}

// TestAnswersAreOfNow: whatever is written, asked, asked ahead, undone and done
// by who shares the transaction, an answer tells what is there now.
func TestAnswersAreOfNow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 1))
		kept := map[string]int{}
		var mu sync.Mutex // writes of one org come one after the other, but not in the order in which they were asked for
		var wg sync.WaitGroup
		for i := range 40 {
			steps, fails := r.Perm(30), r.IntN(4) == 0
			wg.Go(func() {
				err := s.Write(t.Context(), "x", func(tx *store.Tx) error {
					mu.Lock()
					defer mu.Unlock()
					now := maps.Clone(kept)
					for _, step := range steps {
						if err := stepOf(t.Context(), tx, now, step); err != nil {
							return fmt.Errorf("seed %d, step %d: %w", seed, step, err)
						}
					}
					if fails {
						return errOnPurpose
					}
					kept = now
					return nil
				})
				if err != nil && !strings.Contains(err.Error(), errOnPurpose.Error()) {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		wg.Wait()
	})
}

var errOnPurpose = fmt.Errorf("on purpose")

// stepOf does or asks one thing of six names.
func stepOf(ctx context.Context, tx *store.Tx, now map[string]int, step int) error {
	name := fmt.Sprintf("n%d", step/5)
	one := func() error {
		var n int
		err := tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(version), -1) FROM migrations WHERE name = $1`, name).Scan(&n)
		want, ok := now[name]
		if !ok {
			want = -1
		}
		if err == nil && n != want {
			err = fmt.Errorf("%s is %d, want %d", name, n, want)
		}
		return err
	}
	count := func() error {
		var n int
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM migrations WHERE name LIKE 'n_'`).Scan(&n)
		if err == nil && n != len(now) {
			err = fmt.Errorf("%d are there, want %d", n, len(now))
		}
		return err
	}
	switch step % 5 {
	case 0:
		now[name]++
		_, err := tx.ExecContext(ctx, `INSERT INTO migrations (version, name) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET version = EXCLUDED.version`, now[name], name)
		return err
	case 1:
		_, is := now[name]
		delete(now, name)
		res, err := tx.ExecContext(ctx, `DELETE FROM migrations WHERE name = $1`, name)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 1 || (n == 1) != is {
			return fmt.Errorf("deleted %d of %s (%w)", n, name, err)
		}
		return count()
	case 2:
		if err := tx.Foresee(ctx, func() { one(); count() }); err != nil {
			return err
		}
		if _, is := now[name]; is {
			now[name] += 10
		}
		if _, err := tx.ExecContext(ctx, `UPDATE migrations SET version = version + 10 WHERE name = $1`, name); err != nil {
			return err
		}
		return one()
	case 3:
		return tx.Foresee(ctx, func() { one(); count() })
	}
	if err := one(); err != nil {
		return err
	}
	return count()
}
