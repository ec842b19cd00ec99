package policy_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/doctable"
)

var update = flag.Bool("update", false, "rewrite the table in docs/policies.md")

const docs = "../../../docs/policies.md"

// The documentation's tables say what the rules are.
func TestTheDocumentationTellsEveryRule(t *testing.T) {
	doc := doctable.Read(t, docs, "table")
	doc.Check(t, table(t), *update, "go test ./internal/core/policy -update")
	text := doc.Text
	for kind, severity := range policy.DefaultSeverities() {
		if !strings.Contains(text, fmt.Sprintf("| `%s` |", kind)) {
			t.Errorf("nothing is said about %s", kind)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, fmt.Sprintf("| `%s` |", kind)) && !strings.HasSuffix(line, "| "+string(severity)+" |\n") {
				t.Errorf("%s is %s by default, not as in %s", kind, severity, line)
			}
		}
	}
	if len(policy.DefaultSeverities()) != len(coord.ConflictKind("").Enum()) {
		t.Error("a kind has no default")
	}
}

func table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| rule | value | default | |\n|---|---|---|---|\n")
	for _, r := range policy.Table() {
		value, err := json.Marshal(r.Default)
		if err != nil {
			t.Fatal(err)
		}
		shown := "`" + string(value) + "`"
		if len(shown) > 60 {
			shown = "see above"
			if r.Type == policy.Globs {
				shown = "lock files, generated and vendored folders (`GET /v1/policies` lists them)"
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, r.Form(), shown, r.Doc)
	}
	return b.String()
}
