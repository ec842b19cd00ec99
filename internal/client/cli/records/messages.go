package records

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func MessagesCommand(a *app.Run) *cobra.Command {
	var flags listFlags
	cmd := &cobra.Command{
		Use:   "messages [list|threads|show|send|ack]",
		Short: "Read your messages, or send one",
		Long: "Read the messages to you and your agents, the newest first. Messages that\n" +
			"are shown count as read.",
		Example: "  svc messages --unread\n  svc messages show @bob\n  svc messages send @bob 'May I have auth/?'",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return listMessages(cmd.Context(), a, &flags) },
	}
	cmd.Flags().BoolVar(&flags.filter.Unread, "unread", false, "only unread ones")
	cmd.Flags().IntVar(&flags.filter.Limit, "limit", 20, "at most this many, 1 to 200")
	cmd.AddCommand(threadsCommand(a), showThreadCommand(a), sendCommand(a), ackMessageCommand(a))
	return cmd
}

func sendCommand(a *app.Run) *cobra.Command {
	var in wire.SendMessage
	var subject string
	cmd := &cobra.Command{
		Use:   "send TO TEXT",
		Short: "Send a message",
		Long: "Send a message. TO is @name, an email, INT-n, CF-n, #team, #owner/name or\n" +
			"thread:<id>.",
		Example: "  svc messages send @bob 'May I have auth/?'\n  svc messages send '#team' 'Freezing main at noon' --ack",
		Args:    term.Exactly(2, "a target and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.To, in.Body, in.Subject = args[0], args[1], optional(subject)
			return sendMessage(cmd.Context(), a, in)
		},
	}
	cmd.Flags().StringVar(&subject, "subject", "", "what it is about, in one line")
	cmd.Flags().BoolVar(&in.RequiresAck, "ack", false, "ask those who get it to acknowledge it")
	completesArgs(a, cmd, "people", "intents", "conflicts")
	return cmd
}

func ackMessageCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ack MESSAGE",
		Short: "Acknowledge a message that wants it",
		Long: "Acknowledge a message that wants it. MESSAGE is its id or the beginning of it,\n" +
			"as svc messages shows it; or @name for the last that somebody sent you.",
		Example: "  svc messages ack @bob",
		Args:    term.Exactly(1, "a message's id, or @name of who sent it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := messageID(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			return do(cmd.Context(), a, "POST", "/v1/messages/"+url.PathEscape(id)+"/ack", nil, "Acknowledged.")
		},
	}
	completesArgs(a, cmd, "messages", "people")
	return cmd
}

// messageID is the message to acknowledge that a word names: its id, the
// beginning of one that came lately, or who sent it.
func messageID(ctx context.Context, a *app.Run, word string) (string, error) {
	if isID(word) {
		return word, nil
	}
	from, messages, err := lately(ctx, a, word, "message", "sent it")
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		if from != "" && m.RequiresAck && m.From.User != nil && strings.EqualFold(m.From.User.Email, from) ||
			from == "" && strings.HasPrefix(m.ID, strings.ToLower(word)) {
			return m.ID, nil
		}
	}
	return "", fmt.Errorf("no message of the last ones that is %q wants an acknowledgement; svc messages shows them", peertext.Line(word, 100))
}

func listMessages(ctx context.Context, a *app.Run, flags *listFlags) error {
	return listed(ctx, a, flags, (*remote.Client).Inbox, func(page wire.Page[coord.Message]) { printMessages(a, page) })
}

func printMessages(a *app.Run, page wire.Page[coord.Message]) {
	if len(page.Items) == 0 {
		fmt.Fprintln(a.Stdout, "No messages.")
	}
	for _, m := range page.Items {
		printMessage(a, m)
	}
}

func printMessage(a *app.Run, m coord.Message) {
	from := string(m.From.Kind)
	if m.From.User != nil {
		from = person(m.From.User)
	}
	if m.From.Tool != nil {
		from += " (" + peertext.Name(*m.From.Tool) + ")"
	}
	fmt.Fprintf(a.Stdout, "%s to %s, %s", a.Paint(term.Bold, from), addressee(m.To), a.Ago(m.CreatedAt))
	if m.About != nil && m.About.Kind != "question" {
		fmt.Fprintf(a.Stdout, ", about %s", peertext.Name(m.About.Ref))
	}
	if m.RequiresAck {
		fmt.Fprint(a.Stdout, a.Paint(term.Yellow, ", wants an acknowledgement"))
	}
	fmt.Fprintln(a.Stdout)
	if s := text(m.Subject); s != "" {
		fmt.Fprintf(a.Stdout, "  %s\n", peertext.Title(s))
	}
	a.Quote(a.Stdout, m.Body)
	if asks(m) {
		fmt.Fprintf(a.Stdout, "  To answer: svc answer %s TEXT\n", short(peertext.Name(m.About.Ref)))
	}
	if m.RequiresAck && m.ReadAt == nil {
		fmt.Fprintf(a.Stdout, "  To acknowledge: svc messages ack %s\n", short(m.ID))
	}
}

func sendMessage(ctx context.Context, a *app.Run, in wire.SendMessage) error {
	if n := utf8.RuneCountInString(in.Body); n < 1 || n > wire.MaxMessageBody {
		return term.Usagef("the text must have 1 to %d characters, it has %d", wire.MaxMessageBody, n)
	}
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	if in.To, err = target(ctx, c, in.To); err != nil {
		return err
	}
	var m coord.Message
	if err := c.Send(ctx, "POST", "/v1/messages", in, &m); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(m)
	}
	fmt.Fprintf(a.Stdout, "Sent to %s.\n", addressee(m.To))
	return nil
}
