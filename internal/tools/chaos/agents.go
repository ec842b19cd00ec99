package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-hq/svc/internal/tools/drill"
)

// A write is something that was acknowledged.
type write struct{ kind, name string }

// A world is the service under load, and what it acknowledged.
type world struct {
	servers []*drill.Server
	writer  *drill.Client // who claims
	asker   *drill.Client // somebody else
	pairs   atomic.Int64  // claims whose file was asked for at once
	unsure  atomic.Int64  // questions answered with "nobody looked"
	silent  atomic.Int64  // questions without an answer

	mu      sync.Mutex
	model   []write
	paths   []string // that are claimed and stay so
	lost    int      // writes that were never answered: they may have happened or not
	refused map[int]int
	stale   []string
	odd     []string
}

const repo = "acme/api"

// settle makes the repo, and the askers' sessions known everywhere.
func (w *world) settle(ctx context.Context, tokens []string, agents int) error {
	w.writer, w.asker, w.refused = drill.NewClient(tokens[0], 10*time.Second), drill.NewClient(tokens[1], 10*time.Second), map[int]int{}
	if err := w.writer.Call(ctx, w.servers[0], "POST", "/v1/repos", map[string]any{"full_name": repo, "provider": "github"}, nil); err != nil {
		return err
	}
	for _, s := range w.servers {
		for who := range agents {
			if _, err := w.ask(ctx, s, who, "warm/up.go"); err != nil {
				return fmt.Errorf("the first question, on %s: %w", s.Name, err)
			}
		}
	}
	return nil
}

// agents work until ctx ends.
func (w *world) agents(ctx context.Context, n int) *sync.WaitGroup {
	var work sync.WaitGroup
	for who := range n {
		work.Go(func() {
			for turn := 0; ctx.Err() == nil; turn++ {
				w.turn(ctx, who, turn)
			}
		})
	}
	return &work
}

// turn writes once and notes what was acknowledged.
func (w *world) turn(ctx context.Context, who, turn int) {
	there := w.servers[rand.IntN(len(w.servers))]
	it := write{"intent", fmt.Sprintf("task %d of agent %d", turn, who)}
	file := fmt.Sprintf("src/a%d/f%d.go", who, turn)
	path, body := "/v1/intents", map[string]any{"title": it.name, "repo": repo, "branch": fmt.Sprintf("a%d-%d", who, turn),
		"mode": "exclusive", "scope": map[string]any{"paths": []string{file}}}
	if turn%4 == 3 {
		it.kind, path, body = "message", "/v1/messages", map[string]any{"to": "channel:" + repo, "body": it.name}
	}
	// What was begun is finished: one that is broken off tells nothing.
	ctx = context.WithoutCancel(ctx)
	var made struct{ Intent struct{ Ref string } }
	err := w.writer.Call(ctx, there, "POST", path, body, &made)
	w.note(it, err)
	switch {
	case err != nil:
		time.Sleep(10 * time.Millisecond)
	case it.kind == "intent":
		w.question(ctx, there, who, file)
		if turn%40 == 0 { // for the comparison in the end
			w.mu.Lock()
			w.paths = append(w.paths, file)
			w.mu.Unlock()
			return
		}
		err := w.writer.Call(ctx, there, "POST", "/v1/intents/"+made.Intent.Ref+"/close", map[string]any{"outcome": "abandoned"}, nil)
		w.note(write{"end", it.name}, err)
	}
}

func (w *world) note(it write, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch a, ok := err.(drill.Answered); {
	case err == nil:
		w.model = append(w.model, it)
	case ok: // too many messages, or not now
		w.refused[a.Status]++
		if a.Status == 500 || a.Status == 503 && a.RetryAfter == "" {
			w.odd = append(w.odd, "a write was answered "+a.Error())
		}
	default:
		w.lost++
	}
}

// question asks for a file that was just claimed on one server, at another.
func (w *world) question(ctx context.Context, claimed *drill.Server, who int, file string) {
	here := w.servers[rand.IntN(len(w.servers))]
	for here == claimed && len(w.servers) > 1 {
		here = w.servers[rand.IntN(len(w.servers))]
	}
	reply, err := w.ask(ctx, here, who, file)
	if err != nil {
		w.silent.Add(1)
		if a, ok := err.(drill.Answered); ok && a.Status != 503 {
			w.mu.Lock()
			w.odd = append(w.odd, "a question was answered "+a.Error())
			w.mu.Unlock()
		}
		return
	}
	w.pairs.Add(1)
	switch {
	case reply.Decision != "allow":
	case reply.unsure():
		w.unsure.Add(1)
	default:
		w.mu.Lock()
		w.stale = append(w.stale, file+" on "+here.Name)
		w.mu.Unlock()
	}
}

type hookReply struct {
	Decision      string
	InjectContext string `json:"inject_context"`
}

// unsure reports whether an edit goes on because nobody could look.
func (r hookReply) unsure() bool {
	return r.Decision == "allow" && strings.Contains(r.InjectContext, "could not check")
}

// askSurely asks until it was looked: a busy machine may be too slow at first.
func (w *world) askSurely(ctx context.Context, at *drill.Server, file string) (out hookReply, err error) {
	for range 50 {
		if out, err = w.ask(ctx, at, 0, file); err != nil || !out.unsure() {
			return out, err
		}
	}
	return out, fmt.Errorf("%s could not look at %s in fifty tries", at.Name, file)
}

// ask asks, as somebody else, whether a file may be edited.
func (w *world) ask(ctx context.Context, at *drill.Server, who int, file string) (out hookReply, err error) {
	err = w.asker.Call(ctx, at, "POST", "/v1/hooks/evaluate", map[string]any{
		"event": "pre_edit", "session": map[string]any{"tool": "codex", "external_id": fmt.Sprint("asker", who)}, "paths": []string{file},
		"repo": map[string]any{"remote_fingerprints": []string{"github.com/" + repo}, "branch": "work"},
	}, &out)
	return out, err
}

// listen follows the event stream, now here and now there, and resumes where it
// was. It returns how many events it heard and what was wrong with their order.
func (w *world) listen(ctx context.Context) (heard int, err error) {
	last := 0
	for ctx.Err() == nil && err == nil {
		at := w.servers[rand.IntN(len(w.servers))]
		err = w.writer.Follow(ctx, at, last, func(id int, _ string) error {
			if last > 0 && id != last+1 {
				return fmt.Errorf("a stream told of event %d after %d", id, last)
			}
			last = id
			heard++
			return nil
		})
		time.Sleep(20 * time.Millisecond)
	}
	return heard, err
}
