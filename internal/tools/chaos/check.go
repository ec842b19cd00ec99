package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/svc-hq/svc/internal/history"
	"github.com/svc-hq/svc/internal/tools/drill"
)

// check compares what the service has with what it acknowledged.
func (w *world) check(ctx context.Context, what string) error {
	at := w.servers[0]
	var found history.Found
	var err error
	if found.Intents, err = drill.All[history.FoundIntent](ctx, w.writer, at, "/v1/intents?limit=100"); err != nil {
		return err
	}
	if found.Events, err = drill.All[history.FoundEvent](ctx, w.writer, at, "/v1/events?limit=100"); err != nil {
		return err
	}
	if found.Messages, err = drill.Said(ctx, w.writer, at); err != nil {
		return err
	}
	wrong := w.book.Check(found)
	for _, s := range w.servers {
		for _, line := range s.Complaints() {
			wrong = append(wrong, fmt.Errorf("%s logged %.600s", s.Name, line))
		}
	}
	t := w.book.Tally()
	fmt.Printf("%s: %d intents, %d ends of them and %d messages acknowledged, %d writes without an answer, refused %v;\n", what,
		t.Acknowledged[history.Intent], t.Acknowledged[history.End], t.Acknowledged[history.Message], t.Lost, t.Refused)
	fmt.Printf("  %d pairs, %d unsure, %d questions without an answer; %d events without a gap: %d things wrong\n",
		w.pairs.Load(), w.unsure.Load(), w.silent.Load(), len(found.Events), len(wrong))
	return errors.Join(wrong[:min(len(wrong), 20)]...)
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
