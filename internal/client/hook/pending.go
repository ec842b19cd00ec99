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
	contents, gone := r.after(s, wanted)
	if len(contents) == 0 {
		return nil
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
		if gone[d.Path] {
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

// after returns what the wanted files would hold, and which would be gone.
func (r *runner) after(s send, wanted []string) (contents map[string][]byte, gone map[string]bool) {
	contents, gone = map[string][]byte{}, map[string]bool{}
	if r.call.IsShell() && len(r.call.Paths) == 0 {
		r.afterCommand(s, wanted, contents, gone)
		return contents, gone
	}
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
			contents[rel], gone[rel] = after, deleted
		}
	}
	return contents, gone
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
	data, err := os.ReadFile(name)
	return data, err == nil
}

// afterCommand is after for a command in a shell, of the files whose new
// content follows from its text.
func (r *runner) afterCommand(s send, wanted []string, contents map[string][]byte, gone map[string]bool) {
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
			contents[rel], gone[rel] = []byte(after), deleted
		}
	}
}

func wireHunks(hunks []diff.Hunk) []coord.Hunk {
	hunks = hunks[:min(len(hunks), 2000)]
	out := make([]coord.Hunk, len(hunks))
	for i, h := range hunks {
		out[i] = coord.Hunk{Start: h.OldStart, Count: h.OldCount, LinesHash: h.Hash}
	}
	return out
}
