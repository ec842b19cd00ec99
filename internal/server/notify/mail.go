package notify

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	mailTimeout = 20 * time.Second
	// maxDetail is how much of a mail server's words is kept.
	maxDetail = 500
)

// SMTP is how mail is sent.
type SMTP struct {
	Addr     string // host:port
	User     string
	Password string
	From     string
	TLS      string // starttls, tls or none
	Config   *tls.Config
}

// A Mailer sends mail over SMTP.
type Mailer struct {
	smtp SMTP
	host string
	opts []mail.Option
}

// NewMailer returns a Mailer.
func NewMailer(s SMTP) (*Mailer, error) {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	m := &Mailer{smtp: s, host: host, opts: []mail.Option{mail.WithPort(n), mail.WithTimeout(mailTimeout)}}
	switch s.TLS {
	case "none":
		m.opts = append(m.opts, mail.WithTLSPolicy(mail.NoTLS))
	case "tls":
		m.opts = append(m.opts, mail.WithSSL())
	default:
		m.opts = append(m.opts, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if s.Config != nil {
		m.opts = append(m.opts, mail.WithTLSConfig(s.Config))
	}
	if s.User != "" {
		m.opts = append(m.opts, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(s.User), mail.WithPassword(s.Password))
	}
	return m, nil
}

// Send sends one mail. Its id becomes the Message-ID, the same at every try,
// so that a mailbox can tell a repetition.
func (m *Mailer) Send(ctx context.Context, id string, l bulletin.Mail) error {
	msg := mail.NewMsg()
	if err := errors.Join(msg.FromFormat("svc", m.smtp.From), msg.To(l.To)); err != nil {
		return jobs.Hopeless(err)
	}
	_, domain, _ := strings.Cut(m.smtp.From, "@")
	msg.SetMessageIDWithValue(id + "@" + domain)
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	if l.Unsubscribe != "" {
		msg.SetGenHeader("List-Unsubscribe", "<"+l.Unsubscribe+">")
	}
	if l.OneClick {
		msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	msg.SetDate()
	msg.Subject(l.Subject)
	msg.SetBodyString(mail.TypeTextPlain, l.Text)
	msg.AddAlternativeString(mail.TypeTextHTML, l.HTML)
	c, err := mail.NewClient(m.host, m.opts...)
	if err != nil {
		return err
	}
	err = c.DialAndSendWithContext(ctx, msg)
	var refused *mail.SendError
	if errors.As(err, &refused) && !refused.IsTemp() && refused.ErrorCode() >= 500 {
		return jobs.Hopeless(fmt.Errorf("the mail server refused it for good: %w", err))
	}
	return err
}

// mailRetry is how long a letter is tried again: for a day and more.
var mailRetry = jobs.Backoff(30*time.Second, time.Hour, 30)

// sendMail sends a mail that waits.
func (n *Notifier) sendMail(ctx context.Context, r *jobs.Run) error {
	var in ground.MailJob
	if err := r.Decode(&in); err != nil {
		return err
	}
	if n.Mailer == nil {
		return errors.New("mail is not configured any more")
	}
	var sealed string
	err := n.Store.Read(ctx, func(tx *store.Tx) (err error) {
		sealed, err = tx.Mail(ctx, in.Mail)
		return err
	})
	if err != nil || sealed == "" {
		return err
	}
	text, err := n.Vault.Open(ground.MailOf(in.Mail), sealed)
	if err != nil {
		return err
	}
	var l bulletin.Mail
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return jobs.Hopeless(err)
	}
	err = n.Mailer.Send(ctx, in.Mail, l)
	n.Tried("mail", err == nil)
	if err != nil {
		state := coord.LetterQueued
		if _, more := mailRetry(r.Attempts); !more || jobs.IsHopeless(err) {
			state = letterEnd(err)
		}
		ctx := context.WithoutCancel(ctx) // also when the time for sending is up
		noted := n.Store.Write(ctx, "", func(tx *store.Tx) error {
			return tx.LetterBecame(ctx, in.Mail, state, excerpt.Dots(n.Mailer.hush(err.Error()), maxDetail))
		})
		return errors.Join(err, noted)
	}
	return n.Store.Write(ctx, "", func(tx *store.Tx) error {
		if err := tx.DeleteMail(ctx, in.Mail); err != nil {
			return err
		}
		return ground.FirstError(tx.LetterBecame(ctx, in.Mail, coord.LetterSent, ""), r.Finish(ctx, tx))
	})
}

// letterEnd tells a letter that was refused because of its address from one
// that was refused altogether.
func letterEnd(err error) coord.LetterState {
	var refused *mail.SendError
	if errors.As(err, &refused) && refused.Reason == mail.ErrSMTPRcptTo && !refused.IsTemp() {
		return coord.LetterBounced
	}
	return coord.LetterRefused
}

// hush takes the password out of what a mail server said, should it repeat it.
func (m *Mailer) hush(text string) string {
	if m.smtp.Password == "" {
		return text
	}
	return strings.ReplaceAll(text, m.smtp.Password, "***")
}
