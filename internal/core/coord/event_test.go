package coord_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Every constant has its row, which says what an event of that type changes.
func TestEveryEventTypeHasARow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "EventType" {
				continue
			}
			n++
			if text := strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`); !slices.Contains(coord.EventTypes(), coord.EventType(text)) {
				t.Errorf("%s (%s) has no row in events", v.Names[0].Name, text)
			}
		}
	}
	if n != len(coord.EventTypes()) {
		t.Errorf("%d constants, %d rows", n, len(coord.EventTypes()))
	}
}

// What is kept in memory follows the parts of the rows. Two places go by the
// noun of an event instead, and must know each.
func TestEveryNounOfAnEventIsKnown(t *testing.T) {
	text, err := os.ReadFile("../../../web/src/lib/live.tsx")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "const touches")
	table, _, _ = strings.Cut(table, "};")
	var touched []string
	for _, m := range regexp.MustCompile(`(?m)^ {2}(\w+): \[`).FindAllStringSubmatch(table, -1) {
		touched = append(touched, m[1])
	}
	// Those whose words can be searched have a case in memory's apply; the
	// others were looked at and have none.
	worded := []string{"intent", "conflict", "message", "question", "change", "contract", "org"}
	wordless := []string{
		"repo", "project", "session", "hook", "member", "invite", "token", "policy",
		"webhook", "integration", "digest", "plan", "billing", "signin", "branch",
	}
	for _, typ := range coord.EventTypes() {
		noun := typ.Noun()
		if !slices.Contains(touched, noun) {
			t.Errorf("%s: the dashboard does not know which lists it makes stale: touches in web/src/lib/live.tsx lacks %s", typ, noun)
		}
		if !slices.Contains(worded, noun) && !slices.Contains(wordless, noun) {
			t.Errorf("%s: can its words be searched? Then it needs a case in server/memory's apply; say so here, too", typ)
		}
	}
}
