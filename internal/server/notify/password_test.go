package notify_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/notify"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// letterTo returns the invite to an address as admins see it.
func (h *house) letterTo(email string) coord.Invite {
	h.t.Helper()
	list, err := h.ops.People.ListInvites(h.t.Context(), h.owner, wire.None{})
	if err != nil {
		h.t.Fatal(err)
	}
	var out coord.Invite
	for _, i := range list.Items {
		if i.Email != nil && *i.Email == email {
			out = i
		}
	}
	return out
}

// A teller wants a name and a password first.
type teller struct{ counter }

func (*teller) AuthMechanisms() []string { return []string{sasl.Plain} }

func (*teller) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, name, password string) error {
		if name != "svc" || password != "open sesame" {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

// Behind a wrong password of the mail server no letter counts as sent, its
// words are shown, and the invite can be mailed again with a link of its own.
func TestAWrongPasswordOfTheMailServer(t *testing.T) {
	p := &postOffice{got: map[string][]byte{}, busy: map[string]int{"ben@example.com": 1}, ids: map[string]int{}}
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &teller{counter{office: p}}, nil }))
	s.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	h := open(t, storetest.Open(t))
	h.cfg.Mailer, err = notify.NewMailer(notify.SMTP{Addr: l.Addr().String(), User: "svc", Password: "hush-wrong", From: "svc@svc.example",
		TLS: "starttls", Config: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	h.furnish(ops.Config{PublicURL: "https://svc.example", Mail: true})
	to := "ben@example.com"
	first, err := h.ops.People.CreateInvite(t.Context(), h.owner, wire.CreateInvite{Role: coord.Member, Email: &to})
	if err != nil || first.EmailSent {
		t.Fatalf("before anybody was asked: %+v, %v", first, err)
	}
	h.start()
	await.True(t, "the server's words", func() bool { return h.letterTo(to).Mail.Detail != "" })
	if got := h.letterTo(to); got.EmailSent || got.Mail.State != coord.LetterQueued || !strings.Contains(got.Mail.Detail, "535") ||
		strings.Contains(got.Mail.Detail, "hush-wrong") {
		t.Errorf("with a wrong password: %+v %+v", got, got.Mail)
	}
	again, err := h.ops.People.ResendInvite(t.Context(), h.owner, wire.ID{ID: first.ID})
	if err != nil || *again.URL == *first.URL || again.Mail.State != coord.LetterQueued {
		t.Fatalf("sent again: %+v, %v", again, err)
	}
	if p.letter(to) != "" {
		t.Error("a letter went out without the password")
	}
}
