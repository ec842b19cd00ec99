package cli

import (
	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
)

func analyzeCommand(a *app.Run) *cobra.Command {
	var metadataOnly, patch bool
	cmd := &cobra.Command{
		Use:   "analyze [PATH...]",
		Short: "Show what svc would tell the server about your edits",
		Long: "Compare the working tree with the version it started from and show the\n" +
			"facts that hooks send: changed lines, definitions, contracts, references.\n" +
			"Nothing is sent. Code itself never leaves the machine, unless the team's\n" +
			"policy share_patches is team: --patch shows what would be handed over then,\n" +
			"of files that somebody else works near.",
		Example: "  svc analyze\n  svc analyze src/auth.go --json\n  svc analyze --patch",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAnalyze(cmd.Context(), a, args, metadataOnly, patch)
		},
	}
	cmd.Flags().BoolVar(&metadataOnly, "metadata-only", false, "as an org in metadata_only mode would send it")
	cmd.Flags().BoolVar(&patch, "patch", false, "the difference that machines of the team would get under share_patches")
	cmd.MarkFlagsMutuallyExclusive("metadata-only", "patch")
	return cmd
}
