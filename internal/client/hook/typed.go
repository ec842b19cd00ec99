package hook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// What a person has typed and not saved is in no file: agents in the same
// working copy cannot see it, and may write over it. So it is told as a working
// copy of its own, by a session that belongs to the person's editor: lines
// alone, for what half a word means nobody can say.

// A Typist tells of what a person has typed in one working copy and not saved.
type Typist struct {
	*Observer
	mu    sync.Mutex // an editor may leave while it tells
	begun bool
	id    atomic.Pointer[string] // of its session; read while it tells
	told  map[string]bool        // files of which something is told
}

// ErrTooMuch is the error of more unsaved text than is told.
var ErrTooMuch = errors.New("too much is unsaved to tell of it")

// Limits of unsaved text that is told.
const (
	maxTyped     = 20
	maxTypedSize = 1 << 20
)

// Type returns the typist of the working copy at root.
func Type(env Env, root string) (*Typist, error) {
	o, err := Observe(env, root)
	if err != nil {
		return nil, err
	}
	c := o.run.call
	c.Parent, c.Session = c.Session, c.Session+"-unsaved" // one lineage: it never collides with itself
	o.run.spool = spool.Open(env.TempDir, c.Host.ID, c.Session)
	return &Typist{Observer: o, told: map[string]bool{}}, nil
}

// Tell tells what the unsaved files hold, by their paths; of files that were told
// before and are not among them, that nothing is unsaved any more.
func (t *Typist) Tell(ctx context.Context, unsaved map[string][]byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.run
	targets, err := r.route([]target{{at: t.at}})
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return ErrNotTold
	}
	if err := r.connect(t.at.login); err != nil {
		return err
	}
	if !t.begun {
		if len(unsaved) == 0 {
			return nil
		}
		if err := t.send(ctx, wire.HookSessionStart, nil); err != nil {
			return err
		}
		t.begun = true
	}
	return t.send(ctx, wire.HookPostEdit, unsaved)
}

// Session is what the server calls the session that tells, "" before it did.
func (t *Typist) Session() string {
	if id := t.id.Load(); id != nil {
		return *id
	}
	return ""
}

// send sends one event. What others are asked for is kept; what they may do is
// no matter, for nobody is stopped from typing.
func (t *Typist) send(ctx context.Context, event wire.HookEvent, unsaved map[string][]byte) error {
	r := t.run
	req := r.request(ctx, send{event: event, at: t.at})
	req.Session.Deaf = true
	req.Repo.WorktreeHash = CopyHash(r.login.MachineID, t.at.Root+"\x00unsaved")
	if event == wire.HookPostEdit {
		facts, err := t.facts(ctx, req.Repo.BaseSHA, unsaved)
		if err != nil {
			return err
		}
		if req.Analysis = facts; len(facts.Files) == 0 {
			return nil
		}
		req.Paths = nil
		for _, f := range facts.Files {
			req.Paths = append(req.Paths, f.Path)
		}
	}
	reply, err := r.evaluate(ctx, req)
	if err != nil {
		return err
	}
	if reply.SessionID == nil {
		return ErrNotTold
	}
	t.id.Store(reply.SessionID)
	r.keepWants(t.at.Root, reply.Wants)
	if req.Analysis != nil {
		for _, f := range req.Analysis.Files {
			t.told[f.Path] = f.Status != coord.FileUnchanged
		}
	}
	return nil
}

// facts are the lines that unsaved text replaces, and that others were told of.
func (t *Typist) facts(ctx context.Context, base string, unsaved map[string][]byte) (*coord.Analysis, error) {
	out := &coord.Analysis{Files: []coord.FileFacts{}}
	size := 0
	for _, text := range unsaved {
		size += len(text)
	}
	if len(unsaved) > maxTyped || size > maxTypedSize {
		return nil, ErrTooMuch
	}
	drafts, err := gitrepo.Unsaved(ctx, t.at.Root, base, unsaved)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for _, d := range drafts {
		delta := diff.Delta{Path: d.Path, Status: diff.Modified, OldBlob: d.BaseBlob, NewBlob: d.NewBlob, Hunks: d.Hunks}
		if d.BaseBlob == "" {
			delta.Status = diff.Added
		}
		if len(d.Edits) == 0 { // as on disk: nothing is unsaved
			continue
		}
		kept[d.Path] = true
		out.Files = append(out.Files, lines.Facts(&delta))
	}
	for path, told := range t.told {
		if told && !kept[path] {
			out.Files = append(out.Files, lines.Facts(&diff.Delta{Path: path}))
		}
	}
	slices.SortFunc(out.Files, func(a, b coord.FileFacts) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// End tells that nothing is typed any more.
func (t *Typist) End(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		// Work that an ended session left stays live; what was never saved is gone.
		err := t.send(ctx, wire.HookPostEdit, nil)
		if err = errors.Join(err, t.send(ctx, wire.HookSessionEnd, nil)); err != nil {
			t.run.log(err)
		}
		t.begun = false
	}
	t.run.spool.RemoveSession()
}
