package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// Two agents of one person, each in a working copy of its own, change one
// package so that git merges it and Go does not. Nobody waits for the check:
// what it finds comes with a later hook, once, in the checker's words. That of
// a package that has nothing to do with theirs is not looked at.
func TestMergedWorkIsCheckedInTheBackground(t *testing.T) {
	for _, separate := range []bool{false, true} {
		name := map[bool]string{false: "worktrees", true: "clones"}[separate]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, t.TempDir())
			token := s.token("olga@example.com")
			one := newClone(t, s, token)
			one.env = append(one.env, "XDG_CACHE_HOME="+t.TempDir())
			for path, text := range map[string]string{
				"go.mod":        "module example.org/shop\n\ngo 1.21\n",
				"shop/store.go": "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Open(name string) error { return nil }\n",
				"shop/use.go":   "package shop\n\nfunc Use() *Store { return &Store{} }\n",
				"far/far.go":    "package far\n\nfunc Far() int { return 1 }\n",
			} {
				gittest.Write(t, one.dir, path, text)
			}
			gittest.Run(t, one.dir, "add", ".")
			gittest.Run(t, one.dir, "commit", "-qm", "shop")
			two := *one
			two.dir = filepath.Join(t.TempDir(), "two")
			if separate {
				gittest.Run(t, one.dir, "clone", "-q", one.dir, two.dir)
				gittest.Run(t, two.dir, "remote", "set-url", "origin", "https://github.com/acme/shop.git")
				gittest.Run(t, two.dir, "checkout", "-q", "-b", "second")
			} else {
				gittest.Run(t, one.dir, "worktree", "add", "-q", "-b", "second", two.dir)
			}
			a, b := one.agent(t, "a"), two.agent(t, "b")
			a.begin()
			b.begin()
			edit := func(x *agent, path, text string) string {
				gittest.Write(t, x.dir, path, text)
				return x.hook("PostToolUse", map[string]any{"tool_name": "Write", "tool_use_id": path + text,
					"tool_input": map[string]any{"file_path": filepath.Join(x.dir, path), "content": text}, "tool_response": map[string]any{}})
			}
			edit(a, "shop/store.go", "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Open(name string, size int) error { return nil }\n")
			edit(b, "far/far.go", "package far\n\nfunc Far() int { return 2 }\n")
			if left, _ := filepath.Glob(filepath.Join(one.temp, "svc-hook-*", "merging-*")); len(left) > 0 {
				t.Fatalf("work that has nothing to do with each other was checked: %v", left)
			}
			edit(b, "shop/more.go", "package shop\n\nfunc More(s *Store) error { return s.Open(\"x\") }\n")
			b.hook("Stop", nil)
			const want = "not enough arguments in call to s.Open"
			var said string
			await.True(t, "what the checker says", func() bool {
				said = b.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
				return strings.Contains(said, want)
			})
			if !strings.Contains(said, "shop/more.go line 3") || !strings.Contains(said, "svc merge check") {
				t.Errorf("said %q", said)
			}
			if again := b.hook("UserPromptSubmit", map[string]any{"prompt": "and on"}); strings.Contains(again, want) {
				t.Errorf("told twice: %q", again)
			}
			if out := gittest.Run(t, two.dir, "status", "--short"); strings.Count(out, "\n") > 2 {
				t.Errorf("the check left something behind: %q", out)
			}
			// Once it fits there is nothing to tell any more.
			edit(b, "shop/more.go", "package shop\n\nfunc More(s *Store) *Store { return s }\n")
			b.hook("Stop", nil)
			await.True(t, "nothing to tell", func() bool {
				left, err := filepath.Glob(filepath.Join(one.temp, "svc-hook-*", "merged-*"))
				return err == nil && len(left) == 0
			})
		})
	}
}
