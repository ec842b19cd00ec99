package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

func newCheckout(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Write(t, dir, "a.txt", "one\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func find(t *testing.T, path string) *Repo {
	t.Helper()
	r, ok := Find(path)
	if !ok {
		t.Fatalf("no repository found from %s", path)
	}
	return r
}

func TestFindLooksUpwardsFromAFileThatDoesNotExist(t *testing.T) {
	dir := newCheckout(t)
	if r := find(t, filepath.Join(dir, "not", "yet", "there.go")); r.Root != dir {
		t.Errorf("root = %s, want %s", r.Root, dir)
	}
	if r, ok := Find(t.TempDir()); ok {
		t.Errorf("found %s where there is no repository", r.Root)
	}
}

func TestHeadAgreesWithGit(t *testing.T) {
	dir := newCheckout(t)
	head := func() string { return gittest.Run(t, dir, "rev-parse", "HEAD") }
	for _, tt := range []struct {
		name   string
		args   []string
		branch string
	}{
		{"on the first branch", nil, "main"},
		{"on a branch with slashes", []string{"checkout", "-q", "-b", "feat/x/y"}, "feat/x/y"},
		{"after references were packed", []string{"pack-refs", "--all", "--prune"}, "feat/x/y"},
		{"detached", []string{"checkout", "-q", "--detach"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.args != nil {
				gittest.Run(t, dir, tt.args...)
			}
			if got, want := find(t, dir).Head(), (Head{tt.branch, head()}); got != want {
				t.Errorf("Head() = %v, want %v", got, want)
			}
		})
	}
}

func TestHeadOfARepositoryWithoutCommits(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "trunk")
	if got, want := find(t, dir).Head(), (Head{Branch: "trunk"}); got != want {
		t.Errorf("Head() = %v, want %v", got, want)
	}
}

func TestLinkedWorktreeHasItsOwnHeadAndSharedRemotes(t *testing.T) {
	dir := newCheckout(t)
	gittest.Run(t, dir, "remote", "add", "origin", "https://example.com/acme/app.git")
	other := filepath.Join(t.TempDir(), "other")
	gittest.Run(t, dir, "worktree", "add", "-q", "-b", "side", other)
	r := find(t, filepath.Join(other, "a.txt"))
	if r.Root != other || r.Head().Branch != "side" || r.Head().SHA != gittest.Run(t, dir, "rev-parse", "side") {
		t.Errorf("worktree = %+v on %+v", r, r.Head())
	}
	if got := r.Remotes(); len(got) != 1 || got[0].URL != "https://example.com/acme/app.git" {
		t.Errorf("remotes = %v", got)
	}
}

func TestSubmoduleIsItsOwnRepository(t *testing.T) {
	inner, outer := newCheckout(t), newCheckout(t)
	gittest.Run(t, outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "lib")
	if r := find(t, filepath.Join(outer, "lib", "a.txt")); r.Root != filepath.Join(outer, "lib") || r.Head().SHA == "" {
		t.Errorf("found %+v at %v", r, r.Head())
	}
}

func TestRemotesAgreeWithGit(t *testing.T) {
	dir := newCheckout(t)
	for _, r := range [][2]string{
		{"upstream", "git@example.com:acme/app.git"},
		{"fork.me", `https://example.com/x"y/app`},
		{"origin", "ssh://git@example.com:2222/acme/app.git"},
	} {
		gittest.Run(t, dir, "remote", "add", r[0], r[1])
	}
	gittest.Write(t, dir, ".git/config", string(must(os.ReadFile(filepath.Join(dir, ".git/config"))))+
		"[Remote \"late\"]\n\tURL = \"https://example.com/a;b\" ; why\n[branch \"main\"]\n\turl = no\n")
	var got []string
	for _, r := range find(t, dir).Remotes() {
		got = append(got, r.Name)
		if want := gittest.Run(t, dir, "config", "--get", "remote."+r.Name+".url"); r.URL != want {
			t.Errorf("%s = %s, git says %s", r.Name, r.URL, want)
		}
	}
	if want := []string{"origin", "upstream", "fork.me", "late"}; !slices.Equal(got, want) {
		t.Errorf("remotes = %v, want %v", got, want)
	}
}

func TestDefaultBranch(t *testing.T) {
	upstream := newCheckout(t)
	gittest.Run(t, upstream, "branch", "-m", "main", "trunk")
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, upstream, "clone", "-q", upstream, clone)
	r := find(t, clone)
	if got := r.DefaultBranch(); got != "trunk" {
		t.Errorf("after a clone: %q, want trunk", got)
	}
	if got := r.Ref("refs/remotes/origin/HEAD"); got != gittest.Run(t, clone, "rev-parse", "HEAD") {
		t.Errorf("a symbolic reference gave %q", got)
	}
	gittest.Run(t, clone, "remote", "set-head", "origin", "--delete")
	if got := r.DefaultBranch(); got != "" {
		t.Errorf("when origin never said: %q, want none", got)
	}
	gittest.Run(t, clone, "update-ref", "refs/remotes/origin/master", "HEAD")
	if got := r.DefaultBranch(); got != "master" {
		t.Errorf("with origin/master: %q", got)
	}
}

func TestRefRefusesNamesOutsideRefs(t *testing.T) {
	r := find(t, newCheckout(t))
	for _, name := range []string{"", "HEAD", "refs/../HEAD", "../../etc/passwd"} {
		if got := r.Ref(name); got != "" {
			t.Errorf("Ref(%q) = %q", name, got)
		}
	}
}

func TestLastCommittedTellsCommitsFromCheckouts(t *testing.T) {
	dir := newCheckout(t)
	first := gittest.Run(t, dir, "rev-parse", "HEAD")
	gittest.Write(t, dir, "a.txt", "two\n")
	gittest.Run(t, dir, "commit", "-q", "-am", "second: with a colon")
	r := find(t, dir)
	if before, ok := r.LastCommitted(); !ok || before != first {
		t.Errorf("after a commit: %q, %v", before, ok)
	}
	gittest.Run(t, dir, "commit", "-q", "--amend", "-m", "better")
	if _, ok := r.LastCommitted(); !ok {
		t.Error("an amended commit is a commit")
	}
	gittest.Run(t, dir, "checkout", "-q", "-b", "x")
	if _, ok := r.LastCommitted(); ok {
		t.Error("a checkout is no commit")
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// Whatever stands in a configuration, reading it must neither fail nor invent
// remotes without a URL.
func FuzzRemotes(f *testing.F) {
	f.Add("[remote \"origin\"]\n\turl = https://example.com/a\n")
	f.Add("[remote \"a\\\"b\"]\nurl=\"x\\")
	f.Fuzz(func(t *testing.T, config string) {
		dir := t.TempDir()
		gittest.Write(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
		gittest.Write(t, dir, ".git/config", config)
		for _, r := range find(t, dir).Remotes() {
			if r.URL == "" || r.Name == "" {
				t.Errorf("empty remote %+v", r)
			}
		}
	})
}
