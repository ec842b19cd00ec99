package rebase

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A Forecast is what git will make of the work in several working copies of a
// clone when it is merged into one of them.
type Forecast struct {
	Ahead   []Ahead // those with work that is not merged yet
	Clashes []Clash
	Cut     bool // there are more working copies
}

// Ahead is a working copy with work of its own.
type Ahead struct {
	Name        string // its branch, or its folder
	Uncommitted int    // files, which a merge of the branch leaves out
	commit      string
	stops       bool // git cannot merge it with the own work
}

// A Clash is two working copies that git cannot merge.
type Clash struct {
	A, B  string // B is empty for the one that all are merged into
	Stops []Stop // with the lines of A's version
}

// Merging works out the forecast for merging the work in copies into a
// repository, committed or not.
func Merging(ctx context.Context, into *gitrepo.Repo, copies []*gitrepo.Repo) (*Forecast, error) {
	scratch, err := os.MkdirTemp("", "svc-forecast-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	own, err := into.Snapshot(ctx, scratch)
	if err != nil {
		return nil, err
	}
	ownTree, _, err := into.MergedTree(ctx, scratch, own, own)
	if err != nil {
		return nil, err
	}
	f := &Forecast{}
	for _, c := range copies {
		a := Ahead{Name: nameOf(c)}
		if a.commit, err = c.Snapshot(ctx, scratch); err != nil {
			return nil, err
		}
		tree, stops, err := into.MergedTree(ctx, scratch, own, a.commit)
		if err != nil {
			return nil, err
		}
		if tree == ownTree && len(stops) == 0 {
			continue // merged already, or nothing was done there
		}
		dirty, err := c.Status(ctx)
		if err != nil {
			return nil, err
		}
		a.Uncommitted, a.stops = len(dirty), len(stops) > 0
		f.Ahead = append(f.Ahead, a)
	}
	return f, f.clash(ctx, into, scratch, own)
}

func nameOf(c *gitrepo.Repo) string {
	if branch := c.Head().Branch; branch != "" {
		return branch
	}
	return filepath.Base(c.Root)
}

// clash has git merge the copies with each other, and looks closer where it
// cannot.
func (f *Forecast) clash(ctx context.Context, into *gitrepo.Repo, scratch, own string) error {
	var pairs [][2]string
	for i, a := range f.Ahead {
		for _, b := range f.Ahead[i+1:] {
			pairs = append(pairs, [2]string{a.commit, b.commit})
		}
	}
	merges, err := into.MergePairs(ctx, scratch, pairs)
	if err != nil {
		return err
	}
	look := func(c Clash, a, b string) error {
		v, err := Between(ctx, into, scratch, a, b)
		if err == nil {
			c.Stops = v.Stops
			f.Clashes = append(f.Clashes, c)
		}
		return err
	}
	n := 0
	for i, a := range f.Ahead {
		if a.stops {
			if err := look(Clash{A: a.Name}, a.commit, own); err != nil {
				return err
			}
		}
		for _, b := range f.Ahead[i+1:] {
			if !merges[n].Clean {
				if err := look(Clash{A: a.Name, B: b.Name}, a.commit, b.commit); err != nil {
					return err
				}
			}
			n++
		}
	}
	return nil
}

// Facts names all that the forecast says, for telling what is new. A place in
// which two working copies meet is one of each: once one of them is merged, the
// other meets what was merged there, and that is no news.
func (f *Forecast) Facts() (out [][]string) {
	for _, c := range f.Clashes {
		for _, s := range c.Stops {
			both := []string{c.A + "\x00" + s.Path}
			if c.B != "" {
				both = append(both, c.B+"\x00"+s.Path)
			}
			out = append(out, both)
		}
	}
	for _, a := range f.Ahead {
		if a.Uncommitted > 0 {
			out = append(out, []string{a.Name + "\x00uncommitted"})
		}
		out = append(out, []string{a.Name})
	}
	return out
}

// Text says it to the agent that is about to merge.
func (f *Forecast) Text() string {
	const most = 5
	var out, names []string
	for i, c := range f.Clashes {
		if i == most {
			out = append(out, fmt.Sprintf("The same goes for %d pairs more.", len(f.Clashes)-most))
			break
		}
		var where []string
		for k, s := range c.Stops {
			if k == most {
				where = append(where, fmt.Sprintf("%d files more", len(c.Stops)-most))
				break
			}
			where = append(where, s.String())
		}
		with := "your own work here"
		if c.B != "" {
			with = peertext.Quoted(c.B)
		}
		out = append(out, fmt.Sprintf("Git cannot merge the worktree %s with %s: %s.", peertext.Quoted(c.A), with, strings.Join(where, ", ")))
	}
	for _, a := range f.Ahead {
		names = append(names, peertext.Quoted(a.Name))
	}
	if len(f.Clashes) > 0 {
		out = append(out, "Merge one side, then rebase the other onto it and resolve it there, where its own work is known.")
	} else if len(names) > 0 {
		out = append(out, fmt.Sprintf("Worktrees that merge without a conflict: %s.", strings.Join(names, ", ")))
	}
	for _, a := range f.Ahead {
		if a.Uncommitted > 0 {
			out = append(out, fmt.Sprintf("Not committed in %s: %d files, which a merge of the branch leaves out.",
				peertext.Quoted(a.Name), a.Uncommitted))
		}
	}
	if f.Cut {
		out = append(out, "There are more worktrees, which were not looked at.")
	}
	return "svc merge forecast: " + strings.Join(out, " ")
}

// Untold reports whether the forecast says something that is not among the
// facts in told.
func (f *Forecast) Untold(told []string) bool {
	return slices.ContainsFunc(f.Facts(), func(either []string) bool {
		return !slices.ContainsFunc(either, func(fact string) bool { return slices.Contains(told, fact) })
	})
}
