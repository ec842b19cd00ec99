package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// The default branch moves a folder while Olga is at work on a file in it. Bob
// starts after that and works on the same lines under the new name: both are
// told. Another agent of his, elsewhere, changes other lines of it and hears nothing.
func TestWorkFromBeforeAMoveIsMet(t *testing.T) {
	t.Parallel()
	s := newServer(t, t.TempDir())
	text := func(line int, says string) string {
		var b strings.Builder
		for i := range 40 {
			if i == line {
				fmt.Fprintln(&b, says)
				continue
			}
			fmt.Fprintln(&b, "line", i)
		}
		return b.String()
	}
	olga := newClone(t, s, s.token("olga@example.com"))
	gittest.Write(t, olga.dir, "old/notes.txt", text(-1, ""))
	gittest.Run(t, olga.dir, "add", ".")
	gittest.Run(t, olga.dir, "commit", "-qm", "notes")
	after := func(name string) *clone {
		c := newClone(t, s, s.token("bob@example.com"))
		c.dir = filepath.Join(t.TempDir(), name)
		gittest.Run(t, olga.dir, "clone", "-q", olga.dir, c.dir)
		gittest.Run(t, c.dir, "remote", "set-url", "origin", "https://github.com/acme/shop.git")
		gittest.Run(t, c.dir, "mv", "old", "new")
		gittest.Write(t, c.dir, "new/notes.txt", "a title\n"+text(-1, ""))
		gittest.Run(t, c.dir, "commit", "-qam", "move")
		gittest.Run(t, c.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
		gittest.Run(t, c.dir, "checkout", "-q", "-b", name)
		c.env = append(c.env, "XDG_CACHE_HOME="+t.TempDir())
		return c
	}
	bob, ana := after("bob"), after("ana")
	a, b, c := olga.agent(t, "a"), bob.agent(t, "b"), ana.agent(t, "c")
	for _, agent := range []*agent{a, b, c} {
		agent.begin()
	}
	a.writes("old/notes.txt", text(20, "olga's"))
	c.writes("new/notes.txt", "a title\n"+text(30, "ana's"))
	heard, edits := map[*agent]string{}, 0
	await.True(t, "both to be told", func() bool {
		edits++ // git may take its time to say what the file was called
		b.writes("new/notes.txt", "a title\n"+text(20, fmt.Sprint("bob's ", edits)))
		for _, agent := range []*agent{b, a, c} {
			heard[agent] += agent.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
		}
		return strings.Contains(heard[a], "edit_overlap") && strings.Contains(heard[b], "edit_overlap")
	})
	if strings.Contains(heard[c], "edit_overlap") {
		t.Errorf("told of other lines: %s", heard[c])
	}
	if !strings.Contains(heard[a], "old/notes.txt") || !strings.Contains(heard[b], "new/notes.txt") {
		t.Errorf("each knows the file by another name:\n%s\n%s", heard[a], heard[b])
	}
}
