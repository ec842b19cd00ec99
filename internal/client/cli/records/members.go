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

func MembersCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "members",
		Short:   "List the members, or invite somebody",
		Example: "  svc members\n  svc members invite cy@example.com --role member",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return shown(cmd.Context(), a, struct{}{}, func(c *remote.Client, ctx context.Context, _ struct{}) ([]coord.Membership, error) {
				return c.Members(ctx)
			}, func(ms []coord.Membership) { memberList.print(a, ms, false) })
		},
	}
	var role string
	invite := &cobra.Command{
		Use:     "invite EMAIL",
		Short:   "Invite somebody",
		Example: "  svc members invite cy@example.com",
		Args:    term.Exactly(1, "an email"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := map[string]any{"email": args[0], "role": role}
			return send(cmd.Context(), a, "POST", "/v1/invites", in, func(made coord.Invite) {
				fmt.Fprintf(a.Stdout, "Invited %s as %s.\n", peertext.Person(args[0]), peertext.Name(role))
				sayInvite(a, made)
			})
		},
	}
	invite.Flags().StringVar(&role, "role", "member", strings.Join(coord.Role("").Enum(), ", "))
	term.Choices(invite, "role", coord.Role("").Enum()...)
	cmd.AddCommand(showMemberCommand(a), invite, invitesCommand(a), resendCommand(a))
	return cmd
}

// showMemberCommand shows one member, with what they and their agents do.
func showMemberCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show MEMBER",
		Short:   "Show one member, and their work",
		Example: "  svc members show @bob",
		Args:    term.Exactly(1, "one member: @name or an email"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return shown(cmd.Context(), a, args[0], member, func(m memberWork) {
				fmt.Fprintln(a.Stdout, a.Paint(term.Bold, peertext.Person(m.Name)))
				a.Facts([][]string{{"Email", peertext.Person(m.Email)}, {"Role", string(m.Role)}, {"Joined", a.Ago(m.JoinedAt)}})
				intentList.print(a, m.Intents, false)
			})
		},
	}
	completesArgs(a, cmd, "people")
	return cmd
}

// A memberWork is a member with their live intents.
type memberWork struct {
	coord.Membership
	Intents []coord.Intent `json:"intents"`
}

func member(c *remote.Client, ctx context.Context, word string) (out memberWork, err error) {
	email, err := recipient(ctx, c, word)
	if err != nil {
		return out, err
	}
	members, err := c.Members(ctx)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(members, func(m coord.Membership) bool { return strings.EqualFold(m.Email, email) })
	if i < 0 {
		return out, fmt.Errorf("no member has the address %s; svc members lists them", peertext.Person(email))
	}
	page, err := c.Intents(ctx, remote.Filter{Owner: members[i].Email, Status: "live", Limit: wire.MaxLimit})
	return memberWork{members[i], append([]coord.Intent{}, page.Items...)}, err
}
