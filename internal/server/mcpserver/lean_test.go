package mcpserver_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/mcpserver"
)

// What svc costs a conversation in which a host loads it whole.
const (
	mostSchemas = 9000 // bytes of all tools as a model is given them
	mostWords   = 900  // characters of an answer with one conflict
)

// lean asks for what a model reads.
func (s *team) lean(token, body string) []byte {
	s.t.Helper()
	return s.Must(200, daemontest.Request{Method: "POST", Path: "/mcp?for=" + mcpserver.Lean, Token: token, Body: []byte(body),
		Header: map[string]string{"Accept": accept}}, nil).Body
}

// A model is told every tool and every parameter, and no more than it needs.
func TestTheLeanListFitsAConversation(t *testing.T) {
	s := start(t, t.TempDir()+"/svc.db")
	body := s.lean(s.org.Owner(), plainRequest)
	var out struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	size := 0
	whole := s.inputs()
	if len(out.Result.Tools) != len(whole) {
		t.Errorf("%d tools of %d", len(out.Result.Tools), len(whole))
	}
	for _, raw := range out.Result.Tools {
		var tool listed
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if tool.OutputSchema != nil {
			t.Errorf("%s tells a model the form of its record", tool.Name)
		}
		compile(t, tool.InputSchema)
		// What goes into the request to a model, in the form that model APIs share.
		given, err := json.Marshal(map[string]any{"name": tool.Name, "description": tool.Description, "input_schema": tool.InputSchema})
		if err != nil {
			t.Fatal(err)
		}
		size += len(given)
		var in property
		if err := json.Unmarshal(tool.InputSchema, &in); err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{}
		in.leaves("", func(path string, _ property) { told[path] = true })
		whole[tool.Name].leaves("", func(path string, _ property) {
			if !told[path] && (path != ".session_id" || tool.Annotations["readOnlyHint"] != true) {
				t.Errorf("%s: nothing is said of %s", tool.Name, path)
			}
		})
	}
	if size > mostSchemas {
		t.Errorf("the tools take %d bytes, at most %d", size, mostSchemas)
	}
}

// The answer to a model is a few sentences, and the record is left out.
func TestALeanAnswerIsWordsAlone(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api")
		where := paths("src/auth/session/login.go")
		ana.call("intent_declare", args{"title": "Rework the login of customers", "scope": where, "mode": "exclusive"})
		for _, call := range []struct {
			tool string
			args args
		}{
			{"intent_declare", args{"title": "Fix the login of customers", "scope": where}},
			{"conflicts", args{}},
			{"scope_check", where},
			{"team_context", where},
		} {
			body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
				"params": map[string]any{"name": call.tool, "arguments": call.args}})
			if err != nil {
				t.Fatal(err)
			}
			var out struct {
				Result struct {
					Content           []struct{ Text string }
					StructuredContent json.RawMessage
				}
			}
			if err := json.Unmarshal(s.lean(bob.token, string(body)), &out); err != nil {
				t.Fatal(err)
			}
			text := out.Result.Content[0].Text
			has(t, text, "Ana", "src/auth/session/login.go")
			if n := utf8.RuneCountInString(text); n > mostWords || out.Result.StructuredContent != nil {
				t.Errorf("%s: %d characters, at most %d; record %s\n%s", call.tool, n, mostWords, out.Result.StructuredContent, text)
			}
		}
	})
}
