package records

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
)

func SearchCommand(a *app.Run) *cobra.Command {
	var kinds []string
	var repo string
	var limit int
	cmd := &cobra.Command{
		Use:     "search WORDS",
		Short:   "Search what the team did in the last 90 days",
		Example: "  svc search token refresh\n  svc search 'login' --kind conflicts,messages",
		Args:    term.AtLeast(1, "words to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := query(searchList.path, "q", strings.Join(args, " "), "repo", repo, "kinds", strings.Join(kinds, ","),
				"limit", strconv.Itoa(limit))
			return searchList.ask(cmd.Context(), a, path)
		},
	}
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, strings.Join(coord.MemoryKind("").Enum(), ", "))
	term.Choices(cmd, "kind", coord.MemoryKind("").Enum()...)
	cmd.Flags().StringVar(&repo, "repo", "", "only this repo, owner/name")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many, 1 to 50")
	Completes(a, cmd, "repo", "repos")
	return cmd
}
