package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// Two people on two machines, nothing pushed, nothing committed: where the team
// shares what is not pushed, each machine checks the other's work with its own,
// and says in the checker's words what does not fit. Once it is undone, that is over.
// Where the team does not share, nobody is told by a checker.
func TestUnpushedWorkIsCheckedAcrossMachines(t *testing.T) {
	t.Parallel()
	s := newServer(t, t.TempDir())
	olga := newClone(t, s, s.token("olga@example.com"))
	olga.shop(t)
	bob := newClone(t, s, s.token("bob@example.com"))
	bob.dir = filepath.Join(t.TempDir(), "bob")
	gittest.Run(t, olga.dir, "clone", "-q", olga.dir, bob.dir)
	gittest.Run(t, bob.dir, "remote", "set-url", "origin", "https://github.com/acme/shop.git")
	for _, c := range []*clone{olga, bob} {
		c.env = append(c.env, "XDG_CACHE_HOME="+ownCache(t))
	}
	a, b := olga.agent(t, "a"), bob.agent(t, "b")
	a.begin()
	b.begin()
	b.writes("shop/store.go", "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Open(name string, size int) error { return nil }\n")
	a.writes("shop/more.go", "package shop\n\nfunc More(s *Store) error { return s.Open(\"x\") }\n")
	for _, c := range []*clone{olga, bob} {
		if left, _ := filepath.Glob(filepath.Join(c.temp, "svc-hook-*", "merging-*")); len(left) > 0 {
			t.Fatalf("work was checked that nobody shares: %v", left)
		}
	}
	if out := bob.svc(t, "analyze", "--patch"); !strings.Contains(out, "+func (s *Store) Open(name string, size int)") {
		t.Errorf("svc analyze --patch: %s", out)
	}
	s.send("PUT", "/v1/policies", `{"rules":{"share_patches":"team"}}`, nil)
	const want = "not enough arguments in call to s.Open"
	var said string
	await.True(t, "what the checker says", func() bool {
		b.hook("Stop", nil)
		a.hook("Stop", nil)
		said += a.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
		return strings.Contains(said, want)
	})
	if !strings.Contains(said, "shop/more.go line 3") || !strings.Contains(said, "svc merge check") {
		t.Errorf("said %q", said)
	}
	b.writes("shop/store.go", "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Open(name string) error { return nil }\n")
	await.True(t, "the news that it is over", func() bool {
		a.hook("Stop", nil)
		return strings.Contains(a.hook("UserPromptSubmit", map[string]any{"prompt": "and on"}), "no longer holds")
	})
	for _, c := range []*clone{olga, bob} {
		if out := gittest.Run(t, c.dir, "fsck", "--unreachable", "--no-reflogs"); out != "" {
			t.Errorf("the clone has objects of others: %s", out)
		}
	}
}
