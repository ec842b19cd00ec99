//go:build !lean

package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/backtest/regime"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

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
