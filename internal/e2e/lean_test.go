package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// svc as make build makes it links no C, and yet reads code: the part that
// does is inside it.
func TestTheInstalledSvcReadsCode(t *testing.T) {
	if testing.Short() {
		t.Skip("make test builds the programs and tests with them")
	}
	sources()
	dir := t.TempDir()
	svc, repo, home := filepath.Join(dir, "svc"), filepath.Join(dir, "repo"), filepath.Join(dir, "home")
	// as make build does, so that most is done already
	build := exec.Command("../../.ci/build-svc", svc, "-ldflags=-s -w")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var mu sync.Mutex
	var events []wire.HookRequest
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e wire.HookRequest
		if body, err := io.ReadAll(r.Body); err == nil && json.Unmarshal(body, &e) == nil {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		}
		io.WriteString(w, `{"decision":"allow"}`)
	}))
	defer server.Close()
	env := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "SVC_CONFIG_DIR="+filepath.Join(home, "config"),
		"SVC_SERVER="+server.URL, "SVC_TOKEN=svc_"+strings.Repeat("a", 43), "SVC_NO_UPDATE_CHECK=1", "GIT_CONFIG_GLOBAL=/dev/null")
	run := func(stdin string, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = repo, env, strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		return string(out)
	}
	file := filepath.Join(repo, "a.ts")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	run("", "git", "init", "-q")
	run("", "git", "remote", "add", "origin", "https://github.com/acme/web")
	write("export function total(a: number) { return a }\n")
	run("", "git", "add", ".")
	run("", "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one")
	write("export function total(a: number, b: number) { return a + b }\n")

	// All but hooks is the svc's inside it, which speaks of the one that is installed.
	env = append(env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, 0, "Get started"},
		{[]string{"hook", "--help"}, 0, "Read what an agent host tells"},
		{[]string{"statsu"}, 2, "svc status"},
		{[]string{"version", "--json"}, 0, `"server": false`},
		{[]string{"doctor"}, -1, "agent hosts start " + svc},
	} {
		cmd := exec.Command(svc, c.args...)
		cmd.Dir, cmd.Env = repo, env
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); c.code >= 0 && code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("svc %v ends with %d, not %d, and says\n%s", c.args, code, c.code, out)
		}
	}
	for _, args := range [][]string{{"analyze", "--json"}, {"--json", "analyze"}} {
		var facts coord.Analysis
		if err := json.Unmarshal([]byte(run("", svc, args...)), &facts); err != nil || len(facts.Files) != 1 || len(facts.Files[0].Symbols) != 1 {
			t.Fatalf("%v tells %+v, %v", args, facts, err)
		}
	}
	// A hook has little time, and goes without facts rather than be late.
	tells := func(file string, what func(coord.FileFacts) bool) func() bool {
		edited, err := json.Marshal(map[string]any{
			"session_id":      "s",
			"cwd":             repo,
			"hook_event_name": "PostToolUse",
			"tool_name":       "Write",
			"tool_input":      map[string]any{"file_path": file},
			"tool_response":   map[string]any{},
		})
		if err != nil {
			t.Fatal(err)
		}
		return func() bool {
			run(string(edited), svc, "hook", "--tool", "claude_code", "--event", "PostToolUse")
			mu.Lock()
			defer mu.Unlock()
			return slices.ContainsFunc(events, func(e wire.HookRequest) bool {
				return e.Analysis != nil && slices.ContainsFunc(e.Analysis.Files, what)
			})
		}
	}
	await.True(t, "the hook to tell what was edited", tells(file, func(f coord.FileFacts) bool {
		return f.Path == "a.ts" && len(f.Symbols) == 1 && f.Symbols[0].Compatibility == coord.Breaking
	}))
	api := filepath.Join(repo, "api.yaml")
	routes := "openapi: 3.0.0\npaths:\n  /orders:\n    get:\n      responses:\n        '200': {description: ok}\n"
	if err := os.WriteFile(api, []byte(routes), 0o644); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the hook to tell what a document describes", tells(api, func(f coord.FileFacts) bool {
		return f.Path == "api.yaml" && len(f.Contracts) == 1 && f.Contracts[0].Key == "http:GET /orders"
	}))

	// Agents wait for svc at every start: what few hooks use is made when it is used.
	start := exec.Command(svc, "hook", "--tool", "claude_code", "--event", "PostToolUse")
	start.Dir, start.Env = repo, append(slices.Clone(env), "GODEBUG=inittrace=1")
	trace, err := start.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, trace)
	}
	made := 0
	for line := range strings.Lines(string(trace)) { // init PACKAGE @0.1 ms, 0.2 ms clock, BYTES bytes, N allocs
		f := strings.Fields(line)
		if len(f) < 8 || f[0] != "init" || !strings.HasPrefix(f[1], "github.com/svc-hq/") && !strings.HasPrefix(f[1], "gopkg.in/yaml") {
			continue
		}
		n, err := strconv.Atoi(f[7])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		made += n
	}
	if !strings.Contains(string(trace), "init net/http ") || made > 16<<10 {
		t.Errorf("a start makes tables of %d bytes, with package lazy it would not:\n%s", made, trace)
	}

	// Doctor tries the part that reads code: a damaged one is unpacked anew, and one that cannot be is told.
	doctor := func() string {
		cmd := exec.Command(svc, "doctor")
		cmd.Dir, cmd.Env = repo, env
		out, _ := cmd.Output() // there is more to tell of this machine
		return string(out)
	}
	parts, err := filepath.Glob(filepath.Join(home, "cache", "svc", "program", "reader-*"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("%v, %v", parts, err)
	}
	info, err := os.Stat(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(parts[0], make([]byte, info.Size()), 0o700); err != nil {
		t.Fatal(err)
	}
	if out := doctor(); !strings.Contains(out, "native grammars") || !strings.Contains(out, "ok    languages") {
		t.Errorf("with a damaged part:\n%s", out)
	}
	env = append(env, "XDG_CACHE_HOME="+file)
	if out := run("", svc, "--help"); !strings.Contains(out, "Get started") {
		t.Errorf("with no place to unpack it, the help is\n%s", out)
	}
	if out := doctor(); !strings.Contains(out, "FAIL  languages            the part of svc that reads code cannot be used") {
		t.Errorf("with no place to unpack it:\n%s", out)
	}
}
