package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/local"
)

// edgeCommand is what hooks run in the background.
func edgeCommand(a *app.Run) *cobra.Command {
	start := &cobra.Command{
		Use:   "start",
		Short: "Start the process that answers for the server on this machine",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := local.Locate(a.Getenv)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), app.CommandStart)
			defer cancel()
			_, err = place.StartEdge(ctx)
			return err
		},
	}
	cmd := &cobra.Command{Use: "edge", Short: "Answer for a server far away on this machine", Hidden: true}
	cmd.AddCommand(start)
	return cmd
}
