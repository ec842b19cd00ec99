package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

// Olga works with jj, in a workspace without .git, in a second one of the same
// repository and in one beside .git; Bob in a clone of git's. They meet at lines
// as people with git do.
func TestWorkspacesOfJujutsu(t *testing.T) {
	s := newServer(t, t.TempDir())
	dir := gittest.Jujutsu(t)
	x := &scenes{t: t, s: s}
	olga, theirs := newClone(t, s, s.token("olga@example.com")), newClone(t, s, s.token("bob@example.com"))
	gittest.Run(t, theirs.dir, "remote", "set-url", "origin", "https://github.com/acme/api.git")
	gittest.Run(t, theirs.dir, "fetch", "-q", filepath.Join(dir, "both"), "refs/remotes/origin/main:refs/remotes/origin/main")
	gittest.Run(t, theirs.dir, "checkout", "-q", "-B", "main", "origin/main")
	agents := map[string]*agent{}
	for _, name := range []string{"plain", "added", "both"} {
		at := *olga
		at.dir = filepath.Join(dir, name)
		agents[name] = at.agent(t, name)
		agents[name].begin()
	}
	bob := theirs.agent(t, "bob")
	bob.begin()

	before, after := x.edit(agents["plain"], "a.txt", "three", "THREE")
	x.quiet("the first edit", before+after)
	before, after = x.edit(bob, "a.txt", "three", "drei")
	x.want("of a workspace without .git", before+after, "a.txt", "Olga")
	first, _, _ := gittest.Changes(t, dir, "fresh", "plain")
	gittest.Operate(t, dir, "named") // an edit that nobody told of is found; the change has a bookmark now
	if said := agents["plain"].hook("UserPromptSubmit", map[string]any{"prompt": "go on"}); strings.Contains(said, "switched") {
		t.Errorf("a name for the work: %s", said)
	}
	if text, failed := agents["plain"].tool("intent_declare", map[string]any{"title": "count further", "mode": "exclusive",
		"scope": map[string]any{"paths": []string{"b.txt"}}}); failed || strings.Contains(text, first) {
		t.Errorf("%s", text)
	}
	for _, a := range []*agent{agents["added"], agents["both"], bob} {
		gittest.Write(t, a.dir, "b.txt", "one\n")
		before, _ := x.edit(a, "b.txt", "one", "two")
		x.want("a claim, told to "+a.session, before, `"deny"`, "claimed b.txt exclusively")
	}
}
