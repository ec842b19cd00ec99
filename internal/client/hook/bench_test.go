package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/gittest"
)

// A bench is what processes are measured in: the programs, a service that
// allows everything, and a repository.
type bench struct {
	*testing.B
	dir                string
	hook, floor, whole string // only the hook, one HTTP request, svc as make build makes it
	server             *httptest.Server
	asked              int
	repo               string
	calls              int
}

// newBench builds the programs. All are copied first, as an installed program
// was: how a linker writes its file changes what starting from it costs.
func newBench(b *testing.B) *bench {
	w := &bench{B: b, dir: b.TempDir()}
	build := func(name string) string {
		out := filepath.Join(w.dir, name)
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "./testdata/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", name, err, text)
		}
		return installed(b, out)
	}
	w.hook, w.floor, w.whole = build("hookproc"), build("floor"), filepath.Join(w.dir, "svc")
	if text, err := exec.Command("../../../.ci/build-svc", w.whole, "-ldflags=-s -w"+static()).CombinedOutput(); err != nil {
		b.Fatalf("build svc: %v\n%s", err, text)
	}
	w.whole = installed(b, w.whole)
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Svc-Protocol") != "" {
			w.asked++
		}
		_, _ = io.Copy(io.Discard, r.Body) // else it may hang up on one who still writes
		_, _ = rw.Write([]byte(`{"decision":"allow","reason":"","inject_context":"","conflicts":[],"intent":null,"session_id":"s",` +
			`"index_version":1}`))
	}))
	b.Cleanup(w.server.Close)
	w.repo = w.repository("app", 20)
	return w
}

// static links the C library in where make build does.
func static() string {
	file, err := exec.Command("cc", "-print-file-name=libc.a").Output()
	if _, missing := os.Stat(strings.TrimSpace(string(file))); err != nil || missing != nil {
		return ""
	}
	return " -extldflags=-static"
}

// repository makes one with so many files, of which src/a.ts is a page of code.
// Git makes most of them from one stream: a hundred thousand writes and an add
// of all of them take minutes on a machine that is busy.
func (w *bench) repository(name string, files int) string {
	repo := filepath.Join(w.dir, name)
	if err := os.MkdirAll(repo, 0o755); err != nil {
		w.Fatal(err)
	}
	var stream strings.Builder
	put := func(path, text string) {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	stream.WriteString("commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata 1\nx\n")
	put(".claude/settings.json", `{"hooks":"svc hook"}`)
	put("src/a.ts", page(0))
	for i := range files {
		next := (i + 1) % files
		put(fmt.Sprintf("lib/d%d/e%d/f%d.ts", i/1000, i/50%20, i), fmt.Sprintf(
			"import { g%d } from './f%d'\n\nexport function g%d(x: number) {\n  return g%d(x) + %d\n}\n", next, next, i, next, i))
	}
	gittest.Run(w, repo, "init", "-q", "-b", "main")
	gittest.Run(w, repo, "remote", "add", "origin", "git@github.com:acme/app.git")
	gittest.Feed(w, repo, stream.String(), "fast-import", "--quiet")
	gittest.Run(w, repo, "reset", "-q", "--hard")
	return repo
}

// page is some code, a little different each time.
func page(n int) string {
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "export function f%d(a: number, b: string): string {\n  return b.repeat(a + %d)\n}\n\n", i, i/29*n)
	}
	return text.String()
}

// run returns the CPU time of a process, those that it started included.
func (w *bench) run(program, repo, event string, more m) time.Duration {
	w.calls++
	payload := claude(repo, event, more)
	payload["tool_use_id"] = time.Duration(w.calls).String() // every call has an id of its own, as in life
	text, err := json.Marshal(payload)
	if err != nil {
		w.Fatal(err)
	}
	args := []string{"--tool", "claude_code", "--event", event}
	if program == w.whole {
		args = append([]string{"hook"}, args...)
	}
	if program == w.floor {
		args = nil
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SVC_SERVER="+w.server.URL, "SVC_TOKEN=svc_"+strings.Repeat("A", 43), "HOME="+w.dir,
		"SVC_CONFIG_DIR="+filepath.Join(w.dir, "config"), "XDG_CACHE_HOME="+filepath.Join(w.dir, "cache"), "TMPDIR="+w.dir)
	cmd.Dir, cmd.Stdin = repo, bytes.NewReader(text)
	if text, err := cmd.CombinedOutput(); err != nil || len(text) > 0 {
		w.Fatalf("%s: %v %s", program, err, text)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// BenchmarkProcess measures the CPU time of a whole hook process for a
// pre_edit against that of a minimal program which does one HTTP request, one
// after the other in the same run, in an order that changes: of svc as make
// build makes it, and of a program that links the hook and nothing else. The
// ratio is what counts; above 1.25 it fails. Before a tool that reads, the hook
// asks nobody and only notes what is shown: a file that changed, each time, and
// one that did not. That fails above 1.1.
func BenchmarkProcess(b *testing.B) {
	w := newBench(b)
	edit := m{"tool_name": "Write", "tool_input": m{"file_path": filepath.Join(w.repo, "src", "a.go"), "content": "x"}}
	read := m{"tool_name": "Read", "tool_input": m{"file_path": filepath.Join(w.repo, "src", "a.ts")}}
	var hooks, floors, wholes, reads, again []time.Duration
	each := []func(){
		func() { floors = append(floors, w.run(w.floor, w.repo, "PreToolUse", edit)) },
		func() { hooks = append(hooks, w.run(w.hook, w.repo, "PreToolUse", edit)) },
		func() { wholes = append(wholes, w.run(w.whole, w.repo, "PreToolUse", edit)) },
		func() {
			gittest.Write(w, w.repo, "src/a.ts", page(w.calls))
			reads = append(reads, w.run(w.whole, w.repo, "PreToolUse", read))
			again = append(again, w.run(w.whole, w.repo, "PreToolUse", read))
		},
	}
	order := rand.New(rand.NewPCG(1, 2)) // what runs before a program changes what it takes by up to 7 %
	for b.Loop() {
		for range turns {
			for _, i := range order.Perm(len(each)) {
				each[i]()
			}
		}
	}
	if w.asked != 2*len(floors) {
		b.Fatalf("%d of %d hooks asked the service", w.asked, 2*len(floors))
	}
	h, f, s := median(hooks), median(floors), median(wholes)
	b.ReportMetric(float64(s.Microseconds()), "svc-cpu-µs")
	b.ReportMetric(float64(s)/float64(f), "svc-ratio")
	b.ReportMetric(float64(h.Microseconds()), "hook-cpu-µs")
	b.ReportMetric(float64(f.Microseconds()), "floor-cpu-µs")
	b.ReportMetric(float64(h)/float64(f), "ratio")
	r, a := median(reads), median(again)
	b.ReportMetric(float64(r)/float64(f), "read-ratio")
	b.ReportMetric(float64(a)/float64(f), "read-again-ratio")
	if float64(s) > 1.25*float64(f) || float64(max(r, a)) > 1.1*float64(f) {
		b.Errorf("of a floor of %v, a hook before an edit takes %v, before a read %v and %v", f, s, r, a)
	}
}

// BenchmarkPostEdit measures svc after an edit of a few lines, after one that
// left the file as it was told, after one that put it back, and in repositories
// of up to 100,000 files of code, all with the processes it starts, in an order
// that changes. The first fails above 3 times the same floor, and where one size
// takes more than 1.3 times another; the second and third should stay below 1.5.
func BenchmarkPostEdit(b *testing.B) {
	w := newBench(b)
	edit := func(repo string) m {
		return m{"tool_name": "Edit", "tool_input": m{"file_path": filepath.Join(repo, "src", "a.ts"), "old_string": "a", "new_string": "b"}}
	}
	repos := make([]string, len(benchSizes))
	for i, n := range benchSizes {
		repos[i] = w.repository(fmt.Sprint("files", n), n)
		w.run(w.whole, repos[i], "PostToolUse", edit(repos[i])) // unpacks the part that reads code, and lists the files
	}
	w.run(w.whole, w.repo, "PostToolUse", edit(w.repo))
	var floors, sames, undone []time.Duration
	sized := make([][]time.Duration, len(repos))
	n := 0
	each := []func(){
		func() { floors = append(floors, w.run(w.floor, w.repo, "PostToolUse", edit(w.repo))) },
		func() {
			gittest.Write(w, w.repo, "src/a.ts", page(n))
			w.run(w.whole, w.repo, "PostToolUse", edit(w.repo))
			sames = append(sames, w.run(w.whole, w.repo, "PostToolUse", edit(w.repo))) // as it was told
			gittest.Write(w, w.repo, "src/a.ts", page(0))
			undone = append(undone, w.run(w.whole, w.repo, "PostToolUse", edit(w.repo)))
		},
	}
	for i, repo := range repos {
		each = append(each, func() {
			gittest.Write(w, repo, "src/a.ts", page(n))
			sized[i] = append(sized[i], w.run(w.whole, repo, "PostToolUse", edit(repo)))
		})
	}
	order := rand.New(rand.NewPCG(1, 2)) // what runs before a program changes what it takes by up to 7 %
	for b.Loop() {
		for range turns {
			n++
			for _, i := range order.Perm(len(each)) {
				each[i]()
			}
		}
	}
	f := float64(median(floors))
	b.ReportMetric(f/1000, "floor-cpu-µs")
	for i, n := range benchSizes {
		b.ReportMetric(float64(median(sized[i]))/f, fmt.Sprint("ratio-", n))
	}
	b.ReportMetric(float64(median(sames))/f, "same-ratio")
	b.ReportMetric(float64(median(undone))/f, "undone-ratio")
	alike(b, "the report of a small edit", median(floors), 3, sized)
}

// alike fails where one size takes more than 1.3 times what another takes, or
// more than so many times the floor.
func alike(b *testing.B, what string, floor time.Duration, most float64, sized [][]time.Duration) {
	b.Helper()
	least, dearest := median(sized[0]), median(sized[0])
	for _, each := range sized {
		least, dearest = min(least, median(each)), max(dearest, median(each))
	}
	if float64(dearest) > 1.3*float64(least) {
		b.Errorf("%s takes %v to %v, by the size of the repository: 1.3 times is the most", what, least, dearest)
	}
	if ratio := float64(dearest) / float64(floor); ratio > most {
		b.Errorf("%s takes %.2f times the floor, %.1f are the most", what, ratio, most)
	}
}

// turns are how often all is measured in a round, so that one is enough to go by:
// make bench gives a benchmark a second.
const turns = 12

// benchSizes are how many files the repositories have in which hooks are measured.
var benchSizes = []int{50, 1000, 5000, 10_000, 100_000}

// BenchmarkPostEditOfContracts measures svc after an edit that concerns other
// files, in a backend of 40 files with routes: of a mapper that eight of them
// reply with, which are worked out again with both versions of it, and of one
// file when six others were left with changed contracts, which are then looked
// at again. Against an edit of the same file that no route depends on, which
// should cost what one in a repository without routes does. Both should stay at
// or below 3 times that, and far from the limit of svc hook on the clock; they
// do not yet (4.4 and 4.1: up to seven files are read, both versions of each).
func BenchmarkPostEditOfContracts(b *testing.B) {
	w := newBench(b)
	repo := w.backend("backend", 40)
	edit := func(file string) m {
		return m{"tool_name": "Edit", "tool_input": m{"file_path": filepath.Join(repo, file), "old_string": "a", "new_string": "b"}}
	}
	const mapper, plain = "src/mapper.js", "src/plain.js"
	w.run(w.whole, repo, "PostToolUse", edit(plain))
	var smalls, chains, alongs []time.Duration
	var slowest time.Duration
	for b.Loop() {
		n := len(smalls) + 1
		gittest.Write(w, repo, plain, plainModule(n))
		smalls = append(smalls, w.run(w.whole, repo, "PostToolUse", edit(plain)))
		gittest.Write(w, repo, mapper, mapperModule(n))
		began := time.Now()
		chains = append(chains, w.run(w.whole, repo, "PostToolUse", edit(mapper)))
		slowest = max(slowest, time.Since(began))
		for i := range 6 { // each is left with a route that is gone
			gittest.Write(w, repo, routesFile(i), routesModule(i, n))
			w.run(w.whole, repo, "PostToolUse", edit(routesFile(i)))
		}
		gittest.Write(w, repo, plain, plainModule(-n))
		began = time.Now()
		alongs = append(alongs, w.run(w.whole, repo, "PostToolUse", edit(plain)))
		slowest = max(slowest, time.Since(began))
		for i := range 6 {
			gittest.Write(w, repo, routesFile(i), routesModule(i, 0))
			w.run(w.whole, repo, "PostToolUse", edit(routesFile(i)))
		}
		gittest.Write(w, repo, mapper, mapperModule(0))
		w.run(w.whole, repo, "PostToolUse", edit(mapper))
	}
	s := float64(median(smalls))
	b.ReportMetric(s/1000, "small-cpu-µs")
	b.ReportMetric(float64(median(chains))/s, "chain/small")
	b.ReportMetric(float64(median(alongs))/s, "unsettled/small")
	b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
}

// backend makes a repository of files with routes, of which every fifth replies
// with what one mapper makes.
func (w *bench) backend(name string, files int) string {
	repo := filepath.Join(w.dir, name)
	gittest.Write(w, repo, ".claude/settings.json", `{"hooks":"svc hook"}`)
	gittest.Write(w, repo, "src/mapper.js", mapperModule(0))
	gittest.Write(w, repo, "src/plain.js", plainModule(0))
	for i := range files {
		gittest.Write(w, repo, routesFile(i), routesModule(i, 0))
	}
	gittest.Run(w, repo, "init", "-q", "-b", "main")
	gittest.Run(w, repo, "remote", "add", "origin", "git@github.com:acme/backend.git")
	gittest.Run(w, repo, "add", ".")
	gittest.Run(w, repo, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x")
	return repo
}

func routesFile(i int) string { return fmt.Sprintf("src/routes/r%d.js", i) }

func routesModule(i, n int) string {
	var text strings.Builder
	text.WriteString("const express = require('express');\nconst { toView } = require('../mapper');\nconst router = express.Router();\n")
	for k := range 8 {
		reply := "{ id: req.params.id, count: 1 }"
		if i%5 == 0 {
			reply = "{ item: toView(load(req.params.id)) }"
		}
		path := fmt.Sprintf("/r%d/%d/:id", i, k)
		if n > 0 && k == 7 {
			path = fmt.Sprintf("/r%d/other%d/:id", i, n)
		}
		fmt.Fprintf(&text, "router.get('%s', (req, res) => {\n  res.json(%s);\n});\n", path, reply)
	}
	return text.String() + "module.exports = router;\n"
}

func mapperModule(n int) string {
	field := "total"
	if n > 0 {
		field = fmt.Sprintf("sum%d", n)
	}
	return "exports.toView = (o) => ({ id: o.id, " + field + ": o.total, note: o.note });\n"
}

func plainModule(n int) string {
	return fmt.Sprintf("function twice(a) {\n  return a * 2 + %d;\n}\n\nmodule.exports = { twice };\n", n)
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
