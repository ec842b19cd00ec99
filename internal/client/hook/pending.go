package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
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
		contents[p] = d.content
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
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
}

// after returns what the wanted files would hold, as far as the call tells.
func (r *runner) after(s send, wanted []string) map[string]draft {
	if r.call.IsShell() && len(r.call.Paths) == 0 {
		return r.afterCommand(s, wanted)
	}
	out := map[string]draft{}
	byFile := map[string][]host.Change{}
	for _, c := range r.call.Changes() {
		full := realPath(absolute(r.call.Cwd, c.Path))
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
		if after, deleted, ok := host.Apply(now, changes); ok {
			blind := slices.ContainsFunc(changes, func(c host.Change) bool { return c.Whole || c.Delete })
			out[rel] = draft{after, deleted, !blind}
		}
	}
	return out
}

// plainText returns what a file holds whose edit can be worked out: nothing, if
// there is none yet.
func plainText(name string) ([]byte, bool) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, true
	}
	if !info.Mode().IsRegular() || info.Size() > maxEdited {
		return nil, false
	}
	data, err := plain.ReadHere(name, maxEdited)
	return data, err == nil
}

// afterCommand is after for a command in a shell, of the files whose new
// content follows from its text.
func (r *runner) afterCommand(s send, wanted []string) map[string]draft {
	out := map[string]draft{}
	dir := r.commandDir()
	byFile := map[string][]shellscan.Edit{}
	for _, e := range r.scan(dir, s.at.Repo).Edits {
		rel, err := filepath.Rel(s.at.Root, realPath(absolute(dir, e.Path)))
		if rel = filepath.ToSlash(rel); err == nil && slices.Contains(wanted, rel) {
			byFile[rel] = append(byFile[rel], e)
		}
	}
	read := func(path string) (string, bool) {
		name := absolute(dir, path)
		if _, err := os.Lstat(name); err != nil {
			return "", false
		}
		data, ok := plainText(name)
		return string(data), ok
	}
	for rel, edits := range byFile {
		now, ok := plainText(filepath.Join(s.at.Root, filepath.FromSlash(rel)))
		if !ok {
			continue
		}
		if after, deleted, ok := shellscan.Apply(string(now), edits, read); ok {
			blind := slices.ContainsFunc(edits, func(e shellscan.Edit) bool { return len(e.Replace) == 0 && !e.Append })
			out[rel] = draft{[]byte(after), deleted, !blind}
		}
	}
	return out
}

func wireHunks(hunks []diff.Hunk) []coord.Hunk {
	hunks = hunks[:min(len(hunks), 2000)]
	out := make([]coord.Hunk, len(hunks))
	for i, h := range hunks {
		out[i] = coord.Hunk{Start: h.OldStart, Count: h.OldCount, LinesHash: h.Hash}
	}
	return out
}
