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
}

// maxVersion is the largest version that is compared.
const maxVersion = 8 << 20

// A Repo has the versions that work started from.
type Repo struct {
	Root string
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

// Place tells where the work in a file stands in text.
func (r *Repo) Place(ctx context.Context, f wire.LiveFile, text []byte) ([]Mark, error) {
	out := make([]Mark, len(f.Work))
	ways := map[string][]coord.LineShift{} // from each version to the text
	for i, w := range f.Work {
		out[i] = Mark{LiveWork: w, At: []coord.LineCount{}, Over: make([]coord.LineCount, len(w.Definitions))}
		if w.Base == nil {
			out[i].Placed = w.Status == ""
			continue
		}
		way, known := ways[*w.Base]
		if !known {
			before, ok := r.version(ctx, *w.Base)
			if !ok {
				continue
			}
			hunks, err := gitrepo.Compare(ctx, before, text)
			if errors.Is(err, odb.ErrMissing) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, h := range hunks {
				way = append(way, coord.LineShift{FromStart: h.OldStart, FromCount: h.OldCount, ToStart: h.NewStart, ToCount: h.NewCount})
			}
			ways[*w.Base] = way
		}
		out[i].Placed = true
		for _, l := range w.Lines {
			out[i].At = append(out[i].At, engine.MoveLines(l, way))
		}
		for k, d := range w.Definitions {
			if d.Lines != nil {
				out[i].Over[k] = engine.MoveLines(*d.Lines, way)
			}
		}
	}
	return out, nil
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
	return team.Person(w.Developer)
}

// When is when it was last edited there, or when it began.
func When(w wire.LiveWork) coord.Time {
	if w.EditedAt != nil {
		return *w.EditedAt
	}
	return w.Since
}
