package e2e

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

// Stashes are on one stack for all who work in a clone, and git gives the top
// one to whoever asks: what an agent stashed is kept for it.
func TestAStashIsItsMakers(t *testing.T) {
	x := newScenes(t)
	run := func(a *agent, line string) {
		t.Helper()
		x.quiet(line, x.command(a, line))
		gittest.Run(t, x.clone.dir, strings.Fields(line)[1:]...)
		x.tool(a, "PostToolUse", "Bash", map[string]any{"command": line})
	}
	gittest.Write(t, x.clone.dir, "x.go", "package x // a person's\n")
	gittest.Run(t, x.clone.dir, "stash", "-q") // nobody knows whose: a person's terminal asks nothing
	x.edit(x.one, "ledger.txt", "line 2", "by one 2")
	run(x.one, "git stash push -- ledger.txt")
	for _, line := range []string{"git stash drop", "git stash pop", "git stash clear", "git stash drop stash@{0}", "git stash branch b",
		"git stash list && git stash drop -q 0"} {
		x.want(line, x.command(x.two, line), `"deny"`, "stash@{0}", "your other agent", "git stash list")
	}
	x.quiet("git stash list", x.command(x.two, "git stash list"))
	x.quiet("git stash apply", x.command(x.two, "git stash apply"))

	x.edit(x.two, "notes.txt", "line 2", "by two 2")
	run(x.two, "git stash push -- notes.txt")
	x.want("git stash clear", x.command(x.two, "git stash clear"), `"deny"`, "stash@{1}", "git stash drop stash@{0}")
	x.want("git stash pop 1", x.command(x.two, "git stash pop stash@{1}"), `"deny"`, "stash@{1}")
	x.want("the other way round", x.command(x.one, "git stash pop"), `"deny"`, "stash@{0}")
	run(x.two, "git stash pop")
	run(x.one, "git stash pop")
	x.quiet("what no agent made", x.command(x.one, "git stash drop"))
}
