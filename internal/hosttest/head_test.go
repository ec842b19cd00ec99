//go:build unix

package hosttest

import (
	"strings"
	"testing"
)

// TestHostsHeadMoves has another agent switch the branch of the clone that both
// are in, between two commands of the host's model: its commit is refused
// before it lands there, and the model reads why.
func TestHostsHeadMoves(t *testing.T) {
	h, w, ok := withClaudeCode(t)
	if !ok {
		return
	}
	w.setUp(h.id)
	var refused string
	var s script
	s.then(h.shell("git status"), func(string) { w.must("git", "switch", "-q", "-c", "elsewhere") })
	s.then(h.shell("git commit --allow-empty -m mine"), func(fresh string) { refused = fresh })
	s.then(h.shell("git commit --allow-empty -m meant"), nil)
	w.drive(h, s.ends("Done."), "")
	if !strings.Contains(refused, "switched this working copy") || !strings.Contains(refused, "elsewhere") {
		t.Errorf("the model reads %q", refused)
	}
	if log := w.must("git", "log", "--format=%s", "elsewhere"); strings.Contains(log, "mine") || !strings.Contains(log, "meant") {
		t.Errorf("commits of elsewhere: %s", log)
	}
}
