package wire

import "github.com/svc-hq/svc/internal/core/coord"

// SlackStatus is the org's connection to chat.
type SlackStatus struct {
	SlackChannel
	Repos []SlackRepo `json:"repos" doc:"Repos whose posts go to a channel of their own; all others go to the org's"`
	ChatManners
}

// A SlackChannel is a connection to one channel.
type SlackChannel struct {
	Connected   bool        `json:"connected"`
	ConnectedAt *coord.Time `json:"connected_at"`
	LastPostAt  *coord.Time `json:"last_post_at"`
	LastError   *string     `json:"last_error" doc:"Why the last post failed; null if it did not"`
	LastErrorAt *coord.Time `json:"last_error_at"`
}

// A SlackRepo is a repo with a channel of its own.
type SlackRepo struct {
	Repo coord.RepoName `json:"repo"`
	SlackChannel
}

// Tag names this version of the connection.
func (s SlackStatus) Tag() string {
	marks := []any{s.Connected, s.ConnectedAt, s.ChatManners}
	for _, r := range s.Repos {
		marks = append(marks, r.Repo.ID, r.ConnectedAt)
	}
	return coord.Tag(marks...)
}

// ChatManners say how often channels hear something, and when they are left
// alone.
type ChatManners struct {
	EveryMinutes int         `json:"every_minutes" doc:"Posts to a channel are at least this far apart; what happens meanwhile comes as one"`
	Quiet        *QuietHours `json:"quiet" doc:"When nothing is posted; what is open afterwards comes as one post. null: never"`
}

// QuietHours are when nothing is posted, every day.
type QuietHours struct {
	From     string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"19:00"`
	Until    string `json:"until" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"08:00" doc:"On the next day if it is before from"`
	Zone     string `json:"zone" minLength:"1" maxLength:"60" example:"Europe/Berlin" doc:"A time zone of the IANA database, or UTC"`
	Weekends bool   `json:"weekends" default:"false" doc:"Saturday and Sunday as a whole, too"`
}

// PutSlack connects or disconnects chat.
type PutSlack struct {
	WebhookURL *string `json:"webhook_url" required:"true" maxLength:"2000" doc:"Slack's incoming webhook; null disconnects"`
	IfMatch
}

// PutSlackRepo gives a repo a channel of its own, or takes it away.
type PutSlackRepo struct {
	Repo       string  `path:"repo"`
	WebhookURL *string `json:"webhook_url" required:"true" maxLength:"2000" doc:"Slack's incoming webhook; null: its posts go to the org's channel"`
}

// PatchSlack changes when channels hear something.
type PatchSlack struct {
	EveryMinutes *int        `json:"every_minutes,omitempty" minimum:"1" maximum:"1440"`
	Quiet        *QuietHours `json:"quiet,omitempty" clear:"yes"`
	Clearing
	IfMatch
}

// TestSlack says which channel is greeted.
type TestSlack struct {
	Repo string `query:"repo" maxLength:"500" form:"repo or empty" doc:"A repo with a channel of its own; without it the org's"`
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
	TimeSavedMinutes int            `json:"time_saved_minutes" doc:"0 where there is none, or the org hides it"`
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
