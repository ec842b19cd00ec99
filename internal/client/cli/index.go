package cli

import (
	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

func indexCommand(a *app.Run) *cobra.Command {
	var quiet bool
	var after, explain string
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Index this repository's APIs and dependencies",
		Long: "Scan the repository's default branch and send which routes, tables, events,\n" +
			"config keys and exported definitions its files provide and use, so that\n" +
			"breaks across repositories are seen. Runs by itself when the server knows\n" +
			"nothing of a repository yet; run it again after large changes.",
		Example: "  svc index\n  svc index --explain src/api.ts",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if explain != "" {
				return explainFile(cmd.Context(), a, explain)
			}
			return runIndex(cmd.Context(), a, quiet, after)
		},
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print nothing")
	cmd.Flags().StringVar(&after, "after", "", "resume after this path")
	cmd.Flags().StringVar(&explain, "explain", "", "send nothing; show what is found in this file, by which rule, and what cannot be read")
	return cmd
}
