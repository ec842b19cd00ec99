package hook

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/rebase"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/limit"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A session that hands its work out to sub-agents, each in a worktree, merges
// what they did afterwards. Before it does, it learns which of them git cannot
// merge with each other. The worktrees are those in which its sub-agents changed
// something, and those that it made itself.

const (
	fanPrefix = "fan-"
	maxFan    = 12 // worktrees that a forecast is about
)

// noteFan remembers the worktrees of a fan-out for the session that merges them.
func (r *runner) noteFan(sends []send) {
	if !r.spool.Remembers() {
		return
	}
	note := func(to *spool.Spool, root string) {
		if name := fanPrefix + spool.Hash(root)[:24]; !to.Has(name) {
			to.Put(name, root)
		}
	}
	if r.call.At == host.BeforeTool && r.shell.scanned != nil {
		for _, dir := range r.shell.scanned.Worktrees {
			note(r.spool, absolute(r.commandDir(), dir))
		}
	}
	if r.call.Parent == "" {
		return
	}
	parent := spool.Open(r.TempDir, r.call.Host.ID, r.call.Parent)
	for _, s := range sends {
		if s.as == nil && s.event == wire.HookPostEdit && len(s.paths) > 0 {
			note(parent, s.at.Root)
		}
	}
}

// forecast tells what git will make of the worktrees of a session's fan-out, at
// a prompt and before a command that merges: such a command is refused once if
// something is in its way that was not told yet.
func (r *runner) forecast(ctx context.Context, sends []send, a *host.Answer) {
	command := r.call.At == host.BeforeTool && r.shell.scanned != nil
	if !r.spool.Remembers() || !command && r.call.Event != wire.HookPrompt {
		return // before an edit nothing is looked up
	}
	names := r.spool.Entries(fanPrefix)
	if len(names) == 0 {
		return
	}
	looked := map[string]bool{}
	for _, s := range sends {
		if s.as != nil || looked[s.at.Root] {
			continue
		}
		looked[s.at.Root] = true
		fan := r.fan(names, s.at)
		merging := r.merges(s.at.Root, fan.Items)
		if len(fan.Items) == 0 || !merging && r.call.Event != wire.HookPrompt {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, patience.Of(landedTimeout))
		f, err := rebase.Merging(ctx, s.at.Repo, fan.Items)
		cancel()
		if err != nil {
			r.log(err)
			continue
		}
		f.Cut = fan.Cut
		r.tellForecast(s.at.Root, f, merging, a)
	}
}

// fan returns the worktrees of a clone that the session's fan-out is in, beside
// one of them.
func (r *runner) fan(names []string, at *place) (out limit.List[*gitrepo.Repo]) {
	for _, name := range names {
		root, _ := r.spool.Read(name)
		repo, ok := r.at(realPath(root))
		switch {
		case !ok: // removed
		case repo.Root == at.Root:
			return limit.List[*gitrepo.Repo]{} // one of them itself
		case repo.CommonDir == at.CommonDir:
			out.Add(maxFan, repo)
		}
	}
	return out
}

// merges reports whether the command that is about to run takes work of others
// in at root: by one of git's commands for that, or by copying it from the
// worktrees.
func (r *runner) merges(root string, fan []*gitrepo.Repo) bool {
	scanned := r.shell.scanned
	if scanned == nil || r.call.At != host.BeforeTool {
		return false
	}
	dir := r.commandDir()
	if slices.ContainsFunc(scanned.Sweeps, func(s shellscan.Sweep) bool {
		repo, ok := r.findRepo(absolute(dir, s.Dir))
		return ok && repo.Root == root && slices.Contains(mergingVerbs, s.Verb)
	}) {
		return true
	}
	from := slices.Clone(scanned.Operands)
	for _, e := range scanned.Edits {
		from = append(from, e.From)
	}
	for _, w := range scanned.Writes {
		from = append(from, w.From)
	}
	return len(scanned.Writes) > 0 && slices.ContainsFunc(from, func(p string) bool {
		p = realPath(absolute(dir, p)) + string(filepath.Separator)
		return slices.ContainsFunc(fan, func(c *gitrepo.Repo) bool { return strings.HasPrefix(p, c.Root+string(filepath.Separator)) })
	})
}

var mergingVerbs = []string{"merge", "cherry-pick", "rebase", "pull", "am", "apply"}

func (r *runner) tellForecast(root string, f *rebase.Forecast, merging bool, a *host.Answer) {
	key := "forecast-" + spool.Hash(root)[:24]
	before, _ := r.spool.Read(key)
	told := strings.Split(before, "\n")
	if !f.Untold(told) || !merging && len(f.Clashes) == 0 {
		return
	}
	for _, either := range f.Facts() {
		for _, fact := range either {
			if !slices.Contains(told, fact) {
				told = append(told, fact)
			}
		}
	}
	r.spool.Put(key, strings.Join(told, "\n"))
	if merging && len(f.Clashes) > 0 {
		a.Block = true
		a.Reason = spool.JoinContexts(a.Reason, f.Text()+" Nothing was merged yet; to merge it as it is, run the command again.")
		return
	}
	r.spool.QueueContext(f.Text())
}
