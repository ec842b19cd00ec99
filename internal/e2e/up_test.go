package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A laptop is the home folder of somebody who has svc, svcd and git.
type laptop struct {
	t                testing.TB
	bin, home, clone string
	env              []string
	team             *server // the person's, if they are in one
	bob              string  // a teammate's token
	session          string  // added to the name of the session that plays
}

func newLaptop(t testing.TB) *laptop {
	t.Helper()
	return newLaptopOf(t, func(name string) string { return program(t, name) })
}

// newLaptopOf is newLaptop with other programs.
func newLaptopOf(t testing.TB, program func(name string) string) *laptop {
	t.Helper()
	dir := busyDir(t)
	l := &laptop{t: t, bin: filepath.Join(dir, "bin"), home: filepath.Join(dir, "home"), clone: filepath.Join(dir, "home", "proj")}
	for _, d := range []string{l.bin, l.clone, filepath.Join(l.home, ".claude")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"svc", "svcd"} {
		if err := os.Symlink(program(name), filepath.Join(l.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	l.env = []string{"HOME=" + l.home, "PATH=" + l.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "TMPDIR=" + busyDir(t),
		"SVC_NO_BROWSER=1", "SVC_NO_UPDATE_CHECK=1", "GIT_CONFIG_NOSYSTEM=1", patient}
	l.run("", "git", "config", "--global", "user.email", "ann@example.com")
	l.run("", "git", "config", "--global", "user.name", "Ann")
	l.run("", "git", "init", "-q", "-b", "main")
	l.write("a.txt", "one\n")
	l.run("", "git", "add", ".")
	l.run("", "git", "commit", "-qm", "one")
	t.Cleanup(func() { l.try("", "svc", "down") })
	return l
}

// busyDir is a temporary folder in which processes that nobody waits for, such
// as a scan that a hook began, may still write when the test is over.
func busyDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "busy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { await.True(t, "nobody to write to "+dir, func() bool { return os.RemoveAll(dir) == nil }) })
	return dir
}

func (l *laptop) write(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.clone, name), []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *laptop) try(stdin, name string, args ...string) (string, error) {
	path := name
	if beside := filepath.Join(l.bin, name); !strings.Contains(name, "/") {
		if _, err := os.Stat(beside); err == nil {
			path = beside
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.clone, l.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (l *laptop) run(stdin, name string, args ...string) string {
	l.t.Helper()
	out, err := l.try(stdin, name, args...)
	if err != nil {
		l.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// hook plays an event of Claude Code.
func (l *laptop) hook(session, event, id string) string {
	l.t.Helper()
	payload, err := json.Marshal(map[string]any{"session_id": session, "cwd": l.clone, "hook_event_name": event,
		"tool_name": "Write", "tool_use_id": id,
		"tool_input": map[string]any{"file_path": filepath.Join(l.clone, "a.txt"), "content": "x"}, "tool_response": map[string]any{}})
	if err != nil {
		l.t.Fatal(err)
	}
	return l.run(string(payload), "svc", "hook", "--tool", "claude_code", "--event", event)
}

func (l *laptop) service() (s wire.LocalService, ok bool) {
	text, err := os.ReadFile(filepath.Join(l.home, ".local", "share", "svc", "local", wire.LocalAddress))
	return s, err == nil && json.Unmarshal(text, &s) == nil
}

// Where no agent host is found, svc up says that nothing was written, and what
// to do, and not that agents are told of anything.
func TestUpWithoutAHostSaysSo(t *testing.T) {
	l := newLaptop(t)
	git, err := exec.LookPath("git")
	if err := errors.Join(err, os.Symlink(git, filepath.Join(l.bin, "git")), os.RemoveAll(filepath.Join(l.home, ".claude"))); err != nil {
		t.Fatal(err)
	}
	l.env = append(l.env, "PATH="+l.bin) // whoever tests may have hosts
	out := l.run("", "svc", "up", "--yes")
	if !strings.Contains(out, "no hooks were written") || strings.Contains(out, "Restart your agents") {
		t.Errorf("svc up says\n%s", out)
	}
}

// svc up sets up Claude Code's tools as well, which that host alone may write,
// and works where no PATH has svc: what it says at the end is true.
func TestUpSetsUpToolsAndNeedsNoPath(t *testing.T) {
	l := newLaptop(t)
	// As the real one does: claude mcp add|remove --scope user svc [-- COMMAND ARGS].
	claude := `#!/bin/sh
if [ "$2" = remove ]; then echo '{}' >"$HOME/.claude.json"; exit 0; fi
printf '{"mcpServers": {"svc": {"command": "%s", "args": ["%s"]}}}' "$7" "$8" >"$HOME/.claude.json"
`
	tools := filepath.Join(l.home, "tools")
	git, err := exec.LookPath("git")
	sh, err2 := exec.LookPath("sh")
	if err := errors.Join(err, err2, os.Mkdir(tools, 0o755), os.Symlink(git, filepath.Join(tools, "git")),
		os.Symlink(sh, filepath.Join(tools, "sh")), os.WriteFile(filepath.Join(tools, "claude"), []byte(claude), 0o755)); err != nil {
		t.Fatal(err)
	}
	l.env = append(l.env, "PATH="+tools)
	out := l.run("", "svc", "up", "--yes")
	if !strings.Contains(out, "hooks and tools of Claude Code") || !strings.Contains(out, "They now warn each other") {
		t.Errorf("svc up says\n%s", out)
	}
	var kept struct {
		Servers map[string]struct{ Command string } `json:"mcpServers"`
	}
	text, err := os.ReadFile(filepath.Join(l.home, ".claude.json"))
	if err := errors.Join(err, json.Unmarshal(text, &kept)); err != nil {
		t.Fatal(err)
	}
	if c := kept.Servers["svc"].Command; !filepath.IsAbs(c) {
		t.Errorf("the tools are started as %q", c)
	}
	var settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	text, err = os.ReadFile(filepath.Join(l.home, ".claude", "settings.json"))
	if err := errors.Join(err, json.Unmarshal(text, &settings)); err != nil {
		t.Fatal(err)
	}
	start := exec.Command(sh, "-c", settings.Hooks["SessionStart"][0].Hooks[0].Command)
	start.Dir, start.Env = l.clone, l.env
	start.Stdin = strings.NewReader(`{"hook_event_name":"SessionStart","session_id":"s1","source":"startup","cwd":"` + l.clone + `"}`)
	briefing, err := start.CombinedOutput()
	if err != nil || !bytes.Contains(briefing, []byte("svc")) {
		t.Errorf("the session is not briefed by what svc up wrote: %v\n%s", err, briefing)
	}
	for _, command := range []string{"who", "status"} { // alone, one sees one's own agents
		if out := l.run("", "svc", command); !strings.Contains(out, "Your agents") || !strings.Contains(out, "claude_code") {
			t.Errorf("svc %s while an agent is at work:\n%s", command, out)
		}
	}
	if again := l.run("", "svc", "up", "--yes"); !strings.Contains(again, "are there already") {
		t.Errorf("a second svc up says\n%s", again)
	}
	l.run("", "svc", "init", "--user", "--remove")
	if text, _ = os.ReadFile(filepath.Join(l.home, ".claude.json")); bytes.Contains(text, []byte("svc")) {
		t.Errorf("svc init --user --remove leaves the tools: %s", text)
	}
}

// svc up is all that one person needs: no login, no remote, no terminal that
// stays open.
func TestUpServesOnePerson(t *testing.T) {
	l := newLaptop(t)
	if out := l.run("", "svc", "up", "--yes"); strings.Count(out, "\n") > 5 || !strings.Contains(out, "Claude Code") {
		t.Errorf("svc up says\n%s", out)
	}
	for _, f := range []string{"", "owner-token", wire.LocalAddress} {
		info, err := os.Stat(filepath.Join(l.home, ".local", "share", "svc", "local", f))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q: %v, %v: others can read it", f, info.Mode(), err)
		}
	}
	if out := l.run("", "svc", "status"); !strings.Contains(out, "/proj") {
		t.Errorf("svc status says\n%s", out)
	}
	if out := l.hook("A", "SessionStart", ""); !strings.Contains(out, "session_id") {
		t.Errorf("the hook says %q", out)
	}
	// Two sessions in the one clone: the second is told before it overwrites.
	l.hook("B", "SessionStart", "")
	l.hook("A", "PreToolUse", "t1")
	l.write("a.txt", "two\n")
	l.hook("A", "PostToolUse", "t2")
	if out := l.hook("B", "PreToolUse", "t3"); !strings.Contains(out, "a.txt") {
		t.Errorf("the second session is told %q", out)
	}
	// It was killed: the next hook starts it.
	s, _ := l.service()
	p, err := os.FindProcess(s.PID)
	if err != nil || p.Signal(syscall.SIGKILL) != nil {
		t.Fatal("no process", err)
	}
	await.True(t, "a hook to start the service", func() bool { return strings.Contains(l.hook("B", "SessionStart", ""), "session_id") })

	// After svc down no hook does, and agents go on, who are told once.
	l.run("", "svc", "down")
	if out := l.hook("A", "PreToolUse", "t9"); !strings.Contains(out, "the local service was stopped") {
		t.Errorf("after svc down a hook says %q", out)
	}
	if out := l.hook("A", "PreToolUse", "t10"); out != "" {
		t.Errorf("after svc down the next hook says %q", out)
	}
	if _, ok := l.service(); ok {
		t.Error("a hook started what the person stopped")
	}
	if out, err := l.try("", "svc", "status"); err == nil || !strings.Contains(out, "svc up") {
		t.Errorf("svc status after svc down: %v\n%s", err, out)
	}
}

// Nobody but the person is let in: not other names for loopback, not without
// the token, and a link into the dashboard works once.
func TestTheLocalServiceKeepsOthersOut(t *testing.T) {
	l := newLaptop(t)
	l.run("", "svc", "up", "--yes")
	s, _ := l.service()
	status := func(method, url, host string, client *http.Client) int {
		t.Helper()
		req, err := http.NewRequest(method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		io.Copy(io.Discard, res.Body)
		return res.StatusCode
	}
	plain := http.DefaultClient
	for _, tt := range []struct {
		method, path, host string
		want               int
	}{
		{"GET", "/v1/me", "evil.example", http.StatusMisdirectedRequest},
		{"GET", "/", "evil.example:80", http.StatusMisdirectedRequest},
		{"GET", "/v1/me", "", http.StatusUnauthorized},
		{"POST", wire.LocalTicketPath, "", http.StatusUnauthorized},
		{"POST", wire.LocalStopPath, "", http.StatusUnauthorized},
		{"GET", wire.LocalEnterPath + "?ticket=", "", http.StatusForbidden},
	} {
		if got := status(tt.method, s.Server+tt.path, tt.host, plain); got != tt.want {
			t.Errorf("%s %s as %q: %d, want %d", tt.method, tt.path, tt.host, got, tt.want)
		}
	}
	link := regexp.MustCompile(`http://\S+`).FindString(l.run("", "svc", "open"))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	person := &http.Client{Jar: jar}
	if got := status("GET", link, "", person); got != http.StatusOK {
		t.Errorf("the link of svc open: %d", got)
	}
	if got := status("GET", s.Server+"/v1/auth/session", "", person); got != http.StatusOK {
		t.Errorf("the browser is not signed in: %d", got)
	}
	if got := status("GET", link, "", plain); got != http.StatusForbidden {
		t.Errorf("the link works twice: %d", got)
	}
}

func TestTheLocalServiceEndsWhenIdle(t *testing.T) {
	l := newLaptop(t)
	cmd := exec.Command(filepath.Join(l.bin, "svcd"), "local", "--data", t.TempDir(), "--idle", "200ms")
	done := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(await.Patience):
		cmd.Process.Kill()
		t.Error("it did not end by itself")
	}
}

// With a team as well, its server hears of nothing but what it has registered
// or the person shares.
func TestWorkStaysLocalUntilItIsShared(t *testing.T) {
	l := newLaptop(t)
	team := newServer(t, t.TempDir())
	l.run("", "git", "remote", "add", "origin", "https://github.com/acme/secret")
	l.run("", "svc", "up", "--yes")
	out := l.run(team.token("olga@example.com"), "svc", "login", "--server", team.URL, "--token", "-")
	if !strings.Contains(out, "stay on this machine") {
		t.Errorf("svc login says\n%s", out)
	}
	at := func() string {
		t.Helper()
		out := l.run("", "svc", "status")
		return out[strings.Index(out, "(")+1 : strings.Index(out, ")")]
	}
	heard := func() bool {
		req, err := http.NewRequest("GET", team.URL+"/v1/repos", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+team.token("olga@example.com"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%v, %s", err, body)
		}
		return strings.Contains(string(body), "acme/secret")
	}
	if out := l.hook("A", "SessionStart", ""); !strings.Contains(out, "session_id") || at() == team.URL || heard() {
		t.Fatalf("before it was shared: work goes to %s, the team heard of it: %v\n%s", at(), heard(), out)
	}
	l.run("", "svc", "share", "--yes")
	if out := l.hook("B", "SessionStart", ""); !strings.Contains(out, "acme/secret") || at() != team.URL || !heard() {
		t.Errorf("after svc share: work goes to %s, the team heard of it: %v\n%s", at(), heard(), out)
	}
	l.run("", "svc", "share", "--stop")
	if at() == team.URL {
		t.Error("after svc share --stop work still goes to the team")
	}
}

// A login alone is no leave to tell: hooks of the user say nothing of a
// repository until the team has registered it or the person shares it.
func TestALoginTellsOfNoOtherRepository(t *testing.T) {
	l := newLaptop(t)
	team := newServer(t, t.TempDir())
	var mu sync.Mutex
	var sent strings.Builder
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		fmt.Fprintln(&sent, r.URL, string(body))
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		team.d.Handler().ServeHTTP(w, r)
	}))
	defer front.Close()
	heard := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(sent.String(), "secret")
	}
	l.run("", "git", "remote", "add", "origin", "https://github.com/acme/secret")
	l.run("", "svc", "init", "--user", "--tools", "claude_code", "--yes")
	l.run(team.token("olga@example.com"), "svc", "login", "--server", front.URL, "--token", "-")
	l.hook("A", "SessionStart", "")
	l.hook("A", "PreToolUse", "t1")
	if out, err := l.try("", "svc", "check", "a.txt"); err == nil || !strings.Contains(out, "svc share") {
		t.Errorf("svc check: %v\n%s", err, out)
	}
	if heard() {
		t.Errorf("the server heard of it:\n%s", &sent)
	}
	l.run("", "svc", "share", "--yes")
	if out := l.hook("B", "SessionStart", ""); !strings.Contains(out, "acme/secret") || !heard() {
		t.Errorf("after svc share the hook says %q", out)
	}
	await.True(t, "the scan that the hook began to be over", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(sent.String(), `"complete":true`)
	})
	l.run("", "svc", "share", "--stop")
	mu.Lock()
	sent.Reset()
	mu.Unlock()
	if out := l.hook("C", "SessionStart", ""); !strings.Contains(out, "svc share --stop took it out") || heard() {
		t.Errorf("after svc share --stop the hook says %q, and the server heard\n%s", out, &sent)
	}
}

func TestTheDemoPlaysAndLeavesNothing(t *testing.T) {
	l := newLaptop(t)
	out := l.run("", "svc", "demo")
	for _, want := range []string{"told before", "refused", "INT-2", "waits for", "wait ends", "lands it"} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not say %q:\n%s", want, out)
		}
	}
	for _, kv := range l.env {
		if tmp, ok := strings.CutPrefix(kv, "TMPDIR="); ok {
			if left, err := filepath.Glob(filepath.Join(tmp, "svc-demo-*")); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		}
	}
	for _, dir := range []string{".local", ".cache"} {
		if _, err := os.Stat(filepath.Join(l.home, dir)); err == nil {
			t.Errorf("it left %s in the home folder", dir)
		}
	}
}
