package cli

import (
	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

func rulesCommand(a *app.Run) *cobra.Command {
	check := func(cmd *cobra.Command, _ []string) error { return runRulesCheck(cmd.Context(), a) }
	cmd := &cobra.Command{
		Use:     "rules",
		Short:   "Check the rules for your own framework",
		Example: "  svc rules check",
		Args:    term.NoArgs,
		RunE:    check,
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "check",
		Short: "Check your rules, and show what each finds",
		Long: "Read the rules in .svc/rules of this repository and in the folder rules of your\n" +
			"configuration, and show what each of them finds in the default branch. A rule\n" +
			"that svc does not understand is an error with its file and line. Nothing is\n" +
			"sent. In other commands a repository's rules count only after svc trust.",
		Example: "  svc rules check",
		Args:    term.NoArgs,
		RunE:    check,
	})
	return cmd
}
