package cli

import (
	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

func helpCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Show how to use a command",
		Example: "  svc help\n  svc help status",
		GroupID: "self",
		RunE: func(cmd *cobra.Command, args []string) error {
			at := a.Root
			for _, name := range args {
				next := term.Child(at, name)
				if next == nil {
					return term.Unknown(at, name)
				}
				at = next
			}
			at.InitDefaultHelpFlag()
			term.Help(a.Stdout, at)
			return nil
		},
	}
}
