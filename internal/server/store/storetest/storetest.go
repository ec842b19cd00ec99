// Package storetest runs a test on every database the service supports.
//
// Making the tables takes longer than most tests do. So it is done once, and
// each test gets a copy. Only tests import it.
package storetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/server/store"
)

// Each runs test once per database, each time on one of its own with no rows.
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
	each(t, Postgres, func(t *testing.T, dsn string) {
		Prepare(t, dsn)
		test(t, dsn)
	})
}

// EachWalk is EachDSN for tests that make hundreds of requests, one after the
// other. The race detector, which makes them four times as dear, sees on SQLite
// what there is to see. So under it they use SQLite alone, and make test runs
// their package once more without it, when they use PostgreSQL alone.
func EachWalk(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	if watched || os.Getenv("SVC_TEST_POSTGRES") == "" && os.Getenv("CI") == "" {
		t.Run("sqlite", func(t *testing.T) {
			dsn := filepath.Join(t.TempDir(), "svc.db")
			Prepare(t, dsn)
			test(t, dsn)
		})
		return
	}
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// EachEmpty is EachDSN with databases that have no tables either.
func EachEmpty(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	each(t, func(t testing.TB) string { return postgresFrom(t, "template1") }, test)
}

func each(t *testing.T, postgres func(testing.TB) string, test func(t *testing.T, dsn string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, filepath.Join(t.TempDir(), "svc.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgres(t)
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
	Prepare(t, dsn)
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Prepare makes the SQLite database at dsn, if it is to be one and is not there
// yet.
func Prepare(t testing.TB, dsn string) {
	t.Helper()
	if strings.Contains(dsn, "://") {
		return
	}
	if _, err := os.Stat(dsn); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	data, err := sqliteFile()
	if err == nil {
		err = os.WriteFile(dsn, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sqliteFile is a SQLite database with all tables and no rows.
var sqliteFile = sync.OnceValues(func() (data []byte, err error) {
	dir, err := os.MkdirTemp("", "storetest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "svc.db")
	s, err := store.Open(context.Background(), file)
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil { // which brings all into the one file
		return nil, err
	}
	return os.ReadFile(file)
})
