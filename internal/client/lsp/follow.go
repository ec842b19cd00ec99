package lsp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/marks"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A repo is a working copy with files that are open.
type repo struct {
	Service
	root     string
	versions marks.Repo
	cancel   context.CancelFunc

	queue   []*document // to ask about, one after the other
	asking  bool
	placing bool // marks are to be placed anew
	stale   []*document
	telling bool // unsaved text is to be told, or being told
	typedAt time.Time
	since   time.Time // typing that is not told began then
	again   bool      // and once more after that
	untold  bool      // nobody wants to hear of it
	onDisk  []string  // saved, and not told yet
	heeding bool      // what waits for the person is to be asked for
	heeded  string    // what the editor was last told of that

	stirring bool // the editor is to hear that other work is live
}

const (
	// settle is how long marks wait for more to be typed until they are placed anew.
	// They have moved with the lines by then: a comparison tells only what became of
	// lines that were edited, and costs more than all else that a keystroke does.
	settle = 400 * time.Millisecond
	// pause is how long unsaved text waits to be told, and longest how long it
	// waits for somebody who does not stop typing: to tell it costs more than all
	// the keystrokes between.
	pause   = 700 * time.Millisecond
	longest = 4 * pause
	// gather is how long events wait for more of them.
	gather = 50 * time.Millisecond
)

// followed are the events of a repository after which something else may be live
// in a file.
var followed = []coord.EventType{
	coord.EventChangeRecorded, coord.EventContractChanged, coord.EventSessionStarted, coord.EventSessionEnded, coord.EventSessionTurn,
	coord.EventIntentDrafted, coord.EventIntentDeclared, coord.EventIntentUpdated, coord.EventIntentHandedOff, coord.EventIntentAdopted,
	coord.EventIntentClosed, coord.EventIntentExpired, coord.EventIntentReleased,
}

// waited are those after which something else may wait for the person; what
// people write is about no repository.
var waited = []coord.EventType{
	coord.EventConflictDetected, coord.EventConflictOverrideRequested, coord.EventQuestionAsked, coord.EventMessageSent,
	coord.EventIntentHandedOff,
}

// follow hears of what happens until the editor leaves.
func (r *repo) follow(s *Server) {
	ctx, cancel := context.WithCancel(s.ctx)
	r.cancel = cancel
	hear := func(types []coord.EventType, repos []string, up func(), hear func(coord.Event)) {
		feed := remote.Feed{Repos: repos, Up: func() { s.later(up) }}
		for _, t := range types {
			feed.Types = append(feed.Types, string(t))
		}
		err := r.Client.Follow(ctx, feed, func(e coord.Event) error {
			s.later(func() { hear(e) })
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.Log(err)
		}
	}
	go hear(followed, []string{r.Repo}, func() { r.wantAll(s); r.stir(s) }, func(e coord.Event) { r.hear(s, e) })
	go hear(waited, nil, func() { r.heed(s) }, func(coord.Event) { r.heed(s) })
}

func (r *repo) stop() { r.cancel() }

// hear takes in an event. An edit concerns the files that it names, and no
// other; what becomes of an intent or a session may concern each.
func (r *repo) hear(s *Server, e coord.Event) {
	if own := r.Typist.Session(); own != "" && e.Actor.ID == own {
		return // what the person types is no news here, and each pause would ask about every open file
	}
	r.stir(s)
	switch e.Type {
	case coord.EventSessionStarted: // in no file yet
	case coord.EventSessionTurn: // it concerns the person, if anybody
		r.heed(s)
	case coord.EventChangeRecorded:
		paths, _ := e.Payload["paths"].([]any)
		for _, d := range s.docs { // without paths there are too many to name
			if named := slices.Contains(paths, any(d.path)); d.repo == r && (named || len(paths) == 0) {
				if r.want(s, d); named { // before all that may only have changed
					i := slices.Index(r.queue, d)
					r.queue = slices.Insert(slices.Delete(r.queue, i, i+1), 0, d)
				}
			}
		}
	default:
		r.wantAll(s)
	}
}

func (r *repo) wantAll(s *Server) {
	for _, d := range s.docs {
		if d.repo == r {
			r.want(s, d)
		}
	}
}

// want has the server asked what is live in a file.
func (r *repo) want(s *Server, d *document) {
	if d.wanted {
		return
	}
	d.wanted = true
	r.queue = append(r.queue, d)
	if !r.asking {
		r.asking = true
		s.in(gather, func() { r.askNext(s) })
	}
}

// in has something done after a while.
func (s *Server) in(d time.Duration, f func()) { time.AfterFunc(d, func() { s.later(f) }) }

// askNext asks about the files of the queue, one at a time: the server has
// others to answer.
func (r *repo) askNext(s *Server) {
	for len(r.queue) > 0 && s.docs[r.queue[0].uri] != r.queue[0] {
		r.queue = r.queue[1:] // closed meanwhile
	}
	if len(r.queue) == 0 {
		r.asking, r.queue = false, nil
		return
	}
	d := r.queue[0]
	r.queue = r.queue[1:]
	d.wanted = false
	base, path := d.base, d.path
	s.apart(func(ctx context.Context) func() {
		if base == "" {
			base = gitrepo.BlobAtBase(ctx, r.root, path)
		}
		f, err := r.Client.Live(ctx, r.Repo, path, base)
		return func() {
			if err != nil {
				s.Log(err)
			} else {
				d.live, d.base = f, base
				s.show(d)
				r.tidy(s)
				r.tellFree(s, d)
			}
			r.askNext(s)
		}
	})
}

// tidy forgets versions that no open file counts in.
func (r *repo) tidy(s *Server) {
	var open []wire.LiveFile
	for _, d := range s.docs {
		if d.repo == r {
			open = append(open, d.live)
		}
	}
	r.versions.Keep(open...)
}

// moved has the marks of a buffer placed anew after what was typed.
func (r *repo) moved(s *Server, d *document) {
	if len(d.live.Work) == 0 && len(d.live.Contracts) == 0 {
		return
	}
	if !slices.Contains(r.stale, d) {
		r.stale = append(r.stale, d)
	}
	if r.placing {
		return
	}
	r.placing = true
	s.in(settle, func() {
		r.placing = false
		stale := r.stale
		r.stale = nil
		for _, d := range stale {
			s.show(d)
		}
	})
}

// typed has others told what is unsaved, once typing pauses.
func (r *repo) typed(s *Server) {
	if r.typedAt = s.Now(); r.untold {
		return
	}
	if r.telling {
		r.again = true
		return
	}
	r.telling, r.since = true, r.typedAt
	s.in(pause, func() { r.paused(s) })
}

// paused tells what is unsaved unless somebody is still typing it.
func (r *repo) paused(s *Server) {
	now := s.Now()
	if left := pause - now.Sub(r.typedAt); left > 0 && now.Sub(r.since) < longest {
		s.in(left, func() { r.paused(s) })
		return
	}
	r.tell(s)
}

func (r *repo) tell(s *Server) {
	r.again = false
	unsaved := map[string][]byte{}
	for _, d := range s.docs {
		if d.repo == r && d.dirty && on(s.settings.Presence, true) {
			unsaved[d.path] = slices.Clone(d.text)
		}
	}
	s.apart(func(ctx context.Context) func() {
		err := r.Typist.Tell(ctx, unsaved)
		return func() {
			if r.telling = false; errors.Is(err, hook.ErrNotTold) {
				r.untold = true
			} else if err != nil {
				s.Log(err)
			}
			if r.again {
				r.typed(s)
			}
		}
	})
}

// saved has told what is on disk now, as svc watch-tree does.
func (r *repo) saved(s *Server, path string) {
	if !on(s.settings.Presence, true) {
		return
	}
	if r.onDisk = append(r.onDisk, path); len(r.onDisk) > 1 {
		return
	}
	s.in(pause, func() {
		paths := slices.Compact(slices.Sorted(slices.Values(r.onDisk)))
		r.onDisk = nil
		s.apart(func(ctx context.Context) func() {
			if err := r.Saved(ctx, paths); err != nil && !errors.Is(err, hook.ErrNotTold) {
				return func() { s.Log(err) }
			}
			return nil
		})
	})
}

// heed asks what waits for the person, and tells the editor if that is new.
func (r *repo) heed(s *Server) {
	if r.heeding || !on(s.settings.Attention, true) {
		return
	}
	r.heeding = true
	s.in(10*gather, func() {
		s.apart(func(ctx context.Context) func() {
			waits, err := r.Client.Attention(ctx, 10)
			return func() {
				r.heeding = false
				if err != nil {
					s.Log(err)
					return
				}
				ids := ""
				for _, it := range waits.Items {
					ids += it.ID + "\n"
				}
				if ids != r.heeded {
					r.heeded = ids
					s.note(s.conn.notify("svc/attention", map[string]any{"root": r.root, "total": waits.Total, "items": waits.Items}))
				}
			}
		})
	})
}

// tellFree tells who waits for somebody to leave a file that it is so.
func (r *repo) tellFree(s *Server, d *document) {
	d.waits = slices.DeleteFunc(d.waits, func(w waiting) bool {
		if slices.ContainsFunc(d.live.Work, func(l wire.LiveWork) bool { return l.SessionID != nil && *l.SessionID == w.session }) {
			return false
		}
		s.tell(messageInfo, d.path+" is free: "+w.who+" is done with it.")
		return true
	})
}
