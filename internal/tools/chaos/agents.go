package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-hq/svc/internal/history"
	"github.com/svc-hq/svc/internal/tools/drill"
)

// A world is the service under load, and what it acknowledged.
type world struct {
	servers []*drill.Server
	writer  *drill.Client // who claims
	asker   *drill.Client // somebody else
	pairs   atomic.Int64  // claims whose file was asked for at once
	unsure  atomic.Int64  // questions answered with "nobody looked"
	silent  atomic.Int64  // questions without an answer
	tells   bool          // of what is unsure, one by one

	book history.Book // what was acknowledged, and the rules

	mu    sync.Mutex
	paths []string        // that are claimed and stay so
	took  []time.Duration // how long claims did
}

const repo = "acme/api"

// settle makes the repo, and the askers' sessions known everywhere.
func (w *world) settle(ctx context.Context, tokens []string, agents int) error {
	w.writer, w.asker = drill.NewClient(tokens[0], 10*time.Second), drill.NewClient(tokens[1], 10*time.Second)
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
	it := history.Write{Kind: history.Intent, Name: fmt.Sprintf("task %d of agent %d", turn, who)}
	file := fmt.Sprintf("src/a%d/f%d.go", who, turn)
	path, body := "/v1/intents", map[string]any{"title": it.Name, "repo": repo, "branch": fmt.Sprintf("a%d-%d", who, turn),
		"mode": "exclusive", "scope": map[string]any{"paths": []string{file}}}
	if turn%4 == 3 {
		it.Kind, path, body = history.Message, "/v1/messages", map[string]any{"to": "channel:" + repo, "body": it.Name}
	}
	// What was begun is finished: one that is broken off tells nothing.
	ctx = context.WithoutCancel(ctx)
	var made struct{ Intent struct{ Ref string } }
	began := time.Now()
	err := w.writer.Call(ctx, there, "POST", path, body, &made)
	w.note(it, err)
	switch {
	case err != nil:
		time.Sleep(10 * time.Millisecond)
	case it.Kind == history.Intent:
		w.book.Claimed(file)
		w.mu.Lock()
		w.took = append(w.took, time.Since(began))
		w.mu.Unlock()
		w.question(ctx, there, who, file)
		if turn%40 == 0 { // for the comparison in the end
			w.mu.Lock()
			w.paths = append(w.paths, file)
			w.mu.Unlock()
			return
		}
		w.book.Free(file)
		err := w.writer.Call(ctx, there, "POST", "/v1/intents/"+made.Intent.Ref+"/close", map[string]any{"outcome": "abandoned"}, nil)
		w.note(history.Write{Kind: history.End, Name: it.Name}, err)
	}
}

func (w *world) note(it history.Write, err error) {
	switch a, ok := err.(drill.Answered); {
	case err == nil:
		w.book.Acknowledged(it.Kind, it.Name)
	case ok: // too many messages, or not now
		w.book.Refused(a.Status, a.RetryAfter, a.Error())
	default:
		w.book.Lost()
	}
}

// question asks for a file that was just claimed on one server, at another.
func (w *world) question(ctx context.Context, claimed *drill.Server, who int, file string) {
	here := w.servers[rand.IntN(len(w.servers))]
	for here == claimed && len(w.servers) > 1 {
		here = w.servers[rand.IntN(len(w.servers))]
	}
	q, began := w.book.Ask(file), time.Now()
	reply, err := w.ask(ctx, here, who, file)
	if err != nil {
		w.silent.Add(1)
		if a, ok := err.(drill.Answered); ok && a.Status != 503 {
			w.book.Wrong("a question was answered %v", a)
		}
		return
	}
	w.pairs.Add(1)
	switch {
	case reply.Decision != "allow":
	case reply.unsure():
		w.unsure.Add(1)
		if w.tells {
			fmt.Printf("  %s let %s through unchecked after %s\n", here.Name, file, time.Since(began).Round(time.Millisecond))
		}
	default:
		q.Allowed(here.Name)
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
	var ear history.Ear
	for ctx.Err() == nil && err == nil {
		at := w.servers[rand.IntN(len(w.servers))]
		err = w.writer.Follow(ctx, at, ear.Last, func(id int, _ string) error { return ear.Hear(id) })
		time.Sleep(20 * time.Millisecond)
	}
	return ear.Heard, err
}
