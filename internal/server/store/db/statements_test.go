package db

import (
	"fmt"
	"path/filepath"
	"testing"
)

// A connection remembers statements, and none of this may be noticed.
func TestRememberedStatements(t *testing.T) {
	db := openSQLite("file:" + filepath.Join(t.TempDir(), "x.db"))
	defer db.Close()
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	must := func(query string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	const upTo = `SELECT n FROM t WHERE n <= $1 ORDER BY n`
	numbers := func(most int) (out []int) {
		t.Helper()
		rows, err := conn.QueryContext(t.Context(), upTo, most)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var n int
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
		return out
	}
	must(`CREATE TABLE t (n INTEGER PRIMARY KEY); CREATE TABLE u (n INTEGER)`)
	for n := range 5 {
		must(`INSERT INTO t (n) VALUES ($1)`, n)
	}
	if _, err := conn.ExecContext(t.Context(), `INSERT INTO t (n) VALUES ($1)`, 3); err == nil {
		t.Error("a number was put in twice")
	}
	must(`INSERT INTO t (n) VALUES ($1)`, 9) // what failed before works again

	t.Run("inside itself", func(t *testing.T) {
		rows, err := conn.QueryContext(t.Context(), upTo, 3)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var seen int
		for rows.Next() {
			var n int
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			if inner := numbers(n); len(inner) != n+1 {
				t.Errorf("up to %d: %v", n, inner)
			}
			seen++
		}
		if seen != 4 {
			t.Errorf("saw %d of 4", seen)
		}
	})
	t.Run("after the table has changed", func(t *testing.T) {
		must(`ALTER TABLE t ADD COLUMN more TEXT`)
		if got := numbers(100); len(got) != 6 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("more of them than are kept", func(t *testing.T) {
		for i := range 2*maxStatements + 1 {
			var n int
			if err := conn.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT %d + $1`, i), 1).Scan(&n); err != nil || n != i+1 {
				t.Fatalf("%d: %d, %v", i, n, err)
			}
		}
		err := conn.Raw(func(c any) error {
			if n := len(c.(*rememberingConn).known); n > maxStatements {
				t.Errorf("%d are kept", n)
			}
			return nil
		})
		if err != nil || len(numbers(1)) != 2 {
			t.Error(err)
		}
	})
}
