package backtest_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
)

// A madeRow is two pieces of work on one base that git merges. Whether the
// result compiles was found out by the language's own compiler, not by svc.
type madeRow struct {
	name   string
	breaks bool
	a, b   files // a changes a definition, b newly uses it
}

// Of what does not compile once merged, nine in ten are told in each language;
// of what does, nothing is.
func TestMadeRows(t *testing.T) {
	tables, err := filepath.Glob("testdata/made/*.txtar")
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, table := range tables {
		t.Run(strings.TrimSuffix(filepath.Base(table), ".txtar"), func(t *testing.T) {
			t.Parallel()
			base, rows := readMade(t, table)
			for file := range base {
				if l := rules.LanguageOf(file); l.Grammar != "" && !grammar.Supported(l.Grammar) {
					return // a build without C has line facts alone, which other tests hold
				}
			}
			told, breaks := 0, 0
			for i, said := range replayMade(t, base, rows) {
				switch r := rows[i]; {
				case !r.breaks && len(said) > 0:
					t.Errorf("told of a pair that fits: %s: %q", r.name, said)
				case r.breaks && len(said) > 0:
					told++
					breaks++
				case r.breaks:
					breaks++
					t.Logf("not told: %s", r.name)
				}
			}
			if told*10 < breaks*9 {
				t.Errorf("%d of %d breaks were told", told, breaks)
			}
		})
	}
}

// replayMade returns what is said of the breaks of each row.
func replayMade(t *testing.T, base files, rows []madeRow) [][]string {
	m := newMaker()
	at := m.commit("base", base)
	for i, r := range rows {
		for side, change := range map[string]files{"a": r.a, "b": r.b} {
			m.ref(fmt.Sprintf("refs/heads/%s%d", side, i), m.commit(r.name, change, at))
		}
	}
	repo := m.build(t, at)
	out := make([][]string, len(rows))
	for i := range rows {
		ids := strings.Fields(gittest.Run(t, repo.GitDir, "rev-parse", "main", fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)))
		o, err := backtest.One(t.Context(), repo, ids[0], [2]string{ids[1], ids[2]})
		if err != nil {
			t.Fatalf("%s: %v", rows[i].name, err)
		}
		if !o.Clean() {
			t.Errorf("git does not merge %s: %v", rows[i].name, o.Conflicts)
		}
		for _, w := range o.Warnings {
			if w.Kind == coord.ContractBreak {
				out[i] = append(out[i], w.Text)
			}
		}
	}
	return out
}

// readMade reads a table: files of the base, then rows. A row has sides (a, b)
// with files, and of each file the lines that go and those that come; lines
// that only come stand at its end.
func readMade(t *testing.T, table string) (files, []madeRow) {
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	base := files{}
	var rows []madeRow
	for _, f := range txtar.Parse(data).Files {
		if name, ok := strings.CutPrefix(f.Name, "base/"); ok {
			base[name] = string(f.Data)
			continue
		}
		verdict, name, ok := strings.Cut(f.Name, ": ")
		if !ok || verdict != "breaks" && verdict != "fits" {
			t.Fatalf("%s: %q is no row", table, f.Name)
		}
		r := madeRow{name: name, breaks: verdict == "breaks", a: maps.Clone(base), b: maps.Clone(base)}
		applyMade(t, &r, strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n"))
		rows = append(rows, r)
	}
	return base, rows
}

func applyMade(t *testing.T, r *madeRow, lines []string) {
	var side files
	var file string
	var gone, come []string
	flush := func() {
		old, new := strings.Join(gone, ""), strings.Join(come, "")
		switch {
		case side == nil || len(gone)+len(come) == 0:
		case len(gone) > 0 && strings.Count(side[file], old) != 1:
			t.Fatalf("%s: %s has not once %q", r.name, file, old)
		case len(gone) > 0:
			side[file] = strings.Replace(side[file], old, new, 1)
		default:
			side[file] += new
		}
		gone, come = nil, nil
	}
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "a "), strings.HasPrefix(l, "b "):
			flush()
			side, file = map[string]files{"a": r.a, "b": r.b}[l[:1]], l[2:]
		case strings.HasPrefix(l, "-"):
			if len(come) > 0 {
				flush()
			}
			gone = append(gone, l[1:]+"\n")
		case strings.HasPrefix(l, "+"):
			come = append(come, l[1:]+"\n")
		default:
			t.Fatalf("%s: %q is no line of a row", r.name, l)
		}
	}
	flush()
}
