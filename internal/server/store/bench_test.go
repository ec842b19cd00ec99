package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

const callers = 64

// BenchmarkDurableWrites measures how many writes 64 callers get committed
// per second, and reports that as a share of what the bare driver does with
// the best batching it has: one commit per 64 rows on SQLite, 64 connections
// on PostgreSQL. Near 1 means that the store costs nothing.
func BenchmarkDurableWrites(b *testing.B) {
	for _, orgs := range []int{1, callers} {
		b.Run(fmt.Sprintf("sqlite/orgs=%d", orgs), func(b *testing.B) { durableWrites(b, b.TempDir()+"/svc.db", orgs) })
		b.Run(fmt.Sprintf("postgres/orgs=%d", orgs), func(b *testing.B) { durableWrites(b, storetest.Postgres(b), orgs) })
	}
}

// BenchmarkOneOrg measures what 64 callers of one org get committed as a
// multiple of what one caller does.
func BenchmarkOneOrg(b *testing.B) {
	for _, db := range []struct {
		name string
		dsn  func(testing.TB) string
	}{
		{"sqlite", func(t testing.TB) string { return t.TempDir() + "/svc.db" }},
		{"postgres", storetest.Postgres},
	} {
		b.Run(db.name, func(b *testing.B) {
			s := storetest.OpenDSN(b, db.dsn(b))
			addOrg(b, s, "acme")
			var n atomic.Int64
			rate := func(callers int) float64 {
				var wg sync.WaitGroup
				start := time.Now()
				for range callers {
					wg.Go(func() {
						for n.Add(-1) >= 0 {
							err := s.Write(b.Context(), "acme", func(tx *store.Tx) error {
								return tx.Emit(b.Context(), coord.Event{OrgID: "acme", Type: coord.EventOrgUpdated})
							})
							if err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				return 1 / time.Since(start).Seconds()
			}
			const writes = 300
			var one, many float64
			for range b.N {
				n.Store(writes)
				one += rate(1) * writes
				n.Store(writes * 8)
				many += rate(callers) * writes * 8
			}
			b.ReportMetric(one/float64(b.N), "one/s")
			b.ReportMetric(many/float64(b.N), "many/s")
			b.ReportMetric(many/one, "many/one")
		})
	}
}

func durableWrites(b *testing.B, dsn string, orgs int) {
	s := storetest.OpenDSN(b, dsn)
	var n, caller atomic.Int64
	b.SetParallelism(callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		org := fmt.Sprint("org", caller.Add(1)%int64(orgs))
		for pb.Next() {
			key := fmt.Sprint("k", n.Add(1))
			err := s.Write(b.Context(), org, func(tx *store.Tx) error { return tx.SetMeta(b.Context(), key, "v") })
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	rate := float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "writes/s")
	b.ReportMetric(rate/driverRate(b, dsn), "of-driver")
}

// driverRate returns how many rows per second the driver commits by itself.
func driverRate(b *testing.B, dsn string) float64 {
	b.Helper()
	driver, source, workers, batch := "pgx", dsn, callers, 1
	if !strings.HasPrefix(dsn, "postgres") {
		driver, workers, batch = "sqlite", 1, callers
		source = "file:" + dsn + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(workers)
	var rows atomic.Int64
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
	defer cancel()
	start := time.Now()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return
				}
				for j := range batch {
					if _, err := tx.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES ($1, $2)`, fmt.Sprintf("raw-%d-%d-%d", w, i, j),
						"v"); err != nil {
						tx.Rollback()
						return
					}
				}
				if tx.Commit() == nil {
					rows.Add(int64(batch))
				}
			}
		})
	}
	wg.Wait()
	return float64(rows.Load()) / time.Since(start).Seconds()
}
