package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// A world is a service, a user's folders and repositories, all real.
type world struct {
	watchers int // that were started
	t        *testing.T
	server   *httptest.Server
	home     string
	temp     string
	config   string
	vars     map[string]string
	base     func(context.Context, string, string) (string, error)
	facts    func(context.Context, string, string, []string, []string, bool) (*coord.Analysis, error)

	mu     sync.Mutex
	got    []wire.HookRequest
	header http.Header
	reply  func(wire.HookRequest) any // what the service answers; nil allows
	status int
}

// The tests are about what hooks say, not about how fast the machine is.
func TestMain(m *testing.M) {
	os.Setenv(patience.Variable, "100")
	os.Exit(m.Run())
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), temp: t.TempDir(), config: filepath.Join(t.TempDir(), "svc"), vars: map[string]string{}}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close) // runs after the test's context has ended
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	var in wire.HookRequest
	err := json.NewDecoder(r.Body).Decode(&in)
	w.mu.Lock()
	w.got = append(w.got, in)
	w.header = r.Header
	reply, status := w.reply, w.status
	w.mu.Unlock()
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/hooks/evaluate" {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	if status != 0 {
		rw.WriteHeader(status)
	}
	known := "session"
	var out any = wire.HookReply{Decision: wire.Allow, SessionID: &known}
	if reply != nil {
		out = reply(in)
	}
	_ = json.NewEncoder(rw).Encode(out)
}

// requests returns what the service was told since the last call.
func (w *world) requests() []wire.HookRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got
	w.got = nil
	return got
}

func (w *world) one() wire.HookRequest {
	w.t.Helper()
	got := w.requests()
	if len(got) != 1 {
		w.t.Fatalf("the service was asked %d times, want once: %+v", len(got), got)
	}
	return got[0]
}

func (w *world) answers(reply wire.HookReply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reply = func(wire.HookRequest) any { return reply }
}

func (w *world) env(tool, event, payload string, stdout, stderr io.Writer) Env {
	return Env{
		Args: []string{"--tool", tool, "--event", event}, Stdin: strings.NewReader(payload), Stdout: stdout, Stderr: stderr,
		Getenv: func(k string) string {
			if k == "HOME" {
				return w.home
			}
			return w.vars[k]
		},
		Dir: w.home, TempDir: w.temp, Version: "1.2.3",
		Login: func(Identity) (Login, error) {
			return Login{Server: w.server.URL, Token: "svc_secret", MachineID: "machine-1"}, nil
		},
		ConfigDir: func() (string, error) { return w.config, nil },
		Base:      w.base, Analyze: w.facts, WatchTree: func(string) { w.watchers++ },
	}
}

// A result is what a run left.
type result struct {
	stdout, stderr string
	code           int
}

func (w *world) run(tool, event string, payload any) result {
	w.t.Helper()
	text, ok := payload.(string)
	if !ok {
		data, err := json.Marshal(payload)
		if err != nil {
			w.t.Fatal(err)
		}
		text = string(data)
	}
	var out, errs bytes.Buffer
	code := Run(w.t.Context(), w.env(tool, event, text, &out, &errs))
	return result{out.String(), errs.String(), code}
}

func (w *world) log() string {
	data, _ := os.ReadFile(filepath.Join(w.config, "hook.log"))
	return string(data)
}

// newRepo makes a repository with one commit and a remote.
func newRepo(t testing.TB, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Run(t, dir, "remote", "add", "origin", "git@github.com:acme/"+filepath.Base(dir)+".git")
	gittest.Write(t, dir, "a.txt", "one\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "first")
	return dir
}

type m = map[string]any

// claude is a payload of the first host.
func claude(repo, event string, more m) m {
	p := m{"session_id": "s1", "cwd": repo, "hook_event_name": event, "permission_mode": "default", "transcript_path": "/x/t.jsonl"}
	for k, v := range more {
		p[k] = v
	}
	return p
}

func write(repo, file, id string) m {
	return claude(repo, "PreToolUse", m{
		"tool_name":   "Write",
		"tool_input":  m{"file_path": file, "content": "secret content"},
		"tool_use_id": id,
	})
}

// The service must not take for told what the host will never show.
func TestTheServiceIsToldOfHostsThatShowNothing(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	w.run("goose", "SessionStart", m{"event": "SessionStart", "session_id": "g", "working_dir": repo})
	if !w.one().Session.Deaf {
		t.Error("goose shows no context, which the service is not told")
	}
	w.run("claude_code", "SessionStart", claude(repo, "SessionStart", nil))
	if w.one().Session.Deaf {
		t.Error("claude_code shows context, and the service is told otherwise")
	}
}

func TestRequestCarriesWhatTheInterfaceLists(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Run(t, repo, "checkout", "-q", "-b", "feat/x")
	gittest.Write(t, repo, "package.json", `{"name":"app"}`)
	p := write(repo, filepath.Join(repo, "src", "new.go"), "t1")
	p["cwd"] = filepath.Join(repo, "src")
	p["model"] = "m-1"
	if got := w.run("claude_code", "PreToolUse", p); got != (result{}) {
		t.Errorf("an allowed edit left %+v", got)
	}
	req := w.one()
	if req.Event != wire.HookPreEdit || !slices.Equal(req.Paths, []string{"src/new.go"}) || req.DedupeKey == "" {
		t.Errorf("request = %+v", req)
	}
	key := presence.Key("machine-1", "claude_code", "s1")
	want := wire.HookSession{ExternalID: "s1", Tool: "claude_code", Model: "m-1", Surface: "cli", Key: key}
	if req.Session != want || key == "" {
		t.Errorf("session = %+v, want %+v", req.Session, want)
	}
	if c := req.Client; c.CLIVersion != "1.2.3" || c.OS == "" || len(c.MachineIDHash) != 64 || strings.Contains(c.MachineIDHash, "machine-1") {
		t.Errorf("client = %+v", c)
	}
	r := req.Repo
	if !slices.Equal(r.RemoteFingerprints, []string{"github.com/acme/app"}) || r.Branch != "feat/x" || r.CwdPath != "src" ||
		r.HeadSHA != gittest.Run(t, repo, "rev-parse", "HEAD") || len(r.WorktreeHash) != 64 {
		t.Errorf("repo = %+v", r)
	}
	if w.header.Get("Authorization") != "Bearer svc_secret" || w.header.Get("X-Svc-Protocol") != "1" {
		t.Errorf("headers = %v", w.header)
	}
	raw, _ := json.Marshal(req)
	for _, secret := range []string{"secret content", w.home, "machine-1"} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("%q left the machine: %s", secret, raw)
		}
	}
}

func TestEventsCarryTheirOwnFields(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Write(t, repo, "package.json", `{"name":"app"}`)
	base := strings.Repeat("b", 40)
	w.base = func(context.Context, string, string) (string, error) { return base, nil }
	w.facts = func(_ context.Context, root, _ string, paths, _ []string, _ bool) (*coord.Analysis, error) {
		return &coord.Analysis{Files: []coord.FileFacts{{Path: paths[0]}}}, nil
	}
	w.run("claude_code", "SessionStart", claude(repo, "SessionStart", nil))
	if req := w.one(); len(req.Repo.Packages) != 1 || req.Repo.Packages[0].Name != "app" || req.Repo.BaseSHA != base {
		t.Errorf("session_start = %+v", req.Repo)
	}
	w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": strings.Repeat("é", 3000)}))
	if req := w.one(); req.Event != wire.HookPrompt || len([]rune(req.PromptExcerpt)) != wire.MaxPromptExcerpt {
		t.Errorf("prompt has %d characters", len([]rune(req.PromptExcerpt)))
	}
	w.run("claude_code", "PreToolUse", claude(repo, "PreToolUse", m{"tool_name": "ExitPlanMode", "tool_input": m{"plan": "change a.txt"}}))
	if req := w.one(); req.Event != wire.HookPlan || req.PlanText != "change a.txt" {
		t.Errorf("plan = %+v", req)
	}
	p := write(repo, filepath.Join(repo, "a.txt"), "t1")
	w.run("claude_code", "PreToolUse", p)
	if req := w.one(); req.Repo.BaseSHA != base {
		t.Errorf("pre_edit does not know the base found before: %+v", req.Repo)
	}
	p["hook_event_name"] = "PostToolUse"
	w.run("claude_code", "PostToolUse", p)
	if req := w.one(); req.Event != wire.HookPostEdit || req.Analysis == nil || req.Analysis.Files[0].Path != "a.txt" {
		t.Errorf("post_edit = %+v", req)
	}
	stop := claude(repo, "Stop", m{"last_assistant_message": strings.Repeat("x", 600)})
	w.run("claude_code", "Stop", stop)
	if st := w.one().Status; st == nil || len(st.Excerpt) != wire.MaxStatusExcerpt || !slices.Equal(st.Files, []string{"a.txt"}) {
		t.Errorf("status = %+v", st)
	}
	w.vars["SVC_SHARE_STATUS"] = "0"
	w.run("claude_code", "Stop", stop)
	if st := w.one().Status; st != nil {
		t.Errorf("status was shared: %+v", st)
	}
	w.run("claude_code", "SessionEnd", claude(repo, "SessionEnd", nil))
	if req := w.one(); req.Event != wire.HookSessionEnd {
		t.Errorf("session_end = %+v", req)
	}
	if left := spool.Open(w.temp, "claude_code", "s1").Entries(""); len(left) != 0 {
		t.Errorf("the session left %v", left)
	}
}

// A dialog that waits for the session's person is told in the host's words, and
// nothing else of the turn: that goes on. The idle reminder is no dialog.
func TestAPermissionPromptIsTold(t *testing.T) {
	for _, tt := range []struct {
		tool string
		more m
		want string // "" if nothing is to be told
	}{
		{"claude_code", m{"notification_type": "permission_prompt", "message": "Claude needs your permission to use Bash"},
			"Claude needs your permission to use Bash"},
		{"claude_code", m{"notification_type": "idle_prompt", "message": "Claude is waiting for your input"}, ""},
		{"qwen_code", m{"notification_type": "permission_prompt", "message": "Qwen Code needs your permission"},
			"Qwen Code needs your permission"},
		{"qwen_code", m{"notification_type": "auth_success", "message": "Successfully authenticated with openai"}, ""},
		{"gemini_cli", m{"notification_type": "ToolPermission", "message": "Tool Shell requires execution",
			"details": m{"command": "rm -rf secret"}}, "Tool Shell requires execution"},
	} {
		w := newWorld(t)
		repo := newRepo(t, filepath.Join(w.home, "app"))
		gittest.Write(t, repo, "a.txt", "not told yet")
		if out := w.run(tt.tool, "Notification", claude(repo, "Notification", tt.more)); out.stdout != "" || out.code != 0 {
			t.Errorf("%s is answered %+v", tt.tool, out)
		}
		if tt.want == "" {
			if n := len(w.requests()); n != 0 {
				t.Errorf("of %v of %s %d requests were made", tt.more, tt.tool, n)
			}
			continue
		}
		req := w.one()
		if st := req.Status; req.Event != wire.HookStop || st == nil || st.Asks != wire.AskPermission || st.Excerpt != tt.want ||
			len(st.Files)+len(req.Paths)+len(req.LineMaps) > 0 || req.Analysis != nil {
			t.Errorf("%s: told is %+v with %+v", tt.tool, req, req.Status)
		}
		w.vars["SVC_SHARE_STATUS"] = "0"
		w.run(tt.tool, "Notification", claude(repo, "Notification", tt.more))
		if st := w.one().Status; st == nil || st.Asks != wire.AskPermission || st.Excerpt != "" {
			t.Errorf("%s: who keeps words to himself tells %+v", tt.tool, st)
		}
	}
}

func TestNothingElseLeavesTheMachine(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	alone := filepath.Join(w.home, "alone")
	gittest.Run(t, w.home, "init", "-q", alone)
	for name, payload := range map[string]m{
		"a read":   claude(repo, "PreToolUse", m{"tool_name": "Read", "tool_input": m{"file_path": repo + "/a.txt"}}),
		"a search": claude(repo, "PostToolUse", m{"tool_name": "Grep", "tool_input": m{"pattern": "x"}}),
		"another server's tool": claude(repo, "PreToolUse", m{
			"tool_name":  "mcp__files__write",
			"tool_input": m{"path": repo + "/a.txt"},
		}),
		"an edit outside of any repo":   write(repo, filepath.Join(w.home, "x.txt"), "t1"),
		"a repo without a remote":       write(alone, filepath.Join(alone, "x.txt"), "t2"),
		"git's own files":               write(repo, filepath.Join(repo, ".git", "info", "exclude"), "t3"),
		"a prompt outside of any repo":  claude(w.home+"/none", "UserPromptSubmit", m{"prompt": "x"}),
		"an event that is none of ours": claude(repo, "PreCompact", nil),
		"an edit that failed": claude(repo, "PostToolUseFailure", m{
			"tool_name":  "Edit",
			"tool_input": m{"file_path": repo + "/a.txt"},
		}),
	} {
		if got := w.run("claude_code", payload["hook_event_name"].(string), payload); got != (result{}) {
			t.Errorf("%s left %+v", name, got)
		}
		if got := w.requests(); len(got) != 0 {
			t.Errorf("%s was sent: %+v", name, got)
		}
	}
	if log := w.log(); log != "" {
		t.Errorf("nothing failed, yet the log says %s", log)
	}
}

func TestDecisionsReachTheHost(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	edit := func(tool string) m {
		switch tool {
		case "gemini_cli":
			return m{
				"session_id":      "g",
				"cwd":             repo,
				"hook_event_name": "BeforeTool",
				"tool_name":       "write_file",
				"tool_input":      m{"file_path": repo + "/a.txt"},
			}
		case "windsurf":
			return m{"trajectory_id": "w", "agent_action_name": "pre_write_code", "tool_info": m{"file_path": repo + "/a.txt"}}
		case "antigravity":
			return m{
				"conversationId": "a",
				"workspacePaths": []string{repo},
				"toolCall":       m{"name": "write_to_file", "args": m{"TargetFile": repo + "/a.txt"}},
			}
		}
		return write(repo, repo+"/a.txt", "")
	}
	event := map[string]string{"gemini_cli": "BeforeTool", "windsurf": "pre_write_code"}
	for _, tt := range []struct {
		tool  string
		reply wire.HookReply
		want  result
	}{
		{
			"claude_code",
			wire.HookReply{Decision: wire.Block, Reason: "held by Ana"},
			result{
				stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"held ` +
					`by Ana"}}` + "\n",
			},
		},
		{
			"claude_code",
			wire.HookReply{Decision: wire.Warn, Reason: "near Ana", InjectContext: "more"},
			result{stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"near Ana\n\nmore"}}` + "\n"},
		},
		{
			"gemini_cli",
			wire.HookReply{Decision: wire.Block, Reason: "held by Ana"},
			result{stdout: `{"decision":"deny","reason":"held by Ana"}` + "\n"},
		},
		{"windsurf", wire.HookReply{Decision: wire.Block, Reason: "held by Ana"}, result{stderr: "held by Ana\n", code: 2}},
		{"antigravity", wire.HookReply{Decision: wire.Allow}, result{stdout: `{"decision":"allow"}` + "\n"}},
	} {
		w.answers(tt.reply)
		name := event[tt.tool]
		if name == "" {
			name = "PreToolUse"
		}
		if got := w.run(tt.tool, name, edit(tt.tool)); got != tt.want {
			t.Errorf("%s on %s: %+v, want %+v", tt.tool, tt.reply.Decision, got, tt.want)
		}
	}
}

func TestContextWaitsForAMomentTheHostShowsIt(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	tool := func(event string) m {
		return m{
			"session_id":      "g",
			"cwd":             repo,
			"hook_event_name": event,
			"tool_name":       "write_file",
			"tool_input":      m{"file_path": repo + "/a.txt"},
		}
	}
	w.answers(wire.HookReply{Decision: wire.Warn, Reason: "careful"})
	if got := w.run("gemini_cli", "BeforeTool", tool("BeforeTool")); got != (result{}) {
		t.Errorf("before the tool: %+v", got)
	}
	w.answers(wire.HookReply{Decision: wire.Allow, InjectContext: "news"})
	want := `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"careful\n\nnews"}}` + "\n"
	if got := w.run("gemini_cli", "AfterTool", tool("AfterTool")); got.stdout != want {
		t.Errorf("after the tool: %s, want %s", got.stdout, want)
	}
	w.answers(wire.HookReply{Decision: wire.Allow})
	if got := w.run("gemini_cli", "AfterTool", tool("AfterTool")); got != (result{}) {
		t.Errorf("it was said twice: %+v", got)
	}
}

// Whatever fails lets the agent go on. Where a service was to be asked, or would
// have been, it is told that nobody looked.
func TestFailsOpen(t *testing.T) {
	asked := map[string]bool{"server away": true, "server error": true, "token refused": true, "nonsense": true, "unknown decision": true,
		"too slow": true, "a page to log in at": true, "sent on": true, "bad address": true,
		"unreadable login": true, "panic": true, "payload cut short": true, "payload no object": true}
	repo := newRepo(t, filepath.Join(t.TempDir(), "app"))
	for name, breakIt := range map[string]func(w *world, env *Env){
		"server away":         func(w *world, _ *Env) { w.server.Close() },
		"server error":        func(w *world, _ *Env) { w.status = 500 },
		"token refused":       func(w *world, _ *Env) { w.status = 401 },
		"nonsense":            func(w *world, _ *Env) { w.reply = func(wire.HookRequest) any { return "what?" } },
		"a page to log in at": func(w *world, _ *Env) { w.instead("text/html", 200, "<html>Welcome to our network</html>") },
		"sent on":             func(w *world, _ *Env) { w.instead("text/plain", 307, "elsewhere") },
		"unknown decision":    func(w *world, _ *Env) { w.answers(wire.HookReply{Decision: "maybe"}) },
		"too slow":            func(w *world, _ *Env) { w.reply = func(wire.HookRequest) any { <-w.t.Context().Done(); return nil } },
		"not logged in":       func(_ *world, e *Env) { e.Login = func(Identity) (Login, error) { return Login{}, nil } },
		"unreadable login": func(_ *world, e *Env) {
			e.Login = func(Identity) (Login, error) { return Login{}, errors.New("bad config") }
		},
		"bad address": func(_ *world, e *Env) {
			e.Login = func(Identity) (Login, error) { return Login{Server: "::", Token: "t"}, nil }
		},
		"panic":             func(_ *world, e *Env) { e.Login = func(Identity) (Login, error) { panic("boom") } },
		"payload cut short": func(_ *world, e *Env) { e.Stdin = strings.NewReader(`{"session_id":`) },
		"payload no object": func(_ *world, e *Env) { e.Stdin = strings.NewReader(`[1]`) },
		"no such host":      func(_ *world, e *Env) { e.Args = []string{"--tool", "emacs"} },
		"no arguments":      func(_ *world, e *Env) { e.Args = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var out, errs bytes.Buffer
			data, _ := json.Marshal(write(repo, repo+"/a.txt", "t1"))
			env := w.env("claude_code", "PreToolUse", string(data), &out, &errs)
			breakIt(w, &env)
			t.Setenv(patience.Variable, "1") // what is too slow is waited for
			start := time.Now()
			said := "svc could not check this "
			if code := Run(t.Context(), env); code != 0 || strings.Contains(out.String(), said) != asked[name] || !asked[name] && out.Len() > 0 ||
				strings.Contains(out.String(), "deny") || errs.Len() > 0 {
				t.Errorf("left code %d, %q, %q", code, out.String(), errs.String())
			}
			if d := time.Since(start); d > await.Patience { // its budget is 400 ms: this is for one that ignores it
				t.Errorf("took %v", d)
			}
			if log := w.log(); strings.Count(log, "\n") != 1 || !strings.Contains(log, " fail-open ") || strings.Contains(log, "svc_secret") {
				t.Errorf("log = %q", log)
			}
		})
	}
}

func TestAHostThatAsksWithoutADecisionGetsOneOnFailure(t *testing.T) {
	w := newWorld(t)
	w.server.Close()
	repo := newRepo(t, filepath.Join(w.home, "app"))
	want := result{stdout: `{"decision":"allow"}` + "\n"}
	edit := m{
		"conversationId": "a",
		"workspacePaths": []string{repo},
		"toolCall":       m{"name": "write_to_file", "args": m{"TargetFile": repo + "/a.txt"}},
	}
	if got := w.run("antigravity", "PreToolUse", edit); got != want {
		t.Errorf("with the server away: %+v", got)
	}
	if got := w.run("antigravity", "PreToolUse", "{"); got != want {
		t.Errorf("with a broken payload: %+v", got)
	}
}

// A server that fails at once is asked at every edit, so that the first one
// after it is back is checked; it is told how many were not.
func TestAServerThatIsBackIsAskedAtOnce(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	edit := func(id string) string {
		return w.run("claude_code", "PreToolUse", write(repo, repo+"/a.txt", id)).stdout
	}
	w.status = 503
	for i := range 5 {
		if out := edit(fmt.Sprint(i)); !strings.Contains(out, "svc could not check this edit") {
			t.Errorf("edit %d, which nobody checked, says %q", i, out)
		}
	}
	if got := w.requests(); len(got) != 5 {
		t.Errorf("asked %d times of 5", len(got))
	}
	w.status = 0
	w.answers(wire.HookReply{Decision: wire.Block, Reason: "Ana claimed it"})
	if out := edit("back"); !strings.Contains(out, `"deny"`) {
		t.Errorf("the first edit after the outage says %q", out)
	}
	if req := w.one(); req.FailOpens != 5 {
		t.Errorf("fail_opens = %d, want 5", req.FailOpens)
	}
	edit("last")
	if req := w.one(); req.FailOpens != 0 {
		t.Errorf("fail_opens = %d after it was told", req.FailOpens)
	}
}

func TestEachEventIsEvaluatedOnce(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	cursor := m{
		"conversation_id": "c1",
		"session_id":      "c1",
		"cursor_version":  "1.0",
		"hook_event_name": "preToolUse",
		"workspace_roots": []string{repo},
		"tool_name":       "Write",
		"tool_input":      m{"file_path": repo + "/a.txt"},
		"tool_use_id":     "t1",
	}
	w.run("claude_code", "PreToolUse", cursor)
	if req := w.one(); req.Session.Tool != "cursor" {
		t.Errorf("Cursor running the first host's hooks was taken for %s", req.Session.Tool)
	}
	gittest.Write(t, repo, ".cursor/hooks.json",
		`{"version":1,"hooks":{"preToolUse":[{"command":"svc hook --tool cursor --event preToolUse"}]}}`)
	cursor["tool_use_id"] = "t2"
	if got := w.run("claude_code", "PreToolUse", cursor); got != (result{}) || len(w.requests()) != 0 {
		t.Errorf("it did not step aside: %+v", got)
	}
	// The user's configuration and the project's both run us.
	w.answers(wire.HookReply{Decision: wire.Allow, InjectContext: "news"})
	first, second := w.run("cursor", "preToolUse", cursor), w.run("cursor", "preToolUse", cursor)
	if got := w.requests(); len(got) != 2 || got[0].DedupeKey != got[1].DedupeKey {
		t.Errorf("the service cannot tell that these are one: %+v", got)
	}
	if first.stdout == "" || second.stdout != "" {
		t.Errorf("said %q and %q, want it once", first.stdout, second.stdout)
	}
}

func TestCallsWithoutAnIdAreNeverTakenForOne(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	keys := map[string]bool{}
	for range 3 {
		w.run("factory_droid", "PreToolUse", write(repo, repo+"/a.txt", ""))
		keys[w.one().DedupeKey] = true
	}
	if len(keys) != 3 {
		t.Errorf("three attempts share %d keys: the second would get the answer of the first", len(keys))
	}
}

func TestFilesGoToTheirOwnRepository(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(w.home, "work")
	one, two := newRepo(t, filepath.Join(folder, "one")), newRepo(t, filepath.Join(folder, "two"))
	patch := "*** Begin Patch\n*** Update File: one/a.txt\n@@\n-a\n+b\n*** Add File: two/n.txt\n+n\n*** Add File: loose.txt\n+x\n*** End Patch"
	w.reply = func(in wire.HookRequest) any {
		if in.Repo.RemoteFingerprints[0] == "github.com/acme/two" {
			return wire.HookReply{Decision: wire.Block, Reason: "two is held"}
		}
		return wire.HookReply{Decision: wire.Allow, InjectContext: "hello"}
	}
	got := w.run("codex", "PreToolUse", m{
		"session_id":      "s",
		"turn_id":         "t",
		"cwd":             folder,
		"hook_event_name": "PreToolUse",
		"tool_name":       "apply_patch",
		"tool_input":      m{"command": patch},
		"tool_use_id":     "c",
	})
	if !strings.Contains(got.stdout, `"permissionDecision":"deny","permissionDecisionReason":"two is held"`) {
		t.Errorf("a block in one repository must deny the call: %+v", got)
	}
	paths := map[string][]string{}
	for _, req := range w.requests() {
		paths[req.Repo.RemoteFingerprints[0]] = req.Paths
	}
	if len(paths) != 2 || !slices.Equal(paths["github.com/acme/one"], []string{"a.txt"}) ||
		!slices.Equal(paths["github.com/acme/two"], []string{"n.txt"}) {
		t.Errorf("paths = %v", paths)
	}
	_, _ = one, two
}

func TestSessionStartMergesTheRecentRepositoriesOfAFolder(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(w.home, "work")
	for i := range 10 {
		repo := newRepo(t, filepath.Join(folder, fmt.Sprintf("r%d", i)))
		at := time.Now().Add(time.Duration(i-100) * time.Hour)
		for _, f := range []string{"index", "HEAD", "logs/HEAD"} {
			if err := os.Chtimes(filepath.Join(repo, ".git", f), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.answers(wire.HookReply{Decision: wire.Allow, InjectContext: "brief"})
	got := w.run("claude_code", "SessionStart", claude(folder, "SessionStart", nil))
	reqs := w.requests()
	if len(reqs) != maxRepos {
		t.Errorf("%d repositories were told, want %d", len(reqs), maxRepos)
	}
	for _, req := range reqs {
		if f := req.Repo.RemoteFingerprints[0]; f == "github.com/acme/r0" || f == "github.com/acme/r1" {
			t.Errorf("%s is among the least recent", f)
		}
	}
	if !strings.Contains(got.stdout, `[acme/r9]\nbrief\n\n[acme/r8]\nbrief`) {
		t.Errorf("briefings = %s", got.stdout)
	}
}

func TestALinkIsFollowedToTheFileItMeans(t *testing.T) {
	w := newWorld(t)
	t.Setenv("HOME", w.home)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	if err := os.Symlink("a.txt", filepath.Join(repo, "alias")); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(w.home, "elsewhere")
	if err := os.Symlink(repo, outside); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(repo, "alias"), filepath.Join(outside, "alias"), filepath.Join(outside, "a.txt"),
		"~/app/a.txt"} {
		w.run("claude_code", "PreToolUse", write(w.home, file, file))
		if req := w.one(); !slices.Equal(req.Paths, []string{"a.txt"}) {
			t.Errorf("%s is %v", file, req.Paths)
		}
	}
}

func TestAHostWithoutASessionStartBeginsWithItsFirstEvent(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	w.reply = func(in wire.HookRequest) any {
		id := "s"
		return wire.HookReply{Decision: wire.Allow, InjectContext: string(in.Event), SessionID: &id}
	}
	edit := m{"event": "PreToolUse", "session_id": "c", "cwd": repo, "tool_name": "write", "tool_input": m{"file_path": repo + "/a.txt"}}
	if got := w.run("crush", "PreToolUse", edit); got.stdout != `{"context":"session_start\n\npre_edit"}`+"\n" {
		t.Errorf("first call: %s", got.stdout)
	}
	if got := w.requests(); len(got) != 2 || got[0].Event != wire.HookSessionStart {
		t.Errorf("sent %+v", got)
	}
	w.run("crush", "PreToolUse", edit)
	w.one()

	invocation := m{"conversationId": "a", "workspacePaths": []string{repo}}
	if got := w.run("antigravity", "PreInvocation", invocation); got.stdout != `{"injectSteps":[{"ephemeralMessage":"session_start"}]}`+"\n" {
		t.Errorf("first model call: %s", got.stdout)
	}
	w.one()
	if got := w.run("antigravity", "PreInvocation", invocation); got.stdout != "{}\n" || len(w.requests()) != 0 {
		t.Errorf("next model call: %s", got.stdout)
	}
}

func TestASessionThatCouldNotBeginBeginsLater(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	edit := m{"event": "PreToolUse", "session_id": "c", "cwd": repo, "tool_name": "write", "tool_input": m{"file_path": repo + "/a.txt"}}
	w.status = 500
	if got := w.run("crush", "PreToolUse", edit); !strings.Contains(got.stdout, "could not check this edit") || got.code != 0 {
		t.Errorf("left %+v", got)
	}
	if got := w.requests(); len(got) != 1 {
		t.Errorf("asked %d times; the agent waits for each", len(got))
	}
	w.status = 0
	w.run("crush", "PreToolUse", edit)
	got := w.requests()
	if len(got) != 2 || got[0].Event != wire.HookSessionStart || got[0].FailOpens != 1 || got[1].FailOpens != 0 {
		t.Errorf("sent %+v", got)
	}
}

func TestTheLastMessageOfAHostThatTellsItEarlier(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	event := func(name string, more m) m {
		p := m{"conversation_id": "c", "session_id": "c", "cursor_version": "1", "hook_event_name": name, "workspace_roots": []string{repo}}
		for k, v := range more {
			p[k] = v
		}
		return p
	}
	w.run("cursor", "afterAgentResponse", event("afterAgentResponse", m{"text": "All done."}))
	if got := w.requests(); len(got) != 0 {
		t.Errorf("sent %+v", got)
	}
	w.run("cursor", "stop", event("stop", m{"status": "completed"}))
	if st := w.one().Status; st == nil || st.Excerpt != "All done." {
		t.Errorf("status = %+v", st)
	}
}

func TestStandardInputThatIsNeverClosed(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	in, feed := io.Pipe()
	defer feed.Close()
	data, _ := json.Marshal(write(repo, repo+"/a.txt", "t1"))
	go func() { _, _ = feed.Write(data) }()
	env := w.env("claude_code", "PreToolUse", "", io.Discard, io.Discard)
	env.Stdin = in
	if code := Run(t.Context(), env); code != 0 {
		t.Errorf("code %d", code)
	}
	w.one()
}

func TestTheLogIsRotated(t *testing.T) {
	w := newWorld(t)
	const limit = 1 << 20
	gittest.Write(t, w.config, "hook.log", strings.Repeat("x", limit))
	w.run("emacs", "x", "{}")
	if log := w.log(); strings.Count(log, "\n") != 1 {
		t.Errorf("log has %d bytes", len(log))
	}
	if info, err := os.Stat(filepath.Join(w.config, "hook.log.1")); err != nil || info.Size() != limit {
		t.Errorf("old log: %v", err)
	}
	if info, err := os.Stat(filepath.Join(w.config, "hook.log")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log: %v", err)
	}
}

func TestMetadataOnlyKeepsWordsAtHome(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	for _, p := range []m{
		claude(repo, "UserPromptSubmit", m{"prompt": "top secret"}),
		claude(repo, "Stop", m{"last_assistant_message": "top secret"}),
	} {
		data, _ := json.Marshal(p)
		env := w.env("claude_code", p["hook_event_name"].(string), string(data), io.Discard, io.Discard)
		env.Login = func(Identity) (Login, error) {
			return Login{Server: w.server.URL, Token: "t", DataMode: coord.DataMetadataOnly}, nil
		}
		Run(t.Context(), env)
		if raw, _ := json.Marshal(w.one()); bytes.Contains(raw, []byte("top secret")) {
			t.Errorf("sent %s", raw)
		}
	}
}
