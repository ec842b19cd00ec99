package cli

import (
	"context"
	"fmt"
	"net/url"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

const maxMessage = 4000

func (a *app) messagesCommand() *cobra.Command {
	var flags listFlags
	cmd := &cobra.Command{
		Use:   "messages [send|ack]",
		Short: "Read your messages, or send one",
		Long: "Read the messages to you and your agents, the newest first. Messages that\n" +
			"are shown count as read.",
		Example: "  svc messages --unread\n  svc messages send @bob 'May I have auth/?'",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.listMessages(cmd.Context(), &flags) },
	}
	cmd.Flags().BoolVar(&flags.filter.Unread, "unread", false, "only unread ones")
	cmd.Flags().IntVar(&flags.filter.Limit, "limit", 20, "at most this many, 1 to 200")
	send := &cobra.Command{
		Use:   "send TO TEXT",
		Short: "Send a message",
		Long: "Send a message. TO is @name, an email, INT-n, CF-n, #team, #owner/name or\n" +
			"thread:<id>.",
		Example: "  svc messages send @bob 'May I have auth/?'\n  svc messages send '#team' 'Freezing main at noon'",
		Args:    exactly(2, "a target and a text"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.sendMessage(cmd.Context(), args[0], args[1]) },
	}
	a.completesArgs(send, "people", "intents", "conflicts")
	ack := &cobra.Command{
		Use:     "ack ID",
		Short:   "Acknowledge a message that wants it",
		Example: "  svc messages ack 0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11",
		Args:    exactly(1, "a message's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.do(cmd.Context(), "POST", "/v1/messages/"+url.PathEscape(args[0])+"/ack", nil, "Acknowledged.")
		},
	}
	a.completesArgs(ack, "messages")
	cmd.AddCommand(send, ack)
	return cmd
}

func (a *app) listMessages(ctx context.Context, flags *listFlags) error {
	return listed(ctx, a, flags, (*remote.Client).Inbox, a.printMessages)
}

func (a *app) printMessages(page wire.Page[coord.Message]) {
	if len(page.Items) == 0 {
		fmt.Fprintln(a.Stdout, "No messages.")
	}
	for _, m := range page.Items {
		a.printMessage(m)
	}
}

func (a *app) printMessage(m coord.Message) {
	from := string(m.From.Kind)
	if m.From.User != nil {
		from = person(m.From.User)
	}
	if m.From.Tool != nil {
		from += " (" + peertext.Name(*m.From.Tool) + ")"
	}
	fmt.Fprintf(a.Stdout, "%s to %s, %s", a.paint(bold, from), addressee(m.To), a.ago(m.CreatedAt))
	if m.About != nil && m.About.Kind != "question" {
		fmt.Fprintf(a.Stdout, ", about %s", peertext.Name(m.About.Ref))
	}
	if m.RequiresAck {
		fmt.Fprint(a.Stdout, a.paint(yellow, ", wants an acknowledgement"))
	}
	fmt.Fprintln(a.Stdout)
	if s := text(m.Subject); s != "" {
		fmt.Fprintf(a.Stdout, "  %s\n", peertext.Title(s))
	}
	a.quote(a.Stdout, m.Body)
	if asks(m) {
		fmt.Fprintf(a.Stdout, "  To answer: svc answer %s TEXT\n", peertext.Name(m.About.Ref))
	}
	if m.RequiresAck && m.ReadAt == nil {
		fmt.Fprintf(a.Stdout, "  To acknowledge: svc messages ack %s\n", peertext.Name(m.ID))
	}
}

func (a *app) sendMessage(ctx context.Context, to, body string) error {
	if n := utf8.RuneCountInString(body); n < 1 || n > maxMessage {
		return usagef("the text must have 1 to %d characters, it has %d", maxMessage, n)
	}
	c, _, err := a.client()
	if err != nil {
		return err
	}
	if to, err = target(ctx, c, to); err != nil {
		return err
	}
	m, err := c.SendMessage(ctx, to, body)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(m)
	}
	fmt.Fprintf(a.Stdout, "Sent to %s.\n", addressee(m.To))
	return nil
}
