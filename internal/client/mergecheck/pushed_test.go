package mergecheck_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/mergecheck"
	"github.com/svc-hq/svc/internal/gittest"
)

// A host that takes its time is waited for: a fetch is bounded by its own limit,
// not by how often it is looked at.
func TestASlowHostIsFetchedFrom(t *testing.T) {
	theirs := gittest.Init(t)
	want := gittest.Commits(t, theirs, map[string]string{"a.txt": "one\n"})[0]
	gittest.Run(t, theirs, "update-server-info")
	files := http.FileServer(http.Dir(filepath.Join(theirs, ".git")))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-time.After(time.Second) // the slow host itself: git waits for it, and is looked at meanwhile
		files.ServeHTTP(w, r)
	}))
	defer host.Close()
	ours := gittest.Init(t)
	gittest.Run(t, ours, "remote", "add", "origin", host.URL)
	repo, ok := gitrepo.At(ours)
	if !ok {
		t.Fatal("no repository")
	}
	p := &mergecheck.Pushed{Repo: repo, Dir: filepath.Join(t.TempDir(), "pushed")}
	got, err := p.Commit(t.Context(), "refs/heads/main")
	if err != nil || got != want {
		t.Errorf("fetched %q, %v; want %s", got, err, want)
	}
}
