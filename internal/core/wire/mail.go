package wire

import "github.com/svc-hq/svc/internal/core/coord"

// MailStatus tells whether the server sends mail, and how its last try went.
type MailStatus struct {
	Available bool      `json:"available" doc:"A mail server is configured; without one links are shown instead of mailed"`
	Test      *MailTest `json:"test" doc:"The org's last test email; null if there was none"`
}

// A MailTest is a test letter.
type MailTest struct {
	To     string     `json:"to" format:"email"`
	SentAt coord.Time `json:"sent_at"`
	coord.Letter
}

// Unsubscribe names who no longer wants which letters.
type Unsubscribe struct {
	Token  string `query:"token" maxLength:"500" doc:"As in the email's link"`
	Format string `query:"format" enum:"json,html" default:"json" doc:"html: a page for people who follow the link in the email"`
}

// DoUnsubscribe is what a mail program sends, or the page behind the link.
type DoUnsubscribe struct {
	Hook   `json:"-"`
	Token  string `query:"token" maxLength:"500" doc:"As in the email's link"`
	Format string `query:"format" enum:"json,html" default:"json" doc:"html: a page for people who follow the link in the email"`
}

// Unsubscribed tells which letters a link ends.
type Unsubscribed struct {
	List string `json:"list" enum:"digest"`
	Org  string `json:"org"`
	Done bool   `json:"done" doc:"false: it was only looked at"`

	HTML string `json:"-"`
}

// Page tells the way in what to show in place of JSON.
func (u Unsubscribed) Page() (html string, show bool) { return u.HTML, u.HTML != "" }
