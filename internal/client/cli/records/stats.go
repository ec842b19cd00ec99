package records

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/wire"
)

func StatsCommand(a *app.Run) *cobra.Command {
	var days int
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Show the figures of the last days",
		Example: "  svc stats\n  svc stats --days 90 --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return send(cmd.Context(), a, "GET", query("/v1/stats", "days", strconv.Itoa(days)), nil, func(s wire.Stats) {
				t := s.Totals
				fmt.Fprintf(a.Stdout, "The last %d days: %s, %s found, %d stopped and %d warned, %s overridden.\n", s.Days,
					term.Plural(t.Intents, "intent"), term.Plural(t.Conflicts, "conflict"), t.Blocked, t.Warned, term.Plural(t.Overridden, "conflict"))
				if t.StaleWrites > 0 {
					fmt.Fprintf(a.Stdout, "%s stopped that would have undone lines which others changed in the same working copy.\n",
						term.Plural(t.StaleWrites, "edit"))
				}
				figureList.print(a, s.Members, false)
			})
		},
	}
	cmd.Flags().IntVar(&days, "days", 30, "7, 30 or 90")
	return cmd
}
