package merging

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/wire"
)

// MergeCheckCommand is what hooks start in the background. People have svc
// check --against.
func MergeCheckCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:    "merge-check ROOT CHECKS RESULT",
		Short:  "Check this working copy merged with others' work, for a later hook",
		Hidden: true,
		Args:   cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			var checks []wire.WantedCheck
			if err := json.Unmarshal([]byte(args[1]), &checks); err != nil {
				return term.Usagef("the second argument is what a hook was asked to check")
			}
			return runMergeCheck(cmd.Context(), a, args[0], checks, args[2])
		},
	}
}
