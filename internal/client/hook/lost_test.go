package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
)

// A reader that loses itself in a file, or falls over it, keeps no agent
// waiting and blocks nothing: the service hears of the edit without facts.
func TestALostReaderKeepsNobodyWaiting(t *testing.T) {
	defer func(t, g time.Duration) { analyzeTimeout, analyzeGrace = t, g }(analyzeTimeout, analyzeGrace)
	analyzeTimeout, analyzeGrace = time.Millisecond, time.Millisecond
	for name, facts := range map[string]func() (*coord.Analysis, error){
		"lost":   func() (*coord.Analysis, error) { select {} },
		"fallen": func() (*coord.Analysis, error) { panic("fell over a file") },
	} {
		t.Run(name, func(t *testing.T) {
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

// A hook that hangs, whatever on, ends by itself before its host ends it, and its
// agent is told that nobody looked.
func TestAHookThatHangsEndsItself(t *testing.T) {
	defer func(a, f time.Duration) { askLimit, firstLook = a, f }(askLimit, firstLook)
	askLimit, firstLook = time.Millisecond, time.Millisecond
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	data, err := json.Marshal(write(repo, repo+"/a.txt", "t1"))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	env := w.env("claude_code", "PreToolUse", string(data), &out, &errs)
	hang, ended := make(chan struct{}), make(chan int, 1)
	env.Login = func(Identity) (Login, error) {
		<-hang
		return Login{}, nil
	}
	env.Exit = func(code int) {
		ended <- code
		close(hang)
	}
	const said = "svc could not check this edit: svc hook took too long"
	if code := Run(t.Context(), env); code != 0 || <-ended != 0 || !strings.Contains(out.String(), said) {
		t.Errorf("left %d, %s, %s", code, out.String(), errs.String())
	}
}
