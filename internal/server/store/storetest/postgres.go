package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver called pgx

	"github.com/svc-hq/svc/internal/server/store"
)

// Postgres makes a database with all tables for one test and returns its DSN.
func Postgres(t testing.TB) string {
	t.Helper()
	return postgresFrom(t, "")
}

var databases atomic.Int32

// postgresFrom makes a database for one test as a copy of another, by default
// of one that has all tables.
func postgresFrom(t testing.TB, template string) string {
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
	if template == "" {
		if template, err = filled(t.Context(), db, dsn); err != nil {
			t.Fatal(err)
		}
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), databases.Add(1))
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	return at(dsn, name)
}

// at is dsn with another database.
func at(dsn, database string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(fmt.Sprintf("storetest: SVC_TEST_POSTGRES is no URL: %v", err))
	}
	u.Path = "/" + database
	return u.String()
}

// filled returns the name of a database with all tables and no rows. The first
// who asks makes it, in whichever process: packages are tested side by side.
func filled(ctx context.Context, db *sql.DB, dsn string) (string, error) {
	name := "svc_" + store.SchemaHash()
	conn, err := db.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(7780)"); err != nil {
		return "", err
	}
	defer conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock(7780)")
	var there bool
	err = conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&there)
	if err != nil || there {
		return name, err
	}
	// It gets its name when it is done: one whose maker was killed has none.
	half := name + "_half"
	for _, query := range []string{"DROP DATABASE IF EXISTS " + half + " WITH (FORCE)", "CREATE DATABASE " + half} {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			return "", err
		}
	}
	s, err := store.Open(ctx, at(dsn, half))
	if err != nil {
		return "", err
	}
	if err := s.Close(); err != nil {
		return "", err
	}
	_, err = conn.ExecContext(ctx, "ALTER DATABASE "+half+" RENAME TO "+name)
	return name, err
}
