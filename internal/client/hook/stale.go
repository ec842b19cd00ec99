package hook

import (
	"math"
	"path/filepath"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/hook/view"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Hosts show a warning that comes before an edit with the result of that edit:
// too late, where the edit undoes what somebody else changed in the same working
// copy. So such an edit is refused, once, with the lines in question; when the
// session has read them, it passes. Who changed what is known on this machine
// (package view) and no service is asked for it.

// maxChecked is how many files of one call are compared line by line.
const maxChecked = 100

// stale is what a call would undo.
type stale struct {
	verdicts []view.Verdict
	at       []view.Session         // of each verdict
	roots    []string               // likewise
	edits    map[string][]view.Edit // all that the call is about to do, by root
	checked  map[string][]string    // the files that were compared, by root
}

func (r *runner) seeing(repo *gitrepo.Repo) view.Session {
	return view.Of(r.spool, repo, r.call.Host.ID, r.call.Session)
}

// noteReads notes which files a tool is about to show the model.
func (r *runner) noteReads() error {
	c := r.call
	if c.Cwd == "" {
		c.Cwd = r.dir()
	}
	r.open()
	for _, read := range c.Reads {
		if err := r.shown(r.real(absolute(c.Cwd, read.Path)), read.From, read.To); err != nil {
			return err
		}
	}
	return nil
}

// showing notes which files a command is about to show.
func (r *runner) showing(dir string, reads []shellscan.Read) {
	for _, read := range reads[:min(len(reads), maxChecked)] {
		to := read.To
		if read.From > 0 && read.From == 1 && to == math.MaxInt {
			to = maxShown
		}
		if err := r.shown(realPath(absolute(dir, read.Path)), read.From, to); err != nil {
			r.log(err)
		}
	}
}

// maxShown is how many lines of what a command prints hosts show a model.
const maxShown = 2000

func (r *runner) shown(file string, from, to int) error {
	repo, ok := gitrepo.Find(file)
	if !ok {
		return nil
	}
	rel, err := filepath.Rel(repo.Root, file)
	if err != nil || rel == "." {
		return nil
	}
	return r.seeing(repo).Read(filepath.ToSlash(rel), from, to)
}

// overwrites compares what a call is about to do with what others changed.
func (r *runner) overwrites(sends []send) stale {
	out := stale{edits: map[string][]view.Edit{}, checked: map[string][]string{}}
	if r.call.At != host.BeforeTool || !r.spool.Remembers() {
		return out
	}
	for _, s := range sends {
		if s.event != wire.HookPreEdit && s.event != wire.HookPreShell || s.as != nil || len(s.paths) == 0 {
			continue
		}
		paths := s.paths[:min(len(s.paths), maxChecked)]
		drafts := r.after(s, paths)
		me := r.seeing(s.at.Repo)
		for _, p := range paths {
			d, known := drafts[p]
			e := view.Edit{Path: p, Known: known && !d.unknown, After: d.content, Gone: d.gone, Quotes: d.quotes,
				Blind: d.unknown && !d.quotes, Many: len(paths) > 20}
			out.edits[s.at.Root] = append(out.edits[s.at.Root], e)
			v, ok := me.Check(e)
			if !ok {
				continue
			}
			out.checked[s.at.Root] = append(out.checked[s.at.Root], p)
			if !v.Clear() {
				out.verdicts, out.at, out.roots = append(out.verdicts, v), append(out.at, me), append(out.roots, s.at.Root)
			}
		}
	}
	return out
}

// stop adds to an answer what the call would undo: a refusal, or, where policy or
// what is known of the edit asks for no more, a warning.
func (r *runner) stop(a *host.Answer) {
	if a.Block || len(r.stale.verdicts) == 0 {
		return
	}
	say := voice{shell: r.call.IsShell(), self: r.call.Session, title: titled(r.book()), again: r.spool.Has(toldStale)}
	said := a.Reason + a.Context
	defer func() {
		if a.Reason+a.Context != said {
			r.spool.Put(toldStale, "")
		}
	}()
	for i, v := range r.stale.verdicts {
		rule := r.stalePolicy(r.stale.roots[i])
		switch {
		case rule == policy.StaleOff:
		case len(v.Lost) > 0 && rule != policy.StaleWarn:
			a.Block = true
			a.Reason = spool.JoinContexts(a.Reason, say.refusal(v))
			if err := r.stale.at[i].Told(v); err != nil {
				r.log(err)
			}
		default:
			if key := "told-" + factOf(v); !r.spool.Knows(key) {
				r.spool.Put(key, "")
				a.Context = spool.JoinContexts(a.Context, say.warning(v))
			}
		}
	}
	if a.Block {
		r.spool.Count(spool.StaleWrites, 1)
	}
}

// toldStale marks a session that has been told of such lines.
const toldStale = "stale-told"

// factOf names what a warning is about: it is said once.
func factOf(v view.Verdict) string {
	lines := ""
	for _, list := range [][]view.Span{v.Lost, v.Near, v.Unsure} {
		for _, s := range list {
			lines += excerptOf(v.Text, s, math.MaxInt) + "\x00"
		}
	}
	return spool.Hash(v.Path, lines)[:24]
}

func policyName(root string) string { return "stale-" + spool.Hash(root)[:24] }

// stalePolicy is what the service last said about such edits.
func (r *runner) stalePolicy(root string) string {
	if p := r.spool.Shared(policyName(root)); p != "" {
		return p
	}
	return policy.StaleRefuse
}

// keepStalePolicy remembers it for when the service is away.
func (r *runner) keepStalePolicy(s send, reply wire.HookReply) {
	p := reply.StaleWrite
	switch was := r.stalePolicy(s.at.Root); {
	case p == was || p == "" && was == policy.StaleRefuse:
	case p == policy.StaleWarn || p == policy.StaleOff:
		r.spool.Share(policyName(s.at.Root), p)
	default:
		r.spool.Unshare(policyName(s.at.Root))
	}
}

// begin notes what the call is about to write, unless it was refused.
func (r *runner) begin(sends []send, refused bool) {
	switch r.call.At {
	case host.BeforeTool:
		for _, s := range sends {
			for _, e := range r.stale.edits[s.at.Root] {
				if refused {
					continue
				}
				if err := r.seeing(s.at.Repo).Begin(e); err != nil {
					r.log(err)
				}
			}
		}
	case host.AfterTool, host.AfterFailure:
		for _, s := range sends {
			if s.event != wire.HookPostEdit || s.as != nil || s.lead {
				continue
			}
			for _, p := range s.paths[:min(len(s.paths), maxChecked)] {
				if err := r.seeing(s.at.Repo).Wrote(p, r.shell.began); err != nil {
					r.log(err)
				}
			}
		}
	}
}

// prune forgets what is old.
func (r *runner) prune() {
	r.spool.Prune()
	view.In(r.spool).Prune()
}
