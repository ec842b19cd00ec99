package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Merging is work that is about to become everybody's: commits of a pull
// request, or of a push.
type Merging struct {
	Repo  coord.RepoName
	By    []*Worker // live work that the commits may be of; none where nobody knows whose they are
	Paths []string  // files that the commits change
	More  bool      // and others, that are not listed
	Now   coord.Time
}

// A MergeHold is somebody's exclusive claim on what is about to be merged.
type MergeHold struct {
	Holder *Worker
	Paths  []string // of the commits, sorted; a selector where not all are listed
	// Untold says that the edit was made by live work that the claim kept out,
	// without a hook having been asked: it went past the claim.
	Untold bool
}

// AtMerge returns whose exclusive claims commits meet. A claim that kept an edit
// out keeps it out here as well, so that nothing is won by editing where no hook
// looks. It is one of somebody else if it would keep out all the work that the
// commits may be of; what one of them changed past a claim counts even where
// another of the same person has the claim. What a person overrode is let
// through, and a claim that ended holds nothing.
func AtMerge(ix *Index, m Merging) []MergeHold {
	by := m.By
	if len(by) == 0 {
		by = []*Worker{{ID: "merge", Repo: m.Repo}}
	}
	held := map[string]map[string]int{} // how many are kept out, by holder and path
	untold := map[string]map[string]bool{}
	holders := map[string]*Worker{}
	for _, w := range by {
		for _, hit := range keptFrom(ix, w, m) {
			holder, path := hit.holder, hit.path
			holders[holder.ID] = holder
			if held[holder.ID] == nil {
				held[holder.ID], untold[holder.ID] = map[string]int{}, map[string]bool{}
			}
			held[holder.ID][path]++
			if changedSince(ix, w, path, holder.Since) {
				untold[holder.ID][path] = true
			}
		}
	}
	var out []MergeHold
	for id, paths := range held {
		h := MergeHold{Holder: holders[id]}
		for path, n := range paths {
			if n == len(by) || untold[id][path] {
				h.Paths = append(h.Paths, path)
				h.Untold = h.Untold || untold[id][path]
			}
		}
		if slices.Sort(h.Paths); len(h.Paths) > 0 {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b MergeHold) int {
		return cmp.Or(cmp.Compare(a.Holder.Since, b.Holder.Since), strings.Compare(a.Holder.ID, b.Holder.ID))
	})
	return out
}

type keptOut struct {
	holder *Worker
	path   string
}

// keptFrom returns the claims that would block a worker's edit of the files.
func keptFrom(ix *Index, w *Worker, m Merging) (out []keptOut) {
	e := Edit{Worker: w, Session: w.Session, Paths: m.Paths, Now: m.Now}
	if m.More {
		e.Folders = []string{everything}
	}
	for _, f := range Decide(ix, e).Findings {
		if f.Kind != coord.ExclusiveClaim || f.Severity != coord.SeverityBlock || f.Holder == nil || f.Holder.ID == w.ID {
			continue
		}
		for _, ev := range f.Evidence {
			known := ev.Path != nil && (slices.Contains(m.Paths, *ev.Path) || m.More)
			if k := (keptOut{f.Holder, ""}); ev.Party == coord.Challenger && known {
				if k.path = *ev.Path; !slices.Contains(out, k) {
					out = append(out, k)
				}
			}
		}
	}
	return out
}

// changedSince reports whether a worker changed a file after a moment.
func changedSince(ix *Index, w *Worker, path string, since coord.Time) bool {
	for _, c := range ix.Changes(w.ID) {
		if !slices.Contains(basePaths(&c.Facts), path) {
			continue
		}
		if slices.ContainsFunc(c.By, func(t Touch) bool { return t.Worker == w.ID && t.At > since }) {
			return true
		}
	}
	return false
}

// MergeWords says whose claim commits meet and whom to ask.
func MergeWords(h MergeHold) string {
	v := voice{f: &Finding{}}
	text := upper(v.who(h.Holder)) + " holds " + heldPlaces(h) + " exclusively"
	if h.Untold {
		text += ", and the edit was made without a check"
	}
	return text + ". Ask " + name(h.Holder) + " to release it, or a person who may override conflicts to let it through."
}

// PastWords tells an agent of an edit that no hook had told of.
func PastWords(h MergeHold, reader *Worker) string {
	v := voice{f: &Finding{}, viewer: reader.ID, me: reader}
	return heldPlaces(h) + " changed in this clone without a hook, while " + v.who(h.Holder) + " holds it exclusively. " +
		"Undo the change, or ask " + name(h.Holder) + " about it."
}

// PastLetter tells the holder of it.
func PastLetter(h MergeHold, by *Worker) string {
	v := voice{f: &Finding{}, viewer: h.Holder.ID, me: h.Holder}
	return heldPlaces(h) + ", which you hold exclusively, changed in the working copy of " + v.who(by) +
		" without a hook having checked the edit."
}

func heldPlaces(h MergeHold) string {
	files := make([]string, 0, len(h.Paths))
	for _, p := range h.Paths {
		if p != everything {
			files = append(files, place(p))
		}
	}
	if len(files) < len(h.Paths) { // not all files are known: what is held is
		for _, c := range h.Holder.Claims {
			if isExclusive(c) && !slices.Contains(files, place(c.Selector)) {
				files = append(files, place(c.Selector))
			}
		}
	}
	return listing(files)
}

// everything selects all files.
const everything = "**"
