package store_test

import (
	"context"
	"database/sql"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/db"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// Within a batch PostgreSQL's answers are remembered until something is written
// that they are about, and what a statement reads and writes is told from its
// text. What the database itself says of a statement must be among it: SQLite's
// program of each, against the schema.
func TestWhatIsRememberedIsKnownToChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "svc.db")
	s := storetest.OpenDSN(t, path)
	seen := map[string]bool{}
	s.Observed = func(statement string) {
		if statement != "" {
			seen[statement] = true
		}
	}
	walkQueries(t, s)
	s.Observed = nil
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	programs := newPrograms(t, raw)
	for statement := range seen {
		programs.check(t, statement)
	}
	for _, statement := range unseen(t, seen) {
		programs.check(t, statement)
	}
}

// walkQueries calls every query, with what one of its kind may be called with.
func walkQueries(t *testing.T, s *store.Store) {
	t.Helper()
	machinery := reflect.TypeFor[*db.Tx]()
	queries := reflect.TypeFor[*store.Tx]()
	undone := errors.New("undone")
	for i := range queries.NumMethod() {
		m := queries.Method(i)
		if _, is := machinery.MethodByName(m.Name); is {
			continue
		}
		for variant := range 2 { // with everything that may be given, and with nothing
			err := s.Write(t.Context(), "", func(tx *store.Tx) error {
				args := []reflect.Value{reflect.ValueOf(tx)}
				for a := 1; a < m.Type.NumIn(); a++ {
					args = append(args, some(t, m.Type.In(a), variant == 0, 0))
				}
				if m.Type.IsVariadic() {
					m.Func.CallSlice(args)
				} else {
					m.Func.Call(args)
				}
				return undone
			})
			if !errors.Is(err, undone) {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	}
}

// some makes a value of a type: filled, or as empty as it can be.
func some(t *testing.T, typ reflect.Type, filled bool, depth int) reflect.Value {
	t.Helper()
	v := reflect.New(typ).Elem()
	switch {
	case typ == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(t.Context())
	case typ.Kind() == reflect.Func:
		return reflect.MakeFunc(typ, func([]reflect.Value) (out []reflect.Value) {
			for i := range typ.NumOut() {
				out = append(out, reflect.Zero(typ.Out(i)))
			}
			return out
		})
	case typ.Kind() == reflect.Pointer && (filled && depth <= 4 || depth == 0):
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(some(t, typ.Elem(), filled, depth+1))
		return v
	case depth > 4, !filled && depth > 0 && typ.Kind() != reflect.Struct:
		return v
	}
	switch typ.Kind() {
	case reflect.String:
		v.SetString("github") // some queries are of a host's tables
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.Append(v, some(t, typ.Elem(), filled, depth+1)))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				v.Field(i).Set(some(t, typ.Field(i).Type, filled || typ.Field(i).Name == "Provider", depth+1))
			}
		}
	case reflect.Interface:
		if typ.NumMethod() == 0 {
			v.Set(reflect.ValueOf("x"))
		}
	}
	return v
}

// programs tells of a statement what SQLite's program for it reads and writes.
type programs struct {
	db    *sql.DB
	roots map[int]btree
}

// A btree is a table or an index of one.
type btree struct {
	name    string
	table   string
	columns []string // "" for what has no name
}

func newPrograms(t *testing.T, raw *sql.DB) *programs {
	t.Helper()
	p := &programs{raw, map[int]btree{}}
	for _, row := range texts(t, raw, `SELECT rootpage, tbl_name, name, type FROM sqlite_master WHERE rootpage > 0`) {
		names := `SELECT name FROM pragma_table_info($1) ORDER BY cid`
		if row[3] == "index" {
			names = `SELECT COALESCE(name, '') FROM pragma_index_xinfo($1) ORDER BY seqno`
		}
		b := btree{name: row[2], table: row[1]}
		for _, c := range texts(t, raw, names, row[2]) {
			b.columns = append(b.columns, c[0])
		}
		root, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		p.roots[root] = b
	}
	return p
}

// texts returns the rows of a query.
func texts(t *testing.T, raw *sql.DB, query string, args ...any) (out [][]string) {
	t.Helper()
	rows, err := raw.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(row))
		for i := range row {
			line[i] = row[i].String
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// check compares a statement's program with what its text is taken to say.
func (p *programs) check(t *testing.T, statement string) {
	t.Helper()
	if !regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b`).MatchString(statement) {
		return // what makes tables, and SQLite's own settings
	}
	most := 0
	for _, m := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(statement, -1) {
		n, _ := strconv.Atoi(m[1])
		most = max(most, n)
	}
	cursors := map[string]btree{}
	for _, op := range texts(t, p.db, `EXPLAIN `+statement, make([]any, most)...) { // addr, opcode, p1, p2, p3, ...
		root, err := strconv.Atoi(op[3])
		if err != nil {
			t.Fatal(err)
		}
		switch op[1] {
		case "OpenRead", "ReopenIdx":
			cursors[op[2]] = p.roots[root]
			p.reads(t, statement, p.roots[root].table, "")
		case "OpenWrite":
			cursors[op[2]] = p.roots[root]
			p.writes(t, statement, p.roots[root].table)
		case "OpenEphemeral", "OpenAutoindex", "OpenPseudo", "SorterOpen":
			delete(cursors, op[2])
		case "Column":
			if b, ok := cursors[op[2]]; ok && root < len(b.columns) {
				p.reads(t, statement, b.table, b.columns[root])
			}
		}
	}
	p.sets(t, statement)
}

// reads holds that a question is asked again once a column that it reads, or
// where none is given the table, was written.
func (p *programs) reads(t *testing.T, statement, table, column string) {
	t.Helper()
	w := db.Write{Table: table}
	if column != "" {
		w.Columns = []string{column}
	}
	if table != "" && table != "sqlite_master" && db.OnlyAsks(statement) && !w.Concerns(statement) {
		t.Errorf("reads %s %s, which its text does not name:\n%s", table, column, statement)
	}
}

// writes holds that a table which is written is among those that the text is
// taken to write to.
func (p *programs) writes(t *testing.T, statement, table string) {
	t.Helper()
	if !slices.ContainsFunc(db.WritesOf(statement), func(w db.Write) bool { return w.Table == table || w.Table == "" }) {
		t.Errorf("writes %s, and is taken to write %v:\n%s", table, db.WritesOf(statement), statement)
	}
}

var setClause = regexp.MustCompile(`(?s)^\s*UPDATE\s+\w+\s+SET\s+(.*)$`)

// sets holds that where only some columns are taken to change, those are all
// that the statement sets, and they are the table's.
func (p *programs) sets(t *testing.T, statement string) {
	t.Helper()
	for _, w := range db.WritesOf(statement) {
		m := setClause.FindStringSubmatch(statement)
		if w.Columns == nil || m == nil {
			continue
		}
		var own []string
		for _, b := range p.roots {
			if b.name == w.Table {
				own = b.columns
			}
		}
		for _, c := range assigned(m[1]) {
			if !slices.Contains(own, c) || !slices.Contains(w.Columns, c) {
				t.Errorf("sets %s of %v, and is taken to set %v:\n%s", c, own, w.Columns, statement)
			}
		}
	}
}

// assigned reads the names before the equals signs of a SET clause, word by
// word: a second opinion on what a pattern finds.
func assigned(clause string) (out []string) {
	depth, name := 0, ""
	expect := true // a name comes next
	for _, word := range regexp.MustCompile(`'[^']*'|[A-Za-z_]\w*|\$\d+|.`).FindAllString(clause, -1) {
		switch {
		case word == "(":
			depth++
		case word == ")":
			depth--
		case depth > 0 || strings.TrimSpace(word) == "":
		case word == ",":
			expect = true
		case word == "WHERE" || word == "FROM" || word == "RETURNING":
			return out
		case expect && word == "=":
			out = append(out, name)
			expect = false
		case expect:
			name = word
		}
	}
	return out
}

// unseen returns the statements of the package's source that no query ran,
// since there was nothing to run them for, as they would be.
func unseen(t *testing.T, seen map[string]bool) (out []string) {
	t.Helper()
	all := strings.Join(slices.Collect(maps.Keys(seen)), "\n")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	begins := regexp.MustCompile(`^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err == nil && begins.MatchString(text) && !strings.Contains(all, text) {
				out = append(out, whole(text))
			}
			return true
		})
	}
	return out
}

var inserted = regexp.MustCompile(`(?s)INSERT INTO \w+ \(([^)]*)\)\s+VALUES\s*$`)

// whole completes the beginning of a statement that is put together.
func whole(text string) string {
	text = strings.ReplaceAll(text, "?", "1")
	if m := inserted.FindStringSubmatch(text); m != nil {
		return text + "(1" + strings.Repeat(", 1", strings.Count(m[1], ",")) + ")"
	}
	if strings.HasSuffix(text, " IN ") {
		return text + "(1)"
	}
	if strings.HasSuffix(text, " AND ") {
		return text + "1"
	}
	return text
}

// A write that changes more than it says would leave answers that are untrue:
// no trigger, rule or cascade may write, and no view or computed column may read.
func TestTheSchemaDoesNothingByItself(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for name, query := range map[string][2]string{
			"triggers and views": {
				`SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')`,
				`SELECT tgname FROM pg_trigger WHERE NOT tgisinternal UNION ALL SELECT viewname FROM pg_views WHERE schemaname = current_schema()
					UNION ALL SELECT rulename FROM pg_rules WHERE schemaname = current_schema()`,
			},
			"cascades": {
				`SELECT m.name || ' ' || f."from" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
					WHERE m.type = 'table' AND (f.on_delete <> 'NO ACTION' OR f.on_update <> 'NO ACTION')`,
				`SELECT conname FROM pg_constraint WHERE contype = 'f' AND (confdeltype <> 'a' OR confupdtype <> 'a')`,
			},
			"computed columns": {
				`SELECT m.name || ' ' || c.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table' AND c.hidden > 0`,
				`SELECT table_name || ' ' || column_name FROM information_schema.columns
					WHERE table_schema = current_schema() AND is_generated <> 'NEVER'`,
			},
		} {
			text := query[0]
			if s.Name() == "postgres" {
				text = query[1]
			}
			err := s.Read(t.Context(), func(tx *store.Tx) error {
				rows, err := tx.QueryContext(t.Context(), text)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
					var what string
					if err := rows.Scan(&what); err != nil {
						return err
					}
					t.Errorf("%s: %s", name, what)
				}
				return rows.Err()
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
