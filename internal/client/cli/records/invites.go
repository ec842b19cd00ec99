package records

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// sayInvite tells how an invite reaches its reader.
func sayInvite(a *app.Run, i coord.Invite) {
	if i.Mail != nil {
		fmt.Fprintln(a.Stdout, "An email is queued; svc members invites shows its status.")
		fmt.Fprintln(a.Stdout, "The same link, for another way to them; it works once:")
	} else {
		fmt.Fprintln(a.Stdout, "The server sends no mail: give them this link; it works once:")
	}
	if i.URL != nil {
		fmt.Fprintf(a.Stdout, "  %s\n", peertext.Line(*i.URL, 500))
	}
}

// invitesCommand lists who is invited and what became of the letters.
func invitesCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:     "invites",
		Short:   "List who is invited, and what became of the letters",
		Example: "  svc members invites",
		Args:    term.NoArgs,
		RunE:    inviteList.run(a),
	}
}

func invitee(i coord.Invite) string {
	if i.Email == nil {
		return "anyone with the link"
	}
	return peertext.Person(*i.Email)
}

// letterState is what became of a letter, in a few words.
func letterState(l *coord.Letter) string {
	switch {
	case l == nil:
		return "not mailed"
	case l.Detail == "":
		return string(l.State)
	}
	return string(l.State) + ": " + peertext.Line(l.Detail, 200)
}

// resendCommand mails an invite again, with a new link.
func resendCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:     "resend EMAIL",
		Short:   "Mail an invite again, with a new link; the old one ends",
		Example: "  svc members resend cy@example.com",
		Args:    term.Exactly(1, "the address that was invited, or the invite's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.Client()
			if err != nil {
				return err
			}
			i, err := inviteNames().find(cmd.Context(), c, strings.ToLower(args[0]))
			if err != nil {
				return err
			}
			return send(cmd.Context(), a, "POST", "/v1/invites/"+url.PathEscape(i.ID)+"/resend", nil, func(again coord.Invite) {
				fmt.Fprintf(a.Stdout, "Invited %s again; the link of before does not work any more.\n", invitee(i))
				sayInvite(a, again)
			})
		},
	}
}
