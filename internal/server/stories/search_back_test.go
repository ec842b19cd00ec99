package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
)

// A past takes an org of a service on SQLite back to where it was: triggers keep
// what each write replaced. To begin in another org and to repeat what led to a
// state takes many times as long as to undo one move.
type past struct {
	t      *testing.T
	w      *daemontest.World
	org    string
	first  int64 // the last event before the first moment
	tables []table
}

type table struct {
	name    string
	columns string
}

// newPast has every table remember. Events are not taken back: whoever follows
// them would take others of the same numbers for those that it knows.
func newPast(t *testing.T, w *daemontest.World, org string) *past {
	p := &past{t: t, w: w, org: org}
	p.write("", func(ctx context.Context, tx *store.Tx) (err error) {
		if p.first, err = tx.LastSeq(ctx, org); err == nil {
			err = p.find(ctx, tx)
		}
		run := []string{`CREATE TABLE past (n INTEGER PRIMARY KEY, what INTEGER, did TEXT, row INTEGER)`, `CREATE TABLE past_off (n INTEGER)`}
		for i, of := range p.tables {
			run = append(run, of.remember(i)...)
		}
		for _, text := range run {
			if err == nil {
				_, err = tx.ExecContext(ctx, text)
			}
		}
		return err
	})
	return p
}

func (p *past) find(ctx context.Context, tx *store.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT m.name, (SELECT group_concat(name, ', ') FROM pragma_table_info(m.name)
		WHERE name <> 'event_seq') FROM sqlite_master m WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'events'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	p.tables = nil
	for rows.Next() {
		var of table
		if err := rows.Scan(&of.name, &of.columns); err != nil {
			return err
		}
		p.tables = append(p.tables, of)
	}
	return rows.Err()
}

// remember are the statements that have a table remember.
func (of table) remember(number int) []string {
	trigger := `CREATE TRIGGER past_%s_%s AFTER %s ON %[1]s WHEN NOT EXISTS (SELECT 1 FROM past_off) BEGIN
		INSERT INTO past (what, did, row) VALUES (%[4]d, '%[2]s', %[5]s.rowid); %[6]s END`
	keep := fmt.Sprintf(`INSERT INTO past_%s SELECT MAX(n), old.%s FROM past;`, of.name, strings.ReplaceAll(of.columns, ", ", ", old."))
	return []string{
		fmt.Sprintf(`CREATE TABLE past_%s AS SELECT 0 AS past, %s FROM %[1]s WHERE 0`, of.name, of.columns),
		fmt.Sprintf(`CREATE INDEX past_%s_n ON past_%[1]s (past)`, of.name),
		fmt.Sprintf(trigger, of.name, "insert", "INSERT", number, "new", ""),
		fmt.Sprintf(trigger, of.name, "update", "UPDATE OF "+of.columns, number, "new", keep),
		fmt.Sprintf(trigger, of.name, "delete", "DELETE", number, "old", keep),
	}
}

// write writes as the service itself does, which hears of no others.
func (p *past) write(org string, fn func(context.Context, *store.Tx) error) {
	p.t.Helper()
	ctx := p.t.Context()
	if err := p.w.D.Ops.Work.Store.Write(ctx, org, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		p.t.Fatal(err)
	}
}

// since returns the tables that were written since a moment, and the moment that
// it is now.
func (p *past) since(moment int64) (written []string, now int64) {
	now = moment
	ctx := p.t.Context()
	err := p.w.Store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT what, MAX(n) FROM past WHERE n > $1 GROUP BY what`, moment)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var what, n int64
			if err := rows.Scan(&what, &n); err != nil {
				return err
			}
			written, now = append(written, p.tables[what].name), max(now, n)
		}
		return rows.Err()
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return written, now
}

// A done is one row that was written.
type done struct {
	n, what, row int64
	did          string
}

// back undoes what was written since a moment, and has what is kept of live work
// in memory made anew from the records.
func (p *past) back(moment int64) {
	p.t.Helper()
	p.write(p.org, func(ctx context.Context, tx *store.Tx) error {
		all, err := p.dones(ctx, tx, moment)
		if err != nil {
			return err
		}
		run := func(text string, args ...any) {
			if err == nil {
				_, err = tx.ExecContext(ctx, text, args...)
			}
		}
		run(`INSERT INTO past_off VALUES (1)`)
		var kept []string
		for _, d := range all {
			of := p.tables[d.what]
			if d.did == "insert" {
				run(`DELETE FROM `+of.name+` WHERE rowid = $1`, d.row)
				continue
			}
			text := `UPDATE %s SET (%s) = (SELECT %[2]s FROM past_%[1]s WHERE past = $2) WHERE rowid = $1`
			if d.did == "delete" {
				text = `INSERT INTO %s (rowid, %s) SELECT $1, %[2]s FROM past_%[1]s WHERE past = $2`
			}
			run(fmt.Sprintf(text, of.name, of.columns), d.row, d.n)
			if !slices.Contains(kept, of.name) {
				kept = append(kept, of.name)
			}
		}
		for _, name := range kept {
			run(`DELETE FROM past_`+name+` WHERE past > $1`, moment)
		}
		run(`DELETE FROM past WHERE n > $1`, moment)
		run(`DELETE FROM past_off`)
		run(`DELETE FROM events WHERE org_id = $1 AND seq > $2`, p.org, p.first)
		if err != nil {
			return err
		}
		renamed := wire.RepoRenamedPayload{FullName: "acme/api", Previous: "acme/api", By: "person"}
		return tx.Emit(ctx, coord.Event{OrgID: p.org, Type: coord.EventRepoRenamed, Actor: coord.Entity{Kind: "system", ID: "svc"},
			Subject: coord.Entity{Kind: "repo", ID: "past"}, Facts: renamed})
	})
	p.w.D.Ops.Work.Forget(p.org)
}

// dones are the rows that were written since a moment, the last first.
func (p *past) dones(ctx context.Context, tx *store.Tx, moment int64) (all []done, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT n, what, did, row FROM past WHERE n > $1 ORDER BY n DESC`, moment)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d done
		if err := rows.Scan(&d.n, &d.what, &d.did, &d.row); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, rows.Err()
}

// dump is what the tables hold on which a decision can rest, a line for each.
func (p *past) dump() (out []string) {
	ctx := p.t.Context()
	err := p.w.Store.Read(ctx, func(tx *store.Tx) error {
		for _, of := range p.tables {
			late := []string{"replicas", "edge_leases", "tokens", "event_seals", "event_heads"} // written by processes when there is time
			if slices.Contains(beside, of.name) || slices.Contains(late, of.name) {
				continue
			}
			var line string
			text := fmt.Sprintf(`SELECT COALESCE(group_concat(quote(%s), char(10)), '') FROM (SELECT * FROM %s ORDER BY rowid)`,
				strings.ReplaceAll(of.columns, ", ", ") || quote("), of.name)
			if err := tx.QueryRowContext(ctx, text).Scan(&line); err != nil {
				return err
			}
			out = append(out, of.name+" "+line)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}
