package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/problem"
)

// A scanner is a row: *sql.Row and *sql.Rows have it in common.
type scanner interface{ Scan(...any) error }

// all returns every row of a query.
func all[T any](ctx context.Context, tx *Tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// one returns the row of a query, or a NotFound problem with the detail.
func one[T any](ctx context.Context, tx *Tx, missing string, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	v, err := scan(tx.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return v, problem.Newf(problem.NotFound, "%s", missing)
	}
	return v, err
}

// exec runs a statement and returns how many rows it touched.
func (tx *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// count returns a query's single number.
func (tx *Tx) count(ctx context.Context, query string, args ...any) (int, error) {
	var n int
	err := tx.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// asJSON is a column that holds JSON text: a value to write, a pointer to read.
type asJSON struct{ v any }

func (j asJSON) text() string {
	b, err := json.Marshal(j.v)
	if err != nil {
		panic(fmt.Sprintf("store: %T does not marshal: %v", j.v, err)) // our own types always do
	}
	return string(b)
}

// Scan reads the column.
func (j asJSON) Scan(src any) error {
	switch s := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(s), j.v)
	case []byte:
		return json.Unmarshal(s, j.v)
	}
	return fmt.Errorf("cannot read JSON from %T", src)
}

// js returns v as JSON text for a column.
func js(v any) string { return asJSON{v}.text() }

// jsOrNull is js, with nil pointers as NULL.
func jsOrNull[T any](v *T) any {
	if v == nil {
		return nil
	}
	return js(v)
}

// filter builds the WHERE clause of a list: conditions with numbered
// arguments, so that each is written once for both databases.
type filter struct {
	conds []string
	args  []any
}

// arg adds an argument and returns its placeholder.
func (f *filter) arg(v any) string {
	f.args = append(f.args, v)
	return "$" + strconv.Itoa(len(f.args))
}

// limit ends a query after n rows, or never if n is 0: who wants all is not to
// get some. It adds nothing to n, as all limits in
// parameters do: SQLite looks into a bare parameter there, and plans anew each
// time it is set.
func (f *filter) limit(n int) string {
	if n == 0 {
		return ""
	}
	return ` LIMIT ` + f.arg(n) + `+0`
}

// and adds a condition in which each ? stands for the next argument.
func (f *filter) and(cond string, args ...any) {
	for _, a := range args {
		cond = strings.Replace(cond, "?", f.arg(a), 1)
	}
	f.conds = append(f.conds, cond)
}

// equals adds "column = value"; an empty value adds nothing. Conditions go in
// by statements of Go, never from a map: a text in another order is another
// statement, to be parsed and planned and kept once more.
func (f *filter) equals(column, value string) {
	if value != "" {
		f.and(column+` = ?`, value)
	}
}

// within is equals, written so that neither database takes an index of the
// column for it: for a query that has a better one, of ids or of what is under
// way, and would walk all that an org or a person ever did by this.
func (f *filter) within(column, value string) {
	if value != "" {
		f.and(column+` || '' = ?`, value)
	}
}

// in adds "column IN (values)"; an empty list adds nothing.
func in[T any](f *filter, column string, values []T) {
	if len(values) == 0 {
		return
	}
	marks := make([]string, len(values))
	for i, v := range values {
		marks[i] = f.arg(v)
	}
	f.conds = append(f.conds, column+" IN ("+strings.Join(marks, ", ")+")")
}

func (f *filter) where() string {
	if len(f.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(f.conds, " AND ")
}

// every reports whether all of some statuses are live, and there are any: of
// these alone a list is asked for.
func every[T interface{ Live() bool }](statuses []T) bool {
	return len(statuses) > 0 && !slices.ContainsFunc(statuses, func(s T) bool { return !s.Live() })
}

// duplicate turns a unique violation into a Conflict problem. It takes the error
// of exec: that of ExecContext may come later.
func (tx *Tx) duplicate(err error, format string, args ...any) error {
	if err != nil && tx.IsDuplicate(err) {
		return problem.Newf(problem.Conflict, format, args...)
	}
	return err
}
