package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/app"
)

// lookBackLimit ends a look at a history that is too long for it.
const lookBackLimit = 5 * time.Minute

// lookBackCommand is what hooks start in the background where git takes longer
// than an agent may wait to tell what files were called before.
func lookBackCommand(*app.Run) *cobra.Command {
	return &cobra.Command{
		Use:    "look-back ROOT BASE PATH...",
		Short:  "Find out what files were called before, for a later hook",
		Hidden: true,
		Args:   cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), lookBackLimit)
			defer cancel()
			attend.LookBack(ctx, args[0], args[1], args[2:])
			return nil
		},
	}
}
