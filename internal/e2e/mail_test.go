package e2e

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/cli"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

// A mailbox is a conversation with a mail server that knows every address but
// one.
type mailbox struct{}

func (mailbox) Reset()                               {}
func (mailbox) Logout() error                        { return nil }
func (mailbox) Mail(string, *smtp.MailOptions) error { return nil }

func (mailbox) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "nobody@") {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
	}
	return nil
}

func (mailbox) Data(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }

// withMail starts a mail server, and returns the flags of a svcd that uses it.
func withMail(t *testing.T) []string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	office := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return mailbox{}, nil }))
	office.Domain = "localhost"
	go office.Serve(l)
	t.Cleanup(func() { office.Close() })
	return []string{"--smtp", l.Addr().String(), "--smtp-from", "svc@example.com", "--smtp-tls", "none"}
}

// An admin without a browser tries the mail server, sees which invite did not
// arrive, and sends one again.
func TestMailFromTheCommandLine(t *testing.T) {
	s := newServer(t, t.TempDir(), withMail(t)...)
	var made struct{ Token string }
	s.post("/v1/tokens", `{"name":"mail","user_email":"olga@example.com","scopes":["members:read","members:write"]}`, &made)
	run := func(args ...string) (int, string) {
		var text bytes.Buffer
		getenv := func(name string) string {
			return map[string]string{"SVC_SERVER": s.URL, "SVC_TOKEN": made.Token, "SVC_CONFIG_DIR": t.TempDir()}[name]
		}
		env := &cli.Env{
			Screen: term.Screen{Stdin: strings.NewReader(""), Stdout: &text, Stderr: &text, Now: time.Now, Getenv: getenv},
			Dir:    t.TempDir(), Hostname: "mail",
		}
		return cli.Main(t.Context(), env, args), text.String()
	}
	want := func(code int, line string, parts ...string) {
		t.Helper()
		got, out := run(strings.Fields(line)...)
		for _, part := range parts {
			if got != code || !strings.Contains(out, part) {
				t.Errorf("svc %s: exit %d, want %d and %q:\n%s", line, got, code, part, out)
			}
		}
	}
	want(0, "mail", "svc mail test tries it")
	want(0, "mail test", "An email to olga@example.com: sent.")
	want(0, "mail", "to olga@example.com, just now: sent.")
	want(1, "mail test", "less than a minute ago")
	want(0, "members invites", "Nobody is invited")
	want(0, "members invite cy@example.com", "An email is queued")
	want(0, "members invite nobody@example.com", "An email is queued")
	await.True(t, "what became of the letters", func() bool {
		_, out := run("members", "invites", "--json")
		return strings.Contains(out, `"bounced"`) && strings.Contains(out, `"sent"`)
	})
	want(0, "members invites", "bounced: ", "no such mailbox")
	want(0, "members resend CY@example.com", "Invited cy@example.com again", "http")
	want(1, "members resend dee@example.com", `no invite is "dee@example.com"; svc members invites lists them`)
}
