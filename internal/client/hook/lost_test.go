package hook

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
)

// A reader that loses itself in a file, or falls over it, keeps no agent
// waiting and blocks nothing: the service hears of the edit without facts.
func TestALostReaderKeepsNobodyWaiting(t *testing.T) {
	for name, facts := range map[string]func() (*coord.Analysis, error){
		"lost":   func() (*coord.Analysis, error) { select {} },
		"fallen": func() (*coord.Analysis, error) { panic("fell over a file") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			repo := newRepo(t, filepath.Join(w.home, "api"))
			gittest.Write(t, repo, "a.txt", "two\n")
			w.facts = func(context.Context, string, string, []string, []string, bool) (*coord.Analysis, error) {
				return facts()
			}
			got := w.run("claude_code", "PostToolUse", claude(repo, "PostToolUse", m{
				"tool_name": "Edit", "tool_use_id": "t1",
				"tool_input": m{"file_path": filepath.Join(repo, "a.txt"), "old_string": "one", "new_string": "two"},
			}))
			if got.code != 0 || len(w.requests()) == 0 || !strings.Contains(w.log(), "analyze: ") {
				t.Errorf("it said %+v and logged %q", got, w.log())
			}
		})
	}
}
