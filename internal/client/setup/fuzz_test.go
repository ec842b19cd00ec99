package setup

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"gopkg.in/yaml.v3"
)

// The promise of every merger, for any file that holds nothing of ours:
// applying twice is applying once, and removing gives every byte back.
type merger struct {
	apply  func([]byte) ([]byte, error)
	remove func([]byte) ([]byte, bool, error)
}

// A failer is a test, of the standard library or of rapid.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (m merger) check(t failer, text []byte) (applied []byte, ok bool) {
	t.Helper()
	if rest, gone, err := m.remove(bytes.Clone(text)); err != nil || gone || !bytes.Equal(rest, text) {
		return nil, false // not readable, or something of ours is in it already
	}
	once, err := m.apply(bytes.Clone(text))
	if err != nil {
		return nil, false
	}
	twice, err := m.apply(bytes.Clone(once))
	if err != nil {
		t.Fatalf("second time: %v\n%s", err, once)
	}
	if d := cmp.Diff(string(once), string(twice)); d != "" {
		t.Fatalf("the second time changed something: %s", d)
	}
	back, gone, err := m.remove(bytes.Clone(once))
	if err != nil || gone {
		t.Fatalf("remove: gone %v, error %v\n%s", gone, err, once)
	}
	if d := cmp.Diff(string(text), string(back)); d != "" {
		t.Fatalf("removing did not give the file back: %s\nwith our entries it was:\n%s", d, once)
	}
	return once, true
}

func jsonMerger(f *hostFile, host string) merger {
	return merger{
		apply: func(text []byte) ([]byte, error) {
			p := &planner{}
			d := &draft{text: text}
			h, _ := ByID(host)
			err := p.applyJSON(h, f, d)
			return d.text, err
		},
		remove: func(text []byte) ([]byte, bool, error) {
			d := &draft{text: text}
			err := f.removeFrom(d)
			return d.text, d.gone, err
		},
	}
}

var jsonSeeds = []string{
	"{}", "{}\n", "{\n}\n", "{ }", "{\n\n}\n", "{/* c */}", "{ // c\n}", "// top\n{}\n// end",
	`{"a":1}`, "{\n  \"a\": 1\n}\n", "{\n\t\"a\": [1, 2],\n}\n", "{\r\n  \"a\": 1\r\n}\r\n",
	"{\"a\": 1 // why\n}", "{\"a\": 1, // why\n}", "{\n  \"a\": 1 /* x */ , // why\n}",
	`{"hooks":{}}`, `{"hooks": {"PreToolUse": []}, "mcpServers": {}}`, "{\n  \"hooks\": {\n  }\n}",
	`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}]}}`,
	"{\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"hooks\": []\n            }, // c\n        ],\n" +
		"    },\n}\n",
	`{"version":1}`, `{"version":1,"hooks":{}}`, `{"hooks":{},"version":1}`, `{"hooks":{"stop":[{"command":"x"}]},"version":1}`,
	`{"mcpServers":{"other":{"command":"x"}}}`, `{"svc":1}`, `{"a":"\u0000","a":2}`, `{"hooks":null}`, `[]`, `{"":{"":[]}}`,
}

// FuzzJSON goes through the shapes of hook table and tool server that hosts
// have.
func FuzzJSON(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add(s)
	}
	shapes := map[string]string{
		"claude_code":   "",
		"gemini_cli":    "",
		"cursor":        "",
		"kiro":          "",
		"factory_droid": "",
		"antigravity":   "",
		"crush":         "",
	}
	f.Fuzz(func(t *testing.T, text string) {
		for host := range shapes {
			h, _ := ByID(host)
			for i := range h.files {
				out, ok := jsonMerger(&h.files[i], host).check(t, []byte(text))
				if !ok {
					continue
				}
				sameBeside(t, text, string(out))
			}
		}
	})
}

// sameBeside demands that every member at the top that we do not touch means
// what it meant.
func sameBeside(t failer, before, after string) {
	t.Helper()
	a, err := parseJSON([]byte(before))
	if err != nil {
		return
	}
	b, err := parseJSON([]byte(after))
	if err != nil {
		t.Fatalf("not JSON any more: %v\n%s", err, after)
	}
	was, _ := decode(&a.root).(map[string]any)
	is, _ := decode(&b.root).(map[string]any)
	for key, v := range was {
		switch key {
		case "hooks", "mcpServers", "mcp", "svc", "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd":
			continue
		}
		if !reflect.DeepEqual(v, is[key]) {
			t.Fatalf("%q was %v, is %v", key, v, is[key])
		}
	}
}

func FuzzTOML(f *testing.F) {
	for _, s := range []string{
		"", "\n", "a = 1", "a = 1\n", "a = 1\r\nb = 2\r\n", "# c", "[mcp_servers]\n", "[mcp_servers.x]\ncommand = \"x\"\n",
		"mcp_servers = {x = {}}\n", "mcp_servers.x.y = 1\n", "[[a]]\nb = '''\nx\n'''\n",
		"[mcp_servers]\nsvc = 1\n", "a = \"\"\"\n[mcp_servers.svc]\n\"\"\"",
		"[mcp_servers]\nsvc = {command = \"svc\", args = [\"mcp\"]}\n", "a\r", "a = 1\r",
	} {
		f.Add(s)
	}
	h, _ := ByID("codex")
	table := h.files[1].table
	m := merger{apply: func(b []byte) ([]byte, error) { return table.apply(b, false) }, remove: table.remove}
	f.Fuzz(func(t *testing.T, text string) {
		out, ok := m.check(t, []byte(text))
		if !ok {
			return
		}
		var was, is map[string]any
		if toml.Unmarshal([]byte(text), &was) != nil {
			return
		}
		if err := toml.Unmarshal(out, &is); err != nil {
			t.Fatal(err)
		}
		withoutOurs(is, "mcp_servers")
		withoutOurs(was, "mcp_servers")
		if d := cmp.Diff(was, is); d != "" && len(was)+len(is) > 0 {
			t.Fatal(d)
		}
	})
}

func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"", "\n", "a: 1", "a: 1\n", "a: 1\r\nb:\r\n  - 2\r\n", "# c\n", "extensions:\n", "extensions: {}\n", "extensions:\n  x:\n    cmd: y\n",
		"extensions:\n    # c\n    x: {cmd: y} # d\nb: |\n  text\n\n", "extensions: &a\n  x: 1\nb: *a\n",
		"---\na: 1\n...\n", "a: >\n  x\n  y", "extensions:\n  svc: 1\n", "? a\n: b\n",
	} {
		f.Add(s)
	}
	h, _ := ByID("goose")
	entry := h.files[2].yaml
	m := merger{apply: func(b []byte) ([]byte, error) { return entry.apply(b, false) }, remove: entry.remove}
	f.Fuzz(func(t *testing.T, text string) {
		out, ok := m.check(t, []byte(text))
		if !ok {
			return
		}
		var was, is map[string]any
		if yaml.Unmarshal([]byte(text), &was) != nil {
			return
		}
		if err := yaml.Unmarshal(out, &is); err != nil {
			t.Fatal(err)
		}
		withoutOurs(is, "extensions")
		if !reflect.DeepEqual(was, is) && len(was)+len(is) > 0 {
			t.Fatalf("was %v, is %v", was, is)
		}
	})
}

func withoutOurs(all map[string]any, at string) {
	m, _ := all[at].(map[string]any)
	delete(m, "svc")
	if m != nil && len(m) == 0 {
		delete(all, at)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"", "\n", "# Title", "# Title\n", "a\r\nb\r\n", "a\r\nb", "\r", "a\r", "<!-- svc:begin -->\nold\n<!-- svc:end -->\n",
		"x <!-- svc:begin --> y\n",
	} {
		f.Add(s)
	}
	m := merger{apply: func(b []byte) ([]byte, error) { return applyBlock(b, false) }, remove: removeBlock}
	f.Fuzz(func(t *testing.T, text string) {
		out, ok := m.check(t, []byte(text))
		if ok && !bytes.HasPrefix(out, []byte(text)) {
			t.Fatal("the text before our block changed")
		}
	})
}
