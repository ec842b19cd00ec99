package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/records"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

func topCommand(a *app.Run) *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Keep an eye on everybody's agents, live",
		Long: "Show every agent with its file, its trouble and its last words, what needs you,\n" +
			"and the conflicts, kept current while it is open. Space shows a row in full;\n" +
			"other keys open its page, acknowledge, write, wait, group and filter; ? lists\n" +
			"them. In a pipe, or with --once, it prints all of it and ends.",
		Example: "  svc top\n  svc top --once\n  svc top --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTop(cmd.Context(), a, once)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "print it and end")
	return cmd
}

// showPage opens a page of the dashboard and returns what to tell the person:
// over ssh there is no browser, and the address is for theirs.
func showPage(ctx context.Context, a *app.Run, path string) (string, error) {
	address, plain, err := records.PageAddress(ctx, a, path)
	if err != nil {
		return "", err
	}
	remote := a.Getenv("SSH_CONNECTION") != "" && a.Getenv("DISPLAY") == ""
	if remote || a.EnvSet("SVC_NO_BROWSER") || a.OpenBrowser == nil || a.OpenBrowser(address) != nil {
		return address, nil
	}
	return "Opened " + plain, nil
}
