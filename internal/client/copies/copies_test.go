package copies_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-hq/svc/internal/client/copies"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/gittest"
)

// A clone of something else that took the place of one that was removed, and the
// number of its folder, is not what that one was.
func TestANewCloneInTheSamePlaceIsNotTheOldOne(t *testing.T) {
	dir, book := gittest.Init(t), copies.Open(t.TempDir())
	begin := func(remote string) *gitrepo.Repo {
		gittest.Run(t, dir, "init", "-q")
		gittest.Run(t, dir, "remote", "add", "origin", "https://github.com/acme/"+remote+".git")
		gittest.Write(t, dir, "README.md", remote+"\n")
		gittest.Run(t, dir, "add", ".")
		gittest.Run(t, dir, "commit", "-qm", remote)
		repo, ok := gitrepo.At(dir)
		if !ok {
			t.Fatal("no working copy")
		}
		return repo
	}
	shop := begin("shop")
	book.Keep(shop, "https://svc.example.com", []string{"github.com/acme/shop"}, shop.Head().SHA)
	// All that .git holds goes, and the folder itself stays, as its number would.
	held, err := os.ReadDir(filepath.Join(dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range held {
		if err := os.RemoveAll(filepath.Join(dir, ".git", e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if was, ok := book.Of(begin("bank")); ok {
		t.Errorf("a clone of acme/bank is taken for %v", was)
	}
}
