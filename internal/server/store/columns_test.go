package store_test

import (
	"database/sql"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/doctable"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// columns.tsv has every column, so that whoever adds one says whether
// something of a person may stand in it; and each that may is seen to when a
// person is erased.
func TestEveryColumnIsThoughtOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "svc.db")
	storetest.OpenDSN(t, path)
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	said := map[string]store.ColumnKind{}
	for _, c := range store.Columns() {
		if said[c.Table+"."+c.Name] != "" {
			t.Errorf("%s.%s is there twice", c.Table, c.Name)
		}
		said[c.Table+"."+c.Name] = c.Kind
	}
	there := texts(t, raw, `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`)
	kinds := []store.ColumnKind{store.PlainColumn, store.CodeColumn, store.TextColumn, store.PersonColumn, store.ProseColumn,
		store.SecretColumn}
	for _, row := range there {
		name := row[0] + "." + row[1]
		if !slices.Contains(kinds, said[name]) {
			t.Errorf("columns.tsv does not say what may stand in %s", name)
		}
		delete(said, name)
	}
	for name := range said {
		t.Errorf("columns.tsv has %s, which is no column", name)
	}
	erased := strings.Join(store.ErasureStatements(), "\n")
	for _, c := range store.Columns() {
		switch c.Kind {
		case store.TextColumn, store.PersonColumn, store.ProseColumn:
			if !strings.Contains(erased, c.Table+" "+c.Name+";") && !strings.Contains(erased, "DELETE FROM "+c.Table+" ") &&
				!setIn(erased, c) {
				t.Errorf("nothing erases %s.%s", c.Table, c.Name)
			}
		}
	}
}

// setIn reports whether a statement writes a column anew.
func setIn(statements string, c store.Column) bool {
	for s := range strings.SplitSeq(statements, "UPDATE ") {
		s = strings.Join(strings.Fields(s), " ")
		set, _, _ := strings.Cut(s, " WHERE ")
		if strings.HasPrefix(s, c.Table+" SET ") && strings.Contains(set, " "+c.Name+" = ") {
			return true
		}
	}
	return false
}

// An export of an org has every table that is about one; the others are named.
func TestAnExportLeavesNoTableOut(t *testing.T) {
	fleeting := []string{"edge_leases", "fanouts", "hook_receipts", "hook_replies", "jobs", "mail_tests", "mails", "meta", "migrations",
		"rate_limits", "patches", "replicas", "sends", "told", "waits", // what passes, and the server's own
		// of people, who may be in several orgs:
		"device_codes", "half_signins", "identities", "passkey_challenges", "passkeys", "recovery_codes",
		"signin_links", "signups", "totps", "web_sessions"}
	path := filepath.Join(t.TempDir(), "svc.db")
	storetest.OpenDSN(t, path)
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	exported := store.ExportedTables()
	for _, row := range texts(t, raw, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		if slices.Contains(exported, row[0]) == slices.Contains(fleeting, row[0]) {
			t.Errorf("%s: is it exported, or does it pass?", row[0])
		}
	}
}

// docs/privacy.md names every column that can hold something of a person.
func TestPrivacyNamesEveryColumn(t *testing.T) {
	says := map[store.ColumnKind]string{store.PersonColumn: "who somebody is", store.TextColumn: "what they or their agents wrote",
		store.ProseColumn: "sentences and records that may name them"}
	var rows strings.Builder
	rows.WriteString("| Table | Columns | What stands there |\n|---|---|---|\n")
	var names []string
	for i, c := range store.Columns() {
		all := store.Columns()
		for _, kind := range []store.ColumnKind{store.PersonColumn, store.TextColumn, store.ProseColumn} {
			if i > 0 && all[i-1].Table == c.Table {
				break // told with the first of its table
			}
			names = names[:0]
			for _, other := range all {
				if other.Table == c.Table && other.Kind == kind {
					names = append(names, "`"+other.Name+"`")
				}
			}
			if len(names) > 0 {
				rows.WriteString("| `" + c.Table + "` | " + strings.Join(names, ", ") + " | " + says[kind] + " |\n")
			}
		}
	}
	doctable.Read(t, "../../../docs/privacy.md", "stored").Check(t, rows.String(), *update,
		"go test ./internal/server/store -run Column -update, and read what it wrote")
}

var update = flag.Bool("update", false, "write the table of docs/privacy.md")
