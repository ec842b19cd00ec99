package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/wire"
)

// mergeCheckCommand is what hooks start in the background. People have svc
// check --against.
func (a *app) mergeCheckCommand() *cobra.Command {
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
			return a.runMergeCheck(cmd.Context(), args[0], checks, args[2])
		},
	}
}
