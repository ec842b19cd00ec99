package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Existing opens a database as it is, to be read: it applies no migrations,
// and refuses one of another version.
func Existing(ctx context.Context, dsn string, schema *Schema) (*DB, error) {
	if dialectOf(dsn).name == embedded.name {
		if _, err := os.Stat(dsn); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no database at %s", dsn)
		}
	}
	d, err := connect(ctx, dsn, schema)
	if err != nil {
		return nil, err
	}
	if err := d.current(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *DB) current(ctx context.Context) error {
	steps, err := d.schema.history(d.name)
	if err != nil {
		return err
	}
	if err := d.Read(ctx, func(tx *Tx) error { return tx.refuseNewer(ctx, steps) }); err != nil {
		return err
	}
	pending, err := d.Pending(ctx)
	if err != nil {
		return fmt.Errorf("this is not a database of svcd: %w", err)
	}
	if len(pending) > 0 {
		return fmt.Errorf("the database is of an older version (it lacks %s); run svcd migrate on it first", pending[0])
	}
	return nil
}

var createTable = regexp.MustCompile(`(?m)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)

// tables returns the tables as they were made: each names only earlier ones.
func (s *Schema) tables(dialect string) ([]string, error) {
	steps, err := s.history(dialect)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range steps {
		text, err := s.read(m.name)
		if err != nil {
			return nil, err
		}
		for _, found := range createTable.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(s.Fleeting, found[1]) && !slices.Contains(out, found[1]) { // some were made anew
				out = append(out, found[1])
			}
		}
	}
	return out, nil
}

// CopyTo copies everything, as it is at one moment, into an empty database,
// of whichever kind. told hears of each table that is done. Either all of it
// arrives or nothing.
func (d *DB) CopyTo(ctx context.Context, to *DB, told func(table string, rows int)) error {
	names, err := d.schema.tables(d.name)
	if err != nil {
		return err
	}
	return d.Read(ctx, func(from *Tx) error {
		if err := from.bePatient(ctx); err != nil {
			return err
		}
		return to.Write(ctx, "", func(tx *Tx) error {
			if err := tx.bePatient(ctx); err != nil {
				return err
			}
			if err := tx.schema.Clear(ctx, tx); err != nil {
				return err
			}
			for _, table := range names {
				n, err := copyTable(ctx, from, tx, table)
				if err != nil {
					return fmt.Errorf("copy %s: %w", table, err)
				}
				told(table, n)
			}
			return nil
		})
	})
}

// Sound reads all of a database and returns how many rows it has, or what is
// wrong with it. PostgreSQL keeps checksums of its own.
func (d *DB) Sound(ctx context.Context) (rows int, err error) {
	names, err := d.schema.tables(d.name)
	if err != nil {
		return 0, err
	}
	err = d.Read(ctx, func(tx *Tx) error {
		if err := tx.bePatient(ctx); err != nil {
			return err
		}
		if d.name == embedded.name {
			var said string
			if err := tx.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&said); err != nil {
				return err
			}
			if said != "ok" {
				return errors.New(said)
			}
		}
		for _, table := range names {
			n := 0
			if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil {
				return err
			}
			rows += n
		}
		return nil
	})
	return rows, err
}

// copyRows is how many rows one statement writes.
const copyRows = 50

// copyTable copies one table and returns how many rows it has.
func copyTable(ctx context.Context, from, to *Tx, table string) (n int, err error) {
	rows, err := from.QueryContext(ctx, `SELECT * FROM `+table)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	kinds, err := to.kinds(ctx, table)
	if err != nil {
		return 0, err
	}
	var args []any
	var marks []string
	write := func() error {
		if len(marks) == 0 {
			return nil
		}
		_, err := to.ExecContext(ctx, `INSERT INTO `+table+` (`+strings.Join(columns, ", ")+`) VALUES `+strings.Join(marks, ", "), args...)
		args, marks = nil, nil
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return n, err
		}
		row := make([]string, len(columns))
		for i, v := range values {
			args = append(args, portable(v, kinds[columns[i]]))
			row[i] = "$" + strconv.Itoa(len(args))
		}
		marks = append(marks, "("+strings.Join(row, ", ")+")")
		if n++; len(marks) == copyRows {
			if err := write(); err != nil {
				return n, err
			}
		}
	}
	return n, errors.Join(rows.Err(), write())
}

// kinds returns the types of a table's columns.
func (tx *Tx) kinds(ctx context.Context, table string) (map[string]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT * FROM `+table+` LIMIT 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	out := map[string]string{}
	for _, t := range types {
		out[t.Name()] = kindOf(t)
	}
	return out, err
}

func kindOf(t *sql.ColumnType) string { return strings.ToUpper(t.DatabaseTypeName()) }

// portable returns a value of one database as a column of the other takes it.
func portable(v any, kind string) any {
	switch x := v.(type) {
	case []byte:
		if kind == "TEXT" || kind == "VARCHAR" {
			return string(x)
		}
	case int64:
		if strings.HasPrefix(kind, "BOOL") {
			return x != 0
		}
	}
	return v
}
