package engine

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Everybody branched at another time, so the ranges of two workers often count
// the lines of different versions. A line map between the two versions moves
// the ranges of one into the count of the other. Which of the two is older does
// not matter: the answers differ only where a side already collides with what
// the default branch itself changed meanwhile.

// maxWanted is how many maps are asked for at a time.
const maxWanted = 20

// lineMaps are the known line maps of a repo, by the two versions.
type lineMaps map[[2]string]*coord.LineMap

// PutLineMap records how two versions of a file of a repo go together. One
// that is not sound is not taken.
func (ix *Index) PutLineMap(repoID string, m coord.LineMap) {
	if !m.Sound() {
		return
	}
	back := m.Reversed()
	r := ix.repo(repoID)
	if r.maps == nil {
		r.maps = lineMaps{}
	}
	if r.maps[[2]string{m.From, m.To}] == nil { // two versions go together in one way for ever
		ix.note(repoID, NoteLines, mapKey(m.From, m.To))
	}
	r.maps[[2]string{m.From, m.To}], r.maps[[2]string{m.To, m.From}] = &m, &back
}

// RemoveLineMap forgets how two versions go together.
func (ix *Index) RemoveLineMap(repoID, from, to string) {
	if r := ix.repos[repoID]; r != nil {
		delete(r.maps, [2]string{from, to})
		delete(r.maps, [2]string{to, from})
		ix.note(repoID, NoteLines, mapKey(from, to))
	}
}

// Expire forgets line maps that were told, and work that was merged, before a
// moment.
func (ix *Index) Expire(before coord.Time) {
	for id, r := range ix.repos {
		for key, m := range r.maps {
			if m.At > 0 && m.At < before {
				ix.RemoveLineMap(id, key[0], key[1])
			}
		}
		for path, all := range r.merged {
			if r.merged[path] = slices.DeleteFunc(all, func(m *Merged) bool { return m.At <= before }); len(r.merged[path]) == 0 {
				delete(r.merged, path)
			}
		}
	}
}

// HasLineMap reports whether it is known how two versions go together.
func (ix *Index) HasLineMap(repoID, from, to string) bool {
	r := ix.repos[repoID]
	return r != nil && r.maps[[2]string{from, to}] != nil
}

// A WantedMap is a pair of versions of a file that workers started from, and of
// which nobody told yet how they go together.
type WantedMap struct{ Path, Ours, Theirs string }

// WantedMaps returns what would have to be known to compare a worker's changes
// with those of others, by path.
func WantedMaps(ix *Index, workerID string) []WantedMap {
	w := ix.Worker(workerID)
	if w == nil {
		return nil
	}
	g := gatherer{ix: ix, self: w, repo: ix.known(w.Repo.ID)}
	var out []WantedMap
	for _, at := range ix.byWorker[workerID] {
		c := ix.changes[at].c
		if c.RepoID != w.Repo.ID || !movable(&c.Facts) || ix.ownerID(c) != workerID {
			continue
		}
		path, filed := basePath(&c.Facts), ix.changes[at].entries
		for _, here := range filed[:len(basePaths(&c.Facts))] { // as addPaths files it
			g.repo.tree.Beside(here, func(e *entry) {
				if e.Kind == changeEntry && e.Owner == at {
					return
				}
				theirs, other := g.theirs(g.repo, e)
				if other == nil || theirs.change == nil || theirs.change.Copy == c.Copy {
					return
				}
				f := &theirs.change.Facts
				if !movable(f) || !sameFile(&c.Facts, f) || *f.BaseBlob == *c.Facts.BaseBlob ||
					ix.HasLineMap(c.RepoID, *c.Facts.BaseBlob, *f.BaseBlob) || g.repo.rules.Ignored(c.Facts.Path) {
					return
				}
				out = append(out, WantedMap{path, *c.Facts.BaseBlob, *f.BaseBlob})
			})
		}
	}
	slices.SortFunc(out, func(a, b WantedMap) int {
		return strings.Compare(a.Path+"\x00"+a.Ours+" "+a.Theirs, b.Path+"\x00"+b.Ours+" "+b.Theirs)
	})
	out = slices.Compact(out)
	return out[:min(len(out), maxWanted)]
}

// movable reports whether a change has lines that a map can move.
func movable(f *coord.FileFacts) bool {
	return f.BaseBlob != nil && f.Status != coord.FileDeleted && !f.Binary && len(f.Hunks) > 0
}

// touching returns where two changes meet, each in lines of its own version,
// and whether that can be told. It is the same whoever asks.
func (m lineMaps) touching(a, b *coord.FileFacts) ([]lineRegion, bool) {
	if *a.BaseBlob > *b.BaseBlob {
		regions, ok := m.touching(b, a)
		for i, r := range regions {
			regions[i] = lineRegion{r.b, r.a}
		}
		return regions, ok
	}
	way := m[[2]string{*b.BaseBlob, *a.BaseBlob}]
	if way == nil {
		return nil, false
	}
	ours, theirs := crossed(a.Hunks, b.Hunks, way.Shifts)
	moved := make([]coord.Hunk, len(theirs))
	from := make(map[coord.Hunk]coord.Hunk, len(theirs))
	for i, h := range theirs {
		moved[i] = move(h, way.Shifts)
		from[moved[i]] = h
	}
	regions := touchingHunks(ours, moved)
	for i := range regions {
		regions[i].b = from[regions[i].b]
	}
	return regions, true
}

// crossed leaves out where one side made the very change that lies between the
// two versions and the other undid it: each has what the other started from.
// Whichever version is the older, only one side differs from it there, and git
// takes that side's.
func crossed(a, b []coord.Hunk, way []coord.LineShift) (restA, restB []coord.Hunk) {
	restA, restB = a, b
	for _, s := range way { // from b's version to a's
		if s.FromHash == "" || s.ToHash == "" {
			continue
		}
		inA, inB := coord.Hunk{Start: s.ToStart, Count: s.ToCount, LinesHash: s.FromHash},
			coord.Hunk{Start: s.FromStart, Count: s.FromCount, LinesHash: s.ToHash}
		i, j := slices.Index(restA, inA), slices.Index(restB, inB)
		if i >= 0 && j >= 0 {
			restA, restB = slices.Concat(restA[:i], restA[i+1:]), slices.Concat(restB[:j], restB[j+1:])
		}
	}
	return restA, restB
}

// move returns a range in the count of the other version. One that reaches into
// what changed between the two takes in the whole of that: there is no telling
// which part of it is meant, and its words are no longer all that stands there.
func move(h coord.Hunk, shifts []coord.LineShift) coord.Hunk {
	start, cut := boundary(h.Start, shifts, true)
	end, cutToo := boundary(h.Start+h.Count, shifts, false)
	if start > end { // an insertion where lines went, or came
		start, end, cut = end, start, true
	}
	out := coord.Hunk{Start: start, Count: end - start, LinesHash: h.LinesHash}
	if cut || cutToo {
		out.LinesHash = ""
	}
	return out
}

// boundary returns where a range begins or ends in the count of the other
// version, and whether that is in the middle of what changed. What ends where a
// change begins ends before it, and what begins where one ends begins after it.
func boundary(at int, shifts []coord.LineShift, begins bool) (int, bool) {
	n, _ := slices.BinarySearchFunc(shifts, at, func(s coord.LineShift, at int) int {
		if s.FromStart < at || begins && s.FromStart == at {
			return -1
		}
		return 1
	})
	if n == 0 {
		return at, false
	}
	s := shifts[n-1]
	end := s.FromStart + s.FromCount
	switch {
	case at >= end:
		return s.ToStart + s.ToCount + at - end, false
	case at == s.FromStart:
		return s.ToStart, false
	case begins:
		return s.ToStart, true
	}
	return s.ToStart + s.ToCount, true
}

// meetKey names the lines where two sides meet, in the version that comes first
// by its name.
func meetKey(path string, a, b *coord.FileFacts, r lineRegion) string {
	if *a.BaseBlob > *b.BaseBlob {
		a, r.a = b, r.b
	}
	return linesKey(path, *a.BaseBlob, lineRegion{r.a, r.a})
}
