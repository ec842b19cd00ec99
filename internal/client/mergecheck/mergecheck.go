// Package mergecheck merges two versions of a repository in a scratch folder
// and has the language's own checker look at the packages concerned: what git
// merges and the compiler does not. It tells only what neither version has
// alone, in the checker's own words.
//
// A repository may be hostile. Go's checker runs nothing of it: no cgo, no
// other toolchain, no network, no flags of the user's. Checkers that are or run
// code of the repository (its own tsc, mypy's plugins, Cargo's build scripts)
// run only where the person said that the clone is trusted. Nothing is written
// to the repository.
package mergecheck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// A Check is what to look at.
type Check struct {
	Repo    *gitrepo.Repo
	Objects string    // a folder with objects that the repository lacks, for what git writes too
	Heads   [2]string // commits
	Changed [2][]string
	Dir     string // where trees are unpacked and answers kept, between runs
	Trusted bool   // the checkers may run code of the repository
	Timeout time.Duration
}

// DefaultTimeout bounds one check, whatever it takes.
const DefaultTimeout = 2 * time.Minute

// A Report is what the checkers said.
type Report struct {
	Tree     string   `json:"tree"`               // that git makes of the two
	Checkers []string `json:"checkers"`           // that ran
	Skipped  []string `json:"skipped,omitempty"`  // what was not checked, and why
	New      []Fault  `json:"new"`                // what neither side has alone
	Unmerged []string `json:"unmerged,omitempty"` // files that git cannot merge
}

// A Fault is something that a checker found.
type Fault struct {
	Checker string `json:"checker"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Text    string `json:"text"`
}

func (f Fault) String() string {
	return fmt.Sprintf("%s:%d: %s (%s)", f.Path, f.Line, f.Text, f.Checker)
}

// A checker looks at the files of one language.
type checker struct {
	name    string
	endings []string
	runs    bool // it is, or runs, code of the repository
	// check returns what is wrong with the tree in dir, in the packages of the
	// files; ok is false where there is nothing that it could check with.
	check func(ctx context.Context, c *Check, dir string, files []string) (faults []Fault, ok bool, err error)
}

var checkers = []checker{
	{"go", []string{".go"}, false, vet},
	{"tsc", []string{".ts", ".tsx", ".mts", ".cts"}, true, tsc},
	{"mypy", []string{".py"}, true, mypy},
	{"cargo check", []string{".rs"}, true, cargo},
}

// Run merges and checks. Without anything in common there is nothing to do: a
// language is only checked if both sides changed files of it.
func Run(ctx context.Context, c Check) (*Report, error) {
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	tree, unmerged, err := c.Repo.MergedTree(ctx, c.Objects, c.Heads[0], c.Heads[1])
	if err != nil {
		return nil, err
	}
	r := &Report{Tree: tree, Checkers: []string{}, New: []Fault{}, Unmerged: unmerged}
	if kept := c.kept(r.Tree); kept != nil {
		return kept, nil
	}
	for i := range checkers {
		k := &checkers[i]
		files := [2][]string{ofLanguage(k, c.Changed[0]), ofLanguage(k, c.Changed[1])}
		switch {
		case len(files[0]) == 0 || len(files[1]) == 0:
			continue
		case k.runs && !c.Trusted:
			r.Skipped = append(r.Skipped, k.name+": it runs code of the repository, and this clone is not trusted (svc trust)")
			continue
		case slices.ContainsFunc(unmerged, func(f string) bool { return slices.Contains(k.endings, path.Ext(f)) }):
			r.Skipped = append(r.Skipped, k.name+": git cannot merge the files")
			continue
		}
		if err := c.language(ctx, r, k, slices.Concat(files[0], files[1])); err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("the checkers took longer than %s", c.Timeout)
			}
			return nil, err
		}
	}
	c.keep(r)
	return r, nil
}

func ofLanguage(k *checker, files []string) (out []string) {
	for _, f := range files {
		if slices.Contains(k.endings, path.Ext(f)) && !strings.Contains("/"+f, "/vendor/") && !strings.Contains("/"+f, "/node_modules/") {
			out = append(out, f)
		}
	}
	return out
}

// language checks the merged tree first; only if something is wrong with it the
// two sides, to leave out what was wrong before.
func (c *Check) language(ctx context.Context, r *Report, k *checker, files []string) error {
	slices.Sort(files)
	files = slices.Compact(files)
	look := func(name, tree string) ([]Fault, bool, error) {
		dir := filepath.Join(c.Dir, name)
		if err := c.Repo.Unpack(ctx, c.Objects, tree, dir); err != nil {
			return nil, false, err
		}
		return k.check(ctx, c, dir, files)
	}
	faults, ok, err := look("merged", r.Tree)
	if err != nil || !ok {
		if err == nil {
			r.Skipped = append(r.Skipped, k.name+": there is none here, or it is not set up")
		}
		return err
	}
	r.Checkers = append(r.Checkers, k.name)
	for i := 0; i < 2 && len(faults) > 0; i++ {
		had, ok, err := look(fmt.Sprintf("side%d", i), c.Heads[i])
		if err != nil || !ok {
			return errors.Join(err, errors.New("one side alone cannot be checked"))
		}
		faults = slices.DeleteFunc(faults, func(f Fault) bool {
			return slices.ContainsFunc(had, func(h Fault) bool { return h.Path == f.Path && h.Text == f.Text })
		})
	}
	for _, f := range faults {
		f.Checker = k.name
		r.New = append(r.New, f)
	}
	return nil
}

// answerFile is where the answer about a tree is kept.
func (c *Check) answerFile(tree string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{tree, fmt.Sprint(c.Trusted), c.Heads[0], c.Heads[1]}), "\n")))
	return filepath.Join(c.Dir, "answers", hex.EncodeToString(sum[:16])+".json")
}

func (c *Check) kept(tree string) *Report {
	data, err := os.ReadFile(c.answerFile(tree))
	var r Report
	if err != nil || json.Unmarshal(data, &r) != nil {
		return nil
	}
	return &r
}

func (c *Check) keep(r *Report) {
	name := c.answerFile(r.Tree)
	data, err := json.Marshal(r)
	if err == nil && os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		_ = os.WriteFile(name, data, 0o600) // without it the next run checks again
	}
}
