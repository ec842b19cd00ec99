package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// A bound is what the specification says about a parameter.
type bound struct {
	min, max int    // characters of a text, items of a list, or a number
	deflt    string // as JSON
	enum     string
	uuid     bool
}

var (
	text    = func(max int) bound { return bound{max: max} }
	nonzero = func(max int) bound { return bound{min: 1, max: max} }
	ref     = bound{}
	id      = bound{uuid: true}
)

// bounds are those of the specification, by tool and parameter. What it leaves
// open (how long a path, a target or a selector may be) is ours.
var bounds = map[string]bound{
	"team_context.paths":                         text(200),
	"team_context.query":                         text(500),
	"team_context.session_id":                    id,
	"team_context.repo":                          text(500),
	"intent_declare.title":                       nonzero(200),
	"intent_declare.summary":                     text(2000),
	"intent_declare.plan_md":                     text(32768),
	"intent_declare.scope.paths":                 text(200),
	"intent_declare.scope.symbols":               text(200),
	"intent_declare.scope.contracts":             text(200),
	"intent_declare.mode":                        {deflt: `"shared"`, enum: "shared,exclusive,observe"},
	"intent_declare.depends_on":                  text(20),
	"intent_declare.branch":                      text(255),
	"intent_declare.external_ref.kind":           nonzero(50),
	"intent_declare.external_ref.url":            nonzero(2000),
	"intent_declare.external_ref.id":             text(200),
	"intent_declare.session_id":                  id,
	"intent_declare.repo":                        text(500),
	"intent_update.intent":                       ref,
	"intent_update.patch.title":                  nonzero(200),
	"intent_update.patch.summary":                text(2000),
	"intent_update.patch.plan_md":                text(32768),
	"intent_update.patch.scope_add.paths":        text(200),
	"intent_update.patch.scope_add.symbols":      text(200),
	"intent_update.patch.scope_add.contracts":    text(200),
	"intent_update.patch.scope_remove.paths":     text(200),
	"intent_update.patch.scope_remove.symbols":   text(200),
	"intent_update.patch.scope_remove.contracts": text(200),
	"intent_update.patch.depends_on_add":         text(20),
	"intent_update.patch.depends_on_remove":      text(20),
	"intent_update.patch.branch":                 text(255),
	"intent_update.patch.pr_number":              {min: 1},
	"intent_update.patch.status":                 {enum: "active,in_review"},
	"intent_update.note":                         text(2000),
	"intent_update.session_id":                   id,
	"intent_close.intent":                        ref,
	"intent_close.outcome":                       {enum: "merged,abandoned,handoff"},
	"intent_close.note":                          text(2000),
	"intent_close.handoff_to":                    text(254),
	"intent_close.session_id":                    id,
	"intent_handoff.ref":                         ref,
	"intent_handoff.to":                          text(254),
	"intent_handoff.note":                        text(2000),
	"intent_handoff.session_id":                  id,
	"intent_adopt.ref":                           ref,
	"intent_adopt.session_id":                    id,
	"scope_check.paths":                          text(200),
	"scope_check.symbols":                        text(200),
	"scope_check.contracts":                      text(200),
	"scope_check.session_id":                     id,
	"scope_check.repo":                           text(500),
	"contract_lookup.key":                        nonzero(1024),
	"contract_lookup.symbol":                     nonzero(1024),
	"contract_lookup.path":                       nonzero(1024),
	"contract_lookup.session_id":                 id,
	"contract_lookup.repo":                       text(500),
	"conflicts.mine":                             {deflt: "true"},
	"conflicts.status": {
		max:   10,
		deflt: `["live"]`,
		enum:  "live,open,acknowledged,resolving,resolved,overridden,stale",
	},
	"conflicts.repo":              text(500),
	"conflicts.limit":             {min: 1, max: 100, deflt: "20"},
	"conflict_respond.conflict":   ref,
	"conflict_respond.action":     {enum: "ack,propose_sequence,will_rebase,resolved,false_positive,request_override"},
	"conflict_respond.note":       text(2000),
	"conflict_respond.session_id": id,
	"message_send.to":             nonzero(500),
	"message_send.body":           nonzero(4000),
	"message_send.subject":        text(200),
	"message_send.requires_ack":   {deflt: "false"},
	"message_send.session_id":     id,
	"inbox.unread_only":           {deflt: "true"},
	"inbox.limit":                 {min: 1, max: 100, deflt: "20"},
	"inbox.wait_seconds":          {max: 60, deflt: "0"},
	"message_ack.message":         id,
	"channel_read.channel":        nonzero(500),
	"channel_read.limit":          {min: 1, max: 50, deflt: "20"},
	"who_is_online.repo":          text(500),
	"who_is_online.session_id":    id,
	"who_is_online.limit":         {min: 1, max: 100, deflt: "50"},
	"wait_for.path":               nonzero(1024),
	"wait_for.symbol":             nonzero(1024),
	"wait_for.intent":             ref,
	"wait_for.conflict":           ref,
	"wait_for.timeout_seconds":    {min: 1, max: 55, deflt: "50"},
	"wait_for.session_id":         id,
	"wait_for.repo":               text(500),
	"history_search.q":            {min: 2, max: 500},
	"history_search.kinds":        {max: 6, enum: "intents,messages,conflicts,statuses,contracts,questions"},
	"history_search.repo":         text(500),
	"history_search.limit":        {min: 1, max: 50, deflt: "10"},
	"ask.to":                      {min: 3, max: 500},
	"ask.question":                nonzero(2000),
	"ask.about":                   nonzero(500),
	"ask.repo":                    text(500),
	"ask.session_id":              id,
	"answer.question":             id,
	"answer.answer":               nonzero(4000),
	"answer.session_id":           id,
}

// A property is a parameter as the list of tools tells it.
type property struct {
	Type                 any
	MinLength, MaxLength int
	MinItems, MaxItems   int
	Minimum, Maximum     int
	Format               string
	Enum                 []string
	Default              json.RawMessage
	Items                *property
	Properties           map[string]property
	Required             []string
}

func (p property) is(kind string) bool { return strings.Contains(fmt.Sprint(p.Type), kind) }

// leaves calls f for each parameter that has no parameters of its own.
func (p property) leaves(path string, f func(string, property)) {
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		sub := p.Properties[name]
		if sub.Properties != nil {
			sub.leaves(path+"."+name, f)
			continue
		}
		f(path+"."+name, sub)
	}
}

func (s *team) inputs() map[string]property {
	s.t.Helper()
	out := map[string]property{}
	for _, tool := range s.list(s.org.Owner(), "") {
		var p property
		if err := json.Unmarshal(tool.InputSchema, &p); err != nil {
			s.t.Fatal(err)
		}
		out[tool.Name] = p
	}
	return out
}

func TestTheBoundsAreTheSpecifications(t *testing.T) {
	s := start(t, t.TempDir()+"/svc.db")
	seen := map[string]bool{}
	for tool, in := range s.inputs() {
		in.leaves(tool, func(path string, p property) {
			seen[path] = true
			want, ok := bounds[path]
			if !ok {
				t.Errorf("%s: no bound is written down", path)
				return
			}
			enum := p.Enum
			if p.Items != nil {
				enum = p.Items.Enum
			}
			got := bound{
				p.MinLength + p.MinItems + p.Minimum,
				p.MaxLength + p.MaxItems + p.Maximum,
				string(p.Default),
				strings.Join(enum, ","),
				p.Format == "uuid",
			}
			if got != want {
				t.Errorf("%s: %+v, want %+v", path, got, want)
			}
		})
	}
	for path := range bounds {
		if !seen[path] {
			t.Errorf("%s: no tool has it", path)
		}
	}
}

// valid are inputs of each tool that are right in form.
var valid = map[string]args{
	"team_context":     {},
	"intent_declare":   {"title": "x"},
	"intent_update":    {"intent": "INT-999"},
	"intent_close":     {"intent": "INT-999", "outcome": "merged"},
	"intent_handoff":   {"to": "nobody@example.com"},
	"intent_adopt":     {"ref": "INT-999"},
	"scope_check":      {"paths": []string{"a.go"}},
	"contract_lookup":  {"key": "GET /x"},
	"conflicts":        {},
	"conflict_respond": {"conflict": "CF-999", "action": "ack"},
	"message_send":     {"to": "user:nobody@example.com", "body": "x"},
	"inbox":            {},
	"message_ack":      {"message": uuid.NewString()},
	"channels":         {},
	"channel_read":     {"channel": "team"},
	"who_is_online":    {},
	"wait_for":         {"path": "free.go"},
	"history_search":   {"q": "tokens"},
	"ask":              {"to": "user:nobody@example.com", "question": "x"},
	"answer":           {"question": uuid.NewString(), "answer": "x"},
}

// with returns a copy of in with the value at a dotted path.
func with(in args, path string, value any) args {
	out := maps.Clone(in)
	head, rest, nested := strings.Cut(path, ".")
	if !nested {
		out[head] = value
		return out
	}
	sub, _ := out[head].(args)
	if sub == nil {
		sub = args{}
	}
	out[head] = with(sub, rest, value)
	return out
}

// beyond returns values that break a parameter's rules, each by the least.
func beyond(p property) (out []any) {
	switch {
	case p.is("array"):
		if p.MaxItems > 0 {
			item := any("a.go")
			if len(p.Items.Enum) > 0 {
				item = p.Items.Enum[0]
			}
			out = append(out, slices.Repeat([]any{item}, p.MaxItems+1))
		}
		out = append(out, []any{args{}}, "not a list")
		if p.Items.MinLength > 0 {
			out = append(out, []any{""}, []any{strings.Repeat("x", p.Items.MaxLength+1)})
		}
		if len(p.Items.Enum) > 0 {
			out = append(out, []any{"vanished"})
		}
	case p.is("integer") && !p.is("string"):
		out = append(out, p.Minimum-1, 1.5, "1")
		if p.Maximum > 0 {
			out = append(out, p.Maximum+1)
		}
	case p.is("boolean"):
		out = append(out, "true", 1)
	default:
		out = append(out, []any{}, true)
		if p.MaxLength > 0 {
			out = append(out, strings.Repeat("é", p.MaxLength+1))
		}
		if p.MinLength > 0 {
			out = append(out, "")
		}
		if p.Format != "" {
			out = append(out, "not of that form")
		}
		if len(p.Enum) > 0 {
			out = append(out, "vanished")
		}
	}
	return out
}

// Every rule of every parameter is kept: the call fails, names the parameter
// and changes nothing.
func TestEveryBoundIsKept(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		a := s.agent("Ana", "acme/api")
		before := s.events()
		names := func(path string, fields []string) bool {
			return slices.ContainsFunc(fields, func(f string) bool {
				return f == path || strings.HasPrefix(f, path+".") || strings.HasPrefix(f, path+"[")
			})
		}
		for tool, in := range s.inputs() {
			base, ok := valid[tool]
			if !ok {
				t.Errorf("%s: no valid input is written down", tool)
			}
			fails := func(in args, path string) {
				t.Helper()
				var fields []string
				for _, f := range a.fails(tool, in, "validation").Errors {
					fields = append(fields, f.Path)
				}
				if !names(path, fields) {
					t.Errorf("%s %s: the problem names %v, not %s", tool, short(in), fields, path)
				}
			}
			for _, required := range in.Required {
				less := maps.Clone(base)
				delete(less, required)
				fails(less, required)
			}
			fails(with(base, "surprise", 1), "surprise")
			in.leaves("", func(path string, p property) {
				path = strings.TrimPrefix(path, ".")
				if strings.HasPrefix(path, "external_ref.") {
					base := with(with(base, "external_ref.kind", "jira"), "external_ref.url", "https://example.com/1")
					for _, v := range beyond(p) {
						fails(with(base, path, v), path)
					}
					return
				}
				for _, v := range beyond(p) {
					fails(with(base, path, v), path)
				}
			})
		}
		if after := s.events(); after != before {
			t.Errorf("%d events came of inputs that are wrong", after-before)
		}
	})
}

// A host that fills in every parameter says null where the model said nothing.
func TestNullIsAbsent(t *testing.T) {
	s := start(t, t.TempDir()+"/svc.db")
	a := s.agent("Ana", "acme/api")
	for tool, in := range s.inputs() {
		full := maps.Clone(valid[tool])
		for name := range in.Properties {
			if _, given := full[name]; !given {
				full[name] = nil
			}
		}
		first, second := a.call(tool, valid[tool]), a.call(tool, full)
		if first.IsError != second.IsError {
			t.Errorf("%s: %s\nwith nulls: %s", tool, first.Text, second.Text)
		}
	}
}

// events counts the org's events.
func (s *team) events() (n int) {
	s.Write(s.org.ID, func(ctx ctx, x *tx) error {
		return x.QueryRowContext(ctx, `SELECT count(*) FROM events WHERE org_id = $1`, s.org.ID).Scan(&n)
	})
	return n
}
