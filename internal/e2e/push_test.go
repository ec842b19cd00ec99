//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
)

// A gitServer is a bare repository whose pre-receive hook asks svc, and a clone
// of it.
type gitServer struct {
	t           *testing.T
	bare, clone string
	env         []string
}

func newGitServer(t *testing.T, s *server, token, flags string) *gitServer {
	dir := t.TempDir()
	g := &gitServer{t: t, bare: filepath.Join(dir, "shop.git"), clone: filepath.Join(dir, "clone")}
	g.env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Olga", "GIT_AUTHOR_EMAIL=olga@example.com",
		"GIT_COMMITTER_NAME=Olga", "GIT_COMMITTER_EMAIL=olga@example.com", "SVC_SERVER="+s.URL, "SVC_TOKEN="+token,
		"SVC_CONFIG_DIR="+filepath.Join(dir, "config"), "SVC_LOCAL_DIR="+filepath.Join(dir, "local"), "HOME="+dir)
	g.must(dir, "init", "-q", "--bare", "-b", "main", g.bare)
	g.must(dir, "init", "-q", "-b", "main", g.clone)
	g.must(g.clone, "remote", "add", "origin", g.bare)
	g.commit("a.txt", "one\n")
	g.must(g.clone, "push", "-q", "origin", "main")
	hook := "#!/bin/sh\nexec " + program(t, "svc") + " check --push --repo acme/shop " + flags + "\n"
	if err := os.WriteFile(filepath.Join(g.bare, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *gitServer) git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, g.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (g *gitServer) must(dir string, args ...string) {
	g.t.Helper()
	if out, err := g.git(dir, args...); err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (g *gitServer) commit(file, text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.clone, file), []byte(text), 0o644); err != nil {
		g.t.Fatal(err)
	}
	g.must(g.clone, "add", ".")
	g.must(g.clone, "commit", "-qm", "change "+file)
}

// push pushes with who the git server has authenticated.
func (g *gitServer) push(pusher string, args ...string) (string, error) {
	kept := g.env
	defer func() { g.env = kept }()
	g.env = append(append([]string{}, g.env...), "REMOTE_USER="+pusher)
	return g.git(g.clone, append([]string{"push", "origin"}, args...)...)
}

func (g *gitServer) refused(what, pusher string, args ...string) {
	g.t.Helper()
	out, err := g.push(pusher, args...)
	if err == nil || !strings.Contains(out, "holds a.txt exclusively") || !strings.Contains(out, "Ask ") {
		g.t.Errorf("%s is not refused: %s", what, out)
	}
}

func (g *gitServer) passes(what, pusher string, args ...string) {
	g.t.Helper()
	if out, err := g.push(pusher, args...); err != nil {
		g.t.Errorf("%s is refused: %s", what, out)
	}
}

// A plain git server with svc check --push in its pre-receive hook refuses
// commits that change what somebody else holds exclusively, on every way in.
func TestAPlainGitServerHoldsClaims(t *testing.T) {
	team := newServer(t, t.TempDir())
	team.post("/v1/repos", `{"full_name":"acme/shop"}`, nil)
	bob := team.token("bob@example.com")
	var claim wire.Declared
	team.request(team.web, "POST", "/v1/intents",
		`{"title":"Rewrite a","mode":"exclusive","scope":{"paths":["a.txt"]},"repo":"acme/shop","branch":"rewrite"}`,
		&claim, "Authorization", "Bearer "+bob)
	g := newGitServer(t, team, team.token("olga@example.com"), `--pusher "$REMOTE_USER"`)

	g.commit("b.txt", "two\n")
	g.passes("another file", "olga@example.com", "main")
	g.must(g.clone, "checkout", "-qb", "free")
	g.commit("a.txt", "two\n")
	g.refused("a claimed file on a new branch", "olga@example.com", "free")
	g.refused("the same to the default branch", "olga@example.com", "free:main")
	g.refused("the same to no branch at all", "olga@example.com", "free:refs/for/review")
	g.refused("as a tag", "olga@example.com", "free:refs/tags/v1")
	g.refused("on the holder's branch", "olga@example.com", "free:rewrite")
	g.refused("by a stranger", "stranger@example.com", "free")
	g.must(g.clone, "revert", "--no-edit", "HEAD")
	g.refused("with a revert on top", "olga@example.com", "free")
	g.must(g.clone, "reset", "-q", "--hard", "HEAD~1")
	g.must(g.clone, "-c", "user.name=Bob", "-c", "user.email=bob@example.com", "commit", "-q", "--amend", "--reset-author", "-m", "as Bob")
	g.refused("with the holder's name in it", "olga@example.com", "free")
	g.must(g.clone, "checkout", "-q", "main")
	g.must(g.clone, "merge", "-q", "--no-ff", "-m", "merge", "free")
	g.refused("in a merge", "olga@example.com", "main")
	g.must(g.clone, "mv", "a.txt", "c.txt")
	g.must(g.clone, "commit", "-qm", "rename")
	g.refused("renamed away", "olga@example.com", "main")
	g.passes("the holder's push", "bob@example.com", "free:rewrite")
	g.passes("the end of a branch", "olga@example.com", ":rewrite")
	g.passes("merged by the holder", "bob@example.com", "free:main")
	g.must(g.clone, "reset", "-q", "--hard", "origin/main")
	g.must(g.clone, "checkout", "-qb", "later")
	g.commit("d.txt", "x\n")
	g.passes("work on top of what the holder merged", "olga@example.com", "later")

	g.commit("a.txt", "three\n")
	g.refused("another edit", "olga@example.com", "later")
	team.as(bob, "POST", "/v1/intents/"+claim.Intent.Ref+"/close", `{"outcome":"abandoned"}`)
	g.passes("after the claim", "olga@example.com", "later")

	strict := newGitServer(t, team, "svc_"+strings.Repeat("x", 43), "--strict")
	strict.commit("z.txt", "z\n")
	if out, err := strict.push("", "main"); err == nil {
		t.Errorf("a strict hook that cannot ask lets the push through: %s", out)
	}
	open := newGitServer(t, team, "svc_"+strings.Repeat("x", 43), "")
	open.commit("z.txt", "z\n")
	if out, err := open.push("", "main"); err != nil || !strings.Contains(out, "the push was not checked") {
		t.Errorf("a hook that cannot ask: %v %s", err, out)
	}
}
