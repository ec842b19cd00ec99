package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The inner loop passes over the tests that .ci/dear lists. Each of its lines
// has to name a test, or a dear one that was renamed would slow it down again;
// and no package may be left without any.
func TestTheInnerLoopLooksIntoEveryRoom(t *testing.T) {
	text, err := os.ReadFile("../.ci/dear")
	if err != nil {
		t.Fatal(err)
	}
	dear := map[string]bool{} // whether it was found
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			if _, twice := dear[line]; twice {
				t.Errorf(".ci/dear has %q twice", line)
			}
			dear[line] = false
		}
	}
	kept := map[string]bool{} // by package
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(\w+ \*testing\.[TF]\)`)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			name, dir := string(m[1]), filepath.Dir(path)
			_, passed := dear[name]
			kept[dir] = kept[dir] || !passed
			for line := range dear {
				whole, _, _ := strings.Cut(line, "/")
				dear[line] = dear[line] || whole == name
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for line, found := range dear {
		if !found {
			t.Errorf(".ci/dear: there is no test for %q", line)
		}
	}
	for dir, some := range kept {
		if !some {
			t.Errorf(".ci/dear: the inner loop has no test left in %s", dir)
		}
	}
}
