package records

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

func FeedCommand(a *app.Run) *cobra.Command {
	var limit int
	var types []string
	cmd := &cobra.Command{
		Use:     "feed",
		Short:   "Show what happened lately",
		Example: "  svc feed\n  svc feed --type conflict.detected --limit 100",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := query("/v1/feed", "limit", strconv.Itoa(limit), "type", strings.Join(types, ","))
			return send(cmd.Context(), a, "GET", path, nil, func(f wire.Feed) {
				if len(f.Items) == 0 {
					fmt.Fprintln(a.Stdout, "Nothing happened yet.")
				}
				known := names{}
				known.learn(f.Refs)
				for _, e := range f.Items {
					fmt.Fprintln(a.Stdout, eventLine(a, e, known))
				}
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 30, "at most this many, 1 to 200")
	cmd.Flags().StringSliceVar(&types, "type", nil, "only events of this type")
	term.Choices(cmd, "type", coord.EventType("").Enum()...)
	return cmd
}
