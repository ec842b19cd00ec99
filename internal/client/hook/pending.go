package hook

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// maxEdited is the size of the largest file whose pending edit is worked out.
const maxEdited = 4 << 20

// askAgain tells the service which lines an edit is about to replace, if it
// asked for that: others have changes in the file. Ordinary edits never get
// here.
func (r *runner) askAgain(ctx context.Context, s send, req wire.HookRequest, first wire.HookReply) wire.HookReply {
	pending := r.pending(ctx, s, first.WantLines)
	if len(pending) == 0 {
		return first
	}
	req.Pending = pending
	if req.DedupeKey != "" {
		req.DedupeKey += "-lines"
	}
	second, err := r.evaluate(ctx, req)
	if err != nil {
		r.log(err)
		r.spool.KeepUnheard(r.login.Server, req.DedupeKey)
		return first
	}
	if second.Decision == wire.Allow {
		second.Decision, second.Reason = first.Decision, first.Reason
	}
	if !strings.Contains(second.InjectContext, first.InjectContext) {
		second.InjectContext = spool.JoinContexts(first.InjectContext, second.InjectContext)
	}
	return second
}

// pending works out what the wanted files would be like after the edit.
func (r *runner) pending(ctx context.Context, s send, wanted []string) []wire.HookPending {
	drafted := r.after(s, wanted)
	if len(drafted) == 0 {
		return nil
	}
	contents := make(map[string][]byte, len(drafted))
	for p, d := range drafted {
		if !d.unknown {
			contents[p] = d.content
		}
	}
	if len(contents) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(statusTimeout))
	defer cancel()
	base := r.base(ctx, send{event: wire.HookPostEdit, at: s.at}, s.at.Head(), s.at.DefaultBranch())
	drafts, err := gitrepo.Drafts(ctx, s.at.Root, base, contents)
	if err != nil {
		return nil
	}
	var out []wire.HookPending
	for _, d := range drafts {
		if drafted[d.Path].gone {
			d.NewBlob = ""
		}
		out = append(out, wire.HookPending{
			Path:     d.Path,
			BaseBlob: d.BaseBlob,
			NewBlob:  d.NewBlob,
			NowBlob:  d.NowBlob,
			Hunks:    wireHunks(d.Hunks),
			Edits:    wireHunks(d.Edits),
		})
	}
	return out
}

// A draft is what a file would hold after an edit.
type draft struct {
	content []byte
	gone    bool
	quotes  bool // the edit names the text that it replaces
	unknown bool // it cannot be told: all of it is replaced by something else, or, with quotes, a text that is not there
}

// after returns what the wanted files would hold, as far as the call tells.
func (r *runner) after(s send, wanted []string) map[string]draft {
	if r.call.IsShell() && len(r.call.Paths) == 0 {
		return r.afterCommand(s, wanted)
	}
	out := map[string]draft{}
	byFile := map[string][]host.Change{}
	for _, c := range r.call.Changes() {
		full := r.real(absolute(r.call.Cwd, c.Path))
		rel, err := filepath.Rel(s.at.Root, full)
		if rel = filepath.ToSlash(rel); err == nil && slices.Contains(wanted, rel) {
			byFile[rel] = append(byFile[rel], c)
		}
	}
	for rel, changes := range byFile {
		now, ok := plainText(filepath.Join(s.at.Root, filepath.FromSlash(rel)))
		if !ok {
			continue
		}
		quotes := !slices.ContainsFunc(changes, func(c host.Change) bool { return c.Whole || c.Delete })
		if after, deleted, ok := host.Apply(now, changes); ok || quotes {
			out[rel] = draft{after, deleted, quotes, !ok}
		}
	}
	return out
}

// plainText returns what a file holds whose edit can be worked out: nothing, if
// there is none yet.
func plainText(name string) ([]byte, bool) {
	data, err := plain.ReadHere(name, maxEdited)
	return data, err == nil || errors.Is(err, fs.ErrNotExist)
}

// afterCommand is after for a command in a shell, of the files whose new
// content follows from its text, or is known to be none of the old.
func (r *runner) afterCommand(s send, wanted []string) map[string]draft {
	out := map[string]draft{}
	c := commandEdits{dir: r.commandDir(), byFile: map[string][]shellscan.Edit{}}
	scanned := r.scan(c.dir, s.at.Repo)
	for _, e := range scanned.Edits {
		full := realPath(absolute(c.dir, e.Path))
		c.byFile[full] = append(c.byFile[full], e)
	}
	for _, rel := range wanted {
		full := filepath.Join(s.at.Root, filepath.FromSlash(rel))
		edits := c.byFile[full]
		if len(edits) == 0 {
			continue
		}
		content, deleted, ok := c.after(full, 0)
		switch {
		case ok:
			blind := slices.ContainsFunc(edits, func(e shellscan.Edit) bool { return len(e.Replace) == 0 && !e.Append })
			out[rel] = draft{[]byte(content), deleted, !blind, false}
		case c.blind(full, 0) && !slices.ContainsFunc(scanned.Operands, func(p string) bool { return realPath(absolute(c.dir, p)) == full }):
			out[rel] = draft{unknown: true}
		}
	}
	return out
}

// commandEdits are what a command does to files, by their full names. A file
// that it makes may become another.
type commandEdits struct {
	dir    string
	byFile map[string][]shellscan.Edit
}

// maxMade is through how many files of one command a content is followed.
const maxMade = 5

// after is what a file holds when the command has ended.
func (c commandEdits) after(full string, depth int) (content string, deleted, ok bool) {
	now, ok := plainText(full)
	if !ok || depth > maxMade {
		return "", false, false
	}
	return shellscan.Apply(string(now), c.byFile[full], func(path string) (string, bool) {
		name := realPath(absolute(c.dir, path))
		if made := slices.DeleteFunc(slices.Clone(c.byFile[name]), func(e shellscan.Edit) bool { return e.Delete }); len(made) > 0 {
			text, _, ok := commandEdits{c.dir, map[string][]shellscan.Edit{name: made}}.after(name, depth+1)
			return text, ok
		}
		if _, err := os.Lstat(name); err != nil {
			return "", false
		}
		data, ok := plainText(name)
		return string(data), ok
	})
}

// blind reports whether a file becomes something that the command does not tell.
func (c commandEdits) blind(full string, depth int) bool {
	return depth <= maxMade && slices.ContainsFunc(c.byFile[full], func(e shellscan.Edit) bool {
		return e.Blind || e.From != "" && c.blind(realPath(absolute(c.dir, e.From)), depth+1)
	})
}

// maxHunks is how many an event takes of one file.
const maxHunks = 2000

func wireHunks(hunks []diff.Hunk) []coord.Hunk {
	if len(hunks) > maxHunks {
		return nil // unknown: some of them would read as if the rest were untouched
	}
	out := make([]coord.Hunk, len(hunks))
	for i, h := range hunks {
		out[i] = coord.Hunk{Start: h.OldStart, Count: h.OldCount, LinesHash: h.Hash}
	}
	return out
}
