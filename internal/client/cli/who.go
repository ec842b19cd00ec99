package cli

import (
	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/wire"
)

func (a *app) whoCommand() *cobra.Command {
	var repo string
	cmd := &cobra.Command{
		Use:     "who",
		Short:   "Show whose agents are at work, and on what",
		Example: "  svc who\n  svc who --repo acme/shop --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return shown(cmd.Context(), a, repo, (*remote.Client).Presence, func(p wire.Page[wire.Online]) { presenceList.page(a, p) })
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "only this repo, owner/name")
	a.completes(cmd, "repo", "repos")
	return cmd
}
