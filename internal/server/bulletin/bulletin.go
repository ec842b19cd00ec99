// Package bulletin writes what leaves the house for people to read: digests,
// invites, chat posts. It only writes; others decide what, to whom and when.
// Text of people is cleaned here, and escaped for where it goes.
package bulletin

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	texttemplate "text/template"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

//go:embed templates
var files embed.FS

// A Mail is a mail to one person.
type Mail struct {
	To string `json:"to"`
	// Unsubscribe is where to end such letters; empty for those that somebody
	// asked for.
	Unsubscribe string `json:"unsubscribe,omitempty"`
	// OneClick says that a mail program may end them there by itself.
	OneClick bool `json:"one_click,omitempty"`
	wire.MailShape
}

var funcs = map[string]any{
	"name":  func(s string) string { return peertext.Line(s, 80) },
	"line":  func(s string) string { return peertext.Line(s, 300) },
	"day":   func(t coord.Time) string { return t.Std().Format("2 January 2006") },
	"hours": hours,
	"trend": trend,
	"times": times,
	"host":  hostOf,
	"deref": func(s *string) string { return *s },
}

var (
	texts = texttemplate.Must(texttemplate.New("").Funcs(funcs).ParseFS(files, "templates/*.txt"))
	pages = template.Must(template.New("").Funcs(funcs).ParseFS(files, "templates/*.html"))
)

func render(name string, data any) (m wire.MailShape) {
	var text, page bytes.Buffer
	if err := texts.ExecuteTemplate(&text, name+".txt", data); err != nil {
		panic(fmt.Sprintf("bulletin: %s.txt: %v", name, err)) // our own template on our own type
	}
	if err := pages.ExecuteTemplate(&page, name+".html", data); err != nil {
		panic(fmt.Sprintf("bulletin: %s.html: %v", name, err))
	}
	subject, body, _ := strings.Cut(text.String(), "\n")
	m.Subject, m.Text, m.HTML = strings.TrimPrefix(subject, "Subject: "), strings.TrimLeft(body, "\n"), page.String()
	return m
}

// An Invitation offers somebody a place in an org.
type Invitation struct {
	Org       string
	By        string // empty if a service made it
	Role      coord.Role
	URL       string
	ExpiresAt coord.Time
}

// Invite writes an invitation.
func Invite(i Invitation) wire.MailShape { return render("invite", i) }

// A Trial is a letter by which somebody sees that mail works.
type Trial struct {
	Org string
	By  string
	URL string // where it is shown what became of it
}

// TestLetter writes it.
func TestLetter(t Trial) wire.MailShape { return render("test", t) }

// A Rebinding offers somebody to bind their account to another sign-in.
type Rebinding struct {
	Name      string
	Provider  string
	URL       string
	ExpiresAt coord.Time
}

// Rebind writes to somebody who came from another sign-in than theirs.
func Rebind(r Rebinding) wire.MailShape { return render("rebind", r) }

// A SigningUp lets somebody who asked for it make an org.
type SigningUp struct{ URL string }

// SignUp writes to somebody who signs up. It says nothing of whether the address
// has an account: it may have been somebody else who asked.
func SignUp(s SigningUp) wire.MailShape { return render("sign-up", s) }

// A DisabledWebhook is an endpoint that gets no more events.
type DisabledWebhook struct {
	Org     string
	Webhook coord.Webhook
	URL     string // where it can be looked at
}

// WebhookDisabled writes that an endpoint was disabled.
func WebhookDisabled(d DisabledWebhook) wire.MailShape { return render("webhook-disabled", d) }

// Digest writes a digest as a mail.
func Digest(d wire.Digest) wire.MailShape { return render("digest", d) }

// hostOf returns the host of an address: the rest may be a secret.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "its address"
	}
	return peertext.Line(u.Host, 100)
}

func times(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// hours shows minutes as people say them.
func hours(minutes int) string {
	if minutes < 60 {
		return times(minutes, "minute", "minutes")
	}
	h, m := minutes/60, minutes%60
	if m == 0 {
		return times(h, "hour", "hours")
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

// trend compares a figure with the week before.
func trend(now, before int) string {
	switch {
	case now == before:
		return "as many as the week before"
	case before == 0:
		return "none the week before"
	case now > before:
		return fmt.Sprintf("%d more than the week before", now-before)
	}
	return fmt.Sprintf("%d fewer than the week before", before-now)
}

// When says when something began, for a reader at the moment now.
func When(at, now coord.Time) string {
	d := now.Sub(at)
	switch {
	case d < time.Hour:
		return times(max(1, int(d.Minutes())), "minute ago", "minutes ago")
	case d < 48*time.Hour:
		return times(int(d.Hours()), "hour ago", "hours ago")
	}
	return times(int(d.Hours()/24), "day ago", "days ago")
}
