// Package storetest runs a test on every database the service supports.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver called pgx
	"github.com/svc-hq/svc/internal/server/store"
)

// Each runs test once per database, each time on an empty one of its own.
// PostgreSQL is the server at SVC_TEST_POSTGRES; without it that half is
// skipped, except in CI, where a skipped half would be a silent hole.
func Each(t *testing.T, test func(*testing.T, *store.Store)) {
	t.Helper()
	EachDSN(t, func(t *testing.T, dsn string) { test(t, OpenDSN(t, dsn)) })
}

// EachDSN is Each for tests that open the database themselves, perhaps more
// than once.
func EachDSN(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, filepath.Join(t.TempDir(), "svc.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := Postgres(t)
		t.Parallel()
		test(t, dsn)
	})
}

// Open returns an empty SQLite store, for tests that have no need to run
// twice.
func Open(t testing.TB) *store.Store {
	t.Helper()
	return OpenDSN(t, filepath.Join(t.TempDir(), "svc.db"))
}

// OpenDSN opens a database that is closed when the test ends.
func OpenDSN(t testing.TB, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var schemas atomic.Int32

// Postgres makes a schema for one test and returns a DSN that uses it.
func Postgres(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv("SVC_TEST_POSTGRES")
	if dsn == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("SVC_TEST_POSTGRES is not set; run the tests with make test")
		}
		t.Skip("SVC_TEST_POSTGRES is not set; make test sets it")
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		db.ExecContext(context.Background(), "DROP SCHEMA "+name+" CASCADE")
		db.Close()
	})
	sep := "?"
	if strings.Contains(dsn, "?") {
		sep = "&"
	}
	return dsn + sep + "search_path=" + url.QueryEscape(name)
}
