// Command soak plays many agents on one svcd on SQLite, with listeners, and
// checks against a model of its own what it was told. It needs a built svcd and
// leaves nothing behind.
//
// The mix, for each agent: four edits a minute, evenly spread; each is pre_edit,
// then post_edit with one file of four lines. Every tenth turn it declares an
// intent for the file first, every fifth it submits a prompt, every twentieth it
// calls the tools team_context and inbox, every fortieth it waits for a file
// that nobody holds; each begins somewhere in this, and they come within a
// minute. Twenty agents share a person; each tenth file is another agent's, so
// that some edits meet. Listeners follow the event stream.
//
// In the end every edit that was acknowledged must be in the log, every stream
// must have heard every event once and in order, the 99th percentile of
// pre_edit must be within its bound, and no hook above its budget. Of each that
// took half of that it tells when, and what else was late then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/svc-hq/svc/internal/tools/drill"
)

type options struct {
	svcd    string
	agents  int
	streams int
	every   time.Duration
	arrive  time.Duration
	last    time.Duration
	p99     time.Duration
	budget  time.Duration
}

const perPerson = 20

const cycle = 40 // turns, until an agent does the same again

func main() {
	var o options
	flag.StringVar(&o.svcd, "svcd", "bin/svcd", "the program to load")
	flag.IntVar(&o.agents, "agents", 1000, "how many work at once")
	flag.IntVar(&o.streams, "streams", 200, "how many listen")
	flag.DurationVar(&o.every, "every", 15*time.Second, "between two edits of an agent")
	flag.DurationVar(&o.arrive, "arrive", time.Minute, "within which all have come")
	flag.DurationVar(&o.last, "for", 10*time.Minute, "how long")
	flag.DurationVar(&o.p99, "p99", 25*time.Millisecond, "what 99 of 100 questions may take")
	flag.DurationVar(&o.budget, "budget", 400*time.Millisecond, "what any hook may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// A soak is a service under load, and what it acknowledged.
type soak struct {
	options
	dir     string
	began   time.Time
	server  *drill.Server
	people  []*drill.Client
	edits   atomic.Int64 // recorded and acknowledged
	refused atomic.Int64
	mu      sync.Mutex
	took    map[string][]time.Duration
	slow    []held // requests that took half a hook's budget
	pulse   pulse
	wrong   []error
}

// held is a request that took too long, and when it began after all began.
type held struct {
	kind     string
	at, took time.Duration
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "svc-soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	people := max(2, (o.agents+perPerson-1)/perPerson, (o.streams+4)/5) // five streams a token
	tokens, err := drill.People(ctx, filepath.Join(dir, "svc.db"), people)
	if err != nil {
		return err
	}
	s := &soak{options: o, dir: dir, began: time.Now(), took: map[string][]time.Duration{}}
	if s.server, err = drill.NewServer(o.svcd, "svcd", "--data", dir); err != nil {
		return err
	}
	for _, t := range tokens {
		s.people = append(s.people, drill.NewClient(t, 30*time.Second))
	}
	if err := s.server.Start(); err != nil {
		return err
	}
	defer s.server.Kill()
	repo := map[string]any{"full_name": "acme/api", "provider": "github"}
	if err := s.people[0].Call(ctx, s.server, "POST", "/v1/repos", repo, nil); err != nil {
		return err
	}
	return s.play(ctx)
}

func (s *soak) play(ctx context.Context) error {
	listening, deaf := context.WithCancel(ctx)
	defer deaf()
	heard := make([]atomic.Int64, s.streams) // the last event of each
	behind := func(newest int) bool {
		return slices.ContainsFunc(indexes(heard), func(i int) bool { return int(heard[i].Load()) < newest })
	}
	var listeners, work sync.WaitGroup
	for i := range heard {
		listeners.Go(func() { s.listen(listening, i, &heard[i]) })
	}
	working, stop := context.WithTimeout(ctx, s.last)
	defer stop()
	s.pulse.start(working, s.dir, s.people[0], s.server, s.began)
	for i := range s.agents {
		work.Go(func() { s.agent(working, i) })
	}
	work.Wait()
	newest, recorded, err := s.log(ctx)
	if err != nil {
		return err
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && behind(newest); {
		time.Sleep(100 * time.Millisecond)
	}
	deaf()
	listeners.Wait()
	if recorded < int(s.edits.Load()) {
		s.fail(fmt.Errorf("%d edits were acknowledged, %d are in the log", s.edits.Load(), recorded))
	}
	for i := range heard {
		if n := heard[i].Load(); int(n) != newest {
			s.fail(fmt.Errorf("stream %d heard up to event %d of %d", i, n, newest))
		}
	}
	s.report(newest)
	return errors.Join(s.wrong[:min(len(s.wrong), 10)]...)
}

func (s *soak) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, err)
}

// report tells what each kind of request took, and holds hooks to their bounds.
func (s *soak) report(events int) {
	fmt.Printf("%d agents, %d streams, %s: %d edits recorded, %d requests refused, %d events\n", s.agents, s.streams, s.last, s.edits.Load(),
		s.refused.Load(), events)
	for _, kind := range []string{"pre_edit", "post_edit", "prompt", "session_start", "declare", "tool", "wait"} {
		took := s.took[kind]
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		p99, most := took[len(took)*99/100], took[len(took)-1]
		fmt.Printf("  %-14s %7d  p50 %-10s p99 %-10s most %s\n", kind, len(took), took[len(took)/2].Round(10*time.Microsecond),
			p99.Round(10*time.Microsecond), most.Round(10*time.Microsecond))
		if kind == "pre_edit" && p99 > s.p99 {
			s.fail(fmt.Errorf("the 99th percentile of pre_edit is %s; %s is the most", p99, s.p99))
		}
		if strings.Contains("pre_edit post_edit prompt session_start", kind) && most > s.budget {
			s.fail(fmt.Errorf("a %s took %s; %s is a hook's budget", kind, most, s.budget))
		}
	}
	for _, h := range s.slow[:min(len(s.slow), 40)] {
		fmt.Printf("  slow: %s of %s at %s; meanwhile %s\n", h.kind, h.took.Round(time.Millisecond), h.at.Round(time.Millisecond),
			s.pulse.during(h))
	}
	for _, line := range s.server.Complaints() {
		s.fail(fmt.Errorf("svcd logged %.400s", line))
	}
}

// log returns the id of the newest event and how many tell of an edit.
func (s *soak) log(ctx context.Context) (newest, recorded int, err error) {
	events, err := drill.All[struct{ ID, Type string }](ctx, s.people[0], s.server, "/v1/events?limit=100")
	for _, e := range events {
		if e.Type == "change.recorded" {
			recorded++
		}
	}
	return len(events), recorded, err
}

// listen follows the stream, and notes the last event it heard.
func (s *soak) listen(ctx context.Context, i int, last *atomic.Int64) {
	who := s.people[i%len(s.people)]
	for ctx.Err() == nil {
		err := who.Follow(ctx, s.server, int(last.Load()), func(id int, _ string) error {
			if before := last.Swap(int64(id)); int64(id) != before+1 {
				return fmt.Errorf("stream %d told of event %d after %d", i, id, before)
			}
			return nil
		})
		if err != nil {
			s.fail(err)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func indexes[T any](of []T) (out []int) {
	for i := range of {
		out = append(out, i)
	}
	return out
}

// agent works at its pace until ctx ends. What it began it finishes.
func (s *soak) agent(ctx context.Context, i int) {
	who := s.people[i/perPerson%len(s.people)]
	pause(ctx, time.Duration(rand.Int64N(int64(s.arrive))))
	if ctx.Err() == nil {
		as := *who
		as.Session, _ = s.hook(who, i, "session_start", nil)
		who = &as
	}
	for turn := rand.IntN(cycle); ctx.Err() == nil; turn++ {
		began := time.Now()
		s.turn(who, i, turn)
		pause(ctx, s.every-time.Since(began))
	}
}

func (s *soak) turn(who *drill.Client, i, turn int) {
	file := fmt.Sprintf("src/part%d/agent%d/file%d.go", i%50, i, turn%20)
	if turn%10 == 9 {
		file = fmt.Sprintf("src/part%d/agent%d/file%d.go", (i+1)%50, (i+1)%s.agents, turn%20)
	}
	if turn%5 == 0 {
		s.hook(who, i, "prompt", map[string]any{"prompt_excerpt": "Go on"})
	}
	if turn%10 == 0 {
		s.timed("declare", func(ctx context.Context) error {
			return who.Call(ctx, s.server, "POST", "/v1/intents", map[string]any{"title": fmt.Sprintf("Task %d of %d", turn, i), "repo": "acme/api",
				"branch": fmt.Sprint("work", i), "scope": map[string]any{"paths": []string{file}}}, nil)
		})
	}
	if turn%20 == 10 {
		s.tool(who, "team_context", map[string]any{"paths": []string{file}, "repo": "acme/api"})
		s.tool(who, "inbox", map[string]any{})
	}
	if turn%40 == 20 {
		s.timed("wait", func(ctx context.Context) error {
			return call(ctx, who, s.server, "wait_for", map[string]any{"path": "nobody/holds.go", "timeout_seconds": 1, "repo": "acme/api"})
		})
	}
	if _, err := s.hook(who, i, "pre_edit", map[string]any{"paths": []string{file}}); err != nil {
		return
	}
	facts := map[string]any{"path": file, "status": "modified", "base_blob": strings.Repeat("b", 40), "language": "go",
		"hunks": []map[string]any{{"start": 1 + turn, "count": 4, "lines_hash": fmt.Sprintf("%016x", i*1000+turn)}}}
	if _, err := s.hook(who, i, "post_edit", map[string]any{"analysis": map[string]any{"version": 1, "files": []any{facts}}}); err == nil {
		s.edits.Add(1)
	}
}

// hook plays an event of an agent's, and returns its session's id.
func (s *soak) hook(who *drill.Client, i int, event string, more map[string]any) (session string, err error) {
	body := map[string]any{"event": event, "session": map[string]any{"tool": "codex", "external_id": fmt.Sprint("agent", i)},
		"repo": map[string]any{"remote_fingerprints": []string{"github.com/acme/api"}, "branch": fmt.Sprint("work", i),
			"worktree_hash": fmt.Sprint("copy", i)}}
	for k, v := range more {
		body[k] = v
	}
	var answer struct {
		Session string `json:"session_id"`
	}
	err = s.timed(event, func(ctx context.Context) error {
		return who.Call(ctx, s.server, "POST", "/v1/hooks/evaluate", body, &answer)
	})
	return answer.Session, err
}

func (s *soak) tool(who *drill.Client, name string, arguments map[string]any) {
	s.timed("tool", func(ctx context.Context) error { return call(ctx, who, s.server, name, arguments) })
}

func call(ctx context.Context, who *drill.Client, at *drill.Server, name string, arguments map[string]any) error {
	return who.Call(ctx, at, "POST", "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": name, "arguments": arguments}}, nil)
}

// timed does something and notes what it took.
func (s *soak) timed(kind string, do func(context.Context) error) error {
	began := time.Now()
	err := do(context.Background())
	took := time.Since(began)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took[kind] = append(s.took[kind], took)
	if took > s.budget/2 && kind != "wait" {
		s.slow = append(s.slow, held{kind, began.Sub(s.began), took})
	}
	switch a, ok := err.(drill.Answered); {
	case err == nil:
	case ok && a.Status < 500 || ok && a.Status == 503 && a.RetryAfter != "":
		s.refused.Add(1)
	default:
		s.wrong = append(s.wrong, fmt.Errorf("%s: %w", kind, err))
	}
	return err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(max(d, 0)):
	}
}
