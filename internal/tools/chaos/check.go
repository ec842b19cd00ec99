package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/svc-hq/svc/internal/tools/drill"
)

// check compares what the service has with what it acknowledged.
func (w *world) check(ctx context.Context, what string) error {
	at := w.servers[0]
	intents, err := drill.All[struct{ Title, ID, Status string }](ctx, w.writer, at, "/v1/intents?limit=100")
	if err != nil {
		return err
	}
	events, err := drill.All[event](ctx, w.writer, at, "/v1/events?limit=100")
	if err != nil {
		return err
	}
	messages, err := w.messages(ctx, at)
	if err != nil {
		return err
	}
	declared, wrong := inOrder(events)
	seen := map[write]int{}
	drafts := 0
	for _, i := range intents {
		if i.Status == "draft" { // the asker's, which nobody declared
			drafts++
			continue
		}
		seen[write{"intent", i.Title}]++
		if i.Status == "abandoned" {
			seen[write{"end", i.Title}]++
		}
		if declared[i.ID] != 1 {
			wrong = append(wrong, fmt.Errorf("%q was declared by %d events", i.Title, declared[i.ID]))
		}
	}
	for _, m := range messages {
		seen[write{"message", m.Body}]++
	}
	if len(declared) != len(intents)-drafts {
		wrong = append(wrong, fmt.Errorf("%d intents, but events of %d", len(intents)-drafts, len(declared)))
	}
	kinds := map[string]int{}
	for _, it := range w.model {
		kinds[it.kind]++
		if seen[it] == 0 {
			wrong = append(wrong, fmt.Errorf("%s %q was acknowledged and is lost", it.kind, it.name))
		}
	}
	for it, n := range seen {
		if n > 1 {
			wrong = append(wrong, fmt.Errorf("%s %q is there %d times", it.kind, it.name, n))
		}
	}
	for _, f := range w.stale {
		wrong = append(wrong, fmt.Errorf("an edit of %s was allowed though its claim had been acknowledged", f))
	}
	for _, o := range w.odd {
		wrong = append(wrong, errors.New(o))
	}
	for _, s := range w.servers {
		for _, line := range s.Complaints() {
			wrong = append(wrong, fmt.Errorf("%s logged %.600s", s.Name, line))
		}
	}
	fmt.Printf("%s: %d intents, %d ends of them and %d messages acknowledged, %d writes without an answer, refused %v;\n", what,
		kinds["intent"], kinds["end"], kinds["message"], w.lost, w.refused)
	fmt.Printf("  %d pairs, %d unsure, %d questions without an answer; %d events without a gap: %d things wrong\n",
		w.pairs.Load(), w.unsure.Load(), w.silent.Load(), len(events), len(wrong))
	return errors.Join(wrong[:min(len(wrong), 20)]...)
}

// An event is what the check needs of one.
type event struct {
	ID, Type string
	Subject  struct{ ID string }
}

// inOrder checks the log, newest first, and counts who was declared.
func inOrder(events []event) (declared map[string]int, wrong []error) {
	declared = map[string]int{}
	for i, e := range events {
		if id, err := strconv.Atoi(e.ID); err != nil || id != len(events)-i {
			wrong = append(wrong, fmt.Errorf("event %s stands where %d should", e.ID, len(events)-i))
			break
		}
		if e.Type == "intent.declared" {
			declared[e.Subject.ID]++
		}
	}
	return declared, wrong
}

// A message is what the check needs of one.
type message struct{ Body string }

// messages reads what was said in the repository's channel.
func (w *world) messages(ctx context.Context, at *drill.Server) (out []message, err error) {
	rooms, err := drill.All[struct{ ID, Kind string }](ctx, w.writer, at, "/v1/conversations?limit=100")
	for _, r := range rooms {
		if err == nil && r.Kind == "channel" {
			var said []message
			said, err = drill.Pages[message](ctx, w.writer, at, "/v1/conversations/"+r.ID+"/messages?limit=100", "before")
			out = append(out, said...)
		}
	}
	return out, err
}

// same asks every server, and one that has just started and read everything
// anew, for some of the files that were claimed and some that were not: they
// must answer alike.
func (w *world) same(ctx context.Context, fresh *drill.Server) error {
	files := []string{"free/one.go", "free/two.go"}
	rand.Shuffle(len(w.paths), func(i, j int) { w.paths[i], w.paths[j] = w.paths[j], w.paths[i] })
	files = append(files, w.paths[:min(len(w.paths), 60)]...)
	var wrong []error
	for _, f := range files {
		want, err := w.askSurely(ctx, fresh, f)
		if err != nil {
			return err
		}
		for _, s := range w.servers {
			got, err := w.askSurely(ctx, s, f)
			if err != nil {
				return err
			}
			if got.Decision != want.Decision {
				wrong = append(wrong, fmt.Errorf("%s says %s of %s, one that has just started says %s", s.Name, got.Decision, f, want.Decision))
			}
		}
	}
	fmt.Printf("  %d files asked for on %d replicas and a fresh one: %d differ\n", len(files), len(w.servers), len(wrong))
	return errors.Join(wrong[:min(len(wrong), 5)]...)
}
