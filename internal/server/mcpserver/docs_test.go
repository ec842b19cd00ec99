package mcpserver_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/server/mcpserver"
)

// docs/mcp.md tells of the tools and instructions as they are.
func TestTheDocumentIsCurrent(t *testing.T) {
	const path = "../../../docs/mcp.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inputs := start(t, t.TempDir()+"/svc.db").inputs()
	var table strings.Builder
	table.WriteString("| Tool | Reads only | Compact | Parameters (required in bold) | What it is for |\n|---|---|---|---|---|\n")
	for _, tool := range mcpserver.Tools {
		in, built := inputs[tool.Name]
		if !built {
			continue
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n", tool.Name, yes(tool.ReadOnly), yes(tool.Core), parameters(in),
			strings.NewReplacer("|", "\\|", "\n", " ").Replace(tool.Description))
	}
	doc := section(string(text), "## Tools\n\n", "\n## Instructions", table.String())
	doc = section(doc, "```text\n", "\n```", mcpserver.Instructions)
	if *update {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(doc, string(text)); d != "" {
		t.Errorf("run go test -update ./internal/server/mcpserver:\n%s", d)
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func parameters(p property) string {
	var out []string
	required := map[string]bool{}
	for _, name := range p.Required {
		required[name] = true
		out = append(out, "**`"+name+"`**")
	}
	for _, name := range sortedKeys(p.Properties) {
		if !required[name] {
			out = append(out, "`"+name+"`")
		}
	}
	return strings.Join(out, ", ")
}

// section replaces what stands between two marks.
func section(text, from, to, with string) string {
	head, rest, _ := strings.Cut(text, from)
	_, tail, _ := strings.Cut(rest, to)
	return head + from + with + to + tail
}

func sortedKeys(m map[string]property) []string { return slices.Sorted(maps.Keys(m)) }
