package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// Several sessions in one clone share its HEAD. Who switches to another branch
// moves it under all of them, and the next commit of the others lands there. A
// session remembers on which branch it was; where that changed and it was not
// its own command that did, it is told, and a commit is refused once.

// movedHead tells of a HEAD that others moved.
func (r *runner) movedHead(sends []send, a *host.Answer) {
	looked := map[string]bool{}
	for _, s := range sends {
		if s.as != nil || looked[s.at.Root] || !r.spool.Remembers() {
			continue
		}
		looked[s.at.Root] = true
		key, now, stack := "head-"+spool.Hash(s.at.Root)[:24], branchOf(s.at.Head()), s.at.Stack()
		mark := strings.Join(append([]string{now}, stack...), " ")
		noted, known := r.spool.Read(key)
		if noted == mark || now == "" {
			continue
		}
		r.spool.Put(key, mark) // it is told once
		before, _, _ := strings.Cut(noted, " ")
		own := r.call.IsShell() && r.call.At != host.BeforeTool
		// With Jujutsu, work gets other names, and changes on top: it has moved where nothing of it is left.
		same := before == now || slices.ContainsFunc(strings.Fields(noted), func(name string) bool { return slices.Contains(stack, name) })
		switch {
		case !known || own || same:
		case r.commits() && !a.Block:
			a.Block = true
			a.Reason = spool.JoinContexts(a.Reason, movedText(before, now)+" This commit would land there. To go back, git switch "+
				peertext.Quoted(before)+"; if this is where it belongs, run the command again.")
		default:
			text := movedText(before, now)
			if s.at.Jujutsu() {
				text += " To go on there, jj new " + peertext.Quoted(before) + "."
			}
			r.spool.QueueContext(text + " What you commit lands there.")
		}
	}
}

func movedText(before, now string) string {
	called := func(branch string) string {
		if branch == detachedHead {
			return "a detached HEAD"
		}
		return peertext.Quoted(branch)
	}
	return fmt.Sprintf("svc: another session or a person switched this working copy from %s to %s. Work in a worktree of your own if both "+
		"have to go on.", called(before), called(now))
}

// detachedHead stands for no branch, as one goes back there.
const detachedHead = "--detach"

// branchOf names what is checked out, "" where nobody can tell.
func branchOf(head gitrepo.Head) string {
	if head.Branch == "" && head.SHA != "" {
		return detachedHead
	}
	return head.Branch
}

// commits reports whether the command that is about to run commits what is
// checked out now.
func (r *runner) commits() bool {
	if r.shell.scanned == nil || r.call.At != host.BeforeTool {
		return false
	}
	sweeps := r.shell.scanned.Sweeps
	named := func(verbs ...string) bool {
		return slices.ContainsFunc(sweeps, func(s shellscan.Sweep) bool { return slices.Contains(verbs, s.Verb) })
	}
	return named("commit") && !named("switch", "checkout")
}
