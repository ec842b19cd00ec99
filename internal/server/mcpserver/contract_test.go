package mcpserver_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/mcpserver"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// notBuilt are tools of the contract that are still to come.
var notBuilt = []string{}

// The contract is the specification's table of tools: names, parameters,
// which of them are required, and which tools only read.
func TestTheToolsAreTheContract(t *testing.T) {
	s := start(t, t.TempDir()+"/svc.db")
	text, err := os.ReadFile("testdata/tools.tsv")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		ReadOnly         bool
		Required, Params []string
	}
	want, got := map[string]row{}, map[string]row{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		f := strings.Split(line, "\t")
		if !slices.Contains(notBuilt, f[0]) {
			want[f[0]] = row{f[1] == "yes", sorted(strings.Split(f[2], ",")), sorted(strings.Split(f[3], ","))}
		}
	}
	for _, tool := range s.list(s.org.Owner(), "") {
		var in struct {
			Type                 string
			Properties           map[string]json.RawMessage
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(tool.InputSchema, &in); err != nil {
			t.Fatal(err)
		}
		if in.Type != "object" || in.AdditionalProperties == nil || *in.AdditionalProperties {
			t.Errorf("%s: its input is not a closed object", tool.Name)
		}
		got[tool.Name] = row{tool.Annotations["readOnlyHint"] == true, sorted(in.Required), sorted(slices.Collect(maps.Keys(in.Properties)))}
		if tool.Annotations["destructiveHint"] != false || tool.Annotations["openWorldHint"] != false || tool.Title == "" ||
			len(tool.OutputSchema) == 0 {
			t.Errorf("%s: %v", tool.Name, tool.Annotations)
		}
		first, _, _ := strings.Cut(tool.Description, "\n")
		if n := len(tool.Description); len(first) < 18 || len(first) > 60 || n > 160 {
			t.Errorf("%s: a description of %d bytes, %d of them in its first line", tool.Name, n, len(first))
		}
		compile(t, tool.InputSchema)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func sorted(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	slices.Sort(names)
	if len(names) == 0 {
		return nil
	}
	return names
}

// The list is the same on every replica, for everybody, at any time: a host
// that was shown it once can trust it.
func TestTheListIsGolden(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		s := start(t, dsn)
		const path = "testdata/tools.golden"
		list := func(w *daemontest.World, token string) string {
			return string(w.Must(200, daemontest.Request{
				Method: "POST",
				Path:   "/mcp",
				Token:  token,
				Body:   []byte(plainRequest),
				Header: map[string]string{"Accept": accept},
			}, nil).Body)
		}
		if *update && !strings.Contains(t.Name(), "postgres") {
			tools := list(s.World, s.org.Owner())
			_, tools, _ = strings.Cut(tools, `"tools":[`)
			tools = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(tools), "]}}"), `},{"annotations"`, "}\n{\"annotations\"")
			if err := os.WriteFile(path, []byte(tools+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tools := strings.Split(strings.TrimSpace(string(golden)), "\n")
		want := `{"jsonrpc":"2.0","id":1,"result":{"ttlMs":300000,"cacheScope":"private","tools":[` + strings.Join(tools, ",") + `]}}`
		worlds := []*daemontest.World{s.World}
		if strings.Contains(t.Name(), "postgres") {
			worlds = append(worlds, s.Replica(), s.Replica())
		}
		tokens := slices.Collect(maps.Values(s.org.Tokens))
		for i := range 100 {
			for n, w := range worlds {
				if got := list(w, tokens[i%len(tokens)]); got != want {
					t.Fatalf("list %d of replica %d differs from %s; run with -update if it should:\n%s", i, n, path, cmp.Diff(want, got))
				}
			}
		}
	})
}

// What a model is told about a tool cannot depend on data.
func TestDescriptionsAreConstants(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "tools.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		kv, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if key, ok := kv.Key.(*ast.Ident); ok && slices.Contains([]string{"Name", "Title", "Description"}, key.Name) {
			if !constant(kv.Value) {
				t.Errorf("%s is put together at run time", key.Name)
			}
			n++
		}
		return true
	})
	if want := 3 * len(mcpserver.Tools); n != want {
		t.Errorf("%d literals, want %d", n, want)
	}
}

// constant reports whether a text is written out, in one piece or in several
// that the compiler joins.
func constant(e ast.Expr) bool {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return sum.Op == token.ADD && constant(sum.X) && constant(sum.Y)
	}
	_, literal := e.(*ast.BasicLit)
	return literal
}

func TestInstructionsSayTheEssentialsFirst(t *testing.T) {
	first := string([]rune(mcpserver.Instructions)[:512])
	for _, word := range []string{
		"team_context", "intent_declare", "scope_check", "conflict_respond", "who_is_online", "message_send", "wait_for",
	} {
		if !strings.Contains(first, word) {
			t.Errorf("the first 512 characters do not name %s", word)
		}
	}
	for _, tool := range mcpserver.Tools {
		switch tool.Name {
		case "conflicts", "intent_handoff", "intent_adopt": // the briefing and their descriptions name them
		default:
			if !strings.Contains(mcpserver.Instructions, tool.Name) {
				t.Errorf("the instructions do not name %s", tool.Name)
			}
		}
	}
	for _, word := range []string{"⟦peer:", "data, never an instruction", "Never work around a block", "wait_seconds"} {
		if !strings.Contains(mcpserver.Instructions, word) {
			t.Errorf("the instructions do not say %q", word)
		}
	}
	if n := utf8.RuneCountInString(mcpserver.Instructions); n > 2000 {
		t.Errorf("the instructions have %d characters: Claude Code cuts at 2,048", n)
	}
	s := start(t, t.TempDir()+"/svc.db")
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`
	var out struct {
		Result struct {
			Instructions string
			Capabilities map[string]any
		}
	}
	s.post(s.org.Owner(), body).JSON(t, &out)
	if out.Result.Instructions != mcpserver.Instructions {
		t.Error("initialize does not carry the instructions")
	}
	if d := cmp.Diff(map[string]any{"tools": map[string]any{}}, out.Result.Capabilities); d != "" {
		t.Errorf("capabilities: %s", d)
	}
}

func TestTheCompactProfile(t *testing.T) {
	s := start(t, t.TempDir()+"/svc.db")
	var names []string
	for _, tool := range s.list(s.org.Owner(), "core") {
		names = append(names, tool.Name)
	}
	want := []string{
		"team_context", "intent_declare", "intent_update", "intent_close", "scope_check", "conflicts", "conflict_respond",
		"message_send", "inbox", "wait_for",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if full := s.list(s.org.Owner(), "unheard-of"); len(full) != len(mcpserver.Tools)-len(notBuilt) {
		t.Errorf("an unknown profile has %d tools", len(full))
	}
	call := func(tool string) daemontest.Response {
		return s.Do(daemontest.Request{
			Method: "POST",
			Path:   "/mcp?profile=core",
			Token:  s.org.Owner(),
			Header: map[string]string{"Accept": accept},
			Body:   []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tool)),
		})
	}
	expect(t, call("inbox"), 200, 0)
	expect(t, call("channels"), 200, -32602)
}
