package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/badline"
)

// A distance is what the figures of docs/scaling.md ("A server far away") are
// measured with: svcd, svc hook and the process in front of the server as they
// are installed, TLS, and a line that is made as long as wanted.
type distance struct {
	*far
	b     *testing.B
	calls int
}

func newDistance(b *testing.B) *distance {
	data := b.TempDir()
	team := newServer(b, data)
	team.stop()
	team.URL = runServer(b, program(b, "svcd"), data, "").url
	d := &distance{far: newFar(b, team), b: b}
	d.env = slices.DeleteFunc(d.env, func(v string) bool { return v == patient }) // the limits are what is measured
	d.fire("SessionStart", nil)
	d.ready()
	return d
}

// ready waits until edits are decided on the laptop.
func (d *distance) ready() {
	await.True(d.b, "the edge decides", func() bool {
		before := d.decided()
		d.edit("b.txt")
		return d.decided() > before
	})
}

// fire runs a hook and returns what it printed and how long the host waited.
func (d *distance) fire(event string, more map[string]any) (string, time.Duration) {
	d.calls++
	call := map[string]any{"session_id": "far", "cwd": d.clone, "hook_event_name": event, "tool_use_id": fmt.Sprint(d.calls)}
	for k, v := range more {
		call[k] = v
	}
	payload, err := json.Marshal(call)
	if err != nil {
		d.b.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(d.bin, "svc"), "hook", "--tool", "claude_code", "--event", event)
	cmd.Dir, cmd.Env, cmd.Stdin = d.clone, d.env, bytes.NewReader(payload)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		d.b.Fatalf("%s: %v\n%s", event, err, out)
	}
	return string(out), took
}

func (d *distance) tool(file string) map[string]any {
	return map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": filepath.Join(d.clone, file),
		"content": fmt.Sprint(d.calls)}, "tool_response": map[string]any{}}
}

func (d *distance) edit(file string) (string, time.Duration) {
	return d.fire("PreToolUse", d.tool(file))
}

func (d *distance) edited(file string) (string, time.Duration) {
	d.write(file, fmt.Sprintf("version %d\n", d.calls))
	return d.fire("PostToolUse", d.tool(file))
}

func (d *distance) prompt() (string, time.Duration) {
	return d.fire("UserPromptSubmit", map[string]any{"prompt": "Go on"})
}

// A figure may be at most so much, or the benchmark fails.
func figure(b *testing.B, value, most float64, name string) {
	b.Helper()
	b.ReportMetric(value, name)
	b.Logf("%s %.2f", name, value) // a benchmark that fails shows no metrics
	if value > most {
		b.Errorf("%s is %.2f, want at most %.2f", name, value, most)
	}
}

// BenchmarkDistance counts how many of eight edits of a file that a teammate
// holds are refused, at each distance.
func BenchmarkDistance(b *testing.B) {
	d := newDistance(b)
	d.team.post("/v1/intents", `{"title":"Rewrite a.txt","repo":"`+farRepo+`","mode":"exclusive","scope":{"paths":["a.txt"]}}`, nil)
	trips := []int{0, 80, 100, 120, 150, 200}
	for b.Loop() {
		for _, ms := range trips {
			d.line.Set(badline.Away(time.Duration(ms) * time.Millisecond))
			passed := 8
			for range 8 {
				if out, _ := d.edit("a.txt"); strings.Contains(out, `"deny"`) && strings.Contains(out, "Olga Oak") {
					passed--
				}
			}
			figure(b, float64(passed), 0, fmt.Sprintf("passed-of-8-at-%dms", ms))
		}
	}
}

// BenchmarkFarHooks compares hooks at 80 and 200 ms with the same on loopback,
// in turns, so that a busy machine slows both. A prompt may wait one round trip
// for what is new.
func BenchmarkFarHooks(b *testing.B) {
	d := newDistance(b)
	kinds := []struct {
		name  string
		run   func() (string, time.Duration)
		trips int
	}{
		{"pre_edit", func() (string, time.Duration) { return d.edit("b.txt") }, 0},
		{"post_edit", func() (string, time.Duration) { return d.edited("b.txt") }, 0},
		{"prompt", d.prompt, 1},
	}
	const most, rounds, each = 1.1, 40, 2
	for b.Loop() {
		for _, k := range kinds {
			took := map[int][]time.Duration{}
			for range rounds {
				for _, ms := range []int{0, 80, 200} {
					d.line.Set(badline.Away(time.Duration(ms) * time.Millisecond))
					time.Sleep(250 * time.Millisecond) // as long at every distance: a machine that rested is slower
					await.True(b, "reports are sent", func() bool { return d.report().Spooled == 0 })
					for range each {
						_, t := k.run()
						took[ms] = append(took[ms], t)
					}
				}
			}
			base := usual(took[0])
			figure(b, float64(base.Microseconds())/1000, 400, k.name+"-ms")
			for _, ms := range []int{80, 200} {
				may := base + time.Duration(k.trips*ms)*time.Millisecond
				figure(b, float64(usual(took[ms]))/float64(may), most, fmt.Sprintf("%s-at-%dms-ratio", k.name, ms))
			}
		}
	}
}

// usual is what a hook takes when nothing else is in its way: three of four are
// slower.
func usual(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/4]
}

// BenchmarkLossyHooks counts the hooks that take longer than they may (400 ms
// before an edit, 1.5 s else) at 200 ms with one packet of a hundred lost. One
// during which the machine itself stood still for long says nothing, and is
// fired again.
func BenchmarkLossyHooks(b *testing.B) {
	const hooks, start = 10_000, 60 * time.Millisecond // what a process may take to begin and to end
	d := newDistance(b)
	q := badline.Away(200 * time.Millisecond)
	q.Loss = 0.01
	d.line.Set(q)
	clock := newStandstill(b)
	r := rand.New(rand.NewPCG(40, 1))
	for b.Loop() {
		over, unchecked, again := 0, 0, 0
		for n := 0; n < hooks; {
			limit, run := 1500*time.Millisecond, d.prompt
			switch p := r.IntN(20); {
			case p < 12:
				limit, run = 400*time.Millisecond, func() (string, time.Duration) { return d.edit("b.txt") }
			case p < 18:
				run = func() (string, time.Duration) { return d.edited("b.txt") }
			}
			clock.reset()
			out, took := run()
			if clock.worst() > start/2 {
				again++
				continue
			}
			n++
			if took > limit+start {
				over++
			}
			if strings.Contains(out, "could not check") {
				unchecked++
			}
		}
		b.ReportMetric(float64(again), "standstills")
		figure(b, float64(over), 0, "over-of-10000")
		figure(b, float64(unchecked), 0, "unchecked-of-10000")
	}
}

// A standstill notices when the machine does nothing for us.
type standstill struct {
	last, most atomic.Int64
}

func newStandstill(b *testing.B) *standstill {
	s := &standstill{}
	s.reset()
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-b.Context().Done():
				return
			case <-tick.C:
				s.worst()
				s.last.Store(time.Now().UnixNano())
			}
		}
	}()
	return s
}

func (s *standstill) reset() { s.last.Store(time.Now().UnixNano()); s.most.Store(0) }

func (s *standstill) worst() time.Duration {
	if late := time.Now().UnixNano() - s.last.Load(); late > s.most.Load() {
		s.most.Store(late)
	}
	return time.Duration(s.most.Load())
}

// BenchmarkEdgeAtRest measures the process on a person's machine that follows
// ten repositories with 200 live intents: its memory, and the share of one
// processor that it takes while agents work there and once they are silent.
func BenchmarkEdgeAtRest(b *testing.B) {
	const repos, intents, rest = 10, 200, 20 * time.Second
	var clones []string
	d := newDistance(b)
	d.line.Set(badline.Away(80 * time.Millisecond))
	for i := range repos {
		name := fmt.Sprintf("github.com/acme/r%d", i)
		clone := filepath.Join(d.home, fmt.Sprintf("r%d", i))
		d.run("", "git", "clone", "-q", d.clone, clone)
		d.clone, clones = clone, append(clones, clone)
		d.run("", "git", "remote", "set-url", "origin", "https://"+name)
		d.run("", "svc", "share", "--yes")
		for n := range intents / repos {
			d.team.post("/v1/intents", fmt.Sprintf(`{"title":"Work on part %d","repo":%q,"mode":"exclusive","scope":{"paths":["src/p%d/**"]}}`,
				n, name, n), nil)
		}
		d.ready()
	}
	await.True(b, "all are followed", func() bool { return len(d.report().Repos) > repos })
	s, ok := d.service()
	if !ok {
		b.Fatal("there is no edge")
	}
	leases := func() (n int) {
		for _, r := range d.report().Repos {
			if r.LeaseMS > 0 {
				n++
			}
		}
		return n
	}
	share := func() float64 {
		before := usage(b, s.PID)
		time.Sleep(rest)
		return 100 * float64(usage(b, s.PID).cpu-before.cpu) / float64(rest)
	}
	for b.Loop() {
		for _, d.clone = range clones {
			d.edit("b.txt")
		}
		await.True(b, "all are followed again", func() bool { return leases() >= repos })
		figure(b, float64(usage(b, s.PID).memory)/(1<<20), 60, "MB")
		b.ReportMetric(share(), "%cpu-at-work")
		for leases() > 0 {
			time.Sleep(time.Second)
		}
		figure(b, share(), 0.2, "%cpu-at-rest")
	}
}

type used struct {
	memory int64 // bytes
	cpu    time.Duration
}

// usage asks the system what a process takes.
func usage(b *testing.B, pid int) (u used) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("only where there is /proc")
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(kb)[0], 10, 64)
			u.memory = n << 10
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):])) // )  state ppid ...
	for _, f := range fields[12:14] {
		ticks, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		u.cpu += time.Duration(ticks) * 10 * time.Millisecond
	}
	return u
}
