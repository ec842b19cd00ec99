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
	Dir     string        // where trees are unpacked and answers kept, between runs
	Trusted bool          // the checkers may run code of the repository
	Budget  time.Duration // of processor time, for all that is started
	Idle    time.Duration // that a checker may do nothing at all
	Waiting bool          // somebody waits for the answer: it is behind everything else otherwise
	Warm    time.Duration // how long a compiler that is slow to begin may stay for the next check; 0 if it may not
	Memory  uint64        // that one process may write to, in bytes; 0 for what is enough for all known checkers

	spent, allowed time.Duration // of the budget: until now, and until the checker at hand has to end
}

// A Report is what the checkers said.
type Report struct {
	Tree     string   `json:"tree"`               // that git makes of the two
	Checkers []string `json:"checkers"`           // that ran
	Skipped  []string `json:"skipped,omitempty"`  // what was not checked, and why
	New      []Fault  `json:"new"`                // what neither side has alone
	Unmerged []string `json:"unmerged,omitempty"` // files that git cannot merge
	Cut      bool     `json:"cut,omitempty"`      // some of it was not looked at for want of time
}

// A Fault is something that a checker found.
type Fault struct {
	Checker string `json:"checker"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Text    string `json:"text"`
	code    string // the line itself: the same words about another line are another fault
}

func (f Fault) String() string {
	return fmt.Sprintf("%s:%d: %s (%s)", f.Path, f.Line, f.Text, f.Checker)
}

// A checker looks at the files of one language.
type checker struct {
	name    string
	endings []string
	runs    bool // it is, or runs, code of the repository
	stops   bool // it looks at nothing that needs a package in which something is wrong
	check   func(ctx context.Context, c *Check, w work) (outcome, error)
}

// A work is what a checker is to look at: the packages of some files of a tree.
type work struct {
	dir   string // the tree
	sides [2][]string
	files []string // of both sides
	only  []string // nil, or those of which an answer is wanted
}

// An outcome is what a checker has to say of a tree.
type outcome struct {
	faults  []Fault
	none    bool   // there is nothing here that could check it
	problem string // why it could not look at all of it
}

// add takes over what there is to say of another part of the tree.
func (o *outcome) add(more outcome) {
	o.none = false
	for _, f := range more.faults {
		if !slices.Contains(o.faults, f) {
			o.faults = append(o.faults, f)
		}
	}
	if o.problem == "" {
		o.problem = more.problem
	}
}

var checkers = []checker{
	{"go", []string{".go"}, false, true, goBuild},
	{"tsc", []string{".ts", ".tsx", ".mts", ".cts"}, true, false, tsc},
	{"mypy", []string{".py", ".pyi"}, true, false, mypy},
	{"pyright", []string{".py", ".pyi"}, true, false, pyright},
	{"cargo check", []string{".rs"}, true, true, cargo},
	{"cc", []string{".c", ".h"}, false, false, cc},
	{"c++", []string{".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp"}, false, false, cplusplus},
	{"javac", []string{".java"}, false, false, javac},
}

// Run merges and checks. Without anything in common there is nothing to do: a
// language is only checked if both sides changed files of it.
func Run(ctx context.Context, c Check) (*Report, error) {
	c.setLimits()
	tree, unmerged, err := c.Repo.MergedTree(ctx, c.Objects, c.Heads[0], c.Heads[1])
	if err != nil {
		return nil, err
	}
	r := &Report{Tree: tree, Checkers: []string{}, New: []Fault{}, Unmerged: unmerged}
	if !slices.ContainsFunc(checkers, func(k checker) bool { return k.concerned(c.Changed) }) {
		return r, nil
	}
	unlock, err := c.lock(ctx)
	if err == nil {
		defer unlock()
		if kept := c.kept(r.Tree); kept != nil {
			return kept, nil
		}
		err = c.languages(ctx, r)
	}
	if ctx.Err() != nil { // nobody wants to know any more
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	c.keep(r)
	return r, nil
}

// setLimits fills in the limits that are not given.
func (c *Check) setLimits() {
	if c.Memory == 0 {
		c.Memory = maxMemory
	}
	if c.Idle == 0 {
		c.Idle = defaultIdle
	}
	if c.Budget == 0 {
		if c.Budget = DefaultBudget; c.Waiting {
			c.Budget = WaitingBudget
		}
	}
}

// languages has every checker look that has something to look at.
func (c *Check) languages(ctx context.Context, r *Report) error {
	for i := range checkers {
		k := &checkers[i]
		switch {
		case !k.concerned(c.Changed):
			continue
		case k.runs && !c.Trusted:
			r.Skipped = append(r.Skipped, k.name+": it runs code of the repository, and this clone is not trusted (svc trust)")
			continue
		case slices.ContainsFunc(r.Unmerged, k.reads):
			r.Skipped = append(r.Skipped, k.name+": git cannot merge the files")
			continue
		case c.left() == 0:
			r.Cut = true
			r.Skipped = append(r.Skipped, k.name+": it was not begun, "+overBudget)
			continue
		case !c.Waiting && c.tired(k):
			r.Cut = true
			r.Skipped = append(r.Skipped, k.name+": it used up its processor time a short while ago")
			continue
		}
		if err := c.language(ctx, r, k); err != nil {
			return err
		}
	}
	return nil
}

// reads reports whether a file is of the checker's language, and nobody else's.
func (k *checker) reads(file string) bool {
	return slices.Contains(k.endings, path.Ext(file)) && !strings.Contains("/"+file, "/vendor/") &&
		!strings.Contains("/"+file, "/node_modules/")
}

// of returns those of the files that the checker reads.
func (k *checker) of(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !k.reads(f) })
}

// concerned reports whether both sides changed files of the language.
func (k *checker) concerned(changed [2][]string) bool {
	return slices.ContainsFunc(changed[0], k.reads) && slices.ContainsFunc(changed[1], k.reads)
}

// language checks the merged tree first; only if something is wrong with it the
// two sides, to leave out what was wrong before.
func (c *Check) language(ctx context.Context, r *Report, k *checker) error {
	skip := func(why string) { r.Skipped = append(r.Skipped, k.name+": "+why) }
	c.share(mergedShare)
	merged, err := c.look(ctx, k, "merged", r.Tree, nil)
	switch {
	case err != nil:
		return err
	case merged.none:
		skip("there is none here, or it is not set up")
		return nil
	case merged.problem != "":
		skip("it could not look at all of it, " + merged.problem)
	}
	if strings.Contains(merged.problem, overBudget) || strings.Contains(merged.problem, overIdle) {
		r.Cut = true
		c.tire(k)
	}
	r.Checkers = append(r.Checkers, k.name)
	faults := slices.Clone(merged.faults)
	for i := 0; i < 2 && len(faults) > 0; i++ {
		c.share(float64(i+1) / 2)
		had, err := c.look(ctx, k, fmt.Sprintf("side%d", i), c.Heads[i], faults)
		if err != nil {
			return err
		}
		if had.none || had.problem != "" && had.problem != merged.problem {
			r.Cut = r.Cut || had.problem != ""
			skip("one side alone cannot be checked, " + had.problem)
			return nil
		}
		faults = slices.DeleteFunc(faults, func(f Fault) bool {
			return slices.ContainsFunc(had.faults, func(h Fault) bool { return h.Path == f.Path && h.Text == f.Text && h.code == f.code })
		})
	}
	if old := len(merged.faults) - len(faults); k.stops && old > 0 {
		skip(fmt.Sprintf("%s%s", wrongBefore, firstOld(merged.faults, faults).Path))
	}
	for _, f := range faults {
		f.Checker = k.name
		r.New = append(r.New, f)
	}
	return nil
}

// mergedShare is the part of what is left that the look at the merged tree may
// use: what it finds is worth nothing if no side can be looked at after it.
const mergedShare = 0.6

// restAfter is how long a checker is left alone in the background after it used
// up all that it may: the next edit would only use it up again.
const restAfter = 10 * time.Minute

func (c *Check) tiredFile(k *checker) string {
	return filepath.Join(c.Dir, "tired-"+strings.ReplaceAll(k.name, " ", "-"))
}

func (c *Check) tired(k *checker) bool {
	info, err := os.Stat(c.tiredFile(k))
	return err == nil && time.Since(info.ModTime()) < restAfter
}

func (c *Check) tire(k *checker) {
	_ = os.WriteFile(c.tiredFile(k), nil, 0o600) // without it the next one only comes sooner
}

// wrongBefore is how a report says that not all was looked at, for what was
// wrong already. It stays so for the same trees.
const wrongBefore = "what needs a package that one side alone does not compile was not looked at: "

// firstOld is the first of all faults that is not new.
func firstOld(all, fresh []Fault) Fault {
	return all[slices.IndexFunc(all, func(f Fault) bool { return !slices.Contains(fresh, f) })]
}

// look unpacks a tree and has it checked, for whether it has certain faults too
// or for all that it has.
func (c *Check) look(ctx context.Context, k *checker, name, tree string, faults []Fault) (outcome, error) {
	dir := filepath.Join(c.Dir, name)
	if err := c.Repo.Unpack(ctx, c.Objects, tree, dir); err != nil {
		return outcome{}, err
	}
	if err := c.cutLinks(ctx, tree, dir); err != nil {
		return outcome{}, err
	}
	w := work{dir: dir, sides: [2][]string{k.of(c.Changed[0]), k.of(c.Changed[1])}}
	w.files = slices.Concat(w.sides[0], w.sides[1])
	slices.Sort(w.files)
	w.files = slices.Compact(w.files)
	for _, f := range faults {
		w.only = append(w.only, f.Path)
	}
	o, err := k.check(ctx, c, w)
	o.problem = strings.ReplaceAll(o.problem, dir+string(filepath.Separator), "")
	readCode(dir, o.faults)
	return o, err
}

// readCode fills in the lines that faults are about.
func readCode(dir string, faults []Fault) {
	lines := map[string][]string{}
	for i := range faults {
		f := &faults[i]
		if lines[f.Path] == nil {
			data, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
			lines[f.Path] = strings.Split(string(data), "\n")
		}
		if all := lines[f.Path]; f.Line >= 1 && f.Line <= len(all) {
			f.code = strings.TrimSpace(all[f.Line-1])
		}
	}
}

// cutLinks takes out of an unpacked tree what leads out of it: no checker reads
// what a branch points at on this machine.
func (c *Check) cutLinks(ctx context.Context, tree, dir string) error {
	links, err := c.Repo.Links(ctx, c.Objects, tree)
	for _, l := range links {
		name := filepath.Join(dir, filepath.FromSlash(l))
		if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(name); err != nil || !within(dir, real) {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return err
}

// lock makes this the only check in its folder: several working copies of one
// clone share it.
func (c *Check) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	if c.Dir, err = filepath.EvalSymlinks(c.Dir); err != nil {
		return nil, err
	}
	own, err := waitFor(ctx, filepath.Join(c.Dir, "lock"))
	if err != nil || c.Waiting {
		return own, err
	}
	// Of those in the background one runs at a time, whatever the clone.
	all, err := waitFor(ctx, filepath.Join(filepath.Dir(c.Dir), "background.lock"))
	if err != nil {
		own()
		return nil, err
	}
	return func() { all(); own() }, nil
}

// waitFor takes a lock once nobody else has it.
func waitFor(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for !takeLock(f) {
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return func() { f.Close() }, nil
}

// answerFile is where the answer about a tree is kept. Whose side is whose makes
// no difference to it.
func (c *Check) answerFile(tree string) string {
	key := []string{tree, fmt.Sprint(c.Trusted), min(c.Heads[0], c.Heads[1]), max(c.Heads[0], c.Heads[1])}
	sum := sha256.Sum256([]byte(strings.Join(key, "\n")))
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

// maxAnswers is how many answers are kept.
const maxAnswers = 200

// keep keeps an answer that stays true: what could not be checked now may be
// once somebody installed what it takes.
func (c *Check) keep(r *Report) {
	if slices.ContainsFunc(r.Skipped, func(s string) bool {
		return !strings.Contains(s, "svc trust") && !strings.Contains(s, wrongBefore)
	}) {
		return
	}
	name := c.answerFile(r.Tree)
	data, err := json.Marshal(r)
	if err != nil || os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return // without it the next run checks again
	}
	_ = os.WriteFile(name, data, 0o600)
	list, _ := os.ReadDir(filepath.Dir(name))
	for i := 0; i < len(list)-maxAnswers; i++ { // any of them: their names are hashes
		if old := filepath.Join(filepath.Dir(name), list[i].Name()); old != name {
			_ = os.Remove(old)
		}
	}
}
