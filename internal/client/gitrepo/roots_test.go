package gitrepo

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

// The first commits are those of every clone, whatever it is called, and a
// shallow clone says nothing rather than something wrong.
func TestRootsAreThoseOfEveryClone(t *testing.T) {
	r := newRepo(t)
	if got, err := Roots(context.Background(), r.root); err == nil {
		t.Errorf("a repository without commits has the roots %v", got)
	}
	r.write("a", "1")
	r.git("add", ".")
	r.git("commit", "-m", "first")
	first := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	r.write("a", "2")
	r.git("commit", "-am", "second")
	for name, args := range map[string][]string{"clone": nil, "shallow": {"--depth", "1"}} {
		dir := t.TempDir()
		gittest.Run(t, dir, append(append([]string{"clone"}, args...), "file://"+r.root, name)...)
		got, err := Roots(context.Background(), dir+"/"+name)
		want := []string{first}
		if name == "shallow" {
			want = nil
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: roots %v, %v, want %v", name, got, err, want)
		}
	}
}
