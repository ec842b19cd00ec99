package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

// backtestFlags are what svc backtest was asked for.
type backtestFlags struct {
	since, report, share string
	picture              string
	max, swarm           int
	pairs, fresh         bool
	noMerges             bool
	flights, live        bool
	compare              bool
	refs                 []string
	seed                 uint64
}

func backtestCommand(a *app.Run) *cobra.Command {
	var f backtestFlags
	cmd := &cobra.Command{
		Use:   "backtest [PATH...]",
		Short: "Replay a repository's merges: what would svc have caught?",
		Long: "Replay the merges of a repository through svc's own analysis and compare what\n" +
			"it would have said with what git did: which conflicts it would have warned of,\n" +
			"and how often it would have been wrong. Needs no server and no login, sends\n" +
			"nothing and changes nothing in the repository. Ctrl-C ends it with the figures\n" +
			"so far; the next run goes on from there.",
		Example: "  svc backtest                              # the last 180 days\n" +
			"  svc backtest --since 2y --report out.html # with a page to show around\n" +
			"  svc backtest mirror.git --pairs --swarm 10\n" +
			"  svc backtest --swarm 6 --compare mirror.git  # does svc pay?",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 && !f.compare {
				return term.Usagef("expected at most one path, got %d arguments; --compare takes several", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runBacktest(cmd.Context(), a, args, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "180d", "how long before the newest commit, as 180d, 26w, 2y or all")
	flags.IntVar(&f.max, "max", backtest.DefaultMax, "most cases of each kind; of more, a sample")
	flags.BoolVar(&f.pairs, "pairs", false, "also pairs of pull requests that fork from one commit")
	flags.BoolVar(&f.flights, "flights", false, "also pairs that fork from different commits and were worked on at one time")
	flags.IntVar(&f.swarm, "swarm", 0, "also groups of this many pull requests that do (2 to 50)")
	flags.BoolVar(&f.compare, "compare", false, "play those groups with nothing, locks, warnings and svc, and compare the costs")
	flags.StringVar(&f.picture, "picture", "", "with --compare, draw the costs to this SVG file")
	flags.StringSliceVar(&f.refs, "refs", nil, "where the pull requests are (default refs/pull/*/head, refs/merge-requests/*/head)")
	flags.BoolVar(&f.live, "live-limits", false, "cut what a side did where live reports are cut")
	flags.BoolVar(&f.noMerges, "no-merges", false, "leave the merges out")
	flags.StringVar(&f.report, "report", "", "write a page with charts to this file")
	flags.StringVar(&f.share, "share", "", "write the page without any names, for others to see")
	flags.Uint64Var(&f.seed, "seed", 1, "another seed draws another sample")
	flags.BoolVar(&f.fresh, "fresh", false, "forget what earlier runs found")
	return cmd
}

func absolute(a *app.Run, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}
