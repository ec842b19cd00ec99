package records

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func adoptCommand(a *app.Run) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "adopt INT-n",
		Short: "Let your agent take up an intent that was handed to you",
		Long: "Let an agent of yours that is at work take up an intent of yours, such as one\n" +
			"that was handed to you: its claims and conflicts become that agent's. With\n" +
			"several agents at work in its repository, say which with --session.",
		Example: "  svc intents adopt INT-7",
		Args:    term.Exactly(1, "one intent such as INT-7"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := intentRef(args[0])
			if err != nil {
				return err
			}
			c, _, err := a.Client()
			if err != nil {
				return err
			}
			if session == "" {
				if session, err = ownSession(cmd.Context(), c, ref); err != nil {
					return err
				}
			}
			in := map[string]any{"session_id": session}
			return send(cmd.Context(), a, "POST", "/v1/intents/"+ref+"/adopt", in, func(out wire.Declared) { printDeclared(a, "Adopted", out) })
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "the agent's session, where you have several at work")
	Completes(a, cmd, "session", "my sessions")
	completesArgs(a, cmd, "my intents")
	return cmd
}

// ownSession returns the one session of the caller's that could take up an
// intent.
func ownSession(ctx context.Context, c *remote.Client, ref string) (string, error) {
	in, err := c.Intent(ctx, ref)
	if err != nil {
		return "", err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return "", err
	}
	sessions, err := c.LiveSessions(ctx)
	if err != nil {
		return "", err
	}
	mine := slices.DeleteFunc(sessions, func(s coord.Session) bool {
		return me.User == nil || s.User.ID != me.User.ID || s.Repo.ID != in.Repo.ID
	})
	switch len(mine) {
	case 0:
		return "", fmt.Errorf("no agent of yours is at work in %s; start one there, then adopt %s", peertext.Path(in.Repo.FullName), ref)
	case 1:
		return mine[0].ID, nil
	}
	var list []string
	for _, s := range mine {
		list = append(list, fmt.Sprintf("%s (%s on %s)", s.ID, peertext.Name(s.Tool), peertext.Branch(text(s.Branch))))
	}
	return "", term.Usagef("several agents of yours are at work there; say which with --session: %s", strings.Join(list, ", "))
}
