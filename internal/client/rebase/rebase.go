// Package rebase tells whether the work in a working copy still applies to what
// landed, and whether that contains it already. Git merges the two in memory:
// nothing is written to the working copy, its index or its references.
package rebase

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A Verdict is what git makes of the work and what landed.
type Verdict struct {
	Onto    string // the commit that landed
	Work    bool   // there is work that it does not have
	Stops   []Stop // where git cannot merge the two
	Already []Done // files of which nearly all the work is in what landed
}

// A Stop is a file that git cannot merge.
type Stop struct {
	Path  string
	Lines [][2]int // of the work's version of it, first and last; none where git stops at the file itself
}

// Done is work that landed by other hands.
type Done struct {
	Path      string
	Has       int // of the new lines, those that what landed brought too
	Of        int
	ID, Title string // the last commit that changed the file there
}

// Of works out the verdict on the work at a repository, committed or not.
func Of(ctx context.Context, repo *gitrepo.Repo, onto string) (*Verdict, error) {
	scratch, err := os.MkdirTemp("", "svc-rebase-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	now, err := repo.Snapshot(ctx, scratch)
	if err != nil {
		return nil, err
	}
	return Between(ctx, repo, scratch, now, onto)
}

// Between works out the verdict on a commit, which may be in scratch.
func Between(ctx context.Context, repo *gitrepo.Repo, scratch, work, onto string) (*Verdict, error) {
	ctx = gitrepo.WithObjects(ctx, scratch)
	v := &Verdict{Onto: onto}
	base, err := repo.MergeBase(ctx, work, onto)
	if err != nil || base == "" || base == onto {
		return v, err // no common history, or it has all that landed
	}
	objects := gitrepo.NewObjects(ctx, repo.GitDir)
	trees := gitrepo.NewTrees(ctx, repo.GitDir, objects)
	defer objects.Close()
	defer trees.Close()
	mine, err := trees.Deltas(base, work)
	if err != nil || len(mine) == 0 {
		return v, err
	}
	v.Work = true
	tree, stops, err := repo.MergedTree(ctx, scratch, work, onto)
	if err != nil {
		return nil, err
	}
	for _, path := range stops {
		path, _, _ = strings.Cut(path, "~"+work) // git's name for what lies in the way of a folder
		v.Stops = append(v.Stops, Stop{path, places(content(objects, tree+":"+path), content(objects, work+":"+path))})
	}
	v.Stops = slices.CompactFunc(v.Stops, func(a, b Stop) bool { return a.Path == b.Path })
	theirs, err := trees.Deltas(base, onto)
	if err != nil {
		return nil, err
	}
	v.Already = already(objects, mine, theirs)
	for i := range v.Already {
		v.Already[i].ID, v.Already[i].Title = repo.LastChange(ctx, base, onto, v.Already[i].Path)
	}
	return v, nil
}

// maxSize is the largest file that is looked into.
const maxSize = 4 << 20

func content(objects *gitrepo.Objects, name string) []byte {
	text, err := objects.Blob(name, maxSize)
	if err != nil {
		return nil
	}
	return text
}

// places finds the lines of the work at which git stopped in a file: its side
// of each conflict. The same lines may be there more than once, so what git made
// of the rest tells which are meant.
func places(merged, work []byte) (out [][2]int) {
	text, ours := resolved(merged)
	hunks, ok := diff.Compare(work, text)
	if !ok {
		return nil
	}
	for _, r := range ours {
		out = append(out, [2]int{was(hunks, r[0]), was(hunks, r[1])})
	}
	return out
}

// resolved takes the work's side of each conflict, and tells in which lines it
// then stands.
func resolved(merged []byte) (text []byte, ours [][2]int) {
	n, last := 0, -1
	walk(merged, func(conflict, side int, line []byte) {
		if side == 1 {
			return
		}
		n++
		text = append(text, line...)
		switch {
		case conflict < 0:
		case conflict == last:
			ours[len(ours)-1][1] = n
		default:
			last = conflict
			ours = append(ours, [2]int{n, n})
		}
	})
	return text, ours
}

// was returns the number that a line had before changes.
func was(hunks []diff.Hunk, line int) int {
	shift := 0
	for _, h := range hunks {
		if line >= h.NewStart+max(1, h.NewCount) {
			shift += h.OldCount - h.NewCount
		}
	}
	return line + shift
}

// Conflicts returns the lines of both sides at each place at which git stopped
// in a file that it could not merge.
func Conflicts(text []byte) (out [][2][][]byte) {
	walk(text, func(conflict, side int, line []byte) {
		if conflict < 0 {
			return
		}
		for len(out) <= conflict {
			out = append(out, [2][][]byte{})
		}
		out[conflict][side] = append(out[conflict][side], line)
	})
	return out
}

// walk visits the lines of a file that git could not merge, without its marks:
// in which conflict each is, from 0, or -1, and on which side.
func walk(text []byte, visit func(conflict, side int, line []byte)) {
	conflict, side := -1, -1
	for line := range bytes.Lines(text) {
		mark, _, _ := strings.Cut(strings.TrimRight(string(line[:min(len(line), 9)]), "\r\n"), " ")
		switch {
		case mark == "<<<<<<<" && side < 0:
			conflict++
			side = 0
		case mark == "=======" && side == 0:
			side = 1
		case mark == ">>>>>>>" && side == 1:
			side = -1
		case side < 0:
			visit(-1, side, line)
		default:
			visit(conflict, side, line)
		}
	}
}

const (
	// nearly is the share of the work's new lines that must have landed.
	nearly = 0.8
	// fewest is of how few lines that says nothing.
	fewest = 3
)

// already finds the files of which nearly all new lines are among those that
// landed there.
func already(objects *gitrepo.Objects, mine, theirs []diff.Delta) (out []Done) {
	for _, d := range mine {
		at := slices.IndexFunc(theirs, func(t diff.Delta) bool { return t.Path == d.Path || d.OldPath != "" && t.OldPath == d.OldPath })
		if at < 0 || d.Binary || d.NewBlob == "" {
			continue
		}
		own := newLines(objects, d)
		landed := map[string]int{}
		for _, line := range newLines(objects, theirs[at]) {
			landed[line]++
		}
		has := 0
		for _, line := range own {
			if landed[line] > 0 {
				landed[line]--
				has++
			}
		}
		if len(own) >= fewest && float64(has) >= nearly*float64(len(own)) {
			out = append(out, Done{Path: d.Path, Has: has, Of: len(own)})
		}
	}
	return out
}

// newLines are the lines that a change brought, without those that say nothing:
// blank, or a bracket alone.
func newLines(objects *gitrepo.Objects, d diff.Delta) (out []string) {
	lines := slices.Collect(bytes.Lines(content(objects, d.NewBlob)))
	for _, h := range d.Hunks {
		from := min(max(h.NewStart-1, 0), len(lines))
		for _, line := range lines[from:min(from+h.NewCount, len(lines))] {
			if text := strings.TrimSpace(string(line)); len(text) > 2 {
				out = append(out, text)
			}
		}
	}
	return out
}

// Text says it to an agent, "" if there is nothing to say. The branch is what
// landed is called.
func (v *Verdict) Text(branch string) string {
	if !v.Work {
		return ""
	}
	const most = 5
	out := fmt.Sprintf("svc: %s moved to %.10s: ", peertext.Quoted(branch), v.Onto)
	if len(v.Stops) == 0 {
		out += "your work still applies, git merges it without a conflict."
	} else {
		var where []string
		for i, s := range v.Stops {
			if i == most {
				where = append(where, fmt.Sprintf("%d files more", len(v.Stops)-most))
				break
			}
			where = append(where, s.String())
		}
		out += "git cannot merge your work with it at " + strings.Join(where, ", ") + ". Rebase before you go on there."
	}
	for i, d := range v.Already {
		if i == most {
			out += fmt.Sprintf(" So is work of yours in %d files more.", len(v.Already)-most)
			break
		}
		out += fmt.Sprintf(" %d of your %d new lines in %s landed there already, with %.10s (%s): yours may be unnecessary.", d.Has, d.Of,
			peertext.Quoted(d.Path), d.ID, peertext.QuotedText(d.Title, 120))
	}
	return peertext.NewMarker(rand.Reader).Say(out, 2000)
}

// String names a file and the lines.
func (s Stop) String() string {
	var lines []string
	n := 0
	for _, l := range s.Lines {
		text := fmt.Sprint(l[0])
		if l[1] > l[0] {
			text += fmt.Sprintf("-%d", l[1])
		}
		lines = append(lines, text)
		n += l[1] - l[0] + 1
	}
	switch n {
	case 0:
		return peertext.Quoted(s.Path)
	case 1:
		return peertext.Quoted(s.Path) + " line " + lines[0]
	}
	return fmt.Sprintf("%s lines %s", peertext.Quoted(s.Path), strings.Join(lines, ", "))
}
