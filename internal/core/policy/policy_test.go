package policy_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
)

func parse(t *testing.T, text string) policy.Rules {
	t.Helper()
	r, bad := policy.Parse([]byte(text))
	if len(bad) > 0 {
		t.Fatalf("Parse(%s): %v", text, bad)
	}
	return r
}

func TestEveryRuleHasAFieldADefaultAndADoc(t *testing.T) {
	fields := map[string]bool{}
	for _, typ := range []reflect.Type{reflect.TypeFor[policy.Rules](), reflect.TypeFor[policy.Effective]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name != "" {
				fields[typ.Name()+" "+name] = true
			}
		}
	}
	table := policy.Table()
	for _, r := range table {
		if !fields["Rules "+r.Name] || !fields["Effective "+r.Name] {
			t.Errorf("%s has no field in Rules or Effective", r.Name)
		}
		if r.Doc == "" || r.Default == nil {
			t.Errorf("%s has no doc or default", r.Name)
		}
		text, err := json.Marshal(map[string]any{r.Name: r.Default})
		if err != nil {
			t.Fatal(err)
		}
		if _, bad := policy.Parse(text); len(bad) > 0 {
			t.Errorf("the default of %s is not valid: %v", r.Name, bad)
		}
	}
	if len(fields) != 2*len(table) {
		t.Errorf("%d fields for %d rules", len(fields), len(table))
	}
}

func TestDefaults(t *testing.T) {
	e := policy.Merge()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, r := range policy.Table() {
		want, _ := json.Marshal(r.Default)
		have, _ := json.Marshal(got[r.Name])
		var a, b any
		json.Unmarshal(want, &a)
		json.Unmarshal(have, &b)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: %s", r.Name, diff)
		}
	}
	if e.SeverityOf(coord.ExclusiveClaim, false) != coord.SeverityBlock || e.SeverityOf(coord.ContractBreak, true) != coord.SeverityWarn {
		t.Error("default severities are not as documented")
	}
}

func TestRepoOverOrgOverDefaults(t *testing.T) {
	org := parse(t, `{"severity": {"edit_overlap": "block", "path_overlap": "warn"}, "exclusive_max_files": 10, "auto_draft": false}`)
	repo := parse(t,
		`{"severity": {"path_overlap": "off"}, "exclusive_max_files": 0, "cross_repo_contracts": "block", "override.allowed_roles": []}`)
	e := policy.Merge(org, repo)
	if got := e.SeverityOf(coord.EditOverlap, false); got != coord.SeverityBlock {
		t.Errorf("edit_overlap = %s, want what the org set", got)
	}
	if got := e.SeverityOf(coord.PathOverlap, false); got != coord.SeverityOff {
		t.Errorf("path_overlap = %s, want what the repo set", got)
	}
	if got := e.SeverityOf(coord.SymbolOverlap, false); got != coord.SeverityWarn {
		t.Errorf("symbol_overlap = %s, want the default", got)
	}
	if e.ExclusiveMaxFiles != 0 || e.AutoDraft || e.SeverityOf(coord.ContractBreak, true) != coord.SeverityBlock ||
		e.MayOverride(coord.Owner) {
		t.Errorf("effective = %+v", e)
	}
	if again := policy.Merge(); again.SeverityOf(coord.EditOverlap, false) != coord.SeverityWarn {
		t.Error("merging changed the defaults")
	}
}

func TestParseNamesEachBadRule(t *testing.T) {
	for _, tt := range []struct{ rules, path, message string }{
		{`{"enforcment": "warn"}`, "rules.enforcment", "is not a rule; the rules are override.require_reason, "},
		{`{"override": {"require_reason": true}}`, "rules.override", "is not a rule"},
		{`{"session_idle_minutes": 0}`, "rules.session_idle_minutes", "must be a whole number from 1 to 1440"},
		{`{"session_idle_minutes": 1.5}`, "rules.session_idle_minutes", "must be a whole number"},
		{`{"session_idle_minutes": "30"}`, "rules.session_idle_minutes", "must be a whole number"},
		{`{"auto_draft": "yes"}`, "rules.auto_draft", "must be true or false"},
		{`{"auto_draft": null}`, "rules.auto_draft", "must be true or false"},
		{`{"enforcement": "info"}`, "rules.enforcement", "must be one of off, warn or block"},
		{`{"severity": {"edit_overlap": "loud"}}`, "rules.severity.edit_overlap", "must be one of off, info, warn or block"},
		{`{"severity": {"edits": "warn"}}`, "rules.severity.edits", "is not a conflict kind"},
		{`{"override.allowed_roles": ["owner", "boss"]}`, "rules.override.allowed_roles[1]", "must be one of owner, admin"},
		{`{"override.allowed_roles": "owner"}`, "rules.override.allowed_roles", "must be a list of owner"},
		{`{"ignore_paths": ["a", "/abs"]}`, "rules.ignore_paths[1]", "is absolute"},
		{`{"ignore_paths": [7]}`, "rules.ignore_paths[0]", "must be a string"},
		{`{"feedback_threshold": 2}`, "rules.feedback_threshold", "must be a number from 0.05 to 1"},
		{`[]`, "rules", "must be an object"},
		{`null`, "rules", "must be an object"},
		{`{"auto_draft": true} x`, "rules", "must be an object"},
	} {
		got, bad := policy.Parse([]byte(tt.rules))
		if len(bad) != 1 || bad[0].Path != tt.path || !strings.Contains(bad[0].Message, tt.message) {
			t.Errorf("Parse(%s) = %v, want %s: %s", tt.rules, bad, tt.path, tt.message)
		}
		if diff := cmp.Diff(policy.Rules{}, got); diff != "" {
			t.Errorf("Parse(%s) took something over: %s", tt.rules, diff)
		}
	}
}

func TestRulesSurviveStoring(t *testing.T) {
	text := `{"override.require_reason": false, "ignore_paths": ["gen/"], "severity": {"edit_overlap": "info"}, "severity_pinned": ` +
		`["edit_overlap"], "feedback_threshold": 0.25}`
	r := parse(t, text)
	stored, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, parse(t, string(stored)), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(string(stored), "auto_draft") {
		t.Errorf("stored what was not set: %s", stored)
	}
}

func TestIgnored(t *testing.T) {
	e := policy.Merge()
	custom := policy.Merge(parse(t, `{"ignore_paths": ["gen/", "*.tmp", "**/{a,b}.lock"]}`))
	for _, tt := range []struct {
		rules *policy.Effective
		path  string
		want  bool
	}{
		{e, "go.sum", true}, {e, "tools/go.sum", true}, {e, "go.sum.go", false}, {e, "web/node_modules/x/y.js", true},
		{e, "src/vendor.go", false}, {e, "vendor/x.go", true}, {e, "api/v1/user.pb.go", true},
		{e, "src/main.go", false}, {e, "x.generated.ts", true},
		{custom, "go.sum", false}, {custom, "gen/x/y", true}, {custom, "x.tmp", true}, {custom, "d/x.tmp", false}, {custom, "d/b.lock", true},
	} {
		if got := tt.rules.Ignored(tt.path); got != tt.want {
			t.Errorf("Ignored(%s) = %v, want %v", tt.path, got, tt.want)
		}
	}
}

func TestFeedbackDemotes(t *testing.T) {
	pinned := policy.Merge(parse(t, `{"severity_pinned": ["edit_overlap"]}`))
	for _, tt := range []struct {
		name            string
		rules           *policy.Effective
		kind            coord.ConflictKind
		useful, falsely int
		judges          int
		want            bool
	}{
		{"half of ten", policy.Merge(), coord.EditOverlap, 5, 5, 3, true},
		{"too few verdicts", policy.Merge(), coord.EditOverlap, 0, 9, 9, false},
		{"too few people", policy.Merge(), coord.EditOverlap, 0, 20, 2, false},
		{"mostly useful", policy.Merge(), coord.EditOverlap, 8, 7, 7, false},
		{"pinned by an admin", pinned, coord.EditOverlap, 0, 20, 20, false},
		{"pinned unless an admin says otherwise", policy.Merge(), coord.ExclusiveClaim, 0, 20, 20, false},
		{"unpinned by an admin", policy.Merge(parse(t, `{"severity_pinned": []}`)), coord.ExclusiveClaim, 0, 20, 20, true},
		{"no verdicts", policy.Merge(), coord.EditOverlap, 0, 0, 0, false},
	} {
		if got := tt.rules.Demotes(tt.kind, policy.Verdicts{Useful: tt.useful, FalsePositive: tt.falsely, Judges: tt.judges}); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if policy.Demoted(coord.SeverityBlock) != coord.SeverityWarn || policy.Demoted(coord.SeverityInfo) != coord.SeverityInfo {
		t.Error("a step down goes from block to warn and never to silence")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"severity": {"edit_overlap": "warn"}, "ignore_paths": ["a/**"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, bad := policy.Parse(text)
		if len(bad) > 0 {
			return
		}
		policy.Merge(r)
		stored, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, bad := policy.Parse(stored); len(bad) > 0 {
			t.Fatalf("%s was read, but not what it is stored as: %s: %v", text, stored, bad)
		}
	})
}
