package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

// Beats notes when sessions were heard of, to be written together.
type Beats struct {
	mu sync.Mutex
	at map[string]map[string]coord.Time // by org and session
}

// Note remembers that a session was heard of.
func (b *Beats) Note(org, session string, at coord.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == nil {
		b.at = map[string]map[string]coord.Time{}
	}
	of := b.at[org]
	if of == nil {
		of = map[string]coord.Time{}
		b.at[org] = of
	}
	if of[session] < at {
		of[session] = at
	}
}

func (b *Beats) take() map[string]map[string]coord.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.at
	b.at = nil
	return out
}

// FlushBeats writes the noted heartbeats, as activity of the sessions and of
// their intents, and the noted tool calls.
func (s *Service) FlushBeats(ctx context.Context) error {
	return errors.Join(s.flush(ctx, &s.Beats, (*store.Tx).Heartbeat), s.flush(ctx, &s.ToolCalls, (*store.Tx).TouchTool))
}

// flushed is how many sessions one write notes: whoever waits for the writer
// behind it is not to wait for a thousand.
const flushed = 32

// flush writes what was noted of each org. What cannot be written now is
// noted again, and keeps no other org from being written.
func (s *Service) flush(ctx context.Context, b *Beats, write func(*store.Tx, context.Context, string, coord.Time) error) error {
	var failed []error
	for org, sessions := range b.take() {
		var err error
		for ids := range slices.Chunk(slices.Sorted(maps.Keys(sessions)), flushed) {
			if err == nil {
				err = s.Store.Write(ctx, org, func(tx *store.Tx) (err error) {
					for _, id := range ids {
						if err == nil {
							err = write(tx, ctx, id, sessions[id])
						}
					}
					return err
				})
			}
			for _, id := range ids {
				if err != nil {
					b.Note(org, id, sessions[id])
				}
			}
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("org %s: %w", org, err))
		}
	}
	return errors.Join(failed...)
}
