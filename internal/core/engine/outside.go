package engine

import (
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
)

// oneHand reports whether somebody's own work stands outside, too: what they
// pushed, or the branch that their agent is on. Nobody is told of that.
func oneHand(a, b *Worker) bool {
	if (a.Outside == nil) == (b.Outside == nil) {
		return false
	}
	out, in := a, b
	if b.Outside != nil {
		out, in = b, a
	}
	return out.User.ID != "" && out.User.ID == in.User.ID || onBranch(in, out)
}

// onBranch reports whether somebody works on a branch that was pushed.
func onBranch(in, out *Worker) bool {
	return out.Branch != "" && in.Branch == out.Branch && in.Repo.ID == out.Repo.ID && !out.Outside.Fork
}

// covered reports whether work outside is somebody's who uses svc after all: what
// they do on that branch is known better from them.
func (ix *Index) covered(w *Worker) bool {
	if w.Outside == nil || w.Branch == "" {
		return false
	}
	return slices.ContainsFunc(ix.branches[branchKey(w)], func(at uint32) bool {
		in := ix.slots[at].w
		return in.Outside == nil && onBranch(in, w) && (len(in.Claims) > 0 || len(ix.byWorker[in.ID]) > 0)
	})
}

// Pushed returns the work outside that is on the branch of a worker who uses svc:
// what of it counts depends on what that one does.
func (ix *Index) Pushed(w *Worker) (ids []string) {
	if w == nil || w.Branch == "" || w.Outside != nil {
		return nil
	}
	for _, at := range ix.branches[branchKey(w)] {
		if out := ix.slots[at].w; out.Outside != nil && onBranch(w, out) {
			ids = append(ids, out.ID)
		}
	}
	return ids
}

// branchKey names the branch of a worker within its repo.
func branchKey(w *Worker) string { return w.Repo.ID + keySep + w.Branch }

// outside reports whether one side of a finding does not use svc.
func (f *Finding) outside() bool { return f.Holder.Outside != nil || f.Challenger.Outside != nil }

// mostOutside is how much a finding with work outside may matter: what git will
// not merge is worth a warning, and that two have a file in common is not.
func mostOutside(k coord.ConflictKind) coord.Severity {
	if k == coord.PathOverlap {
		return coord.SeverityInfo
	}
	return coord.SeverityWarn
}

// Untold reports whether a finding is none to keep a record of: nobody who uses
// svc is at its other side, or nothing collides. Open pull requests are many, and
// somebody's scope meets most of them.
func (f *Finding) Untold() bool {
	told := func(w *Worker) bool { return w.Live() && w.Outside == nil }
	return f.outside() && (!told(f.Holder) && !told(f.Challenger) || f.Severity.Rank() < coord.SeverityWarn.Rank())
}
