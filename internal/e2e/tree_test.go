//go:build linux

package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/gittest"
)

var treeFiles = flag.Int("tree-files", 300, "how many files the working copies have in which edits outside of hooks are found")

// files commits so many of them to the clone.
func (l *laptop) files(n int) {
	l.t.Helper()
	var stream strings.Builder
	stream.WriteString("commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata 1\nx\nfrom refs/heads/main^0\n")
	for i := range n {
		text := fmt.Sprintf("export const n%d = %d\n", i, i)
		fmt.Fprintf(&stream, "M 100644 inline lib/d%d/e%d/f%d.ts\ndata %d\n%s\n", i/1000, i/50%20, i, len(text), text)
	}
	gittest.Feed(l.t, l.clone, stream.String(), "fast-import", "--quiet")
	l.run("", "git", "reset", "-q", "--hard")
}

// watched plays turns in which nothing happens, until hooks rely on the resident
// process for what changed: the first of them have to look for themselves.
func (l *laptop) watched(session string) {
	l.t.Helper()
	await.True(l.t, "somebody watches the working copy", func() bool {
		l.hook(session, "UserPromptSubmit", "")
		l.hook(session, "Stop", "")
		kept, _ := filepath.Glob(filepath.Join(l.home, ".config", "svc", "trees", "*.calm"))
		for _, file := range kept {
			text, _ := os.ReadFile(file)
			if head, _, _ := strings.Cut(string(text), "\n"); !strings.HasSuffix(head, "\t") && strings.Contains(head, "\t") {
				return true
			}
		}
		return false
	})
}

// recorded plays turns until the service knows of an edit.
func (l *laptop) recorded(session, file string, turns int) {
	l.t.Helper()
	for range turns {
		l.hook(session, "Stop", "")
		if strings.Contains(l.run("", "svc", "intents", "--json"), `"`+file+`"`) {
			return
		}
	}
	l.t.Errorf("%s was edited, and %d turns later nobody knows", file, turns)
}

// An edit that no hook tells of is recorded at the end of the turn, whoever
// watches the working copy or does not: while the resident process runs, after it
// was frozen, killed or restarted, and when it was started after the edit.
func TestEditsOutsideOfHooksAreRecorded(t *testing.T) {
	l := newLaptop(t)
	l.files(*treeFiles)
	l.run("", "svc", "up", "--yes")
	const session = "tree"
	l.hook(session, "SessionStart", "")
	edit := func(i int) string {
		file := fmt.Sprintf("lib/d0/e%d/f%d.ts", i/50%20, i)
		l.write(file, "export const changed = true\n")
		return file
	}
	l.watched(session)
	l.recorded(session, edit(1), 1)
	l.write("lib/d0/e0/new.ts", "export const fresh = 1\n")
	l.recorded(session, "lib/d0/e0/new.ts", 1)

	l.watched(session)
	if err := os.Rename(filepath.Join(l.clone, "lib/d0/e3"), filepath.Join(l.clone, "lib/d0/moved")); err != nil {
		t.Fatal(err)
	}
	l.recorded(session, "lib/d0/moved/f151.ts", 1)

	l.watched(session)
	s, _ := l.service()
	if err := syscall.Kill(s.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	frozen, env := edit(2), l.env
	l.env = append(slices.Clip(env), patience.Variable+"=1") // else it waits for minutes
	l.hook(session, "Stop", "")
	l.env = env
	if err := syscall.Kill(s.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	later := edit(3)
	l.recorded(session, frozen, 3)
	l.recorded(session, later, 1)

	l.watched(session)
	s, _ = l.service()
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed := edit(4)
	await.True(t, "it is gone", func() bool { return syscall.Kill(s.PID, 0) != nil })
	l.recorded(session, killed, 3)

	l.watched(session)
	l.run("", "svc", "down")
	before := edit(5)
	l.run("", "svc", "up", "--yes")
	l.recorded(session, before, 3)
}
