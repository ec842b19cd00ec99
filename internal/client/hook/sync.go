package hook

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// The tree is the truth. Events get lost: the service is away, a tool of
// another server writes, a person does, a host has no hooks. So what a working
// copy holds is compared with the record of what the service was last told of
// it, and what is missing is told.

// record is what the service was told of a working copy, as it was when this
// event first asked.
func (r *runner) record(at *place) *record.Record {
	if at.record == nil || at.record.File() != r.recordOf(at) { // a service has its own
		at.record = record.Read(r.recordOf(at))
	}
	return at.record
}

func (r *runner) recordOf(at *place) string {
	dir, err := r.ConfigDir()
	if err != nil {
		return ""
	}
	return record.In(dir, at.login.Server, at.Root)
}

// stampsOf returns the stamps of the files that an event tells of.
func stampsOf(s send) map[string]string {
	if s.event != wire.HookPostEdit {
		return nil
	}
	out := make(map[string]string, len(s.paths))
	for _, p := range s.paths {
		out[p] = record.Stamp(s.at.Root, p)
	}
	return out
}

// lost notes the events that the service did not get. Of the others it needs
// no second telling.
func (r *runner) lost(sends []send) {
	for _, s := range sends {
		if s.event == wire.HookPostEdit {
			r.addUnsent(s)
		}
		if s.event == wire.HookSessionEnd {
			r.unheard = true
			r.leave(false)
		}
	}
}

// missing returns what the working copies hold that the service was not told.
// Looking costs a git process, so ordinary edits do so only if something is
// unsent; the turns of an agent always.
func (r *runner) missing(ctx context.Context, targets []target) []target {
	always := r.call.Event == wire.HookPrompt || r.call.Event == wire.HookStop || r.call.Event == wire.HookSessionEnd
	if !always && r.call.Event != wire.HookPostEdit {
		return nil
	}
	var out []target
	for _, t := range targets {
		rec := r.record(t.at)
		if rec.File() == "" {
			continue
		}
		if !always && !rec.HasUnsent() {
			continue
		}
		unsent := rec.Unsent()
		if len(unsent) == 0 && always && len(r.fresh(t.at.Root)) == 0 && rec.Unchanged(t.at.Repo) {
			continue
		}
		asked := time.Now()
		paths, ignored, ok := r.unlike(ctx, t, rec, unsent)
		if ok && len(paths) == 0 {
			rec.AllSent()
			rec.KeepLook(t.at.Repo, ignored, asked)
		}
		out = append(out, r.byOwner(t.at, paths, unsent)...)
	}
	return out
}

// byOwner sorts files by who wrote them, as far as that is known. The others
// are told by whoever comes.
func (r *runner) byOwner(at *place, paths []string, unsent map[string]record.Owner) []target {
	var out []target
	for _, p := range paths {
		var as *record.Owner
		if who, ok := unsent[p]; ok && who != r.self() {
			as = &who
		}
		i := slices.IndexFunc(out, func(t target) bool { return t.as == nil && as == nil || t.as != nil && as != nil && *t.as == *as })
		if i < 0 {
			i = len(out)
			out = append(out, target{at: at, as: as})
		}
		out[i].paths = append(out[i].paths, p)
	}
	return out
}

// self is the session that speaks.
func (r *runner) self() record.Owner {
	return record.Owner{Tool: r.call.Host.ID, Session: r.call.Session, Parent: r.call.Parent}
}

// unlike returns the files whose state is not the one on record.
func (r *runner) unlike(ctx context.Context, t target, rec *record.Record, unsent map[string]record.Owner) (
	out, ignored []string, ok bool,
) {
	limit := statusTimeout
	if r.call.Event == wire.HookStop || r.call.Event == wire.HookSessionEnd {
		limit = turnTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	base, differ, ignored, ok := r.differing(ctx, t.at)
	if !ok {
		return nil, nil, false
	}
	fresh := r.fresh(t.at.Root)
	for path := range differ {
		if rec.Base != base || rec.Files[path].Stamp != record.Stamp(t.at.Root, path) || r.mentionsFresh(t.at.Root, path, fresh) {
			out = append(out, path)
		}
	}
	for path := range rec.Files {
		// Put back, or taken over by the base. A file that git ignores does not
		// differ either, but is as it was.
		if !differ[path] && (rec.Base != base || rec.Files[path].Stamp != record.Stamp(t.at.Root, path)) {
			out = append(out, path)
		}
	}
	if len(fresh) > 0 && len(out) == 0 {
		r.spool.Unshare(freshName(t.at.Root))
	}
	told := r.call.Event == wire.HookPostEdit // of the files of this event, in a moment
	out = slices.DeleteFunc(out, func(p string) bool {
		who, others := unsent[p]
		return told && slices.Contains(t.paths, p) && !(others && who != r.self()) || len(p) > 1024
	})
	slices.Sort(out)
	return out[:min(len(out), wire.MaxHookPaths)], ignored, true
}

// differing returns the files of a working copy that differ from its base:
// committed since, or not at all. ignored are the folders that git leaves out.
func (r *runner) differing(ctx context.Context, at *place) (base string, paths map[string]bool, ignored []string, ok bool) {
	head := at.Head()
	if head.SHA == "" {
		return "", nil, nil, false
	}
	base = r.base(ctx, send{event: wire.HookPostEdit, at: at}, head, at.DefaultBranch())
	if base == "" {
		base = head.SHA
	}
	names, ignored, err := at.StatusIgnored(ctx)
	if err != nil {
		return "", nil, nil, false
	}
	if base != head.SHA {
		committed, err := at.Changed(ctx, base, head.SHA)
		if err != nil {
			return "", nil, nil, false
		}
		names = append(names, committed...)
	}
	paths = make(map[string]bool, len(names))
	for _, n := range names {
		if !strings.HasSuffix(n, "/") { // another repository in this one
			paths[n] = true
		}
	}
	return base, paths, ignored, true
}

// by is the session in whose name an event is told.
func (s send) by(r *runner) record.Owner {
	if s.as != nil {
		return *s.as
	}
	return r.self()
}

// alreadySent reports whether this session has told of files as they are: an edit
// that was none, or that the end of a turn before it told of.
func (r *runner) alreadySent(s send, base string) bool {
	rec := r.record(s.at)
	if s.as != nil || base == "" || rec.Base != base || len(r.fresh(s.at.Root)) > 0 {
		return false
	}
	if rec.HasUnsent() {
		return false
	}
	me := r.self().Mark()
	return !slices.ContainsFunc(s.paths, func(p string) bool {
		return rec.Files[p] != record.State{Stamp: record.Stamp(s.at.Root, p), By: me}
	})
}

// noteSent notes what the service has taken in. A working copy whose base moved
// begins anew: the lines of the files are counted from another version.
// stamps are of before the files were read: what changed since is told later.
func (r *runner) noteSent(s send, base string, facts *coord.Analysis, stamps map[string]string) {
	if facts == nil || base == "" {
		return // of files that nobody looked into it knows nothing yet
	}
	if s.lead {
		r.spool.Unshare(freshName(s.at.Root)) // what mentions them has been told
	}
	rec := record.Read(r.recordOf(s.at))
	if rec.File() == "" {
		return
	}
	s.at.record = rec
	changed := rec.Base != base
	if changed {
		rec.Base = base
		for path := range rec.Files {
			rec.Files[path] = record.State{} // still to be told, against the new base
		}
	}
	now := maps.Clone(rec.Files)
	for _, p := range s.paths {
		now[p] = record.State{Stamp: stamps[p], By: s.by(r).Mark()}
		if facts.Late && r.call.Event == wire.HookPostEdit {
			now[p] = record.State{} // once more when the turn ends
		}
	}
	for _, f := range facts.Files {
		if f.Status == coord.FileUnchanged {
			delete(now, f.Path)
		}
	}
	if changed {
		rec.Files = now
		rec.Save()
	} else {
		rec.Change(now)
	}
	rec.Sent(s.paths)
}
