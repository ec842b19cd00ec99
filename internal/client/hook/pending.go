package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/host"
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
		return first
	}
	if second.Decision == wire.Allow {
		second.Decision, second.Reason = first.Decision, first.Reason
	}
	if !strings.Contains(second.InjectContext, first.InjectContext) {
		second.InjectContext = joinContexts(first.InjectContext, second.InjectContext)
	}
	return second
}

// pending works out what the wanted files would be like after the edit.
func (r *runner) pending(ctx context.Context, s send, wanted []string) []wire.HookPending {
	byFile := map[string][]host.Change{}
	for _, c := range r.call.Changes() {
		full := realPath(absolute(r.call.Cwd, c.Path))
		rel, err := filepath.Rel(s.at.Root, full)
		if rel = filepath.ToSlash(rel); err == nil && slices.Contains(wanted, rel) {
			byFile[rel] = append(byFile[rel], c)
		}
	}
	contents := map[string][]byte{}
	for rel, changes := range byFile {
		name := filepath.Join(s.at.Root, filepath.FromSlash(rel))
		var now []byte
		if info, err := os.Lstat(name); err == nil {
			if !info.Mode().IsRegular() || info.Size() > maxEdited {
				continue
			}
			if now, err = os.ReadFile(name); err != nil {
				continue
			}
		}
		if after, deleted, ok := host.Apply(now, changes); ok && !deleted {
			contents[rel] = after
		}
	}
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

func wireHunks(hunks []gitrepo.Hunk) []coord.Hunk {
	hunks = hunks[:min(len(hunks), 2000)]
	out := make([]coord.Hunk, len(hunks))
	for i, h := range hunks {
		out[i] = coord.Hunk{Start: h.OldStart, Count: h.OldCount, LinesHash: h.Hash}
	}
	return out
}
