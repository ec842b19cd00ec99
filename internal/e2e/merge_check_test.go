package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
			held := heldGo(t)
			one.env = append(one.env, "XDG_CACHE_HOME="+ownCache(t), "PATH="+held.dir+":"+os.Getenv("PATH"))
			one.shop(t)
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
			a.writes("shop/store.go", "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Open(name string, size int) error { return nil }\n")
			b.writes("far/far.go", "package far\n\nfunc Far() int { return 2 }\n")
			if left, _ := filepath.Glob(filepath.Join(one.temp, "svc-hook-*", "merging-*")); len(left) > 0 {
				t.Fatalf("work that has nothing to do with each other was checked: %v", left)
			}
			b.writes("shop/more.go", "package shop\n\nfunc More(s *Store) error { return s.Open(\"x\") }\n")
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
			// Nor is it told again by another check that finds the same.
			found := func() time.Time {
				at := time.Time{}
				left, _ := filepath.Glob(filepath.Join(one.temp, "svc-hook-*", "merged-*"))
				for _, l := range left {
					if info, err := os.Stat(l); err == nil && !strings.HasSuffix(l, ".lock") {
						at = info.ModTime()
					}
				}
				return at
			}
			first := found()
			await.True(t, "a second check", func() bool {
				if again := b.hook("UserPromptSubmit", map[string]any{"prompt": "and on"}); strings.Contains(again, want) {
					t.Fatalf("told twice: %q", again)
				}
				b.hook("Stop", nil)
				return found().After(first)
			})
			if again := b.hook("UserPromptSubmit", map[string]any{"prompt": "and on"}); strings.Contains(again, want) {
				t.Errorf("told twice: %q", again)
			}
			if out := gittest.Run(t, two.dir, "status", "--short"); strings.Count(out, "\n") > 2 {
				t.Errorf("the check left something behind: %q", out)
			}
			// Once it fits there is nothing to tell any more, also if it fits
			// while a check of what it was before runs.
			held.hold(t)
			b.writes("shop/more.go", "package shop\n\nfunc More(s *Store) error { return s.Open(\"y\") }\n")
			await.True(t, "a check that runs", func() bool {
				b.hook("Stop", nil)
				return held.running()
			})
			b.writes("shop/more.go", "package shop\n\nfunc More(s *Store) *Store { return s }\n")
			b.hook("Stop", nil)
			await.True(t, "word for the check that runs", func() bool {
				left, err := filepath.Glob(filepath.Join(one.temp, "svc-hook-*", "merged-*.again"))
				return err == nil && len(left) == 1
			})
			held.release(t)
			await.True(t, "nothing to tell", func() bool {
				left, err := filepath.Glob(filepath.Join(one.temp, "svc-hook-*", "merged-*"))
				return err == nil && len(left) == 0
			})
		})
	}
}

// A heldProgram is Go, which waits before it does anything while it is held.
type heldProgram struct{ dir string }

func heldGo(t *testing.T) heldProgram {
	t.Helper()
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	h := heldProgram{t.TempDir()}
	text := fmt.Sprintf("#!/bin/sh\nat=%q\nif [ -e \"$at/held\" ]; then : >\"$at/running\"; fi\n"+
		"while [ -e \"$at/held\" ]; do sleep 0.1; done\nexec %q \"$@\"\n", h.dir, real)
	if err := os.WriteFile(filepath.Join(h.dir, "go"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(filepath.Join(h.dir, "held")) }) // so that a test that failed leaves none waiting
	return h
}

func (h heldProgram) hold(t *testing.T) { gittest.Write(t, h.dir, "held", "") }

func (h heldProgram) running() bool {
	_, err := os.Stat(filepath.Join(h.dir, "running"))
	return err == nil
}

func (h heldProgram) release(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(h.dir, "held")); err != nil {
		t.Fatal(err)
	}
}

// ownCache returns a folder for what programs keep. The test ends when those
// have ended that have it: nobody waits for a check, which goes on to write.
func ownCache(t *testing.T) string {
	dir := t.TempDir()
	t.Cleanup(func() {
		await.True(t, "the end of the checks", func() bool {
			running, _ := filepath.Glob("/proc/[0-9]*/environ")
			return !slices.ContainsFunc(running, func(p string) bool {
				env, err := os.ReadFile(p)
				return err == nil && bytes.Contains(env, []byte("XDG_CACHE_HOME="+dir+"\x00"))
			})
		})
	})
	return dir
}

// shop commits some Go.
func (c *clone) shop(t *testing.T) {
	t.Helper()
	for path, text := range map[string]string{
		"go.mod":        "module example.org/shop\n\ngo 1.21\n",
		"shop/store.go": "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Open(name string) error { return nil }\n",
		"shop/use.go":   "package shop\n\nfunc Use() *Store { return &Store{} }\n",
		"far/far.go":    "package far\n\nfunc Far() int { return 1 }\n",
	} {
		gittest.Write(t, c.dir, path, text)
	}
	gittest.Run(t, c.dir, "add", ".")
	gittest.Run(t, c.dir, "commit", "-qm", "shop")
}

// writes writes a file, as a tool of the agent does.
func (a *agent) writes(path, text string) string {
	gittest.Write(a.t, a.dir, path, text)
	return a.hook("PostToolUse", map[string]any{"tool_name": "Write", "tool_use_id": path + text,
		"tool_input": map[string]any{"file_path": filepath.Join(a.dir, path), "content": text}, "tool_response": map[string]any{}})
}

// Two people on two machines: what one has pushed is fetched by the other's
// client and checked with theirs, if the policy says so, and their clone stays
// as it is. What is not pushed stays with its owner.
func TestPushedWorkIsCheckedInTheBackground(t *testing.T) {
	t.Parallel()
	s := newServer(t, t.TempDir())
	hub := filepath.Join(t.TempDir(), "hub.git")
	olga := newClone(t, s, s.token("olga@example.com"))
	olga.shop(t)
	gittest.Run(t, olga.dir, "clone", "-q", "--bare", olga.dir, hub)
	bob := newClone(t, s, s.token("bob@example.com"))
	bob.dir = filepath.Join(t.TempDir(), "bob")
	gittest.Run(t, hub, "clone", "-q", hub, bob.dir)
	gittest.Run(t, bob.dir, "remote", "set-url", "origin", "https://github.com/acme/shop.git")
	gittest.Run(t, bob.dir, "checkout", "-q", "-b", "bobs")
	for _, c := range []*clone{olga, bob} { // the host is this machine's
		gittest.Write(t, c.config, ".gitconfig", "[url \""+hub+"\"]\n\tinsteadOf = https://github.com/acme/shop.git\n")
		c.env = append(c.env, "XDG_CACHE_HOME="+ownCache(t), "GIT_CONFIG_GLOBAL="+filepath.Join(c.config, ".gitconfig"))
	}
	s.send("PUT", "/v1/policies", `{"rules":{"merge_check":"pushed"}}`, nil)
	a, b := olga.agent(t, "a"), bob.agent(t, "b")
	a.begin()
	b.begin()
	b.writes("shop/store.go", "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Open(name string, size int) error { return nil }\n")
	gittest.Run(t, bob.dir, "commit", "-qam", "size")
	gittest.Run(t, bob.dir, "push", "-q", hub, "bobs")
	b.writes("shop/use.go", "package shop\n\nfunc Using() *Store { return &Store{} }\n") // not pushed
	refs := gittest.Run(t, olga.dir, "for-each-ref")
	a.writes("shop/more.go", "package shop\n\nfunc More(s *Store) error { return s.Open(\"x\") }\n\nvar use = Use\n")
	a.hook("Stop", nil)
	var said string
	await.True(t, "what the checker says", func() bool {
		said = a.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
		return strings.Contains(said, "not enough arguments in call to s.Open")
	})
	if strings.Contains(said, "undefined: Use") {
		t.Errorf("work that was not pushed was taken: %q", said)
	}
	if out := olga.svc(t, "check", "--against", "@bob"); !strings.Contains(out, "this working copy and bobs do not go together") ||
		!strings.Contains(out, "shop/more.go:3: not enough arguments in call to s.Open") {
		t.Errorf("svc check --against @bob: %s", out)
	}
	if now := gittest.Run(t, olga.dir, "for-each-ref"); now != refs {
		t.Errorf("the clone's references changed:\n%s\n%s", refs, now)
	}
	if out := gittest.Run(t, olga.dir, "fsck", "--unreachable", "--no-reflogs"); out != "" {
		t.Errorf("the clone has objects of others: %s", out)
	}
}
