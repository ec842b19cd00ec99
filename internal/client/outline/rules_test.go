package outline

import (
	"os"
	"testing"

	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/rules"
)

// Every rule file must be readable, and every word in a syntax file must be
// one that its grammar knows.
func TestRulesAreSound(t *testing.T) {
	entries, err := os.ReadDir("../rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if _, err := rules.Load(e.Name()); err != nil {
			t.Error(err)
		}
		for _, g := range grammarsOf(e.Name()) {
			if !grammar.Supported(g) {
				continue
			}
			s, err := LoadSyntax(g)
			if err != nil {
				t.Error(err)
				continue
			}
			checkKinds(t, s, e.Name())
		}
	}
}

func grammarsOf(folder string) []string {
	switch folder {
	case "go":
		return nil
	case "typescript":
		return []string{"typescript", "tsx", "javascript"}
	}
	return []string{folder}
}

// checkKinds holds that each node kind is known to one of the folder's grammars.
func checkKinds(t *testing.T, s *syntax, folder string) {
	t.Helper()
	lines, err := rules.Lines(folder + "/syntax.rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		kinds := l.Words[1:]
		if l.Words[0] == "def" {
			kinds = kinds[:1]
		}
		for _, k := range kinds {
			known := false
			for _, g := range grammarsOf(folder) {
				lang, err := grammar.Load(g)
				if err != nil {
					t.Fatal(err)
				}
				known = known || len(lang.KindIDs(k)) > 0
			}
			if !known {
				t.Errorf("rules/%s/syntax.rules:%d: no grammar has the kind %q", folder, l.Number, k)
			}
		}
	}
}
