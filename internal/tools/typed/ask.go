package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/mergecheck"
	"github.com/svc-hq/svc/internal/core/coord"
)

// A tally is what came out for the pairs of one kind.
type tally struct{ pairs, facts, related, looked, checked, either int }

// ask has svc look at the judged pairs: the facts at all, the checkers of
// merge_check at those that the facts relate, as hooks do.
func (d *draw) ask() error {
	repo, err := gitrepo.FindGit(context.Background(), d.dir)
	if err != nil {
		return err
	}
	var all [2]tally // that fit, that break
	for _, p := range d.pairs {
		t := &all[0]
		if p.breaks {
			t = &all[1]
		}
		if err := d.askOne(repo, p, t); err != nil {
			return err
		}
	}
	fits, breaks := all[0], all[1]
	fmt.Printf("%s: %d breaks, %d pairs that fit; told %d of %d, wrongly %d of %d; a merge check would look at %d of %d\n",
		filepath.Base(filepath.Dir(d.mirror)), breaks.pairs, fits.pairs, breaks.facts, breaks.pairs, fits.facts, fits.pairs,
		breaks.related, breaks.pairs)
	if d.checks {
		fmt.Printf("merge_check looked at %d breaks and told %d, at %d that fit and told %d; facts or merge_check: %d of %d, wrongly %d of %d\n",
			breaks.looked, breaks.checked, fits.looked, fits.checked, breaks.either, breaks.pairs, fits.either, fits.pairs)
	}
	return nil
}

func (d *draw) askOne(repo *gitrepo.Repo, p pair, t *tally) error {
	t.pairs++
	o, err := backtest.One(context.Background(), repo, p.base, [2]string{p.a, p.b})
	if err != nil {
		return err
	}
	said := ""
	for _, w := range o.Warnings {
		if w.Kind == coord.ContractBreak && !w.Ignored {
			said = w.Text
		}
	}
	found, told := "", false
	if o.Related {
		t.related++
		if d.checks {
			r, err := d.merged(repo, p)
			if err != nil {
				return err
			}
			if len(r.Checkers) > 0 {
				t.looked++
			}
			if found = strings.Join(r.Skipped, "; "); len(r.New) > 0 {
				t.checked++
				found, told = r.New[0].String(), true
			}
		}
	}
	t.either += count(said != "" || told)
	t.facts += count(said != "")
	switch {
	case p.breaks && said == "":
		fmt.Printf("missed: %s beside %.10s: %s\n\tmerge_check: %s\n", p.what, p.b, p.why, found)
	case !p.breaks && (said != "" || told):
		fmt.Printf("wrong: %s beside %.10s: %s\n\tmerge_check: %s\n", p.what, p.b, said, found)
	}
	return nil
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// merged has the checkers look at a pair.
func (d *draw) merged(repo *gitrepo.Repo, p pair) (*mergecheck.Report, error) {
	objects, err := os.MkdirTemp("", "svc-typed-objects-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(objects)
	c := mergecheck.Check{Repo: repo, Objects: objects, Heads: [2]string{p.a, p.b}, Dir: filepath.Join(d.dir, "merged"), Trusted: true}
	for i, head := range c.Heads {
		list, err := d.git("", "diff", "--name-only", p.base, head)
		if err != nil {
			return nil, err
		}
		c.Changed[i] = strings.Split(list, "\n")
	}
	if modules := filepath.Join(d.dir, "node_modules"); d.checker == nil {
		from, err := filepath.Abs(filepath.Join(d.tools, "node_modules"))
		if err := errors.Join(err, os.MkdirAll(c.Dir, 0o700)); err != nil {
			return nil, err
		}
		_ = os.Symlink(from, modules) // there already, mostly
	}
	return mergecheck.Run(gitrepo.WithObjects(context.Background(), objects), c)
}
