package outgoing

import (
	"context"
	"net/url"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// GetMail tells whether this server sends mail, and what became of the last
// test letter.
func (s *Service) GetMail(ctx context.Context, who coord.Caller, _ wire.None) (out wire.MailStatus, err error) {
	out.Available = s.Config.Mail
	err = s.Read(ctx, func(tx *store.Tx) error {
		out.Test, err = tx.MailTest(ctx, who.OrgID)
		return err
	})
	return out, err
}

// TestMail sends a letter to whoever asks, and to nobody else.
func (s *Service) TestMail(ctx context.Context, who coord.Caller, _ wire.None) (out wire.MailTest, err error) {
	if !s.Config.Mail {
		return out, problem.Newf(problem.Conflict, "this server sends no mail; its administrator sets SVC_SMTP and SVC_SMTP_FROM")
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		was, err := tx.MailTest(ctx, who.OrgID)
		if err != nil {
			return err
		}
		if was != nil && tx.Now.Sub(was.SentAt) < betweenRuns {
			return problem.Later(betweenRuns-tx.Now.Sub(was.SentAt), "a test email was sent less than a minute ago")
		}
		org, err := tx.Org(ctx, who.OrgID)
		if err != nil {
			return err
		}
		mail := bulletin.TestLetter(bulletin.Trial{Org: org.Name, By: who.Name, URL: s.URL("settings", "mail")})
		id, err := s.QueueLetter(ctx, tx, who.OrgID, bulletin.Mail{To: who.Email, MailShape: mail})
		if err != nil {
			return err
		}
		out = wire.MailTest{To: who.Email, SentAt: tx.Now, Letter: coord.Letter{State: coord.LetterQueued, At: tx.Now}}
		return tx.SaveMailTest(ctx, who.OrgID, id, out)
	})
	return out, err
}

// unsubscribing is what a sealed link for ending letters is for.
const unsubscribing = "unsubscribe digest"

// unsubscribeURL is where one reader ends the digest, without signing in: mail
// programs go there by themselves (RFC 8058).
func (s *Service) unsubscribeURL(org, user string) (string, error) {
	sealed, err := s.Config.Vault.Seal(unsubscribing, org+" "+user)
	return s.Config.PublicURL + unsubscribePath(sealed), err
}

// unsubscribePath shows a page: who follows the link of a letter has a browser.
func unsubscribePath(token string) string {
	return "/v1/unsubscribe?format=html&token=" + url.QueryEscape(token)
}

// subscriber opens a link for ending letters.
func (s *Service) subscriber(token string) (org, user string, err error) {
	text, err := s.Config.Vault.Open(unsubscribing, token)
	org, user, ok := strings.Cut(text, " ")
	if err != nil || !ok {
		return "", "", problem.Newf(problem.NotFound, "this link is damaged or from before the server's key was replaced; "+
			"end the digest under Settings, Digest")
	}
	return org, user, nil
}

// AskUnsubscribe shows a browser what a letter's link ends, and ends nothing:
// programs that look at links in mails come here, too.
func (s *Service) AskUnsubscribe(ctx context.Context, _ coord.Caller, in wire.Unsubscribe) (out wire.Unsubscribed, err error) {
	org, _, err := s.subscriber(in.Token)
	if err != nil {
		return out, err
	}
	return s.unsubscribed(ctx, org, in.Token, in.Format, false)
}

// DoUnsubscribe takes the holder of a letter's link from the digest's readers.
// Asked again, it is as it was.
func (s *Service) DoUnsubscribe(ctx context.Context, _ coord.Caller, in wire.DoUnsubscribe) (out wire.Unsubscribed, err error) {
	org, user, err := s.subscriber(in.Token)
	if err != nil {
		return out, err
	}
	err = s.Write(ctx, ground.System(org), func(tx *store.Tx) error { return tx.SetDigestReader(ctx, org, user, false) })
	if err != nil {
		return out, err
	}
	return s.unsubscribed(ctx, org, in.Token, in.Format, true)
}

func (s *Service) unsubscribed(ctx context.Context, org, token, format string, done bool) (out wire.Unsubscribed, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		o, err := tx.Org(ctx, org)
		out = wire.Unsubscribed{List: "digest", Org: o.Name, Done: done}
		return err
	})
	if format == "html" {
		out.HTML = bulletin.UnsubscribePage(out, unsubscribePath(token), s.URL("settings", "digest"))
	}
	return out, err
}
