package cli

import (
	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
)

func analyzeCommand(a *app.Run) *cobra.Command {
	var metadataOnly bool
	cmd := &cobra.Command{
		Use:   "analyze [PATH...]",
		Short: "Show what svc would tell the server about your edits",
		Long: "Compare the working tree with the version it started from and show the\n" +
			"facts that hooks send: changed lines, definitions, contracts, references.\n" +
			"Nothing is sent. Code itself never leaves the machine.",
		Example: "  svc analyze\n  svc analyze src/auth.go --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAnalyze(cmd.Context(), a, args, metadataOnly)
		},
	}
	cmd.Flags().BoolVar(&metadataOnly, "metadata-only", false, "as an org in metadata_only mode would send it")
	return cmd
}
