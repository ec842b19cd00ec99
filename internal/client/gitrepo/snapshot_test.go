package gitrepo_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/gittest"
)

// Git tells a file that was written in the second in which the index was from
// one that was written before by the index's own time. A copy of the index with
// a later time would hide such an edit.
func TestASnapshotSeesAnEditInTheSecondOfTheCheckout(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Run(t, dir, "config", "core.trustctime", "false") // no test can set that time
	gittest.Write(t, dir, "a.txt", "one\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "start")
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	file, index := filepath.Join(dir, "a.txt"), filepath.Join(dir, ".git", "index")
	set := func(name string) {
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	set(file)
	gittest.Run(t, dir, "update-index", "--refresh")
	if err := os.WriteFile(file, []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set(file)
	set(index)
	repo, ok := gitrepo.At(dir)
	if !ok {
		t.Fatal("no repository")
	}
	scratch := t.TempDir()
	now, err := repo.Snapshot(t.Context(), scratch)
	if err != nil {
		t.Fatal(err)
	}
	objects := gitrepo.NewObjects(gitrepo.WithObjects(t.Context(), scratch), repo.GitDir)
	defer objects.Close()
	if text, err := objects.Blob(now+":a.txt", 1<<20); string(text) != "two\n" {
		t.Errorf("%q, %v", text, err)
	}
}
