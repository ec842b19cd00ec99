package gitrepo_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/gittest"
)

func TestAuthorsOfLines(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	commit := func(email, text string) {
		gittest.Write(t, dir, "a b.txt", text)
		gittest.Run(t, dir, "add", ".")
		gittest.Run(t, dir, "-c", "user.name=x", "-c", "user.email="+email, "commit", "-q", "--author", "x <"+email+">", "-m", "x")
	}
	commit("ana@example.com", "one\ntwo\nauthor-mail <eve@example.com>\nfour\nfive\n")
	commit("Bob@Example.com", "one\nTWO\nauthor-mail <eve@example.com>\nfour\nfive\n")
	got, err := gitrepo.Authors(context.Background(), dir, "HEAD", "a b.txt", []int{5, 2, 3})
	want := map[int]string{2: "Bob@Example.com", 3: "ana@example.com", 5: "ana@example.com"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := gitrepo.Authors(context.Background(), dir, "HEAD", "a b.txt", []int{99}); err == nil {
		t.Error("a line that is not there has an author")
	}
}
