//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// A bench is a folder to try commands in: a repository of Olga's on a running
// service in which INT-7 is hers, CF-3 is between her and Bob, he asked her
// something and wrote to her, Ana works on a branch, an agent of Olga's is at
// work, and there are a token, a webhook and two repositories that look like one.
type bench struct {
	s         *server
	dir, home string
	env       []string
	olga, bob string // tokens
	front     string // where a webhook is told, instead of example.com
	stdin     string
}

// A scenery is what benches begin from; to make it anew for each would take
// longer than what is tried there.
type scenery struct {
	dir              string // of data, clone and home
	olga, bob, front string
	cookies          []*http.Cookie
}

var (
	sceneryOnce sync.Once
	sceneryMade scenery
)

const rootCommit = "0123456789abcdef0123456789abcdef01234567"

func madeScenery(t *testing.T) *scenery {
	t.Helper()
	sceneryOnce.Do(func() {
		dir, err := os.MkdirTemp("", "scenery")
		if err != nil {
			t.Fatal(err)
		}
		leftovers = append(leftovers, dir)
		endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // as long as the tests run
		sceneryMade = scenery{dir: dir, front: endpoint.Listener.Addr().String()}
		sceneryMade.tell(t)
		sceneryMade.clone(t)
	})
	if sceneryMade.cookies == nil {
		t.Fatal("there is no scenery: its maker failed")
	}
	return &sceneryMade
}

// tell has happen what a bench begins with.
func (y *scenery) tell(t *testing.T) {
	t.Helper()
	s := newServer(t, filepath.Join(y.dir, "data"), "--outbound-allow", "127.0.0.0/8")
	all := `["hooks:evaluate","mcp:tools","repos:read","repos:write","intents:read","intents:write","conflicts:read","conflicts:write",
		"messages:read","messages:write","members:read","members:write","policy:read","policy:write","tokens:write","events:read"]`
	var made struct{ Token string }
	s.post("/v1/tokens", `{"name":"all","user_email":"olga@example.com","scopes":`+all+`}`, &made)
	y.olga, y.bob = made.Token, s.token("bob@example.com")
	s.post("/v1/members", `{"email":"ana@example.com","name":"Ana Aspen"}`, nil)
	for _, name := range []string{"acme/shop", "acme/shop-old", "acme/shop-fork", "acme/api", "acme/web"} {
		s.post("/v1/repos", `{"full_name":"`+name+`"}`, nil)
	}
	s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web"]}`, nil)
	s.post("/v1/tokens", `{"name":"ci","user_email":"olga@example.com"}`, nil)
	s.post("/v1/webhooks", `{"url":"http://`+y.front+`/hook"}`, nil)
	for i := range 7 {
		s.as(y.olga, "POST", "/v1/intents", fmt.Sprintf(`{"repo":"acme/shop","title":"Part %d: login","mode":"exclusive","branch":"part%d",
			"scope":{"paths":["part%d/a.go"]}}`, i+1, i+1, i+1))
	}
	s.as(y.bob, "POST", "/v1/intents", `{"repo":"acme/shop","title":"All of it","branch":"all",
		"scope":{"paths":["part1/a.go","part2/a.go","part3/a.go"]}}`)
	ana := s.token("ana@example.com")
	s.as(ana, "POST", "/v1/intents", `{"repo":"acme/shop","title":"The API","branch":"api-v2","scope":{"paths":["docs/**"]}}`)
	s.as(y.bob, "POST", "/v1/questions", `{"to":"user:olga@example.com","question":"Is the login API stable?"}`)
	s.as(y.bob, "POST", "/v1/messages", `{"to":"user:olga@example.com","body":"Freezing main at noon","requires_ack":true}`)
	s.as(y.bob, "POST", "/v1/messages", `{"to":"conflict:CF-3","body":"When is the token refresh of the login in?"}`)
	s.as(y.bob, "POST", "/v1/messages", `{"to":"channel:team","body":"Hello, all"}`)
	s.as(y.olga, "POST", "/v1/repos/acme%2Fshop/index", `{"complete":true,"removed":[],"files":[{"path":"src/api.ts","contracts":[
		{"key":"http:GET /users/{}","role":"provides","change":"unchanged","compatibility":"compatible","line":3},
		{"key":"db:public.users","role":"provides","change":"unchanged","compatibility":"compatible","line":1}]}]}`)
	for _, at := range []struct{ token, repo, branch string }{{y.olga, "acme/shop", "part7"}, {y.bob, "acme/shop-fork", "main"},
		{ana, "acme/shop", "api-v2"}} {
		s.as(at.token, "POST", "/v1/hooks/evaluate", `{"event":"session_start","session":{"external_id":"`+at.branch+`","tool":"claude_code"},
			"repo":{"remote_fingerprints":["github.com/`+at.repo+`"],"branch":"`+at.branch+`","root_commits":["`+rootCommit+`"]}}`)
	}
	y.cookies = s.cookies()
	s.stop()
}

// clone makes the repository, with a merge in its history.
func (y *scenery) clone(t *testing.T) {
	t.Helper()
	dir := gittest.Init(t)
	files := map[string]string{"auth/login.go": "package auth\n", "src/parse.go": "package src\n", "src/auth.go": "package src\n",
		"part1/a.go": "package part1\n", "go.mod": "module shop\n\ngo 1.24\n",
		"src/api.ts": "import express from 'express'\nconst app = express()\napp.get('/users/:id', (q, r) => r.send(q))\n"}
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	git := func(args ...string) { gittest.Run(t, dir, args...) }
	git("add", "-A")
	git("commit", "-qm", "first")
	git("remote", "add", "origin", "https://github.com/acme/shop.git")
	git("checkout", "-qb", "topic")
	writeFile(t, filepath.Join(dir, "src/parse.go"), "package src\n\nfunc Parse() {}\n")
	git("commit", "-qam", "parse")
	git("checkout", "-q", "-")
	writeFile(t, filepath.Join(dir, "src/auth.go"), "package src\n\nfunc Auth() {}\n")
	git("commit", "-qam", "auth")
	git("merge", "-q", "--no-edit", "topic")
	git("update-ref", "refs/remotes/origin/api-v2", "HEAD")
	git("clone", "-q", "--mirror", ".", "mirror.git")
	writeFile(t, filepath.Join(dir, ".git/info/exclude"), "mirror.git\n*.json\n*.html\ntoken.txt\n")
	if err := copyFolder(filepath.Join(y.dir, "clone"), dir); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// tools are programs that examples name, as far as they matter here.
var tools = map[string]string{
	"vim":    `echo '{"enforcement": "warn"}' > "$1"`,
	"make":   "echo make \"$@\"",
	"claude": "exit 0",
	"codex":  "exit 0",
}

func newBench(t *testing.T) *bench {
	t.Helper()
	y := madeScenery(t)
	top := t.TempDir()
	b := &bench{dir: filepath.Join(top, "clone"), home: filepath.Join(top, "home"), olga: y.olga, bob: y.bob, front: y.front}
	for _, part := range []string{"data", "clone"} {
		if err := copyFolder(filepath.Join(top, part), filepath.Join(y.dir, part)); err != nil {
			t.Fatal(err)
		}
	}
	b.s = continued(t, filepath.Join(top, "data"), y.cookies, append(withMail(t), "--outbound-allow", "127.0.0.0/8")...)
	for name, body := range tools {
		writeFile(t, filepath.Join(top, "bin", name), "#!/bin/sh\n"+body+"\n")
		if err := os.Chmod(filepath.Join(top, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"tmp", "home/.zfunc", "home/.config/fish/completions", "home/.local/share/bash-completion/completions"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(b.dir, "token.txt"), y.bob+"\n")
	payload, err := json.Marshal(map[string]any{"session_id": "s1", "cwd": b.dir, "hook_event_name": "PreToolUse", "tool_name": "Write",
		"tool_use_id": "t1", "tool_input": map[string]any{"file_path": filepath.Join(b.dir, "part1/a.go"), "content": "package part1\n"}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(b.dir, "payload.json"), string(payload))
	// Hundreds of runs: those of the test's own program, which looks for races, start ten times as slowly.
	program(t, "svcd")
	folders := []string{filepath.Join(top, "bin"), filepath.Dir(program(t, "svc")), os.Getenv("PATH")}
	path := strings.Join(folders, string(filepath.ListSeparator))
	b.env = append(os.Environ(), "PATH="+path, "HOME="+b.home, "TMPDIR="+filepath.Join(top, "tmp"), "SVC_SERVER="+b.s.URL,
		"SVC_CONFIG_DIR="+filepath.Join(b.home, "config"), "SVC_NO_UPDATE_CHECK=1", "SVC_NO_BROWSER=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"VISUAL=", "TERM=xterm", "COLUMNS=80", "SVC_TOKEN="+b.olga)
	return b
}

// without takes variables out of the bench's world.
func (b *bench) without(names ...string) {
	b.env = slices.DeleteFunc(b.env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// run runs a line in a shell and returns its exit code; what goes on for ever is
// stopped.
func (b *bench) run(t *testing.T, line string) (code int, stdout, stderr string) {
	t.Helper()
	return b.play(t, line, nil)
}

// play runs a line while something happens: during hears what was said so far,
// and interrupts it.
func (b *bench) play(t *testing.T, line string, during func(said func() string, interrupt func())) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*await.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.Stdin = b.dir, b.env, 10*time.Second, strings.NewReader(b.stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, errs record
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if during != nil {
		during(func() string { return out.String() + errs.String() }, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) })
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		t.Fatalf("%s: %v", line, err)
	}
	return code, out.String(), errs.String()
}

// A record is what a program wrote so far.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (b *bench) must(t *testing.T, line string) {
	t.Helper()
	if code, out, errs := b.run(t, line); code != 0 {
		t.Fatalf("%s: exit %d: %s%s", line, code, out, errs)
	}
}
