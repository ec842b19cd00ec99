package records

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// letterPatience is how long a test letter is waited for: a mail server that
// takes longer is tried again by the service anyway.
const letterPatience = 20 * time.Second

func MailCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "mail",
		Short:   "Show mail status, or send a test email",
		Example: "  svc mail\n  svc mail test",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return send(cmd.Context(), a, "GET", "/v1/integrations/mail", nil, func(m wire.MailStatus) { sayMail(a, m) })
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "test",
		Short:   "Send yourself a test email and wait for the result",
		Example: "  svc mail test",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return testMail(cmd.Context(), a) },
	})
	return cmd
}

func sayMail(a *app.Run, m wire.MailStatus) {
	switch {
	case !m.Available:
		fmt.Fprintln(a.Stdout, "The server sends no mail: links are shown instead. Its administrator sets\nSVC_SMTP and SVC_SMTP_FROM.")
	case m.Test == nil:
		fmt.Fprintln(a.Stdout, "The server sends mail; svc mail test tries it.")
	default:
		fmt.Fprintf(a.Stdout, "The server sends mail. The last test email, to %s, %s: %s.\n", peertext.Person(m.Test.To), a.Ago(m.Test.SentAt),
			letterState(&m.Test.Letter))
	}
}

func testMail(ctx context.Context, a *app.Run) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	var sent wire.MailTest
	if err := c.Send(ctx, "POST", "/v1/integrations/mail/test", nil, &sent); err != nil {
		return err
	}
	end := a.Now().Add(letterPatience)
	for sent.State == coord.LetterQueued && a.Now().Before(end) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		var now wire.MailStatus
		if err := c.Send(ctx, "GET", "/v1/integrations/mail", nil, &now); err != nil {
			return err
		}
		if now.Test != nil {
			sent = *now.Test
		}
	}
	if a.JSON {
		if err := a.PrintJSON(sent); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.Stdout, "An email to %s: %s.\n", peertext.Person(sent.To), letterState(&sent.Letter))
	}
	if sent.State != coord.LetterSent {
		return &term.Exit{Code: term.ExitError}
	}
	return nil
}
