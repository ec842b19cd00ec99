package hook

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkProcess measures the CPU time of a whole hook process for a
// pre_edit against that of a minimal program which does one HTTP request, one
// after the other in the same run: of svc as make build makes it, and of a
// program that links the hook and nothing else. The ratio is what counts; it
// should stay at or below 1.25. All are copied first, as an installed program
// was: how a linker writes its file changes what starting from it costs.
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	build := func(name string) string {
		out := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "./testdata/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", name, err, text)
		}
		return installed(b, out)
	}
	ours, floor, whole := build("hookproc"), build("floor"), filepath.Join(dir, "svc")
	if text, err := exec.Command("../../../.ci/build-svc", whole, "-ldflags=-s -w").CombinedOutput(); err != nil {
		b.Fatalf("build svc: %v\n%s", err, text)
	}
	whole = installed(b, whole)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Svc-Protocol") != "" {
			asked++
		}
		_, _ = w.Write([]byte(`{"decision":"allow","reason":"","inject_context":"","conflicts":[],"intent":null,"session_id":null,` +
			`"index_version":1}`))
	}))
	defer server.Close()
	repo := filepath.Join(dir, "app")
	for _, args := range [][]string{{"init", "-q", "-b", "main", repo}, {"-C", repo, "remote", "add", "origin", "git@github.com:acme/app.git"},
		{"-C", repo, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"}} {
		if text, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			b.Fatalf("git: %v\n%s", err, text)
		}
	}
	payload, err := json.Marshal(write(repo, filepath.Join(repo, "src", "a.go"), "t"))
	if err != nil {
		b.Fatal(err)
	}
	env := append(os.Environ(), "SVC_SERVER="+server.URL, "SVC_TOKEN=svc_"+strings.Repeat("A", 43),
		"SVC_CONFIG_DIR="+filepath.Join(dir, "config"), "TMPDIR="+dir)
	run := func(program string, call int, args ...string) time.Duration {
		cmd := exec.Command(program, args...)
		cmd.Env, cmd.Dir = env, repo
		// Every call has an id of its own, as in life.
		cmd.Stdin = strings.NewReader(strings.Replace(string(payload), `"t"`, `"`+time.Duration(call).String()+`"`, 1))
		if text, err := cmd.CombinedOutput(); err != nil || len(text) > 0 {
			b.Fatalf("%s: %v %s", program, err, text)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var hooks, floors, wholes []time.Duration
	calls := 0
	for b.Loop() {
		calls++
		floors = append(floors, run(floor, calls))
		hooks = append(hooks, run(ours, 2*calls, "--tool", "claude_code", "--event", "PreToolUse"))
		wholes = append(wholes, run(whole, 2*calls+1, "hook", "--tool", "claude_code", "--event", "PreToolUse"))
	}
	if asked != 2*calls {
		b.Fatalf("%d of %d hooks asked the service", asked, 2*calls)
	}
	h, f, w := median(hooks), median(floors), median(wholes)
	b.ReportMetric(float64(w.Microseconds()), "svc-cpu-µs")
	b.ReportMetric(float64(w)/float64(f), "svc-ratio")
	b.ReportMetric(float64(h.Microseconds()), "hook-cpu-µs")
	b.ReportMetric(float64(f.Microseconds()), "floor-cpu-µs")
	b.ReportMetric(float64(h)/float64(f), "ratio")
}

// installed returns a copy of a program.
func installed(b *testing.B, program string) string {
	b.Helper()
	text, err := os.ReadFile(program)
	if err == nil {
		program += "-installed"
		err = os.WriteFile(program, text, 0o755)
	}
	if err != nil {
		b.Fatal(err)
	}
	return program
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
