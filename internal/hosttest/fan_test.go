//go:build unix

package hosttest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHostsFanOut has the host's model hand the same line to two sub-agents, each
// in a worktree that the host makes. The second is told of the first, and the
// parent, before it merges them, that git will stop.
func TestHostsFanOut(t *testing.T) {
	h, w, ok := withClaudeCode(t)
	if !ok {
		return
	}
	w.setUp(h.id)
	// The host works on what is committed, and looks for a mainline to start from.
	w.must("git", "add", "-A")
	w.must("git", "commit", "-qm", "set up")
	w.must("git", "update-ref", "refs/remotes/origin/main", "HEAD")

	var roots, told []string
	subs := map[string]*model{}
	for _, word := range []string{"EINS", "ZWEI"} {
		file := ""
		subs[word] = &model{tb: t, heard: map[string]int{}, turns: []turn{
			{next: func(string) call {
				roots = append(roots, newWorktree(w, roots))
				file = filepath.Join(roots[len(roots)-1], planned)
				return h.read(file)
			}},
			{next: func(string) call { return h.edit(file, "four", word) }},
			{next: func(fresh string) call {
				told = append(told, fresh)
				return h.shell("git commit -qam " + word)
			}},
			{look: func(string) {}, call: call{text: "Done."}},
		}}
	}
	agent := func(word string) call {
		return call{tool: "Agent", args: object{"description": "Translate a line", "prompt": "Translate line four to " + word + " and commit.",
			"subagent_type": "general-purpose", "isolation": "worktree", "run_in_background": false}}
	}
	merge := func(string) call {
		var branches []string
		for _, root := range roots {
			branches = append(branches, strings.TrimSpace(w.must("git", "-C", root, "branch", "--show-current")))
		}
		return h.shell("git merge --no-edit " + strings.Join(branches, " && git merge --no-edit "))
	}
	refused, after := "", ""
	ignore := func(string) {}
	w.subs = subs
	w.drive(h, []turn{
		{look: ignore, call: agent("EINS")},
		{look: ignore, call: agent("ZWEI")},
		{next: merge},
		{look: func(fresh string) { refused, after = fresh, w.reads(planned) }, call: call{text: "I ask first."}},
	}, "")
	if len(told) != 2 || strings.Contains(told[0], "edit_overlap") || !strings.Contains(told[1], "svc warn (edit_overlap)") {
		t.Errorf("the sub-agents read %q", told)
	}
	if !strings.Contains(refused, "svc merge forecast: Git cannot merge the worktree") || !strings.Contains(refused, planned+" line 4") {
		t.Errorf("the parent reads %q", refused)
	}
	if after != lines {
		t.Errorf("something was merged: %q", after)
	}
}

// newWorktree is the working copy that is neither the clone's own nor known.
func newWorktree(w *world, known []string) string {
	for line := range strings.Lines(w.must("git", "worktree", "list", "--porcelain")) {
		root, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
		if ok && root != w.repo && !slices.Contains(known, root) {
			return root
		}
	}
	w.t.Error("the host made no worktree")
	return w.repo
}
