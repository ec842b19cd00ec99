package engine_test

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// What a use is decides whether a change concerns it: who implements a type must
// have what that needs now, who wants no result misses none, and who newly uses
// a value that was changed is told that it may mean something else.
func TestWhatAUseIsDecides(t *testing.T) {
	const key = "sym:go:a.go#Store"
	changed := func(change func(*coord.SymbolFacts)) coord.SymbolFacts {
		s := coord.SymbolFacts{Key: key, Kind: "interface", Exported: true, Change: coord.Signature, Compatibility: coord.Breaking}
		change(&s)
		return s
	}
	needs := changed(func(s *coord.SymbolFacts) { s.Needs = []string{"Sync"} })
	given := changed(func(s *coord.SymbolFacts) { s.Given = true })
	gone := changed(func(s *coord.SymbolFacts) { s.Change = coord.Removed })
	value := changed(func(s *coord.SymbolFacts) {
		s.Change, s.Compatibility, s.Meaning = coord.Modified, coord.Compatible, true
	})
	byDefault := changed(func(s *coord.SymbolFacts) {
		s.Compatibility, s.Meaning = coord.Compatible, true
		s.Takes = [][]coord.Param{{{}, {Optional: true, Changed: true}}}
	})
	member := changed(func(s *coord.SymbolFacts) { s.Key, s.Kind, s.Change = key+".Load", "method", coord.Removed })
	for _, tc := range []struct {
		name string
		s    coord.SymbolFacts
		use  coord.Reference
		want coord.Severity // "" for nothing
	}{
		{"an implementer that lacks it", needs, coord.Reference{Whole: true, Has: []string{"Load"}}, coord.SeverityWarn},
		{"an implementer that has it", needs, coord.Reference{Whole: true, Has: []string{"Load", "Sync"}}, ""},
		{"a caller", needs, coord.Reference{Call: &coord.Call{Args: 1}}, ""},
		{"a result that is wanted", given, coord.Reference{Call: &coord.Call{}}, coord.SeverityWarn},
		{"a result that is not", given, coord.Reference{Call: &coord.Call{Alone: true}}, ""},
		{"an implementer that has more than it must", gone, coord.Reference{Whole: true, Call: &coord.Call{}}, ""},
		{"a member that is gone", member, coord.Reference{Typed: true}, coord.SeverityWarn},
		{"a member that is gone with its type, of a value that does not name it", member, coord.Reference{Typed: true, Via: "gone"}, ""},
		{"a new use of a value that was changed", value, coord.Reference{}, coord.SeverityInfo},
		{"a call that leaves the default", byDefault, coord.Reference{Call: &coord.Call{Args: 1}}, coord.SeverityInfo},
		{"a call that gives it", byDefault, coord.Reference{Call: &coord.Call{Args: 2}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ix := engine.New()
			repo := coord.RepoName{ID: "r", FullName: "acme/api"}
			for i, facts := range []coord.FileFacts{
				{Path: "a.go", Language: "go", Status: coord.FileModified, Parsed: true, Symbols: []coord.SymbolFacts{tc.s}},
				{Path: "b.go", Language: "go", Status: coord.FileModified, Parsed: true, References: []coord.Reference{tc.use}},
			} {
				id := string(rune('a' + i))
				for k := range facts.References {
					facts.References[k].Key, facts.References[k].Line = tc.s.Key, 3
				}
				if tc.use.Via != "" && i == 0 { // the type went, too
					facts.Symbols = append(facts.Symbols, gone)
				}
				ix.PutWorker(&engine.Worker{ID: id, Repo: repo, Session: id, Since: coord.Time(i + 1)})
				ix.PutChange(&engine.Change{RepoID: "r", Copy: "copy " + id, Facts: facts, By: []engine.Touch{{Worker: id, Session: id, At: 5}}})
			}
			found := engine.Detect(ix, "a")
			if tc.want == "" {
				if len(found) > 0 {
					t.Errorf("told: %+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Severity != tc.want {
				t.Fatalf("want one of severity %s, told %+v", tc.want, found)
			}
			if said, _ := engine.Explain(found[0], "b", 9); tc.want == coord.SeverityInfo && !strings.Contains(said, "may have changed") {
				t.Errorf("it says %q", said)
			}
		})
	}
}
