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
	"github.com/svc-hq/svc/internal/gittest"
)

// A files is what one side of a merge writes; "" takes a file away.
type files map[string]string

// A pair is two branches of a repository.
type pair struct {
	t       testing.TB
	root    string
	dir     string // of the check
	trusted bool
	warm    time.Duration
	heads   [2]string
	changed [2][]string
}

// newPair makes a repository and two branches of it.
func newPair(t testing.TB, base, one, two files) *pair {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{t: t, root: gittest.Init(t), dir: filepath.Join(dir, "merged")}
	p.commit(base)
	for i, side := range []files{one, two} {
		gittest.Run(t, p.root, "checkout", "-q", "-b", "side"+string(rune('0'+i)), "main")
		p.commit(side)
		p.heads[i] = gittest.Run(t, p.root, "rev-parse", "HEAD")
		p.changed[i] = strings.Fields(gittest.Run(t, p.root, "diff", "--name-only", "main", "HEAD"))
	}
	gittest.Run(t, p.root, "checkout", "-q", "side0")
	return p
}

func (p *pair) commit(all files) {
	for name, text := range all {
		at := filepath.Join(p.root, filepath.FromSlash(name))
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				p.t.Fatal(err)
			}
			if err := os.Symlink(target, at); err != nil {
				p.t.Fatal(err)
			}
		} else if text == "" {
			if err := os.Remove(at); err != nil {
				p.t.Fatal(err)
			}
		} else {
			gittest.Write(p.t, p.root, name, text)
		}
	}
	gittest.Run(p.t, p.root, "add", "-A")
	gittest.Run(p.t, p.root, "commit", "-q", "--allow-empty", "-m", "work")
}

// check checks the two merged.
func (p *pair) check() *mergecheck.Report {
	p.t.Helper()
	repo, ok := gitrepo.At(p.root)
	if !ok {
		p.t.Fatal("no repository")
	}
	objects := p.t.TempDir()
	r, err := mergecheck.Run(gitrepo.WithObjects(context.Background(), objects), mergecheck.Check{
		Repo: repo, Objects: objects, Heads: p.heads, Changed: p.changed, Dir: p.dir, Trusted: p.trusted, Waiting: true, Warm: p.warm,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// tells expects exactly the faults that contain these words.
func tells(t testing.TB, r *mergecheck.Report, want ...string) {
	t.Helper()
	for i, w := range want {
		if i >= len(r.New) || !strings.Contains(r.New[i].String(), w) {
			t.Fatalf("want %q, told %v, skipped %q", want, r.New, r.Skipped)
		}
	}
	if len(r.New) != len(want) || len(r.Checkers) == 0 {
		t.Fatalf("want %q, told %v, skipped %q, ran %q", want, r.New, r.Skipped, r.Checkers)
	}
}

// with makes files of some and more.
func with(all ...files) files {
	out := files{}
	for _, some := range all {
		for name, text := range some {
			out[name] = text
		}
	}
	return out
}
