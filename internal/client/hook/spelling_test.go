package hook

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

// Where the case of names does not matter, what an agent calls SRC/A.TXT is
// told by the one name that git has for it.
func TestAFileHasOneSpelling(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Write(t, repo, "src/a.txt", "a\n")
	edit := func(id, name string) []string {
		input := m{"file_path": filepath.Join(repo, name), "old_string": "a", "new_string": "b"}
		w.run("claude_code", "PostToolUse", claude(repo, "PostToolUse", m{"tool_name": "Edit", "tool_input": input, "tool_use_id": id}))
		return w.one().Paths
	}
	if got := edit("1", "SRC/A.TXT"); !slices.Equal(got, []string{"SRC/A.TXT"}) {
		t.Errorf("where it does matter: %v", got)
	}
	gittest.Run(t, repo, "config", "core.ignorecase", "true")
	for id, c := range map[string][2]string{
		"2": {"SRC/A.TXT", "src/a.txt"},
		"3": {"src/a.txt", "src/a.txt"},
		"4": {"src/Gone.txt", "src/Gone.txt"},
	} {
		if got := edit(id, c[0]); !slices.Equal(got, []string{c[1]}) {
			t.Errorf("%s is told as %v", c[0], got)
		}
	}
}
