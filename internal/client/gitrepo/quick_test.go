package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/gittest"
)

// What is compared without git's index is what git says.
func TestQuickComparisonsAgreeWithGit(t *testing.T) {
	dir := gittest.Init(t)
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "}\n", "\n", "x\r\n", "last", "\x00\n", "func f() {\n", "$Id$\n"})
	content := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 14).Draw(t, "lines"), "")
	})
	name := rapid.SampledFrom([]string{"a.txt", "b.txt", "src/c.go", "src/d.png", "new.txt"})
	attribute := rapid.SampledFrom([]string{"* text=auto", "*.txt text", "*.png binary", "*.go -diff", "*.txt ident", "src/* eol=crlf",
		"*.txt diff=x", "*.go linguist-generated", "[attr]odd -diff", "*.txt odd", "a.txt merge=union", "* filter=none"})
	fast, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all++
		for _, p := range []string{"src", "a.txt", "b.txt", "new.txt", ".gitattributes"} {
			_ = os.RemoveAll(filepath.Join(dir, p))
		}
		fill := func(label, without string) {
			for i := range rapid.IntRange(1, 4).Draw(t, label) {
				p := filepath.Join(dir, name.Draw(t, fmt.Sprint(label, i)))
				if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p, []byte(strings.ReplaceAll(content.Draw(t, fmt.Sprint(label, "text", i)), without, "")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		fill("base", "\r") // else new attributes alone would change what git makes of a file
		tree := commitAll(t, dir)
		fill("edit", "\x02")
		lines := rapid.SliceOfN(attribute, 0, 2).Draw(t, "attributes")
		if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		paths := rapid.SliceOfNDistinct(name, 1, 4, rapid.ID[string]).Draw(t, "paths")
		quickly, err := quickDeltas(context.Background(), dir, tree, paths)
		if errors.Is(err, errSlow) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		fast++
		w := &worktree{ctx: context.Background(), root: dir, base: tree, found: map[string]*diff.Delta{}}
		w.sort(paths)
		slowly, err := w.ask()
		if err != nil {
			t.Fatal(err)
		}
		for i := range quickly { // git hands no texts on
			quickly[i].Old, quickly[i].New = nil, nil
		}
		if d := cmp.Diff(slowly, quickly); d != "" {
			t.Fatalf("-git +ours\n%s", d)
		}
	})
	if fast < all/4 {
		t.Errorf("only %d of %d cases were quick", fast, all)
	}
}

// commitAll commits everything in dir and returns the commit.
func commitAll(t *rapid.T, dir string) string {
	for _, args := range [][]string{{"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo, _ := At(dir)
	return repo.Head().SHA
}
