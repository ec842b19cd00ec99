package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A migration is one step of the schema's history.
type migration struct {
	version int
	name    string
}

// migrationsDir is where the migrations are in Schema.Migrations.
const migrationsDir = "migrations"

func (s *Schema) read(name string) ([]byte, error) {
	return fs.ReadFile(s.Migrations, path.Join(migrationsDir, name))
}

// history returns the migrations of this binary, in order. A file named
// NNNN_what.sql is for both databases, NNNN_what.sqlite.sql for one.
func (s *Schema) history(dialect string) ([]migration, error) {
	files, err := fs.ReadDir(s.Migrations, migrationsDir) // sorted by name
	if err != nil {
		return nil, err
	}
	var out []migration
	for _, f := range files {
		if only := path.Ext(strings.TrimSuffix(f.Name(), ".sql")); only != "" && only != "."+dialect {
			continue
		}
		number, _, _ := strings.Cut(f.Name(), "_")
		v, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number", f.Name())
		}
		out = append(out, migration{v, f.Name()})
	}
	return out, nil
}

// Hash names the schema that the migrations of this binary make.
func (s *Schema) Hash() string {
	h := sha256.New()
	files, err := fs.ReadDir(s.Migrations, migrationsDir)
	for _, f := range files {
		var text []byte
		if text, err = s.read(f.Name()); err != nil {
			break
		}
		fmt.Fprintf(h, "%s %d\n%s", f.Name(), len(text), text)
	}
	if err != nil {
		panic(fmt.Sprintf("db: reading embedded migrations: %v", err)) // they are part of the program
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// migrate applies the migrations not yet recorded, under a lock: several
// replicas may start at once.
func (d *DB) migrate(ctx context.Context) error {
	steps, err := d.schema.history(d.name)
	if err != nil {
		return err
	}
	apply := func(tx *Tx) error {
		if err := tx.bePatient(ctx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations (version BIGINT NOT NULL, name TEXT PRIMARY KEY)`); err != nil {
			return err
		}
		if err := tx.refuseNewer(ctx, steps); err != nil {
			return err
		}
		done, err := names(tx.QueryContext(ctx, `SELECT name FROM migrations`))
		if err != nil {
			return err
		}
		for _, m := range steps {
			if slices.Contains(done, m.name) {
				continue
			}
			if err := tx.apply(ctx, m); err != nil {
				return fmt.Errorf("migration %s: %w", m.name, err)
			}
		}
		return nil
	}
	// Each try waits for as long as a lock is waited for; another process that
	// migrates may take longer.
	for end := time.Now().Add(migrationTakes); ; {
		if err = d.Write(ctx, "migrations", apply); !d.isLocked(err) || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}

// bePatient lets a transaction take as long as it does.
func (tx *Tx) bePatient(ctx context.Context) error {
	if tx.name != postgres.name {
		return nil
	}
	for name := range writerPatience {
		if _, err := tx.ExecContext(ctx, `SET LOCAL `+name+` = 0`); err != nil {
			return err
		}
	}
	return nil
}

// migrationTakes is how long another process's migration is waited for.
const migrationTakes = 5 * time.Minute

func (tx *Tx) refuseNewer(ctx context.Context, steps []migration) error {
	known := steps[len(steps)-1].version
	var newest int
	var name string
	err := tx.QueryRowContext(ctx, `SELECT version, name FROM migrations ORDER BY version DESC LIMIT 1`).Scan(&newest, &name)
	if err == nil && newest > known {
		return fmt.Errorf("the database has migration %s, which this svcd does not know (its newest is %d): it was used by a newer version; "+
			"install that version or restore a backup from before the upgrade", name, known)
	}
	return nil
}

func (tx *Tx) apply(ctx context.Context, m migration) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO migrations (version, name) VALUES ($1, $2)`, m.version, m.name); err != nil {
		return err
	}
	text, err := tx.schema.read(m.name)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, string(text))
	return err
}

// Pending returns the names of migrations the database lacks.
func (d *DB) Pending(ctx context.Context) ([]string, error) {
	steps, err := d.schema.history(d.name)
	if err != nil {
		return nil, err
	}
	applied, err := names(d.pool.QueryContext(ctx, `SELECT name FROM migrations`))
	if err != nil {
		return nil, d.wrap(err)
	}
	var out []string
	for _, m := range steps {
		if !slices.Contains(applied, m.name) {
			out = append(out, m.name)
		}
	}
	return out, nil
}

// names returns the texts that a query found.
func names(rows *sql.Rows, err error) (out []string, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}
