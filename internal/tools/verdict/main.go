// Command verdict holds what svc tells a session whose default branch moved
// against a real git merge: of pull requests of a mirror, and of its merges, one
// side lies in a real working tree as work that is not committed, and the other
// has landed. svc says which files and lines git will stop at; then the work is
// committed and git merges in that working tree.
//
//	go run ./internal/tools/verdict [-max 60] MIRROR...
//
// It ends with 1 if the two differ anywhere. Pairs that git cannot check out, as
// in a mirror that lacks large files, are left out and counted. Nothing is written to the mirrors.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/rebase"
)

func main() {
	most := flag.Int("max", 60, "pairs of each kind and mirror; of more, a sample")
	seed := flag.Uint64("seed", 1, "another seed draws another sample")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var all tally
	fmt.Println("| repository | pairs | git stops at | files | places | differ | left out |\n|---|---|---|---|---|---|---|")
	for _, mirror := range flag.Args() {
		t, err := replay(ctx, mirror, *most, *seed)
		if err != nil {
			fmt.Fprintln(os.Stderr, "verdict:", err)
			os.Exit(1)
		}
		t.print(mirror)
		all.add(t)
	}
	all.print("all")
	if all.differ > 0 {
		os.Exit(1)
	}
}

// A tally counts pairs.
type tally struct{ pairs, stops, files, places, differ, left int }

func (t *tally) add(o tally) {
	t.pairs += o.pairs
	t.stops += o.stops
	t.files += o.files
	t.places += o.places
	t.differ += o.differ
	t.left += o.left
}

func (t *tally) print(name string) {
	fmt.Printf("| %s | %d | %d | %d | %d | %d | %d |\n", name, t.pairs, t.stops, t.files, t.places, t.differ, t.left)
}

// replay plays the pairs of one mirror in a clone of it.
func replay(ctx context.Context, mirror string, most int, seed uint64) (t tally, err error) {
	repo, err := gitrepo.FindGit(ctx, mirror)
	if err != nil {
		return t, err
	}
	always := 100 * 365 * 24 * time.Hour
	cases, err := backtest.Choose(ctx, repo, backtest.Options{Since: always, Max: most, Pairs: true, Flights: true, Seed: seed})
	if err != nil {
		return t, err
	}
	dir, err := os.MkdirTemp("", "svc-verdict-")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(dir)
	tree := &tree{ctx: ctx, dir: filepath.Join(dir, "clone")}
	if _, err := tree.in(dir, "clone", "-q", "--shared", "--no-checkout", repo.GitDir, tree.dir); err != nil {
		return t, err
	}
	for _, c := range cases {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		if len(c.Heads) != 2 {
			continue
		}
		told, seen, err := tree.play(c.Heads[0], c.Heads[1])
		if err != nil { // such as objects that a mirror was made without
			t.left++
			fmt.Fprintf(os.Stderr, "%s with %s: left out: %v\n", c.Heads[0], c.Heads[1], err)
			continue
		}
		t.pairs++
		if len(seen) > 0 {
			t.stops++
		}
		for _, f := range seen {
			t.files++
			t.places += strings.Count(f, " at ")
		}
		if !slices.Equal(told, seen) {
			t.differ++
			fmt.Fprintf(os.Stderr, "%s with %s:\n  svc alone: %q\n  git alone: %q\n", c.Heads[0], c.Heads[1],
				without(told, seen), without(seen, told))
		}
	}
	return t, nil
}

// without returns what of one list is not in another.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// A tree is a working tree.
type tree struct {
	ctx context.Context
	dir string
}

// in runs git as a person without any settings has it.
func (t *tree) in(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(t.ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_LFS_SKIP_SMUDGE=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, stderr.String())
	}
	return string(out), err
}

func (t *tree) git(args ...string) (string, error) { return t.in(t.dir, args...) }

// play returns the files, each with the lines of the work, at which svc says
// that git will stop when work meets what landed, and at which it does.
func (t *tree) play(work, landed string) (told, seen []string, err error) {
	base, err := t.git("merge-base", work, landed)
	if err != nil {
		return nil, nil, err
	}
	for _, args := range [][]string{
		{"checkout", "-q", "--force", "--detach", work},
		{"clean", "-q", "-ffdx"},
		{"reset", "-q", "--soft", strings.TrimSpace(base)}, // not committed
	} {
		if _, err := t.git(args...); err != nil {
			return nil, nil, err
		}
	}
	repo, ok := gitrepo.At(t.dir)
	if !ok {
		return nil, nil, errors.New("the clone is no working copy")
	}
	v, err := rebase.Of(t.ctx, repo, landed)
	if err != nil {
		return nil, nil, err
	}
	if _, err := t.git("reset", "-q", "--soft", work); err != nil {
		return nil, nil, err
	}
	for _, s := range v.Stops {
		told = append(told, stopped(s.Path, s.Lines))
	}
	_, mergeErr := t.git("merge", "-q", "--no-commit", "--no-ff", landed)
	names, err := t.git("diff", "--name-only", "--diff-filter=U", "-z")
	if err != nil {
		return nil, nil, err
	}
	for name := range strings.SplitSeq(strings.TrimRight(names, "\x00"), "\x00") {
		if name == "" {
			continue
		}
		path, _, _ := strings.Cut(name, "~HEAD") // what lies in the way of a folder
		lines, err := t.places(work, name, path)
		if err != nil {
			return nil, nil, err
		}
		seen = append(seen, stopped(path, lines))
	}
	if mergeErr != nil && len(seen) == 0 {
		return nil, nil, mergeErr
	}
	slices.Sort(told)
	slices.Sort(seen)
	return told, slices.Compact(seen), nil
}

func stopped(path string, lines [][2]int) string {
	for _, l := range lines {
		path += fmt.Sprintf(" at %d-%d", l[0], l[1])
	}
	return path
}

// places finds the lines of the work between the marks that git left in a file:
// with the work's side of each conflict taken, git's own comparison with the work
// tells which number each line has there.
func (t *tree) places(work, name, path string) (out [][2]int, err error) {
	left, err := os.ReadFile(filepath.Join(t.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, nil // deleted, or a link
	}
	whole, err := t.git("cat-file", "blob", work+":"+path)
	if err != nil {
		return nil, nil // of the other side only
	}
	var taken strings.Builder
	n, from, to := 0, 0, 0 // the conflict begins and ended
	for line := range bytes.Lines(left) {
		mark, _, _ := strings.Cut(strings.TrimRight(string(line[:min(len(line), 9)]), "\r\n"), " ")
		switch {
		case mark == "<<<<<<<" && from == 0:
			from, to = n+1, 0
		case mark == "=======" && from > 0 && to == 0:
			if to = n + 1; n >= from {
				out = append(out, [2]int{from, n})
			}
		case mark == ">>>>>>>" && to > 0:
			from, to = 0, 0
		case to == 0:
			n++
			taken.Write(line)
		}
	}
	names := [2]string{filepath.Join(filepath.Dir(t.dir), "work"), filepath.Join(filepath.Dir(t.dir), "taken")}
	for i, text := range []string{whole, taken.String()} {
		if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	changes, _ := t.git("diff", "--no-index", "--text", "-U0", "--histogram", "--no-indent-heuristic", "--", names[0], names[1])
	ours := numbers(changes)
	for i := range out {
		out[i] = [2]int{ours(out[i][0]), ours(out[i][1])}
	}
	return out, nil
}

var hunkHead = regexp.MustCompile(`(?m)^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// numbers returns the number that a line had before changes.
func numbers(changes string) func(line int) int {
	number := func(text string) int {
		if text == "" {
			return 1
		}
		n, _ := strconv.Atoi(text)
		return n
	}
	heads := hunkHead.FindAllStringSubmatch(changes, -1)
	return func(line int) int {
		shift := 0
		for _, h := range heads {
			if now := number(h[3]); line >= number(h[2])+max(1, now) {
				shift += number(h[1]) - now
			}
		}
		return line + shift
	}
}
