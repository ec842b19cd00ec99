package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A worker is one agent at work in a repository, for an editor's side view and
// the marks in its tree of files.
type worker struct {
	Root    string           `json:"root"`
	Repo    string           `json:"repo"`
	Person  string           `json:"person"`
	Own     bool             `json:"own"`
	Agent   string           `json:"agent"`
	Session string           `json:"session"`
	Intent  string           `json:"intent"`
	Title   string           `json:"title"`
	State   coord.AgentState `json:"state"`
	Words   string           `json:"words"` // its last
	Age     string           `json:"age"`
	File    string           `json:"file"`  // that it wrote last
	Files   []string         `json:"files"` // that its work is about
	Page    string           `json:"page"`
}

// stirred is how long an editor that shows a repository's work waits to hear that
// it changed: a list need not move with every edit.
const stirred = time.Second

// work tells an editor's side view who is at work in the open repositories, and
// from then on that this changed.
func (s *Server) work(json.RawMessage) (any, func(context.Context) (any, error), error) {
	s.watched = true
	var all []*repo
	for _, r := range s.repos {
		if r != nil {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *repo) int { return strings.Compare(a.root, b.root) })
	now := s.Now()
	return nil, func(ctx context.Context) (any, error) {
		out := []worker{}
		for _, r := range all {
			found, err := r.workers(ctx, now)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
		return out, nil
	}, nil
}

// stir tells an editor that shows the repository's work to ask again.
func (r *repo) stir(s *Server) {
	if !s.watched || r.stirring {
		return
	}
	r.stirring = true
	s.in(stirred, func() {
		r.stirring = false
		s.note(s.conn.notify("svc/workChanged", map[string]any{"root": r.root}))
	})
}

func (r *repo) workers(ctx context.Context, now time.Time) ([]worker, error) {
	me, err := r.Client.Me(ctx)
	if err != nil {
		return nil, err
	}
	sessions, intents, err := r.Client.LiveIn(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	files := map[string][]string{}
	for _, i := range intents {
		for _, c := range i.Claims {
			if c.Kind == coord.ClaimPath && !strings.ContainsAny(c.Selector, "*?[{") {
				files[i.Ref] = append(files[i.Ref], peertext.Path(c.Selector))
			}
		}
	}
	var out []worker
	for _, se := range sessions {
		own := me.User != nil && se.User.ID == me.User.ID
		if own && se.Tool == wire.EditorTool {
			continue // the person that looks
		}
		w := workerOf(se, now)
		if w.Root, w.Own = r.root, own; se.Intent != nil {
			w.Files = append(w.Files, files[se.Intent.Ref]...)
		}
		slices.Sort(w.Files)
		w.Files = slices.Compact(w.Files)
		out = append(out, w)
	}
	return out, nil
}

func workerOf(se coord.Session, now time.Time) worker {
	w := worker{
		Repo:    peertext.Line(se.Repo.FullName, 200),
		Person:  team.Person(&se.User),
		Agent:   peertext.Name(se.Tool),
		Session: se.ID,
		State:   se.State,
		Age:     team.Age(now, se.LastHeartbeatAt),
		Files:   []string{},
		Page:    "/sessions",
	}
	if h, ok := host.ByID(se.Tool); ok {
		w.Agent = h.Name
	}
	if se.File != nil {
		w.File = peertext.Path(*se.File)
		w.Files = append(w.Files, w.File)
	}
	if se.StatusText != nil {
		w.Words = peertext.Line(*se.StatusText, 300)
	}
	if se.Intent != nil {
		w.Intent, w.Page = se.Intent.Ref, "/intents/"+se.Intent.Ref
		if se.Intent.Title != nil { // a draft hides it from others
			w.Title = peertext.Title(*se.Intent.Title)
		}
	}
	return w
}
