package extract

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
)

// Every framework has a fixture that needs it: without its rules some file's
// contracts would be others. A rule that no fixture needs is not known to work.
func TestEveryFrameworkIsNeededByAFixture(t *testing.T) {
	folders, err := filepath.Glob("../rules/*/*.rules")
	if err != nil || len(folders) == 0 {
		t.Fatal(folders, err)
	}
	outlines := map[string][]*outline.File{}
	for _, file := range folders {
		folder, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".rules")
		if name == "syntax" || folder != "go" && !grammar.Supported(folder) {
			continue
		}
		if outlines[folder] == nil {
			outlines[folder] = fixtureOutlines(t, folder)
		}
		whole, err := rules.Load(folder)
		if err != nil {
			t.Fatal(err)
		}
		without := rules.Matching(slices.DeleteFunc(slices.Clone(whole.Rules), func(r *rules.Rule) bool { return r.Framework == name }))
		if !slices.ContainsFunc(outlines[folder], func(o *outline.File) bool { return told(whole, o) != told(without, o) }) {
			t.Errorf("no fixture in testdata/%s needs %s", folder, file)
		}
	}
}

func told(m *rules.Matcher, o *outline.File) string {
	var b strings.Builder
	for _, c := range newExtractor(m, o).contracts() {
		fmt.Fprintf(&b, "%s %s %+v %+v\n", c.Role, c.Key, c.Shape, c.Ops)
	}
	return b.String()
}

// fixtureOutlines reads every file of a language's fixtures.
func fixtureOutlines(t *testing.T, folder string) (out []*outline.File) {
	files, err := filepath.Glob("../analysis/testdata/" + folder + "/*.txtar")
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
			s := &Side{File: name, Lang: rules.LanguageOf(name), Source: f.Data}
			if f.Name == "want" || !outline.CanRead(s.Lang) {
				continue
			}
			if err := s.Read(nil, time.Minute); err != nil {
				t.Fatal(err)
			}
			out = append(out, s.Version.Outline)
		}
	}
	return out
}
