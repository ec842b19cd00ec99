package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// SQLite plans a statement anew whenever a bare parameter of LIMIT is set, and
// so it does for a text whose conditions stand in another order.
func TestStatementsAreNotPlannedAnew(t *testing.T) {
	var files []string
	for _, in := range []string{"*.go", "db/*.go"} {
		found, err := filepath.Glob(in)
		if err != nil || len(found) == 0 {
			t.Fatal(in, err)
		}
		files = append(files, found...)
	}
	bare := regexp.MustCompile(`LIMIT (\$\d+([^+\d]|$)|` + "`" + `\s*\+)`)
	shuffled := regexp.MustCompile(`range map\[`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			if bare.MatchString(line) && !strings.Contains(line, "f.arg(n) + `+0`") {
				t.Errorf("%s:%d: end the query with filter.limit or $n+0: %s", name, i+1, strings.TrimSpace(line))
			}
			if shuffled.MatchString(line) {
				t.Errorf("%s:%d: the order of a map must not get into a statement: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	}
}
