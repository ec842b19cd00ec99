// Command merged says what merge checks add to what svc tells of breaks: of
// every pair of a judged sample (the rows of internal/tools/proof) it checks out
// one side, lets it be set up, and runs svc check --against the other.
//
//	go build -o svc ./cmd/svc
//	go run ./internal/tools/merged -svc ./svc -prepare 'npm ci' rows.tsv clones
//
// The folder has working clones as owner/name. What their checkers need is put
// there by the command of -prepare, which is run in a clone after every check
// out. Their code is trusted: run it only on what you would build. What was told
// of each pair is kept in the folder of -keep, so that a run that was interrupted
// goes on from there.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/mergecheck"
	"github.com/svc-hq/svc/internal/core/coord"
)

// A bench is how a sample is run.
type bench struct {
	svc, prepare, keep, clones string
}

func main() {
	var b bench
	flag.StringVar(&b.svc, "svc", "svc", "the program to run")
	flag.StringVar(&b.prepare, "prepare", "", "a shell command that sets a clone up, after every check out")
	flag.StringVar(&b.keep, "keep", "", "a folder to keep answers in")
	only := flag.String("only", "", "only rows that contain this")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: merged [-svc PROGRAM] [-prepare COMMAND] [-keep FOLDER] [-only TEXT] ROWS CLONES")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, flag.Arg(0), flag.Arg(1), *only); err != nil {
		fmt.Fprintln(os.Stderr, "merged:", err)
		os.Exit(1)
	}
}

// A count is how rows of one verdict went.
type count struct{ rows, facts, checker, either, ran, ranEither int }

func (b *bench) run(ctx context.Context, rows, clones, only string) (err error) {
	data, err := os.ReadFile(rows)
	if err != nil {
		return err
	}
	for _, name := range []*string{&clones, &b.keep, &b.svc} {
		if *name != "" && (name != &b.svc || strings.Contains(*name, string(filepath.Separator))) {
			if *name, err = filepath.Abs(*name); err != nil {
				return err
			}
		}
	}
	b.clones = clones
	counts := map[string]*count{"breaks": {}, "fits": {}}
	for line := range strings.Lines(string(data)) {
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(c) < 6 || counts[c[5]] == nil || !strings.Contains(line, only) {
			continue
		}
		a, err := b.answer(ctx, c[0], c[2], c[3])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", c[0], c[4], err)
		}
		s := a.about(filepath.Join(b.clones, filepath.FromSlash(c[0])), c[2], c[3], c[4])
		counts[c[5]].add(s)
		fmt.Printf("%s\t%s\t%s\t%.8s %.8s\tfacts: %s\t%s\trelated: %t\t%.0f s\t%s\n",
			c[0], c[4], c[5], c[2], c[3], told(s.facts), s.checker, a.Related, a.Seconds, s.words)
	}
	for _, verdict := range []string{"breaks", "fits"} {
		n := counts[verdict]
		fmt.Printf("%s: %d rows; told by the facts %d, by a checker %d, by either %d; a checker ran on %d, of which either told %d\n",
			verdict, n.rows, n.facts, n.checker, n.either, n.ran, n.ranEither)
	}
	return nil
}

func told(yes bool) string {
	if yes {
		return "told"
	}
	return "silent"
}

// A said is what svc says of one row.
type said struct {
	facts   bool
	checker string // told, silent, told of other things, or why none ran
	words   string
}

func (n *count) add(s said) {
	either := s.facts || s.checker == checkerTold
	n.rows++
	n.facts += one(s.facts)
	n.checker += one(s.checker == checkerTold)
	n.either += one(either)
	if s.checker == checkerTold || s.checker == checkerSilent || s.checker == checkerOther {
		n.ran++
		n.ranEither += one(either)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

const (
	checkerTold   = "checker: told"
	checkerSilent = "checker: silent"
	checkerOther  = "checker: told of other things"
)

// An answer is what svc check --against printed of a pair.
type answer struct {
	Conflicts []backtest.Conflict
	Breaks    []backtest.Warning
	Types     *mergecheck.Report
	Related   bool
	Seconds   float64 // that it took
}

// about is what an answer says of a definition.
func (a *answer) about(clone, ours, theirs, definition string) said {
	name := coord.LastName(definition)
	var s said
	for _, w := range a.Breaks {
		s.facts = s.facts || coord.LastName(w.Place) == name
	}
	switch {
	case a.Types == nil:
		s.checker = "checker: not asked"
	case len(a.Types.New) == 0 && a.looked():
		s.checker = checkerSilent
	case len(a.Types.New) == 0 && len(a.Types.Skipped) == 0:
		s.checker = "checker: not concerned"
	case len(a.Types.New) == 0:
		s.checker = "checker: " + strings.Join(a.Types.Skipped, "; ")
	default:
		s.checker, s.words = checkerOther, a.Types.New[0].String()
		for _, f := range a.Types.New {
			if strings.Contains(f.Text, name) || strings.Contains(mergedLine(clone, a.Types.Tree, ours, theirs, f), name) {
				s.checker, s.words = checkerTold, f.String()
				break
			}
		}
	}
	return s
}

// looked reports whether some checker looked at all that it was to look at.
func (a *answer) looked() bool {
	return slices.ContainsFunc(a.Types.Checkers, func(name string) bool {
		return !slices.ContainsFunc(a.Types.Skipped, func(why string) bool { return strings.HasPrefix(why, name+":") })
	})
}

// mergedLine is the code that a fault is about: a compiler does not always name
// what is wrong.
func mergedLine(clone, tree, ours, theirs string, f mergecheck.Fault) string {
	// The tree that svc made is gone with its scratch folder.
	if err := exec.Command("git", "-C", clone, "merge-tree", "--write-tree", ours, theirs).Run(); err != nil {
		return ""
	}
	text, err := exec.Command("git", "-C", clone, "show", tree+":"+f.Path).Output()
	if lines := strings.Split(string(text), "\n"); err == nil && f.Line >= 1 && f.Line <= len(lines) {
		return lines[f.Line-1]
	}
	return ""
}

// answer asks svc about a pair, unless it was asked before.
func (b *bench) answer(ctx context.Context, repo, ours, theirs string) (*answer, error) {
	sum := sha256.Sum256([]byte(repo + " " + ours + " " + theirs))
	kept := filepath.Join(b.keep, hex.EncodeToString(sum[:8])+".json")
	var a answer
	if data, err := os.ReadFile(kept); b.keep != "" && err == nil {
		return &a, json.Unmarshal(data, &a)
	}
	clone := filepath.Join(b.clones, filepath.FromSlash(repo))
	steps := [][]string{{"git", "checkout", "--quiet", "--force", "--detach", ours}}
	if b.prepare != "" {
		steps = append(steps, []string{"sh", "-c", b.prepare})
	}
	steps = append(steps, []string{b.svc, "trust"})
	for _, step := range steps {
		cmd := exec.CommandContext(ctx, step[0], step[1:]...)
		cmd.Dir = clone
		cmd.Env = append(os.Environ(), "OURS="+ours, "THEIRS="+theirs)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(step, " "), err, strconv.Quote(string(out)))
		}
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, b.svc, "check", "--against", theirs, "--json")
	var complaint bytes.Buffer
	cmd.Dir, cmd.Stderr = clone, &complaint
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	var list []answer
	if err := json.Unmarshal(out, &list); err != nil || len(list) != 1 {
		return nil, fmt.Errorf("svc check said %q", complaint.String())
	}
	a = list[0]
	a.Seconds = time.Since(began).Seconds()
	if b.keep == "" {
		return &a, nil
	}
	data, err := json.Marshal(&a)
	if err != nil {
		return nil, err
	}
	return &a, errors.Join(os.MkdirAll(b.keep, 0o755), os.WriteFile(kept, data, 0o600))
}
