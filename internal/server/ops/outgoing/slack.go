package outgoing

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// The kinds of chat jobs: one gathers what happened, one posts a given text.
const (
	JobSlack     = "slack"
	JobSlackPost = "slack.post"
)

// A SlackPost is a post to make.
type SlackPost struct {
	ID   string        `json:"id"`
	Post wire.ChatPost `json:"post"`
}

// SlackOf says what the sealed address of an org's chat is for.
func SlackOf(org string) string { return "slack " + org }

// slackHosts are where Slack takes posts.
var slackHosts = []string{"hooks.slack.com", "hooks.slack-gov.com"}

// GetSlack tells whether chat is connected and how the last post went.
func (s *Service) GetSlack(ctx context.Context, who coord.Caller, _ wire.None) (out wire.SlackStatus, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		c, err := tx.Slack(ctx, who.OrgID)
		out = slackStatus(c)
		return err
	})
	return out, err
}

func slackStatus(c *store.Slack) wire.SlackStatus {
	if c == nil {
		return wire.SlackStatus{}
	}
	return wire.SlackStatus{
		Connected:   true,
		ConnectedAt: &c.ConnectedAt,
		LastPostAt:  c.LastPostAt,
		LastError:   c.LastError,
		LastErrorAt: c.LastErrorAt,
	}
}

// PutSlack connects the org to a chat channel, or disconnects it.
func (s *Service) PutSlack(ctx context.Context, who coord.Caller, in wire.PutSlack) (out wire.SlackStatus, err error) {
	var sealed string
	if in.WebhookURL != nil {
		if err := s.checkSlackURL(strings.TrimSpace(*in.WebhookURL)); err != nil {
			return out, err
		}
		if sealed, err = s.Config.Vault.Seal(SlackOf(who.OrgID), strings.TrimSpace(*in.WebhookURL)); err != nil {
			return out, err
		}
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		was, err := tx.Slack(ctx, who.OrgID)
		if err == nil {
			err = in.IfMatch.Check(slackStatus(was).Tag())
		}
		if err != nil || was == nil && sealed == "" {
			return err
		}
		if err := ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", map[string]any{
			"integration": "slack",
			"connected":   sealed != "",
		}); err != nil {
			return err
		}
		if sealed == "" {
			out = wire.SlackStatus{}
			return ground.FirstError(tx.DropJob(ctx, JobSlack+":"+who.OrgID), tx.DeleteSlack(ctx, who.OrgID))
		}
		c := store.Slack{OrgID: who.OrgID, URL: sealed, ConnectedBy: who.UserID, ConnectedAt: tx.Now}
		if c.Seq, err = tx.LastSeq(ctx, who.OrgID); err != nil {
			return err
		}
		out = slackStatus(&c)
		return ground.FirstError(tx.SaveSlack(ctx, c), tx.StartFanout(ctx, who.OrgID))
	})
	return out, err
}

func (s *Service) checkSlackURL(text string) error {
	if err := s.Config.Outbound.CheckURL(text); err != nil {
		return problem.InvalidField("webhook_url", "%v", err)
	}
	u, _ := url.Parse(text)
	for _, h := range slackHosts {
		if u.Hostname() == h {
			return nil
		}
	}
	if s.Config.Outbound.AllowsPrivate() { // a chat of one's own that speaks Slack's language
		return nil
	}
	return problem.InvalidField("webhook_url", "must be Slack's incoming webhook, which begins with https://hooks.slack.com/")
}

// TestSlack posts a greeting.
func (s *Service) TestSlack(ctx context.Context, who coord.Caller, _ wire.None) (out wire.NotificationQueued, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		c, err := tx.Slack(ctx, who.OrgID)
		if err == nil && c == nil {
			err = problem.Newf(problem.Conflict, "chat is not connected; set webhook_url with PUT /v1/integrations/slack first")
		}
		if err != nil {
			return err
		}
		org, err := tx.Org(ctx, who.OrgID)
		if err != nil {
			return err
		}
		out.NotificationID, err = s.queuePost(ctx, tx, who.OrgID, bulletin.Test(org.Name, s.PageURL("slack", "")))
		return err
	})
	return out, err
}

func (s *Service) queuePost(ctx context.Context, tx *store.Tx, org string, post wire.ChatPost) (string, error) {
	id := ground.NewID()
	return id, jobs.Add(ctx, tx, jobs.New{Kind: JobSlackPost, Org: org, Payload: SlackPost{ID: id, Post: post}})
}

// told are the events that a channel hears of.
var told = []coord.EventType{
	coord.EventConflictDetected, coord.EventConflictOverrideRequested, coord.EventIntentUnattended, coord.EventIntentHandedOff,
	coord.EventWebhookDisabled,
	coord.EventPlanLimitReached,
}

// ends are the events after which a conflict is no longer news.
var ends = []coord.EventType{coord.EventConflictResolved, coord.EventConflictOverridden, coord.EventConflictStale}

// ChatWorthy reports whether a channel hears of an event. Conflicts that are
// mere information would drown the others.
func ChatWorthy(e coord.Event) bool {
	for _, t := range told {
		if e.Type == t {
			return t != coord.EventConflictDetected || e.Payload["severity"] == string(coord.SeverityWarn) ||
				e.Payload["severity"] == string(coord.SeverityBlock)
		}
	}
	return false
}

// Notes returns what to post of events, oldest first, and with it a name for
// every person and record in it. What was settled before anybody was told is
// left out.
func (s *Service) Notes(ctx context.Context, tx *store.Tx, org string, events []coord.Event) (wire.ChatPost, bool, error) {
	settled, ids := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		for _, t := range ends {
			settled[e.Subject.ID] = settled[e.Subject.ID] || e.Type == t
		}
		mention(ids, e.Subject.ID)
		mention(ids, e.RepoID)
		mention(ids, e.Payload)
	}
	names, err := tx.Names(ctx, org, keys(ids))
	if err != nil {
		return wire.ChatPost{}, false, err
	}
	by := map[string]store.Named{}
	for _, n := range names {
		by[n.ID] = n
	}
	var notes []bulletin.Note
	for _, e := range events {
		if ChatWorthy(e) && !settled[e.Subject.ID] {
			notes = append(notes, s.note(e, by))
		}
	}
	return bulletin.Notes(notes, s.Config.PublicURL), len(notes) > 0, nil
}

func (s *Service) note(e coord.Event, by map[string]store.Named) bulletin.Note {
	text := func(key string) string { t, _ := e.Payload[key].(string); return t }
	n := bulletin.Note{Ref: text("ref"), Repo: by[e.RepoID].Label, URL: s.PageURL(e.Subject.Kind, text("ref"))}
	person := func(id any) {
		if id, ok := id.(string); ok && by[id].Kind == "user" {
			n.Who = append(n.Who, by[id].Label)
		}
	}
	kind := strings.ReplaceAll(text("kind"), "_", " ")
	switch e.Type {
	case coord.EventConflictDetected:
		n.Icon, n.Text = "warning", kind
		if text("severity") == string(coord.SeverityBlock) {
			n.Icon, n.Text = "octagonal_sign", kind+", one side is stopped"
		}
	case coord.EventConflictOverrideRequested:
		n.Icon, n.Text = "raised_hand", "somebody asks for an override: "+kind
	case coord.EventIntentUnattended:
		n.Icon, n.Text = "hourglass", "a claim keeps somebody out, and its session has ended: is it still needed?"
		n.Ref, n.URL = text("conflict"), s.PageURL("conflict", text("conflict"))
		person(e.Payload["owner_id"])
	case coord.EventIntentHandedOff:
		n.Icon, n.Text = "handshake", "handed over"
		person(e.Payload["from_id"])
		person(e.Payload["to_id"])
	case coord.EventPlanLimitReached:
		n.Icon, n.Text, n.URL = "no_entry", fmt.Sprintf("the %s plan has no room for more %s", text("plan"),
			text("limit")), s.URL("settings", "billing")
	case coord.EventWebhookDisabled:
		n.Icon, n.Text = "electric_plug", "a webhook was disabled because it keeps failing"
	}
	if users, ok := e.Payload["users"].([]any); ok {
		for _, u := range users {
			person(u)
		}
	}
	return n
}
