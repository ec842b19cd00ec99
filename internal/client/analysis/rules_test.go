package analysis

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/client/grammar"
)

// Every framework has a fixture that needs it: without its rules some file's
// contracts would be others. A rule that no fixture needs is not known to work.
func TestEveryFrameworkIsNeededByAFixture(t *testing.T) {
	folders, err := filepath.Glob("rules/*/*.rules")
	if err != nil || len(folders) == 0 {
		t.Fatal(folders, err)
	}
	outlines := map[string][]*outline{}
	for _, file := range folders {
		folder, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".rules")
		if name == "syntax" || folder != "go" && !grammar.Supported(folder) {
			continue
		}
		if outlines[folder] == nil {
			outlines[folder] = fixtureOutlines(t, folder)
		}
		whole, err := loadMatcher(folder)
		if err != nil {
			t.Fatal(err)
		}
		without := newMatcher()
		for _, r := range whole.rules {
			if r.framework != name {
				without.add(r)
			}
		}
		if !slices.ContainsFunc(outlines[folder], func(o *outline) bool { return told(whole, o) != told(without, o) }) {
			t.Errorf("no fixture in testdata/%s needs %s", folder, file)
		}
	}
}

func told(m *matcher, o *outline) string {
	var b strings.Builder
	for _, c := range m.contracts(o) {
		b.WriteString(string(c.role) + " " + c.key + " " + c.signature() + "\n")
	}
	return b.String()
}

// fixtureOutlines reads every file of a language's fixtures.
func fixtureOutlines(t *testing.T, folder string) (out []*outline) {
	files, err := filepath.Glob("testdata/" + folder + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			name := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(f.Name, "base/"), "side/"), "both/")
			s := &side{file: name, lang: languageOf(name), source: f.Data}
			if f.Name == "want" || !canRead(s.lang) {
				continue
			}
			if err := s.read(nil, time.Minute); err != nil {
				t.Fatal(err)
			}
			out = append(out, s.version.outline)
		}
	}
	return out
}
