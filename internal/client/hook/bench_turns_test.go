//go:build linux

package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// BenchmarkTurns measures svc at a prompt and at the end of a turn, with the
// resident process that svc up starts, in repositories of up to 100,000 files:
// where nothing changed, and where a file was changed that no hook told of,
// which must be on record in the end. All against the floor of the other
// benchmarks: above 7 it fails, and where one size takes more than 1.3 times
// another. What the resident process spends on a hook is given apart.
func BenchmarkTurns(b *testing.B) {
	w := newBench(b)
	sizes := benchSizes[1:]
	p := w.resident()
	repos := make([]string, len(sizes))
	for i, n := range sizes {
		repos[i] = w.repository(fmt.Sprint("files", n), n)
		p.hook(repos[i], "SessionStart")
		p.calm(repos[i])
	}
	var floors []time.Duration
	prompts, stops, edits := make([][]time.Duration, len(sizes)), make([][]time.Duration, len(sizes)), make([][]time.Duration, len(sizes))
	began, hooks := p.cpu(), 0
	turn := func() {
		n := len(floors) + 1
		floors = append(floors, w.run(w.floor, w.repo, "Stop", nil))
		for i, repo := range repos {
			prompts[i] = append(prompts[i], p.hook(repo, "UserPromptSubmit"))
			stops[i] = append(stops[i], p.hook(repo, "Stop"))
			gittest.Write(w, repo, "lib/d0/e0/f1.ts", fmt.Sprintf("export const changed = %d\n", n))
			edits[i] = append(edits[i], p.hook(repo, "Stop"))
			p.hook(repo, "Stop") // after what was told
			hooks += 4
		}
	}
	for b.Loop() {
		for range turns {
			turn()
		}
	}
	f := float64(median(floors))
	b.ReportMetric(f/1000, "floor-cpu-µs")
	for i, n := range sizes {
		b.ReportMetric(float64(median(prompts[i]))/f, fmt.Sprint("prompt-", n))
		b.ReportMetric(float64(median(stops[i]))/f, fmt.Sprint("stop-", n))
		b.ReportMetric(float64(median(edits[i]))/f, fmt.Sprint("edited-", n))
	}
	b.ReportMetric(float64((p.cpu()-began).Microseconds())/float64(hooks), "resident-µs")
	for what, of := range map[string][][]time.Duration{"a prompt": prompts, "the end of a turn": stops, "one after an edit": edits} {
		alike(b, what, median(floors), 7, of)
	}
	for _, repo := range repos {
		if text := p.output(repo, "intents", "--json"); !strings.Contains(text, `"lib/d0/e0/f1.ts"`) {
			b.Errorf("an edit outside of hooks in %s is not on record: %s", filepath.Base(repo), text)
		}
	}
}

// output runs svc in a repository.
func (p *person) output(repo string, args ...string) string {
	cmd := exec.Command(p.whole, args...)
	cmd.Env, cmd.Dir = p.env, repo
	text, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("svc %v: %v\n%s", args, err, text)
	}
	return string(text)
}

// A person has the local service running.
type person struct {
	*bench
	env   []string
	pid   int
	known int // repositories that are watched
}

// resident starts the service of a person on this machine.
func (w *bench) resident() *person {
	bin, home := filepath.Join(w.dir, "bin"), filepath.Join(w.dir, "home")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(bin, "svcd"), "../../../cmd/svcd")
	if text, err := build.CombinedOutput(); err != nil {
		w.Fatalf("build svcd: %v\n%s", err, text)
	}
	if err := os.MkdirAll(filepath.Join(home, ".claude"), 0o755); err != nil {
		w.Fatal(err)
	}
	p := &person{bench: w, env: []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TMPDIR=" + w.dir, "SVC_NO_BROWSER=1",
		"SVC_NO_UPDATE_CHECK=1"}}
	p.must("", "up", "--yes")
	w.Cleanup(func() { p.must("", "down") })
	text, err := os.ReadFile(filepath.Join(home, ".local", "share", "svc", "local", wire.LocalAddress))
	var s wire.LocalService
	if err != nil || json.Unmarshal(text, &s) != nil {
		w.Fatalf("no local service: %v", err)
	}
	p.pid = s.PID
	return p
}

func (p *person) must(stdin string, args ...string) time.Duration {
	p.Helper()
	cmd := exec.Command(p.whole, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = p.env, p.repo, strings.NewReader(stdin)
	if text, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("svc %v: %v\n%s", args, err, text)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func (p *person) hook(repo, event string) time.Duration {
	p.calls++
	more := m{"prompt": "go on", "session_id": filepath.Base(repo), "tool_use_id": strconv.Itoa(p.calls)}
	text, err := json.Marshal(claude(repo, event, more))
	if err != nil {
		p.Fatal(err)
	}
	return p.must(string(text), "hook", "--tool", "claude_code", "--event", event)
}

// calm plays turns until hooks rely on the resident process for what changed.
func (p *person) calm(repo string) {
	for range 100 {
		p.hook(repo, "UserPromptSubmit")
		p.hook(repo, "Stop")
		kept, _ := filepath.Glob(filepath.Join(p.dir, "home", ".config", "svc", "trees", "*.calm"))
		watched := 0
		for _, file := range kept {
			text, _ := os.ReadFile(file)
			if head, _, _ := bytes.Cut(text, []byte("\n")); bytes.Contains(head, []byte(".")) { // a token
				watched++
			}
		}
		if p.known++; watched == p.known {
			return
		}
		p.known--
	}
	p.Fatal("nobody watches the repository")
}

// cpu is what the resident process has spent.
func (p *person) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		p.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		p.Fatal(err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // the system counts hundredths
}
