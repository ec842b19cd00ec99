package hook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/patience"
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
// unsent; the turns of an agent always, and after a tool of another tool server,
// which may have written without a word.
func (r *runner) missing(ctx context.Context, targets []target) []target {
	always := r.call.Event == wire.HookPrompt || r.call.Event == wire.HookStop || r.call.Event == wire.HookSessionEnd ||
		r.call.Tool == host.Foreign
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
		unsent, calm := rec.Unsent(), rec.Calm()
		asked := time.Now()
		now, heard, known := r.heard(ctx, t.at, calm)
		quiet := len(unsent) == 0 && always && len(r.fresh(t.at.Root)) == 0
		if quiet && !known && now.Token == "" && rec.Unchanged(t.at.Repo, calm) {
			continue
		}
		var paths []string
		ok := false
		if quiet && known {
			paths, ok = r.unlikeAmong(ctx, t, rec, heard)
		}
		if !ok {
			paths, now.Ignored, ok = r.unlike(ctx, t, rec, unsent)
		}
		if ok && len(paths) == 0 {
			rec.AllSent()
			if now.Token == "" || now.Token != calm.Token || now.Frame != calm.Frame || !slices.Equal(now.Ignored, calm.Ignored) {
				rec.Keep(t.at.Repo, now, asked)
			}
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
		who, told := unsent[p]
		if told && who != r.self() {
			as = &who
		}
		was, known := r.record(at).Files[p]
		told = told || known && (was.Stamp == "" || was.Stamp == record.Stamp(at.Root, p)) // it is only to be told again
		i := slices.IndexFunc(out, func(t target) bool {
			return t.untold != told && (t.as == nil && as == nil || t.as != nil && as != nil && *t.as == *as)
		})
		if i < 0 {
			i = len(out)
			out = append(out, target{at: at, as: as, untold: !told})
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
	limit := time.Duration(statusTimeout)
	if r.call.Event == wire.HookStop || r.call.Event == wire.HookSessionEnd {
		limit = turnTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(limit))
	defer cancel()
	base, differ, ignored, err := r.differing(ctx, t.at)
	if err != nil {
		r.unseenTree(t.at, err)
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
func (r *runner) differing(ctx context.Context, at *place) (base string, paths map[string]bool, ignored []string, err error) {
	head := at.Head()
	if head.SHA == "" {
		return "", nil, nil, errNoCommit
	}
	base = r.base(ctx, send{event: wire.HookPostEdit, at: at}, head, at.DefaultBranch())
	if base == "" {
		base = head.SHA
	}
	names, ignored, err := at.StatusIgnored(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	if base != head.SHA {
		committed, err := at.Changed(ctx, base, head.SHA)
		if err != nil {
			return "", nil, nil, err
		}
		names = append(names, committed...)
	}
	paths = make(map[string]bool, len(names))
	for _, n := range names {
		if !strings.HasSuffix(n, "/") { // another repository in this one
			paths[n] = true
		}
	}
	return base, paths, ignored, nil
}

// errNoCommit means that there is nothing yet that files could differ from.
var errNoCommit = errors.New("no commit yet")

// unseenTree notes that git did not say what a working copy holds: what was
// written there besides hooks is not told, and counts as missed.
func (r *runner) unseenTree(at *place, err error) {
	if errors.Is(err, errNoCommit) {
		return
	}
	r.log(fmt.Errorf("git did not say what changed in %s: %w", at.Root, err))
	if r.spool != nil {
		r.spool.Count(spool.FailOpens, 1)
	}
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
	rec := r.record(s.at).Again()
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
	again := (facts.Late || facts.Truncated) && r.call.Event == wire.HookPostEdit // once more when the turn ends
	for _, p := range s.paths {
		now[p] = record.State{Stamp: stamps[p], By: s.by(r).Mark()}
		left := facts.Truncated && !slices.ContainsFunc(facts.Files, func(f coord.FileFacts) bool { return f.Path == p })
		if again || left {
			now[p] = record.State{} // still to be told
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
