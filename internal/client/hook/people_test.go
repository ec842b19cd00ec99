package hook

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/gittest"
)

// A working copy whose watcher failed is not tried again at every prompt, but
// once a day.
func TestAWatcherThatFailedIsNotStartedAtEveryPrompt(t *testing.T) {
	w := newWorld(t)
	dir := newRepo(t, filepath.Join(w.home, "app"))
	repo, ok := gitrepo.At(dir)
	if !ok {
		t.Fatal("no repository")
	}
	prompts := func(want int) {
		t.Helper()
		w.watchers = 0
		for range 3 {
			w.run("claude_code", "UserPromptSubmit", claude(dir, "UserPromptSubmit", m{"prompt": "go on"}))
		}
		if w.watchers != want {
			t.Errorf("%d watchers were started at 3 prompts, want %d", w.watchers, want)
		}
	}
	prompts(0)
	gittest.Write(t, filepath.Dir(WatchFile(w.config, repo)), filepath.Base(WatchFile(w.config, repo)), "")
	prompts(3) // none of them runs
	failure := WatchFailure(w.config, repo)
	if err := plain.Write(failure, []byte("more than 4096 folders\n")); err != nil {
		t.Fatal(err)
	}
	prompts(0)
	yesterday := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(failure, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	prompts(3)
}
