//go:build unix

package mergecheck_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/mergecheck"
)

// A check ends by the processor time that it used, not by the clock, keeps what
// was found until then and says what was not looked at. Here the first checker
// takes longer by the clock than all of them may take of the processor, as any
// does on a busy machine; the second would never end.
func TestAChecksTimeIsTheProcessors(t *testing.T) {
	if testing.Short() {
		return // make test waits for a processor's seconds
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return // elsewhere processor time is told more coarsely
	}
	base := files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a.go": "package shop\n\nfunc F() {}\n",
		"one.py": "\n", "two.py": "\n", "mypy.ini": "[mypy]\n"}
	p := newPair(t, base, files{"a.go": "package shop\n\nfunc G() {}\n", "one.py": "a = 1\n"},
		files{"b.go": "package shop\n\nvar X = F\n", "two.py": "b = 1\n"})
	tools := t.TempDir()
	t.Setenv("PATH", tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	run := func(c mergecheck.Check) (*mergecheck.Report, error) {
		repo, _ := gitrepo.At(p.root)
		c.Repo, c.Objects, c.Heads, c.Changed, c.Dir, c.Trusted = repo, t.TempDir(), p.heads, p.changed, p.dir, true
		return mergecheck.Run(gitrepo.WithObjects(context.Background(), c.Objects), c)
	}
	script(t, filepath.Join(tools, "go"), `sleep 2
[ -f b.go ] && [ -z "$(grep 'func F' a.go)" ] && { echo "b.go:3:9: undefined: F"; exit 1; }
exit 0`)
	script(t, filepath.Join(tools, "mypy"), "while :; do :; done")
	r, err := run(mergecheck.Check{Budget: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.New) != 1 || r.New[0].Text != "undefined: F" {
		t.Errorf("what was found until then is not told: %+v", r)
	}
	if said := strings.Join(r.Skipped, "; "); !strings.Contains(said, "mypy: it could not look at all of it, the processor time") {
		t.Errorf("what was not looked at is not said: %q", said)
	}
	// In the background it is left alone for a while then.
	r, err = run(mergecheck.Check{Budget: time.Second})
	if err != nil || !strings.Contains(strings.Join(r.Skipped, "; "), "a short while ago") {
		t.Errorf("the next check: %v, %+v", err, r)
	}
}
