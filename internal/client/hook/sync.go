package hook

import (
	"bufio"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// The tree is the truth. Events get lost: the service is away, a tool of
// another server writes, a person does, a host has no hooks. So what a working
// copy holds is compared with what the service was last told of it, and what
// is missing is told. A record of that lies with the configuration, one for
// each working copy, and outlives hosts, sessions and restarts.
type record struct {
	file  string
	base  string           // what the files were compared with
	files map[string]state // of those that differed from base, by path
	lines int              // that the file has
}

// A state of a file is its stamp, and the session that told it.
type state struct{ stamp, by string }

// record is what the service was told of a working copy, as it was when this
// event first asked.
func (r *runner) record(at *place) *record {
	if at.told == nil || at.told.file != r.recordOf(at) { // a service has its own
		at.told = r.readRecord(at)
	}
	return at.told
}

func (r *runner) recordOf(at *place) string {
	dir, err := r.ConfigDir()
	if err != nil || dir == "" {
		return ""
	}
	return recordFile(dir, at.login.Server, at.Root)
}

// readRecord reads it as it is now: others write it too.
func (r *runner) readRecord(at *place) *record {
	rec := &record{file: r.recordOf(at), files: map[string]state{}}
	if rec.file == "" {
		return rec
	}
	f, err := os.Open(rec.file)
	if err != nil {
		return rec
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for ; lines.Scan(); rec.lines++ {
		path, rest, ok := strings.Cut(lines.Text(), "\t")
		switch {
		case rec.lines == 0:
			rec.base = lines.Text()
		case ok:
			stamp, by, _ := strings.Cut(rest, "\t")
			rec.files[path] = state{stamp, by}
		default:
			delete(rec.files, path)
		}
	}
	return rec
}

func recordFile(config, server, root string) string {
	return filepath.Join(config, "trees", hashed(server, root)[:32])
}

// save keeps the record, all at once.
func (rec *record) save() {
	if rec.file == "" || os.MkdirAll(filepath.Dir(rec.file), 0o700) != nil {
		return
	}
	var b strings.Builder
	b.WriteString(rec.base + "\n")
	for path, s := range rec.files {
		b.WriteString(s.line(path))
	}
	_ = replaceFile(rec.file, []byte(b.String()))
}

// line is a file's line of a record; a later line of the same file takes its
// place, and one that has the path alone takes it out.
func (s state) line(path string) string {
	if strings.ContainsAny(path, "\t\n") {
		return ""
	}
	return path + "\t" + s.stamp + "\t" + s.by + "\n"
}

// slack is how many lines of a record may have been taken over by later ones.
const slack = 100

// change keeps what became of files. To add a line costs a fifth of what a new
// file does, and takes nothing from others that add theirs.
func (rec *record) change(now map[string]state) {
	var b strings.Builder
	n := rec.lines
	for path, s := range now {
		if was, known := rec.files[path]; !known || was != s {
			b.WriteString(s.line(path))
			n++
		}
	}
	for path := range rec.files {
		if _, stays := now[path]; !stays {
			b.WriteString(path + "\n")
			n++
		}
	}
	rec.files = now
	if b.Len() == 0 {
		return
	}
	if rec.lines == 0 || n > 2*len(now)+slack || rec.add(b.String()) != nil {
		rec.save()
	}
}

func (rec *record) add(lines string) error {
	f, err := os.OpenFile(rec.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines)
	return errors.Join(err, f.Close())
}

// stampOf tells one state of a file from another.
func stampOf(root, path string) string {
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return "gone"
	}
	return strconv.FormatInt(changedAt(info).UnixNano(), 36) + "." + strconv.FormatInt(info.Size(), 36) + "." + info.Mode().String()
}

// stampsOf returns the stamps of the files that an event tells of.
func stampsOf(s send) map[string]string {
	if s.event != wire.HookPostEdit {
		return nil
	}
	out := make(map[string]string, len(s.paths))
	for _, p := range s.paths {
		out[p] = stampOf(s.at.Root, p)
	}
	return out
}

// owedFile marks a working copy of which an event did not get through.
func (rec *record) owedFile() string { return rec.file + ".owed" }

// lost notes the events that the service did not get. Of the others it needs
// no second telling.
func (r *runner) lost(sends []send) {
	for _, s := range sends {
		if s.event == wire.HookPostEdit {
			r.owe(s)
		}
		if s.event == wire.HookSessionEnd {
			r.unheard = true
			r.leave(false)
		}
	}
}

// missing returns what the working copies hold that the service was not told.
// Looking costs a git process, so ordinary edits do so only if something is
// owed; the turns of an agent always.
func (r *runner) missing(ctx context.Context, targets []target) []target {
	always := r.call.Event == wire.HookPrompt || r.call.Event == wire.HookStop || r.call.Event == wire.HookSessionEnd
	if !always && r.call.Event != wire.HookPostEdit {
		return nil
	}
	var out []target
	for _, t := range targets {
		rec := r.record(t.at)
		if rec.file == "" {
			continue
		}
		if _, err := os.Lstat(rec.owedFile()); err != nil && !always {
			continue
		}
		owed := rec.owedTo()
		if len(owed) == 0 && always && len(r.fresh(t.at.Root)) == 0 && r.isCalm(t.at, rec) {
			continue
		}
		asked := time.Now()
		paths, ignored, ok := r.unlike(ctx, t, rec, owed)
		if ok && len(paths) == 0 {
			_ = os.Remove(rec.owedFile())
			r.keepCalm(t.at, rec, ignored, asked)
		}
		out = append(out, r.byOwner(t.at, paths, owed)...)
	}
	return out
}

// byOwner sorts files by who wrote them, as far as that is known. The others
// are told by whoever comes.
func (r *runner) byOwner(at *place, paths []string, owed map[string]owner) []target {
	var out []target
	for _, p := range paths {
		var as *owner
		if who, ok := owed[p]; ok && who != r.self() {
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
func (r *runner) self() owner { return owner{r.call.Host.ID, r.call.Session, r.call.Parent} }

// unlike returns the files whose state is not the one on record.
func (r *runner) unlike(ctx context.Context, t target, rec *record, owed map[string]owner) (out, ignored []string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	base, differ, ignored, ok := r.differing(ctx, t.at)
	if !ok {
		return nil, nil, false
	}
	fresh := r.fresh(t.at.Root)
	for path := range differ {
		if rec.base != base || rec.files[path].stamp != stampOf(t.at.Root, path) || r.mentionsFresh(t.at.Root, path, fresh) {
			out = append(out, path)
		}
	}
	for path := range rec.files {
		// Put back, or taken over by the base. A file that git ignores does not
		// differ either, but is as it was.
		if !differ[path] && (rec.base != base || rec.files[path].stamp != stampOf(t.at.Root, path)) {
			out = append(out, path)
		}
	}
	if len(fresh) > 0 && len(out) == 0 {
		r.spool.unshare(freshName(t.at.Root))
	}
	told := r.call.Event == wire.HookPostEdit // of the files of this event, in a moment
	out = slices.DeleteFunc(out, func(p string) bool {
		who, others := owed[p]
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
func (s send) by(r *runner) owner {
	if s.as != nil {
		return *s.as
	}
	return r.self()
}

// mark tells one session from another, in a record.
func (o owner) mark() string { return hashed(o.tool, o.session, o.parent)[:8] }

// asTold reports whether this session has told of files as they are: an edit
// that was none, or that the end of a turn before it told of.
func (r *runner) asTold(s send, base string) bool {
	rec := r.record(s.at)
	if s.as != nil || base == "" || rec.base != base || len(r.fresh(s.at.Root)) > 0 {
		return false
	}
	if _, err := os.Lstat(rec.owedFile()); err == nil {
		return false
	}
	me := r.self().mark()
	return !slices.ContainsFunc(s.paths, func(p string) bool { return rec.files[p] != state{stampOf(s.at.Root, p), me} })
}

// told notes what the service has taken in. A working copy whose base moved
// begins anew: the lines of the files are counted from another version.
// stamps are of before the files were read: what changed since is told later.
func (r *runner) told(s send, base string, facts *coord.Analysis, stamps map[string]string) {
	if facts == nil || base == "" {
		return // of files that nobody looked into it knows nothing yet
	}
	if s.lead {
		r.spool.unshare(freshName(s.at.Root)) // what mentions them has been told
	}
	rec := r.readRecord(s.at)
	if rec.file == "" {
		return
	}
	s.at.told = rec
	changed := rec.base != base
	if changed {
		rec.base = base
		for path := range rec.files {
			rec.files[path] = state{} // still to be told, against the new base
		}
	}
	now := maps.Clone(rec.files)
	for _, p := range s.paths {
		now[p] = state{stamps[p], s.by(r).mark()}
		if facts.Late && r.call.Event == wire.HookPostEdit {
			now[p] = state{} // once more when the turn ends
		}
	}
	for _, f := range facts.Files {
		if f.Status == coord.FileUnchanged {
			delete(now, f.Path)
		}
	}
	if changed {
		rec.files = now
		rec.save()
	} else {
		rec.change(now)
	}
	rec.settle(s.paths)
}
