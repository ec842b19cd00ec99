package wire

import "github.com/svc-hq/svc/internal/core/coord"

// SlackStatus is the org's connection to a chat channel.
type SlackStatus struct {
	Connected   bool        `json:"connected"`
	ConnectedAt *coord.Time `json:"connected_at"`
	LastPostAt  *coord.Time `json:"last_post_at"`
	LastError   *string     `json:"last_error" doc:"Why the last post failed; null if it did not"`
	LastErrorAt *coord.Time `json:"last_error_at"`
}

// Tag names this version of the connection.
func (s SlackStatus) Tag() string { return coord.Tag(s.Connected, s.ConnectedAt) }

// PutSlack connects or disconnects chat.
type PutSlack struct {
	WebhookURL *string `json:"webhook_url" required:"true" maxLength:"2000" doc:"Slack's incoming webhook; null disconnects"`
	IfMatch
}

// NotificationQueued is a chat post that is on its way.
type NotificationQueued struct {
	NotificationID string `json:"notification_id" format:"uuid"`
}

// A DigestChannel is where a digest can go.
type DigestChannel string

const (
	ToSlack DigestChannel = "slack"
	ToEmail DigestChannel = "email"
)

// Enum lists the values for validation and the API document.
func (DigestChannel) Enum() []string { return []string{string(ToSlack), string(ToEmail)} }

// DigestSettings are when and where the weekly digest goes.
type DigestSettings struct {
	Enabled        bool            `json:"enabled"`
	Day            int             `json:"day" doc:"Weekday, UTC; 0 is Sunday"`
	Hour           int             `json:"hour" doc:"UTC"`
	Channels       []DigestChannel `json:"channels"`
	EmailMe        bool            `json:"email_me" doc:"Whether the caller gets it by email"`
	Recipients     []coord.User    `json:"recipients" doc:"Who gets it by email"`
	EmailAvailable bool            `json:"email_available" doc:"Whether this server can send mail"`
	SlackConnected bool            `json:"slack_connected"`
	NextSendAt     *coord.Time     `json:"next_send_at" doc:"null while it is not enabled"`
	LastRun        *DigestRun      `json:"last_run"`
}

// Tag names this version of the settings.
func (d DigestSettings) Tag() string {
	return coord.Tag(d.Enabled, d.Day, d.Hour, d.Channels, d.EmailMe)
}

// A DigestRun is one digest that was sent.
type DigestRun struct {
	At         coord.Time      `json:"at"`
	Period     string          `json:"period" doc:"The moment it was due, or manual"`
	Channels   []DigestChannel `json:"channels" doc:"Where it went"`
	Recipients int             `json:"recipients" doc:"How many got it by email"`
}

// PutDigest changes digest settings; what is missing stays.
type PutDigest struct {
	Enabled  *bool           `json:"enabled"`
	Day      *int            `json:"day" minimum:"0" maximum:"6"`
	Hour     *int            `json:"hour" minimum:"0" maximum:"23"`
	Channels []DigestChannel `json:"channels" maxItems:"2"`
	EmailMe  *bool           `json:"email_me"`
	IfMatch
}

// A Digest is a week in figures and in what needs somebody.
type Digest struct {
	Org              string         `json:"org"`
	Since            coord.Time     `json:"since"`
	Until            coord.Time     `json:"until"`
	Totals           Totals         `json:"totals"`
	Before           Totals         `json:"before" doc:"The week before"`
	Conflicts        Endings        `json:"conflicts"`
	NeedsHelp        []Need         `json:"needs_help"`
	TimeSavedMinutes int            `json:"time_saved_minutes"`
	TimeSavedBasis   string         `json:"time_saved_basis"`
	Members          []MemberTotals `json:"members" doc:"The five most active"`
	Repos            []RepoTotals   `json:"repos" doc:"The five most active"`
	URL              string         `json:"url"`
}

// Endings tell what became of the conflicts found in a digest's week.
type Endings struct {
	Found          int `json:"found"`
	Resolved       int `json:"resolved"`
	Overridden     int `json:"overridden"`
	FalsePositives int `json:"false_positives"`
	Stale          int `json:"stale" doc:"The work ended first"`
	Open           int `json:"open"`
}

// A Need is something that waits for somebody.
type Need struct {
	Kind string     `json:"kind" enum:"override_request,conflict,person"`
	Text string     `json:"text"`
	Ref  *string    `json:"ref"`
	URL  string     `json:"url"`
	At   coord.Time `json:"since"`
}

// DigestPreview is a digest as it would go out.
type DigestPreview struct {
	Digest Digest    `json:"digest"`
	Slack  ChatPost  `json:"slack"`
	Email  MailShape `json:"email"`
}

// A ChatPost is a message in Slack's form.
type ChatPost struct {
	Text   string           `json:"text"`
	Blocks []map[string]any `json:"blocks"`
}

// A MailShape is a mail without its addresses.
type MailShape struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}
