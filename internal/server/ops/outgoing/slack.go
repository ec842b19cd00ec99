package outgoing

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// The kinds of chat jobs: one gathers what happened, one posts a given text.
const (
	JobSlack     = "slack"
	JobSlackPost = "slack.post"
)

// A SlackNews says which channel's news are to be told: a repo's, or the org's.
type SlackNews struct {
	Repo string `json:"repo,omitempty"`
}

// A SlackPost is a post to make.
type SlackPost struct {
	ID   string        `json:"id"`
	Repo string        `json:"repo,omitempty"` // whose channel; the org's if empty
	Post wire.ChatPost `json:"post"`
}

// SlackOf says what the sealed address of a channel is for.
func SlackOf(id string) string { return "slack " + id }

// NewsJob is the job that tells a channel what happened.
func NewsJob(c store.Slack, at coord.Time) jobs.New {
	return jobs.New{Kind: JobSlack, Org: c.OrgID, Key: newsKey(c), Payload: SlackNews{c.RepoID}, At: at}
}

func newsKey(c store.Slack) string { return JobSlack + ":" + c.ID }

// slackHosts are where Slack takes posts.
var slackHosts = []string{"hooks.slack.com", "hooks.slack-gov.com"}

// GetSlack tells which channels are connected and how their last posts went.
func (s *Service) GetSlack(ctx context.Context, who coord.Caller, _ wire.None) (out wire.SlackStatus, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out, err = slackStatus(ctx, tx, who.OrgID)
		return err
	})
	return out, err
}

func slackStatus(ctx context.Context, tx *store.Tx, org string) (out wire.SlackStatus, err error) {
	out.Repos = []wire.SlackRepo{}
	if out.ChatManners, err = tx.ChatManners(ctx, org); err != nil {
		return out, err
	}
	list, err := tx.Slacks(ctx, org)
	if err != nil {
		return out, err
	}
	for _, c := range list {
		if c.RepoID == "" {
			out.SlackChannel = slackChannel(c)
			continue
		}
		repo, err := tx.Repo(ctx, org, c.RepoID)
		if err != nil {
			return out, err
		}
		out.Repos = append(out.Repos, wire.SlackRepo{Repo: coord.RepoName{ID: repo.ID, FullName: repo.FullName}, SlackChannel: slackChannel(c)})
	}
	slices.SortFunc(out.Repos, func(a, b wire.SlackRepo) int { return cmp.Compare(a.Repo.FullName, b.Repo.FullName) })
	return out, nil
}

func slackChannel(c store.Slack) wire.SlackChannel {
	return wire.SlackChannel{
		Connected:   true,
		ConnectedAt: &c.ConnectedAt,
		LastPostAt:  c.LastPostAt,
		LastError:   c.LastError,
		LastErrorAt: c.LastErrorAt,
	}
}

// PutSlack connects the org to a chat channel, or disconnects it.
func (s *Service) PutSlack(ctx context.Context, who coord.Caller, in wire.PutSlack) (wire.SlackStatus, error) {
	return s.connect(ctx, who, in.WebhookURL, in.IfMatch, func(context.Context, *store.Tx) (repo coord.Repo, err error) { return repo, nil })
}

// PutSlackRepo gives a repo a channel of its own, or takes it away.
func (s *Service) PutSlackRepo(ctx context.Context, who coord.Caller, in wire.PutSlackRepo) (wire.SlackStatus, error) {
	return s.connect(ctx, who, in.WebhookURL, wire.IfMatch{}, func(ctx context.Context, tx *store.Tx) (coord.Repo, error) {
		return work.FindRepo(ctx, tx, who, in.Repo)
	})
}

// connect connects the channel of a repo, or of the org if there is none, or
// disconnects it if there is no address.
func (s *Service) connect(ctx context.Context, who coord.Caller, address *string, seen wire.IfMatch,
	find func(context.Context, *store.Tx) (coord.Repo, error)) (out wire.SlackStatus, err error) {
	if address != nil {
		if err := s.checkSlackURL(strings.TrimSpace(*address)); err != nil {
			return out, err
		}
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		now, err := slackStatus(ctx, tx, who.OrgID)
		if err == nil {
			err = seen.Check(now.Tag())
		}
		if err != nil {
			return err
		}
		repo, err := find(ctx, tx)
		if err != nil {
			return err
		}
		was, err := tx.Slack(ctx, who.OrgID, repo.ID)
		if err != nil {
			return err
		}
		if out = now; was == nil && address == nil {
			return nil
		}
		told := wire.IntegrationPayload{Integration: "slack", Connected: new(address != nil), Repo: repo.FullName}
		if err := ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", told); err != nil {
			return err
		}
		if address == nil {
			err = s.disconnect(ctx, tx, *was)
		} else {
			err = s.channel(ctx, tx, who, repo.ID, was, strings.TrimSpace(*address))
		}
		if err != nil {
			return err
		}
		out, err = slackStatus(ctx, tx, who.OrgID)
		return err
	})
	return out, err
}

// channel connects a channel. It hears of what happens from now on, a repo's
// also of what the org's channel was about to be told of it.
func (s *Service) channel(ctx context.Context, tx *store.Tx, who coord.Caller, repo string, was *store.Slack, address string) (err error) {
	c := store.Slack{ID: who.OrgID, OrgID: who.OrgID, RepoID: repo, ConnectedBy: who.UserID, ConnectedAt: tx.Now}
	if was != nil {
		c.ID = was.ID
	} else if repo != "" {
		c.ID = ground.NewID()
	}
	if c.URL, err = s.Config.Vault.Seal(SlackOf(c.ID), address); err != nil {
		return err
	}
	if c.Seq, err = tx.LastSeq(ctx, who.OrgID); err != nil {
		return err
	}
	if repo != "" && was == nil {
		org, waits, err := orgsNews(ctx, tx, who.OrgID)
		if err != nil {
			return err
		}
		if waits {
			c.Seq = org.Seq
			if err := jobs.Move(ctx, tx, NewsJob(c, tx.Now)); err != nil {
				return err
			}
		}
	}
	return ground.FirstError(tx.SaveSlack(ctx, c), tx.StartFanout(ctx, who.OrgID))
}

// disconnect ends a channel. A repo's posts go to the org's channel from now
// on; what was posted before is not told there again.
func (s *Service) disconnect(ctx context.Context, tx *store.Tx, c store.Slack) error {
	if err := ground.FirstError(tx.DropJob(ctx, newsKey(c)), tx.DeleteSlack(ctx, c)); err != nil || c.RepoID == "" {
		return err
	}
	org, waits, err := orgsNews(ctx, tx, c.OrgID)
	if err != nil || org == nil || waits {
		return err
	}
	if org.Seq, err = tx.LastSeq(ctx, c.OrgID); err != nil {
		return err
	}
	return tx.SaveSlack(ctx, *org)
}

// orgsNews returns the org's own channel, and whether it is about to be told
// something.
func orgsNews(ctx context.Context, tx *store.Tx, org string) (c *store.Slack, waits bool, err error) {
	if c, err = tx.Slack(ctx, org, ""); err != nil || c == nil {
		return c, false, err
	}
	job, err := tx.JobByKey(ctx, newsKey(*c))
	return c, job != nil, err
}

// PatchSlack changes how often channels hear something and when they are left
// alone. What waits goes by that, too.
func (s *Service) PatchSlack(ctx context.Context, who coord.Caller, in wire.PatchSlack) (out wire.SlackStatus, err error) {
	if err := checkQuiet(in.Quiet); err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		now, err := slackStatus(ctx, tx, who.OrgID)
		if err == nil {
			err = in.IfMatch.Check(now.Tag())
		}
		if err != nil {
			return err
		}
		m := now.ChatManners
		set(&m.EveryMinutes, in.EveryMinutes)
		if in.Quiet != nil || in.Clears("quiet") {
			m.Quiet = in.Quiet
		}
		if err := tx.SetChatManners(ctx, who.OrgID, m); err != nil {
			return err
		}
		list, err := tx.Slacks(ctx, who.OrgID)
		if err != nil {
			return err
		}
		for _, c := range list {
			if err := jobs.Move(ctx, tx, NewsJob(c, FreeAt(m.Quiet, tx.Now))); err != nil {
				return err
			}
		}
		if out, err = slackStatus(ctx, tx, who.OrgID); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", wire.IntegrationPayload{
			Integration:  "slack",
			EveryMinutes: &m.EveryMinutes,
			Quiet:        new(m.Quiet != nil),
		})
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
func (s *Service) TestSlack(ctx context.Context, who coord.Caller, in wire.TestSlack) (out wire.NotificationQueued, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		what, repo := "", coord.Repo{}
		if in.Repo != "" {
			if repo, err = work.RepoField(ctx, tx, who, "repo", in.Repo); err != nil {
				return err
			}
			what = repo.FullName
		}
		c, err := tx.Slack(ctx, who.OrgID, repo.ID)
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
		if what == "" {
			what = org.Name
		}
		out.NotificationID, err = s.queuePost(ctx, tx, *c, bulletin.Test(what, s.PageURL("slack", "")))
		return err
	})
	return out, err
}

func (s *Service) queuePost(ctx context.Context, tx *store.Tx, c store.Slack, post wire.ChatPost) (string, error) {
	id := ground.NewID()
	return id, jobs.Add(ctx, tx, jobs.New{Kind: JobSlackPost, Org: c.OrgID, Payload: SlackPost{ID: id, Repo: c.RepoID, Post: post}})
}
