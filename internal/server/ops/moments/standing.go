package moments

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/eventlog"
)

// A standing is a claim in somebody's way, as it was seen.
type standing struct {
	by       *engine.Worker
	selector string
	mode     coord.Mode
}

// standingIn returns a claim among what is in the way, nil if there is none:
// recorded changes come and go with every edit.
func standingIn(h engine.Hold) *standing {
	for _, e := range h.Evidence {
		if e.Via == coord.ViaClaim && e.Mode != nil {
			return &standing{by: h.Worker, selector: e.Selector, mode: *e.Mode}
		}
	}
	return nil
}

// A glance tells at little cost which claims still stand. With many who wait,
// most are behind the few claims of a few workers.
type glance struct {
	ix     *engine.Index
	claims map[string]map[string]coord.Mode // of workers that have changed
}

func (g *glance) stands(s *standing) bool {
	now := g.ix.Worker(s.by.ID)
	switch {
	case now == s.by:
		return true
	case now == nil || now.User.ID != s.by.User.ID || now.Session != s.by.Session || !slices.Equal(now.Lineages, s.by.Lineages):
		return false
	}
	claims := g.claims[now.ID]
	if claims == nil {
		claims = make(map[string]coord.Mode, len(now.Claims))
		for _, c := range now.Claims {
			if c.Mode == coord.Wanted {
				continue
			}
			claims[c.Selector] = c.Mode
		}
		g.claims[now.ID] = claims
	}
	mode, ok := claims[s.selector]
	return ok && mode == s.mode
}

// freed has those look for whom events may have changed something.
func (s *Service) freed(ctx context.Context, org string, w *lookout, batch []eventlog.Entry) error {
	return s.Live.View(ctx, org, func(ix *engine.Index) error {
		g := glance{ix, map[string]map[string]coord.Mode{}}
		s.lines.mu.Lock()
		defer s.lines.mu.Unlock()
		for l := range w.lines {
			for _, w := range l.waiters {
				if w.look {
					continue
				}
				gone := w.claims && (w.last.held == nil || !g.stands(w.last.held))
				if w.look = gone || slices.ContainsFunc(batch, func(e eventlog.Entry) bool { return w.concerns(&e.Event) }); w.look {
					l.poke()
				}
			}
		}
		return nil
	})
}

// changesRules reports whether an event can free a path or symbol though all
// claims stand: one about policy, the repo, or who is there. Those of work and
// talk cannot.
func changesRules(t coord.EventType) bool {
	switch t.Part() {
	case coord.PartRules, coord.PartRepos, coord.PartLinks, coord.PartMembers, coord.PartTexts, coord.PartAll:
		return true
	}
	return false
}
