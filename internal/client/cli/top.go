package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/term"
)

func (a *app) topCommand() *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Keep an eye on everybody's agents, live",
		Long: "Show every agent with its file, its last words and its trouble, what needs you,\n" +
			"and the conflicts, kept current while it is open. Keys open a row's page,\n" +
			"acknowledge, write, wait and filter; ? lists them. In a pipe, or with --once, it\n" +
			"prints all of it and ends.",
		Example: "  svc top\n  svc top --once\n  svc top --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runTop(cmd.Context(), once)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "print it and end")
	return cmd
}

// showPage opens a page of the dashboard and returns what to tell the person:
// over ssh there is no browser, and the address is for theirs.
func (a *app) showPage(ctx context.Context, path string) (string, error) {
	address, plain, err := a.pageAddress(ctx, path)
	if err != nil {
		return "", err
	}
	remote := a.Getenv("SSH_CONNECTION") != "" && a.Getenv("DISPLAY") == ""
	if remote || a.envSet("SVC_NO_BROWSER") || a.OpenBrowser == nil || a.OpenBrowser(address) != nil {
		return address, nil
	}
	return "Opened " + plain, nil
}
