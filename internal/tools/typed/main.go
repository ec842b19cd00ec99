// Typed measures how many breaks are told in a repository, against its
// language's own checker. It takes commits of the history as they are (B), and beside each
// changes a definition of its parent that goes by a word which B's new lines
// have (A): renames it, gives it a parameter or an interface a method, with every
// use in that tree adapted. Which of the definitions of that name is drawn, and
// whether B means it, is left to chance. Both sides must pass the checker; if the
// merged tree does not, it is a break. All are judged before svc looks at any.
//
//	go run ./internal/tools/typed [-seed N] [-breaks N] [-fits N] [-keep FOLDER] MIRROR
//	go run ./internal/tools/typed -lang typescript -tools FOLDER [...] MIRROR
//
// With -keep the judged rows (rows.tsv) and the heads that were made stay in a
// folder. A later run with it asks svc about the same rows again, and draws more
// only if they are too few; with -for 0 none.
//
// Go's checker runs in this process, and the repository must need no other
// modules. For other languages (-lang) a language server finds what a name means
// and the checker looks at the whole tree: FOLDER is where npm installed both
// (typescript; pyright), C takes clangd and cc of
// the system. TypeScript is judged in all files, tests too, whatever the settings
// include. With -check the checkers of merge_check look at every pair that the
// facts relate, too. Nothing of the repository runs, but for what its settings
// make its checker run.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	seed := flag.Uint64("seed", 1, "of what is drawn")
	breaks := flag.Int("breaks", 30, "breaks to draw")
	fits := flag.Int("fits", 60, "pairs that fit to draw")
	keep := flag.String("keep", "", "folder for the judged rows and the heads that are made")
	lang := flag.String("lang", "go", "go, typescript, python or c")
	tools := flag.String("tools", ".", "folder with node_modules, for the server and the checker")
	check := flag.Bool("check", false, "have the checkers of merge_check look, too")
	last := flag.Duration("for", 24*time.Hour, "draw no longer than this")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	d := &draw{mirror: flag.Arg(0), dir: *keep, chance: rand.New(rand.NewPCG(*seed, 1)), breaks: *breaks, fits: *fits, tools: *tools,
		checks: *check, until: time.Now().Add(*last)}
	if err := d.run(*lang); err != nil {
		fmt.Fprintln(os.Stderr, "typed:", err)
		os.Exit(1)
	}
}

// rowsFile has the judged rows, in the folder of a run.
const rowsFile = "rows.tsv"

// A pair is two pieces of work, judged.
type pair struct {
	base, a, b string // commits
	what       string // that A did
	breaks     bool
	why        string // what the checker says
}

// A draw is one run.
type draw struct {
	mirror       string
	dir          string // a repository with the mirror's objects, for the heads that are made
	chance       *rand.Rand
	breaks, fits int
	checker      *checker
	tools        string
	checks       bool
	until        time.Time
	pairs        []pair
}

func (d *draw) run(lang string) error {
	if d.dir == "" {
		var err error
		if d.dir, err = os.MkdirTemp("", "svc-typed-"); err != nil {
			return err
		}
		defer os.RemoveAll(d.dir)
	}
	if err := d.setUp(); err != nil {
		return err
	}
	beside, ending := d.beside, ".go"
	if lang == "go" {
		d.checker = newChecker()
	} else {
		s, err := newServed(d, lang, d.tools)
		if err != nil {
			return err
		}
		beside, ending = s.beside, s.ending
	}
	if err := d.gather("*"+ending, beside); err != nil {
		return err
	}
	return d.ask()
}

// setUp makes the repository in which heads are made, or finds that of a run
// before with its rows.
func (d *draw) setUp() error {
	mirror, err := filepath.Abs(d.mirror)
	if err != nil {
		return err
	}
	if d.dir, err = filepath.Abs(d.dir); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(d.dir, rowsFile))
	if os.IsNotExist(err) {
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			return err
		}
		_, err := d.git("", "clone", "-q", "--shared", "--no-checkout", mirror, ".")
		return err
	}
	for l := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimSuffix(l, "\n"), "\t"); len(f) == 6 {
			d.pairs = append(d.pairs, pair{base: f[0], a: f[1], b: f[2], what: f[3], breaks: f[4] == "true", why: f[5]})
		}
	}
	return err
}

// gather draws commits until there are enough pairs of both kinds.
func (d *draw) gather(files string, beside func(string) error) error {
	list, err := d.git("", "log", "--no-merges", "--format=%H", "--diff-filter=AM", "HEAD", "--", files)
	if err != nil {
		return err
	}
	commits := strings.Fields(list)
	d.chance.Shuffle(len(commits), func(i, j int) { commits[i], commits[j] = commits[j], commits[i] })
	for _, c := range commits {
		if d.have(true) >= d.breaks && d.have(false) >= d.fits || time.Now().After(d.until) {
			break
		}
		if err := beside(c); err != nil {
			return err
		}
	}
	return nil
}

func (d *draw) have(breaks bool) (n int) {
	for _, p := range d.pairs {
		if p.breaks == breaks {
			n++
		}
	}
	return n
}

// git runs git in the repository that the heads are made in.
func (d *draw) git(stdin string, args ...string) (string, error) {
	out, err := d.raw(stdin, args...)
	return strings.TrimSpace(out), err
}

func (d *draw) raw(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = d.dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_INDEX_FILE="+filepath.Join(d.dir, ".git", "index-typed"))
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			return string(out), fmt.Errorf("git %s: %s", strings.Join(args, " "), exit.Stderr)
		}
		return "", err
	}
	return string(out), nil
}
