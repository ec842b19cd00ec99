package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/backtest/regime"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/version"
)

// options checks what was typed.
func (f *backtestFlags) options() (backtest.Options, error) {
	since, err := parseSpan(f.since)
	if err != nil {
		return backtest.Options{}, err
	}
	switch {
	case f.max < 1:
		return backtest.Options{}, term.Usagef("--max must be at least 1")
	case f.swarm != 0 && (f.swarm < 2 || f.swarm > 50):
		return backtest.Options{}, term.Usagef("--swarm must be from 2 to 50")
	case f.compare && f.swarm == 0:
		return backtest.Options{}, term.Usagef("--compare plays groups: say of how many agents, as --swarm 6")
	case f.picture != "" && !f.compare:
		return backtest.Options{}, term.Usagef("--picture draws what --compare finds")
	case f.compare && (f.pairs || f.flights || f.report != "" || f.share != ""):
		return backtest.Options{}, term.Usagef("--compare plays groups alone: leave out --pairs, --flights, --report and --share")
	case f.noMerges && !f.pairs && !f.flights && f.swarm == 0:
		return backtest.Options{}, term.Usagef("--no-merges leaves nothing to replay; add --pairs, --flights or --swarm")
	}
	return backtest.Options{
		Since: since, Max: f.max, NoMerges: f.noMerges, Pairs: f.pairs, Swarm: f.swarm, Flights: f.flights, Refs: f.refs, Seed: f.seed,
		LiveLimits: f.live, Compare: f.compare,
	}, nil
}

// parseSpan reads a length of time in days, weeks or years.
func parseSpan(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	if s == "all" {
		return 200 * 365 * day, nil
	}
	units := map[byte]time.Duration{'d': day, 'w': 7 * day, 'y': 365 * day}
	if s != "" {
		if unit, ok := units[s[len(s)-1]]; ok {
			if n, err := strconv.Atoi(s[:len(s)-1]); err == nil && n > 0 && n <= 73000 && time.Duration(n) <= 200*365*day/unit {
				return time.Duration(n) * unit, nil
			}
		}
	}
	return 0, term.Usagef("--since %q is no length of time; write 180d, 26w, 2y or all", s)
}

func runBacktest(ctx context.Context, a *app.Run, args []string, f *backtestFlags) error {
	opts, err := f.options()
	if err != nil {
		return err
	}
	if opts.CacheDir = a.CacheDir(); opts.CacheDir != "" {
		opts.CacheDir = filepath.Join(opts.CacheDir, "svc", "backtest")
	}
	opts.Forget = f.fresh
	if f.compare {
		return runCompare(ctx, a, args, f, opts)
	}
	dir := a.Dir
	if len(args) == 1 {
		dir = absolute(a, args[0])
	}
	result, repo, err := replayRepo(ctx, a, dir, opts)
	if err != nil {
		return err
	}
	if f.share != "" {
		if err := writeReport(a, result, backtest.Nameless, f.share); err != nil {
			return err
		}
		fmt.Fprintf(a.Stderr, "The page without names is in %s\n", f.share)
	}
	if err := tellBacktest(a, result, repoLabel(repo), f.report); err != nil {
		return err
	}
	if result.Interrupted {
		return &term.Exit{Code: term.ExitCancelled}
	}
	return nil
}

// replayRepo replays the repository of a folder, and shows how far it is.
func replayRepo(ctx context.Context, a *app.Run, dir string, opts backtest.Options) (*backtest.Result, *gitrepo.Repo, error) {
	repo, err := gitrepo.FindGit(ctx, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is in no git repository", dir)
	}
	bar := &progress{Run: a, start: a.Now()}
	opts.Progress = bar.show
	result, err := backtest.Run(ctx, repo, opts)
	bar.clear()
	return result, repo, err
}

// compared is what svc backtest --compare tells a program.
type compared struct {
	Repos []comparedRepo     `json:"repos"`
	All   *regime.Comparison `json:"all"`
}

type comparedRepo struct {
	Repo   string             `json:"repo"`
	Failed int                `json:"failed"` // groups that could not be replayed
	Is     *regime.Comparison `json:"comparison"`
}

// runCompare plays the groups of one repository or several.
func runCompare(ctx context.Context, a *app.Run, dirs []string, f *backtestFlags, opts backtest.Options) error {
	if len(dirs) == 0 {
		dirs = []string{a.Dir}
	}
	opts.NoMerges = true
	all, out := &backtest.Result{}, compared{}
	for _, dir := range dirs {
		result, repo, err := replayRepo(ctx, a, absolute(a, dir), opts)
		if err != nil {
			return err
		}
		if result.Interrupted {
			return &term.Exit{Code: term.ExitCancelled}
		}
		one := comparedRepo{Repo: repoLabel(repo), Is: result.Compare()}
		one.Failed = len(result.Outcomes) - one.Is.Groups
		out.Repos = append(out.Repos, one)
		all.Outcomes = append(all.Outcomes, result.Outcomes...)
	}
	out.All = all.Compare()
	if f.picture != "" {
		err := writePage(a, f.picture, func(w io.Writer) error { _, err := io.WriteString(w, out.All.Picture()); return err })
		if err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	for _, r := range out.Repos {
		fmt.Fprintf(a.Stdout, "%s: %d groups of %d", r.Repo, r.Is.Groups, f.swarm)
		if r.Failed > 0 {
			fmt.Fprintf(a.Stdout, ", %d could not be replayed", r.Failed)
		}
		fmt.Fprintf(a.Stdout, "; in %d git stops at something\n", r.Is.Meeting)
	}
	if out.All.Groups == 0 {
		fmt.Fprintln(a.Stdout, "There is nothing to play: no groups of so many pull requests fork from one commit.\n"+
			"Try a smaller --swarm or a longer --since, and bring the pull requests here first:\n"+
			"  git fetch origin '+refs/pull/*/head:refs/pull/*/head'")
		return nil
	}
	out.All.Text(a.Stdout)
	return nil
}

func tellBacktest(a *app.Run, r *backtest.Result, label, report string) error {
	if report != "" {
		if err := writeReport(a, r, label, report); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(r.Full(label, version.Version))
	}
	r.Text(a.Stdout, label)
	if report != "" {
		fmt.Fprintf(a.Stdout, "\nThe report is in %s\n", report)
	}
	return nil
}

func writeReport(a *app.Run, r *backtest.Result, label, path string) error {
	return writePage(a, path, func(w io.Writer) error { return r.HTML(w, label, version.Version, a.Now()) })
}

// writePage writes a file beside its name first, so that a full disk does not
// leave half of it.
func writePage(a *app.Run, path string, write func(io.Writer) error) error {
	path = absolute(a, path)
	tmp, err := os.CreateTemp(filepath.Dir(path), ".svc-report-*")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	defer os.Remove(tmp.Name())
	err = write(tmp)
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// repoLabel names a repository for people: as its origin does, else its folder.
func repoLabel(r *gitrepo.Repo) string {
	for _, remote := range r.Remotes() {
		parts := strings.FieldsFunc(strings.TrimSuffix(remote.URL, ".git"), func(c rune) bool { return c == '/' || c == ':' })
		if n := len(parts); n >= 2 {
			return parts[n-2] + "/" + parts[n-1]
		}
	}
	name := filepath.Base(r.Root)
	if name == ".git" || name == "repo" {
		name = filepath.Base(filepath.Dir(r.Root))
	}
	return name
}

// A progress shows on a terminal how far a replay is.
type progress struct {
	*app.Run
	start time.Time
	drawn time.Time
	first int // cases that were done at the start
	begun bool
}

func (p *progress) show(done, all int) {
	if !p.begun {
		p.begun, p.first = true, done
	}
	now := p.Now()
	if !p.Terminal.Err || all == 0 || now.Sub(p.drawn) < 100*time.Millisecond && done < all {
		return
	}
	p.drawn = now
	const width = 30
	full := width * done / all
	fmt.Fprintf(p.Stderr, "\r\x1b[K[%s%s] %d of %d%s", strings.Repeat("█", full), strings.Repeat("░", width-full), done, all,
		p.left(done, all, now))
}

// left guesses how long the rest takes.
func (p *progress) left(done, all int, now time.Time) string {
	if done-p.first < 5 || done == all {
		return ""
	}
	rest := time.Duration(float64(now.Sub(p.start)) / float64(done-p.first) * float64(all-done)).Round(time.Second)
	return ", " + rest.String() + " left"
}

func (p *progress) clear() {
	if p.Terminal.Err {
		fmt.Fprint(p.Stderr, "\r\x1b[K")
	}
}
