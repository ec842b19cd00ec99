package formats_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/outline"
)

// Which tables a text is about: prose, functions with a from of their own, and
// tables that nobody else can see are no use and no definition of one.
func TestTablesOfTexts(t *testing.T) {
	for text, want := range map[string]string{
		"select all items from cache":                                "",
		"update failed to set value":                                 "",
		"update users set name = ?":                                  "uses users",
		"delete from queue failed":                                   "",
		"delete from queue":                                          "uses queue",
		"delete from queue where id = ?":                             "uses queue",
		"DELETE FROM foo USING bar WHERE foo.id = bar.id":            "uses foo",
		"drop table is not supported":                                "",
		"drop table if exists users":                                 "provides users",
		"insert into the map":                                        "",
		"insert into users (name) values (?)":                        "uses users",
		"CREATE TEMP TABLE scratch (id int); SELECT id FROM scratch": "",
		"create temporary table if not exists s (a int); insert into s select a from people": "uses people",
		"SELECT value FROM json_each(?)":                                             "",
		"SELECT name FROM sqlite_master WHERE type = 'table'":                        "",
		"SELECT * FROM information_schema.tables":                                    "",
		"SELECT * FROM pg_catalog.pg_class":                                          "",
		"SELECT EXTRACT(EPOCH FROM created) FROM events":                             "uses events",
		"SELECT substring(name FROM 3) FROM people":                                  "uses people",
		"SELECT TRIM(BOTH 'x' FROM name) FROM pets":                                  "uses pets",
		"SELECT a FROM readings WHERE b IS DISTINCT FROM c":                          "uses readings",
		"SELECT x FROM jobs FOR UPDATE SKIP LOCKED":                                  "uses jobs",
		"SELECT x FROM jobs j FOR NO KEY UPDATE OF j":                                "uses jobs",
		"WITH RECURSIVE tree AS (SELECT id FROM nodes) SELECT id FROM tree":          "uses nodes",
		"SELECT (SELECT max(a) FROM inner_one) FROM outer_one":                       "uses inner_one, uses outer_one",
		"INSERT INTO kv (k) VALUES (1) ON CONFLICT (k) DO UPDATE SET v = excluded.v": "uses kv",
		"SELECT * FROM $1": "",
	} {
		var got []string
		for _, c := range formats.Queries(outline.Text{Value: text}) {
			if s := string(c.Role) + " " + strings.TrimPrefix(c.Key, "db:public."); !slices.Contains(got, s) {
				got = append(got, s)
			}
		}
		if said := strings.Join(got, ", "); said != want {
			t.Errorf("%s: %q, want %q", text, said, want)
		}
	}
}
