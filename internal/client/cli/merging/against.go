package merging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/mergecheck"
	"github.com/svc-hq/svc/internal/client/ownrules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// An against is what svc check --against found.
type against struct {
	Name      string              `json:"name"` // what was compared with
	Head      string              `json:"head"`
	Base      string              `json:"base"`
	Conflicts []backtest.Conflict `json:"conflicts"` // files that git cannot merge
	Breaks    []backtest.Warning  `json:"breaks"`    // what git merges and no longer works, by the facts
	Types     *mergecheck.Report  `json:"types"`     // the same, by the languages' own checkers; null if not asked for
	Related   bool                `json:"related"`   // hooks would have the checkers look at the two unasked, where merge_check is on
}

func (f *against) bad() bool {
	return len(f.Conflicts) > 0 || len(f.Breaks) > 0 || f.Types != nil && len(f.Types.New) > 0
}

// runAgainst compares the working copy, as it is on disk, with somebody else's
// work: what git cannot merge, what it merges and breaks, and what the
// languages' own checkers say of the merged tree.
func runAgainst(ctx context.Context, a *app.Run, name string, types bool) error {
	repo, ok := gitrepo.Find(a.Dir)
	if !ok {
		return fmt.Errorf("%s is in no git repository", a.Dir)
	}
	objects, err := os.MkdirTemp("", "svc-against-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(objects)
	ctx = gitrepo.WithObjects(ctx, objects)
	mine, err := repo.Snapshot(ctx, objects)
	if err != nil {
		return fmt.Errorf("cannot read the working copy: %w", err)
	}
	var all []*against
	heads, err := others(ctx, a, repo, name, objects)
	if err != nil {
		return err
	}
	for _, h := range heads {
		f, err := compare(ctx, a, repo, objects, mine, h, types)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	if a.JSON {
		if err := a.PrintJSON(all); err != nil {
			return err
		}
	} else {
		for _, f := range all {
			printAgainst(a, f)
		}
	}
	if slices.ContainsFunc(all, (*against).bad) {
		return &term.Exit{Code: term.ExitError}
	}
	return nil
}

// A named commit is somebody's work.
type named struct{ name, commit string }

var pullNumber = regexp.MustCompile(`^(?:#|!|(?i:pr-?|mr-?))?(\d{1,9})$`)

// others finds the work that a word means: a branch, a pull request or the
// branches of a person, in this clone or as they were pushed. A branch that is
// checked out beside counts as it is on disk.
func others(ctx context.Context, a *app.Run, repo *gitrepo.Repo, word, objects string) ([]named, error) {
	if person, ok := strings.CutPrefix(word, "@"); ok {
		return branchesOf(ctx, a, repo, person, objects)
	}
	if m := pullNumber.FindStringSubmatch(word); m != nil {
		for _, ref := range []string{"refs/pull/" + m[1] + "/head", "refs/remotes/origin/pull/" + m[1], "refs/remotes/origin/pr/" + m[1],
			"refs/merge-requests/" + m[1] + "/head", "refs/remotes/origin/merge-requests/" + m[1]} {
			if id, err := repo.Commit(ctx, ref); err == nil {
				return []named{{"pull request " + m[1], id}}, nil
			}
		}
		id, err := fetch(ctx, a, repo, objects, 0, pullRefs(m[1])...)
		if id == "" {
			return nil, fmt.Errorf("pull request %s is not in this clone, and %w", m[1], cmp.Or(err, errNotThere))
		}
		return []named{{"pull request " + m[1], id}}, err
	}
	n, err := branch(ctx, a, repo, word, objects)
	if err != nil {
		return nil, err
	}
	return []named{n}, nil
}

// errNotThere says that the remote was asked in vain.
var errNotThere = errors.New("its remote has none of that name")

// branch finds a branch or commit, or the working copy in which it is checked
// out.
func branch(ctx context.Context, a *app.Run, repo *gitrepo.Repo, word, objects string) (named, error) {
	copies, err := repo.Copies(ctx)
	if err != nil {
		return named{}, err
	}
	for _, c := range copies {
		if c.Branch != word || c.Root == repo.Root {
			continue
		}
		if other, ok := gitrepo.At(c.Root); ok {
			id, err := other.Snapshot(ctx, objects)
			return named{word, id}, err
		}
	}
	for _, ref := range []string{"refs/heads/" + word, "refs/remotes/" + word, "refs/remotes/origin/" + word, "refs/tags/" + word, word} {
		if id, err := repo.Commit(ctx, ref); err == nil && !strings.HasPrefix(ref, "-") {
			return named{word, id}, nil
		}
	}
	id, err := fetch(ctx, a, repo, objects, 0, "refs/heads/"+strings.TrimPrefix(word, "origin/"))
	if id == "" {
		return named{}, fmt.Errorf("there is no branch or commit %s in this clone, and %w; name one of git branch -a", word,
			cmp.Or(err, errNotThere))
	}
	return named{word, id}, err
}

// branchesOf finds what a person's live sessions in this repository work on.
func branchesOf(ctx context.Context, a *app.Run, repo *gitrepo.Repo, person, objects string) ([]named, error) {
	here, err := a.Here()
	if err != nil {
		return nil, err
	}
	c, _, err := a.Client()
	if err != nil {
		return nil, err
	}
	sessions, err := c.LiveSessions(ctx)
	if err != nil {
		return nil, err
	}
	_, full, _ := strings.Cut(here.Fingerprint, "/")
	var out []named
	var missing []string
	for _, s := range sessions {
		if s.Branch == nil || !strings.EqualFold(s.Repo.FullName, full) || !means(s.User, person) {
			continue
		}
		n, err := branch(ctx, a, repo, *s.Branch, objects)
		if err != nil {
			missing = append(missing, *s.Branch)
		} else if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if len(out) == 0 && len(missing) > 0 {
		return nil, fmt.Errorf("@%s works on %s, which is neither in this clone nor pushed: such work stays with them",
			peertext.Name(person), peertext.Name(strings.Join(missing, ", ")))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("@%s has no live session in this repository; see svc who", peertext.Name(person))
	}
	return out, nil
}

// means tells whether a word means a person: a name, its first part, or an
// address.
func means(u coord.User, word string) bool {
	first, _, _ := strings.Cut(u.Name, " ")
	return strings.EqualFold(u.Name, word) || strings.EqualFold(first, word) || strings.EqualFold(u.Email, word)
}

// compare compares two states of the repository.
func compare(ctx context.Context, a *app.Run, repo *gitrepo.Repo, objects, mine string, other named, types bool) (*against, error) {
	base, err := repo.MergeBase(ctx, mine, other.commit)
	if err != nil {
		return nil, err
	}
	if base == "" {
		return nil, fmt.Errorf("%s and this working copy have no common history", other.name)
	}
	o, err := backtest.Mine(ctx, repo, base, [2]string{mine, other.commit}, [2]string{"this working copy", other.name})
	if err != nil {
		return nil, err
	}
	f := &against{Name: other.name, Head: other.commit, Base: base, Conflicts: o.Conflicts, Breaks: []backtest.Warning{}, Related: o.Related}
	for _, w := range o.Warnings {
		if w.Kind == coord.ContractBreak && !w.Ignored {
			f.Breaks = append(f.Breaks, w)
		}
	}
	if !types {
		return f, nil
	}
	f.Types, err = mergeTypes(ctx, a, repo, objects, base, [2]string{mine, other.commit}, true)
	if err != nil && ctx.Err() == nil { // what else is known is worth knowing
		f.Types, err = &mergecheck.Report{Checkers: []string{}, New: []mergecheck.Fault{}, Skipped: []string{err.Error()}}, nil
	}
	return f, err
}

// mergeTypes has the languages' checkers look at two states that came apart at
// base, merged.
func mergeTypes(ctx context.Context, a *app.Run, repo *gitrepo.Repo, objects, base string, heads [2]string, waiting bool) (
	*mergecheck.Report, error,
) {
	check := mergecheck.Check{Repo: repo, Objects: objects, Heads: heads, Trusted: trusts(a, repo), Waiting: waiting}
	if !waiting {
		check.Warm = warmTime // what a person starts leaves nothing behind
	}
	for i, head := range heads {
		var err error
		if check.Changed[i], err = repo.Changed(ctx, base, head); err != nil {
			return nil, err
		}
	}
	dir := mergedDir(a)
	if dir == "" {
		return nil, fmt.Errorf("there is no cache folder to unpack the merged files in; set XDG_CACHE_HOME")
	}
	check.Dir = filepath.Join(dir, ownrules.CloneName(repo))
	return mergecheck.Run(ctx, check)
}

// warmTime is how long a compiler stays for the next check: agents edit every
// few seconds while they work.
const warmTime = 5 * time.Minute

func printAgainst(a *app.Run, f *against) {
	name := peertext.Line(f.Name, 200)
	if !f.bad() {
		fmt.Fprintf(a.Stdout, "%s: this working copy and %s go together\n", a.Paint(term.Green, "fine"), name)
	} else {
		fmt.Fprintf(a.Stdout, "%s: this working copy and %s do not go together\n", a.Paint(term.Red, "trouble"), name)
	}
	for _, c := range f.Conflicts {
		fmt.Fprintf(a.Stdout, "  git cannot merge %s (%s)\n", peertext.Line(c.Path, 300), strings.Join(c.Kinds, ", "))
	}
	for _, w := range f.Breaks {
		fmt.Fprintf(a.Stdout, "  %s\n", peertext.Line(w.Text, 600))
	}
	if f.Types == nil {
		return
	}
	for _, n := range f.Types.New {
		fmt.Fprintf(a.Stdout, "  %s\n", peertext.Line(n.String(), 600))
	}
	for _, s := range f.Types.Skipped {
		fmt.Fprintf(a.Stdout, "  not checked: %s\n", s)
	}
}
