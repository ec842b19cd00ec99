// Proof measures svc on mirrors of public repositories and prints the figures
// of docs/lab/backtest.md: what svc backtest finds in each and in all together,
// and how many of the breaks in two fixed samples, judged by reading, it tells.
// One sample was looked at while svc was made; the other, of other
// repositories, was held out at first.
//
//	go run ./internal/tools/proof [-only breaks] [-rows TEXT] [-sample FILE] FOLDER
//
// What was replayed is kept in the user's cache folder, so that a run that was
// interrupted, or a larger one, goes on from there.
//
// FOLDER holds a bare mirror of each repository as owner/name.git, with
// refs/pull/* where the figures for pairs are wanted:
//
//	git clone --mirror https://github.com/sympy/sympy FOLDER/sympy/sympy.git
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// repositories are those that svc is developed on.
var repositories = []string{
	"sympy/sympy", "crewAIInc/crewAI", "etcd-io/etcd", "jenkinsci/jenkins", "jupyterlab/jupyterlab", "rust-lang/cargo",
}

const year = 365 * 24 * time.Hour

func main() {
	only := flag.String("only", "", "breaks or backtest: measure nothing else")
	most := flag.Int("max", 150, "cases of each kind and repository")
	rows := flag.String("rows", "", "of the breaks, only rows that contain this")
	sample := flag.String("sample", "", "measure on the rows of this file alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	measure := func() error { return run(ctx, flag.Arg(0), *only, *rows, *most) }
	if *sample != "" {
		measure = func() error { return judgeFile(ctx, flag.Arg(0), *sample, *rows) }
	}
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder, only, rows string, most int) error {
	if only != "breaks" {
		if err := replay(ctx, folder, most); err != nil {
			return err
		}
	}
	if only != "backtest" {
		return judge(ctx, folder, rows)
	}
	return nil
}

func open(ctx context.Context, folder, name string) (*gitrepo.Repo, error) {
	repo, err := gitrepo.FindGit(ctx, filepath.Join(folder, name+".git"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return repo, nil
}

// replay runs svc backtest on every repository.
func replay(ctx context.Context, folder string, most int) error {
	kept, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	var results []*backtest.Result
	all := &backtest.Result{}
	for _, name := range repositories {
		repo, err := open(ctx, folder, name)
		if err != nil {
			return err
		}
		start := time.Now()
		r, err := backtest.Run(ctx, repo, backtest.Options{Since: 5 * year, Max: most, Pairs: true, Swarm: 10, Seed: 1,
			CacheDir: filepath.Join(kept, "svc", "proof")})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %d cases in %s\n", name, len(r.Outcomes), time.Since(start).Round(time.Second))
		results = append(results, r)
		all.Outcomes = append(all.Outcomes, r.Outcomes...)
	}
	for _, s := range all.Sections() {
		figures(&s)
		byRepository(s.Kind, results)
	}
	lists(results)
	return nil
}

var titles = map[backtest.Kind]string{
	backtest.TrueMerge: "True merges",
	backtest.Pair:      "Pairs of pull requests on one base",
	backtest.Swarm:     "Groups of ten workers on one base",
}

// figures prints a section of all repositories together.
func figures(s *backtest.Section) {
	fmt.Printf("\n### %s: %d, %d in conflict, %d unreadable\n\n| figure | goal | all |\n|---|---|---|\n", titles[s.Kind], s.Cases,
		s.Conflicted, s.Failed)
	for _, f := range s.Figures {
		fmt.Printf("| %s | %s | %s |\n", f.Title, goal(&f), rate(f.Shown))
	}
	for _, p := range s.Plans {
		fmt.Printf("| plans name %s: precision | %s | %s; by file %s |\n", p.Title, goal(&p.Precision), rate(p.Precision.Shown),
			rate(p.FilePrecision.Shown))
		if p.Distinct.Shown != p.Precision.Shown {
			fmt.Printf("| ... of distinct changes |  | %s |\n", rate(p.Distinct.Shown))
		}
		fmt.Printf("| ... recall | %s | %s; by file %s |\n", goal(&p.Recall), rate(p.Recall.Shown), rate(p.FileRecall.Shown))
	}
}

// differing are the figures that differ most between repositories.
var differing = map[backtest.Kind][]string{
	backtest.TrueMerge: {"recall", "precision_edit_overlap", "precision", "lead"},
	backtest.Pair:      {"recall", "precision_edit_overlap", "precision", "lead"},
	backtest.Swarm:     {"recall", "precision_edit_overlap", "precision", "crowd_alarmed", "crowd_conflicting", "crowd_same_file"},
}

// byRepository prints those figures of each repository.
func byRepository(kind backtest.Kind, results []*backtest.Result) {
	columns := append([]string{"repository", "cases", "in conflict"}, differing[kind]...)
	if kind != backtest.Swarm {
		columns = append(columns, "plans by file", "plans by definition")
	}
	fmt.Printf("\n| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for i, r := range results {
		for _, s := range r.Sections() {
			if s.Kind != kind {
				continue
			}
			cells := []string{repositories[i], fmt.Sprint(s.Cases), fmt.Sprint(s.Conflicted)}
			for _, c := range differing[kind] {
				cell := "-"
				for _, f := range s.Figures {
					if f.ID == c && f.Shown.Of > 0 {
						cell = fmt.Sprintf("%d of %d", f.Shown.Hits, f.Shown.Of)
					}
				}
				cells = append(cells, cell)
			}
			for _, p := range s.Plans {
				if p.Name == backtest.PlanPaths || p.Name == backtest.PlanSymbols {
					cells = append(cells,
						fmt.Sprintf("%d of %d, foresaw %d of %d", p.Precision.Shown.Hits, p.Precision.Shown.Of, p.Recall.Shown.Hits, p.Recall.Shown.Of))
				}
			}
			fmt.Printf("| %s |\n", strings.Join(cells, " | "))
		}
	}
}

// lists prints what was missed and what was wrong, one line each.
func lists(results []*backtest.Result) {
	for i, r := range results {
		for _, m := range r.Misses() {
			fmt.Printf("\nmiss %s %s\n", repositories[i], m)
		}
		for _, a := range r.FalseAlarms() {
			fmt.Printf("\nfalse alarm %s %s\n", repositories[i], a)
		}
		for _, b := range r.Breaks() {
			fmt.Printf("\nbreak %s %s\n", repositories[i], b)
		}
	}
}

func goal(f *backtest.Figure) string {
	if f.Target == nil {
		return ""
	}
	return f.Target.String()
}

// rate is a share with its sample and interval.
func rate(r backtest.Rate) string {
	if r.Of == 0 {
		return "-"
	}
	low, high := r.Interval()
	return fmt.Sprintf("%.1f %% (%d of %d; %.1f-%.1f)", 100*r.Share(), r.Hits, r.Of, 100*low, 100*high)
}
