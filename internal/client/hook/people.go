package hook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/wire"
)

// People edit, too, and no host tells of it. Where a person wants that, a
// watcher (svc watch-tree) looks on and tells what changed, as the work of a
// session called editor. It must not take an agent's edits for a person's: so
// where somebody watches, hooks note what agents are about to write, and what
// is noted is left to the hook that follows the edit.

// WatchFile marks a clone as one in which the person wants to be watched. It
// lies with the configuration, where no repository can write.
func WatchFile(config string, repo *gitrepo.Repo) string {
	return filepath.Join(config, "watching", spool.Hash(repo.CommonDir)[:32])
}

// WatchLock is the file that the watcher of a working copy holds locked.
func WatchLock(config string, repo *gitrepo.Repo) string {
	return filepath.Join(config, "watching", spool.Hash("lock", repo.Root)[:32]+".lock")
}

// WatchFailure is the file that says why the watcher of a working copy could not
// watch it.
func WatchFailure(config string, repo *gitrepo.Repo) string {
	return filepath.Join(config, "watching", spool.Hash("failed", repo.Root)[:32])
}

// triedAgain is when a working copy that could not be watched is tried again,
// unless its person switches it on anew: what is too large does not get small.
const triedAgain = 24 * time.Hour

// watches reports whether people's edits in a working copy are to be told.
func (r *runner) watches(at *place) bool {
	dir, err := r.ConfigDir()
	if err != nil || dir == "" {
		return false
	}
	_, err = os.Lstat(WatchFile(dir, at.Repo))
	return err == nil
}

// startWatcher starts the watcher of a working copy where one is wanted and
// none runs. One that failed is not started at every prompt.
func (r *runner) startWatcher(s send) {
	begins := s.event == wire.HookSessionStart || s.event == wire.HookPrompt
	if r.WatchTree == nil || !begins || s.as != nil || !r.watches(s.at) {
		return
	}
	dir, err := r.ConfigDir()
	if err != nil || plain.Locked(WatchLock(dir, s.at.Repo)) {
		return
	}
	if failed, err := os.Lstat(WatchFailure(dir, s.at.Repo)); err == nil && time.Since(failed.ModTime()) < triedAgain {
		return
	}
	r.WatchTree(s.at.Root)
}

// writingName names what is noted of files that are being written.
func writingName(paths []string) string { return spool.EditPrefix + spool.Hash(paths...)[:24] }

// writing notes that the session is about to write files, or has written them
// and tells of it now.
func (r *runner) writing(sends []send) {
	for _, s := range sends {
		tells := s.event == wire.HookPostEdit || s.event == wire.HookPreEdit && !r.call.IsShell()
		if tells && s.as == nil && len(s.paths) > 0 && r.watches(s.at) {
			name := writingName(s.paths)
			r.spool.Put(name, s.at.Root+"\n"+strings.Join(s.paths, "\n"))
			r.noted = append(r.noted, name)
		}
	}
}

// written forgets it, once it was told or cannot be.
func (r *runner) written(s send) {
	if s.event == wire.HookPostEdit && len(r.noted) > 0 {
		r.forget(writingName(s.paths))
	}
}

// notWriting forgets what a refused call would have written, and at the end of
// a turn all that the session was about to.
func (r *runner) notWriting() {
	names := r.noted
	if r.call.Event == wire.HookStop {
		names = r.spool.Entries(spool.EditPrefix)
	}
	for _, name := range slices.Clone(names) {
		r.forget(name)
	}
}

func (r *runner) forget(name string) {
	r.spool.Take(name)
	r.noted = slices.DeleteFunc(r.noted, func(n string) bool { return n == name })
}

// An Observer tells of what people change in one working copy.
type Observer struct {
	run *runner
	at  *place
}

// ErrNotTold is the error where nothing of a repository is to be told.
var ErrNotTold = errors.New("nothing is told of this repository")

// Observe returns the observer of the working copy at root.
func Observe(env Env, root string) (*Observer, error) {
	repo, ok := gitrepo.At(root)
	if !ok {
		return nil, errors.New(root + " is no git repository")
	}
	h := host.Editor
	o := &Observer{run: &runner{Env: env, host: h, event: "watch", call: &host.Call{
		Host: h, Declared: h, Native: "watch", At: host.AfterTool, Event: wire.HookPostEdit, Cwd: root, Surface: h.Surface,
	}}}
	if o.at, ok = o.run.placeOf(repo); !ok {
		return nil, ErrNotTold
	}
	o.run.call.Session = "editor-" + spool.Hash(root)[:16]
	o.run.spool = spool.Open(env.TempDir, h.ID, o.run.call.Session)
	return o, nil
}

// An Observation is what was seen.
type Observation struct {
	Told    int
	Later   bool     // something was left alone, because an agent is at it
	Ignored []string // folders that git leaves out
}

// Look compares the working copy with what was told of it, and tells what is
// missing and no agent's.
func (o *Observer) Look(ctx context.Context) (out Observation, err error) {
	r := o.run
	targets, err := r.route([]target{{at: o.at}})
	if err != nil {
		return out, err
	}
	if len(targets) == 0 {
		return out, ErrNotTold
	}
	o.at.record = nil // since the last look others have told of it
	agents, command := r.spool.Writing(o.at.Root)
	rec := r.record(o.at)
	unsent := rec.Unsent()
	paths, ignored, ok := r.unlike(ctx, targets[0], rec, unsent)
	if !ok {
		return out, errors.New("git does not say what differs")
	}
	out.Ignored = ignored
	// Who was at work when the look began, who is when it ends, and what was
	// told between the two: an agent's edit may begin or end at any moment.
	later, commands := r.spool.Writing(o.at.Root)
	if command || commands {
		out.Later = len(paths) > 0
		return out, nil
	}
	agents = append(agents, later...)
	now := record.Read(r.recordOf(o.at))
	free := slices.DeleteFunc(paths, func(p string) bool {
		_, others := unsent[p] // an agent's, that the service missed: told with the next hook
		return others || slices.Contains(agents, p) || now.Files[p] != rec.Files[p]
	})
	out.Later = len(free) < len(paths)
	if len(free) == 0 {
		return out, nil
	}
	out.Told = len(free)
	return out, o.tell(ctx, free)
}

// Saved tells of files that the person saved just now: those are no agent's.
func (o *Observer) Saved(ctx context.Context, paths []string) error {
	targets, err := o.run.route([]target{{at: o.at}})
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return ErrNotTold
	}
	o.at.record = nil
	return o.tell(ctx, paths)
}

func (o *Observer) tell(ctx context.Context, paths []string) error {
	r := o.run
	var sends []send
	if !r.spool.Knows("begun") {
		sends = append(sends, send{event: wire.HookSessionStart, at: o.at, lead: true})
	}
	if _, err := r.ask(ctx, append(sends, send{event: wire.HookPostEdit, at: o.at, paths: paths})); err != nil {
		r.unanswered()
		return err
	}
	r.spool.Put("begun", "")
	return nil
}

// End tells that nobody looks on any more.
func (o *Observer) End(ctx context.Context) {
	r := o.run
	if !r.spool.Knows("begun") {
		return
	}
	if _, err := r.ask(ctx, []send{{event: wire.HookSessionEnd, at: o.at}}); err != nil {
		r.log(err)
	}
	r.spool.RemoveSession()
}

// Note puts a line into the log of hooks.
func (o *Observer) Note(err error) { o.run.log(err) }
