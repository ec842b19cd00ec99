// Package marks tells where in a text the work of others stands that has not
// landed. The text may be a file or the unsaved buffer of an editor: what others
// changed is known as lines of the version that they started from, and git's own
// comparison of that version with the text moves them. It asks no server and may
// not decide what is told: the server's answer says what is live.
package marks

import (
	"context"
	"errors"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Mark is one piece of work where it stands in a text.
type Mark struct {
	wire.LiveWork
	// At are the lines of the text; a count of 0 is an insertion before start.
	At []coord.LineCount `json:"at"`
	// Over are those of the definitions, beside Definitions; one of no lines is new.
	Over []coord.LineCount `json:"over"`
	// Placed is false where nobody here has the version that the work started from.
	Placed bool `json:"placed"`
	// Meets says that the text differs from that version where the work does, so
	// that git will not merge the two.
	Meets bool `json:"meets"`
}

// maxVersion is the largest version that is compared.
const maxVersion = 8 << 20

// A Repo has the versions that work started from.
type Repo struct {
	Root string
	Copy string // how the server calls this working copy: what was done here meets nothing here
	// kept are the versions that were asked for, by blob id.
	kept map[string][]byte
}

// Keep forgets all versions but those that a file's work counts in.
func (r *Repo) Keep(files ...wire.LiveFile) {
	used := map[string][]byte{}
	for _, f := range files {
		for _, w := range f.Work {
			if w.Base != nil && r.kept[*w.Base] != nil {
				used[*w.Base] = r.kept[*w.Base]
			}
		}
	}
	r.kept = used
}

func (r *Repo) version(ctx context.Context, id string) ([]byte, bool) {
	if data, ok := r.kept[id]; ok {
		return data, true
	}
	if odb.CommitID(id) == "" { // as all object ids look
		return nil, false
	}
	objects := gitrepo.NewObjects(ctx, r.Root)
	defer objects.Close()
	data, err := objects.Blob(id, maxVersion)
	if err != nil {
		return nil, false
	}
	if r.kept == nil {
		r.kept = map[string][]byte{}
	}
	r.kept[id] = data
	return data, true
}

// A Text is what work is placed in. Each version is compared with it once.
type Text struct {
	repo *Repo
	text []byte
	ways map[string]*way
}

// In returns the text to place work in, which must not change meanwhile.
func (r *Repo) In(text []byte) *Text { return &Text{r, text, map[string]*way{}} }

// Place tells where the work in a file stands.
func (t *Text) Place(ctx context.Context, f wire.LiveFile) ([]Mark, error) {
	out := make([]Mark, len(f.Work))
	for i, w := range f.Work {
		out[i] = Mark{LiveWork: w, At: []coord.LineCount{}, Over: make([]coord.LineCount, len(w.Definitions))}
		if w.Base == nil {
			out[i].Placed = w.Status == ""
			continue
		}
		to, err := t.wayTo(ctx, *w.Base)
		if err != nil {
			return nil, err
		}
		if to != nil {
			out[i].put(to, w.Copy != "" && w.Copy == t.repo.Copy)
		}
	}
	return out, nil
}

// A way is how a version became the text.
type way struct {
	shifts []coord.LineShift
	hunks  []coord.Hunk
}

// wayTo compares a version with the text; nil if the version is not to be had.
func (t *Text) wayTo(ctx context.Context, version string) (*way, error) {
	if to, known := t.ways[version]; known {
		return to, nil
	}
	t.ways[version] = nil
	before, ok := t.repo.version(ctx, version)
	if !ok {
		return nil, nil
	}
	found, err := gitrepo.Compare(ctx, before, gitrepo.AsStored(t.text, before))
	if errors.Is(err, odb.ErrMissing) {
		return nil, nil
	}
	out := &way{}
	for _, h := range found {
		out.shifts = append(out.shifts, coord.LineShift{FromStart: h.OldStart, FromCount: h.OldCount, ToStart: h.NewStart, ToCount: h.NewCount})
		out.hunks = append(out.hunks, coord.Hunk{Start: h.OldStart, Count: h.OldCount, LinesHash: h.Hash})
	}
	if err == nil {
		t.ways[version] = out
	}
	return out, err
}

// put says where the work stands after the way.
func (m *Mark) put(to *way, here bool) {
	m.Placed = true
	theirs := make([]coord.Hunk, len(m.Lines))
	for i, l := range m.Lines {
		m.At = append(m.At, engine.MoveLines(l, to.shifts))
		theirs[i] = coord.Hunk{Start: l.Start, Count: l.Count}
	}
	for k, d := range m.Definitions {
		if d.Lines != nil {
			m.Over[k] = engine.MoveLines(*d.Lines, to.shifts)
		}
	}
	m.Meets = !here && engine.Meet(to.hunks, theirs)
}

// Shift moves the mark by what was typed, and reports whether that moved it. It is
// exact where whole lines came or went; elsewhere Place tells.
func (m *Mark) Shift(by coord.LineShift) (moved bool) {
	for _, places := range [][]coord.LineCount{m.At, m.Over} {
		for i, l := range places {
			if l.Start > 0 {
				places[i] = engine.MoveLines(l, []coord.LineShift{by})
				moved = moved || places[i] != l
			}
		}
	}
	return moved
}

// Line returns where a line of a version stands, 0 if nobody can tell.
func (t *Text) Line(ctx context.Context, version string, line int) int {
	to, err := t.wayTo(ctx, version)
	if err != nil || to == nil || line < 1 {
		return 0
	}
	return engine.MoveLines(coord.LineCount{Start: line, Count: 1}, to.shifts).Start
}

// Agent is what a piece of work is done with, as people call it.
func Agent(w wire.LiveWork) string {
	if w.Tool == wire.EditorTool {
		return "editor"
	}
	if h, ok := host.ByID(w.Tool); ok {
		return h.Name
	}
	if w.Tool == "" {
		return "nobody"
	}
	return peertext.Name(w.Tool)
}

// Work is how a piece of work is called: by its intent and title.
func Work(w wire.LiveWork) string {
	switch {
	case w.Intent == nil:
		return ""
	case w.Intent.Title == nil:
		return peertext.Name(w.Intent.Ref)
	}
	return peertext.Name(w.Intent.Ref) + " " + peertext.Title(*w.Intent.Title)
}

// Person is whose work it is.
func Person(w wire.LiveWork) string {
	if w.Own {
		return "you"
	}
	if w.Outside != nil {
		return team.Side(coord.Party{Outside: w.Outside, Branch: w.Branch}) + " by " + team.Person(&coord.User{Name: w.Outside.Author})
	}
	return team.Person(w.Developer)
}

// When is when it was last edited there, or when it began.
func When(w wire.LiveWork) coord.Time {
	if w.EditedAt != nil {
		return *w.EditedAt
	}
	return w.Since
}
