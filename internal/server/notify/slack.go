package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
	"github.com/svc-hq/svc/internal/server/store"
)

// Chat posts wait a little for company and are at least this far apart, so
// that a channel stays readable.
const (
	DefaultGather = 10 * time.Second
	DefaultQuiet  = time.Minute
	perPost       = 500 // events looked through at once
	maxTurns      = 40  // how often, for one post: a long night's worth
)

// toSlack makes posts be written for the channels that hear of any of the
// events.
func (n *Notifier) toSlack(ctx context.Context, tx *store.Tx, org string, events []coord.Event) error {
	if !slices.ContainsFunc(events, outgoing.ChatWorthy) {
		return nil
	}
	channels, err := tx.Slacks(ctx, org)
	if err != nil || len(channels) == 0 {
		return err
	}
	manners, err := tx.ChatManners(ctx, org)
	if err != nil {
		return err
	}
	for _, c := range channels {
		if !slices.ContainsFunc(events, func(e coord.Event) bool { return outgoing.ChatWorthy(e) && outgoing.For(c, channels, e) }) {
			continue
		}
		if err := jobs.Gather(ctx, tx, outgoing.NewsJob(c, outgoing.FreeAt(manners.Quiet, tx.Now.Add(n.Gather)))); err != nil {
			return err
		}
	}
	return nil
}

// News are what a channel is to be told next.
type news struct {
	channel *store.Slack
	manners wire.ChatManners
	post    wire.ChatPost
	any     bool  // there is something to post
	last    int64 // up to which event it is
	more    bool  // there are events after it
}

// gather looks through the log from where a channel was told last.
func (n *Notifier) gather(ctx context.Context, tx *store.Tx, org, repo string) (x news, err error) {
	channels, err := tx.Slacks(ctx, org)
	i := slices.IndexFunc(channels, func(c store.Slack) bool { return c.RepoID == repo })
	if err != nil || i < 0 {
		return x, err
	}
	x.channel = &channels[i]
	if x.manners, err = tx.ChatManners(ctx, org); err != nil {
		return x, err
	}
	x.last = x.channel.Seq
	var found []coord.Event
	for range maxTurns {
		events, err := tx.EventsAfter(ctx, org, x.last, perPost)
		if err != nil {
			return x, err
		}
		for _, e := range events {
			if x.last = e.Seq; outgoing.Relevant(e) && outgoing.For(*x.channel, channels, e) {
				found = append(found, e)
			}
		}
		if x.more = len(events) == perPost; !x.more {
			break
		}
	}
	x.post, x.any, err = n.Ops.Outgoing.Notes(ctx, tx, org, found)
	return x, err
}

// postNews posts what happened since the last post, as one message.
func (n *Notifier) postNews(ctx context.Context, r *jobs.Run) error {
	var in outgoing.SlackNews
	if err := r.Decode(&in); err != nil {
		return err
	}
	var x news
	err := n.Store.Read(ctx, func(tx *store.Tx) (err error) {
		x, err = n.gather(ctx, tx, r.OrgID, in.Repo)
		return err
	})
	if err != nil || x.channel == nil || x.last == x.channel.Seq {
		return err
	}
	if x.any {
		free := outgoing.FreeAt(x.manners.Quiet, n.Store.Now())
		if last := x.channel.LastPostAt; last != nil {
			free = max(free, last.Add(n.apart(x.manners)))
		}
		if free > n.Store.Now() {
			return jobs.Later(free)
		}
		if err = n.say(ctx, x.channel, x.post); err != nil && !final(err) {
			return n.chatFailed(ctx, r.OrgID, in.Repo, err)
		}
	}
	return n.chatDone(ctx, r, in.Repo, x.last, x.more, func(c *store.Slack, now coord.Time) { note(c, now, x.any, err) })
}

// apart is how far apart posts are: as the org wants it, if it said so.
func (n *Notifier) apart(m wire.ChatManners) time.Duration {
	if m.EveryMinutes > 1 {
		return time.Duration(m.EveryMinutes) * time.Minute
	}
	return n.Quiet
}

// chatDone notes up to where the log has been told and what came of it. The
// job goes on if there is more to look through; what happens from now on asks
// for it again.
func (n *Notifier) chatDone(ctx context.Context, r *jobs.Run, repo string, last int64, more bool,
	note func(*store.Slack, coord.Time)) error {
	return n.Store.Write(ctx, r.OrgID, func(tx *store.Tx) error {
		c, err := tx.Slack(ctx, r.OrgID, repo)
		if err != nil || c == nil {
			return err
		}
		c.Seq = max(c.Seq, last)
		note(c, tx.Now)
		if err := tx.SaveSlack(ctx, *c); err != nil {
			return err
		}
		if more {
			return r.FinishUntil(ctx, tx, tx.Now)
		}
		return r.Finish(ctx, tx)
	})
}

func note(c *store.Slack, now coord.Time, posted bool, failure error) {
	switch {
	case failure != nil:
		text := failure.Error()
		c.LastError, c.LastErrorAt = &text, now.Ptr()
	case posted:
		c.LastPostAt, c.LastError, c.LastErrorAt = now.Ptr(), nil, nil
	}
}

// chatFailed notes why a post failed, for the settings page, and returns what
// the queue is to make of it.
func (n *Notifier) chatFailed(ctx context.Context, org, repo string, cause error) error {
	err := n.Store.Write(ctx, org, func(tx *store.Tx) error {
		c, err := tx.Slack(ctx, org, repo)
		if err != nil || c == nil {
			return err
		}
		note(c, tx.Now, false, cause)
		return tx.SaveSlack(ctx, *c)
	})
	var wait waitError
	if errors.As(cause, &wait) && err == nil {
		return jobs.Later(n.Store.Now().Add(wait.after))
	}
	return errors.Join(cause, err)
}

// postOne makes one given post: a test or a digest.
func (n *Notifier) postOne(ctx context.Context, r *jobs.Run) error {
	var in outgoing.SlackPost
	if err := r.Decode(&in); err != nil {
		return err
	}
	var c *store.Slack
	err := n.Store.Read(ctx, func(tx *store.Tx) (err error) {
		c, err = tx.Slack(ctx, r.OrgID, in.Repo)
		return err
	})
	if err != nil || c == nil {
		return err // disconnected meanwhile
	}
	err = n.say(ctx, c, in.Post)
	if err != nil && !final(err) {
		return n.chatFailed(ctx, r.OrgID, in.Repo, err)
	}
	return n.chatDone(ctx, r, in.Repo, 0, false, func(c *store.Slack, now coord.Time) { note(c, now, true, err) })
}

// errRevoked says that the channel does not take posts any more: nothing to
// be retried.
var errRevoked = errors.New("Slack no longer takes posts at this address; connect the channel again")

// errRefused says that Slack does not take this post, and would not later.
var errRefused = errors.New("Slack does not take this post")

func final(err error) bool { return errors.Is(err, errRevoked) || errors.Is(err, errRefused) }

// A waitError asks for a break.
type waitError struct{ after time.Duration }

func (w waitError) Error() string {
	return fmt.Sprintf("Slack asks to wait %v", w.after.Round(time.Second))
}

func (n *Notifier) say(ctx context.Context, c *store.Slack, post wire.ChatPost) (err error) {
	defer func() { n.Tried("chat", err == nil) }()
	to, err := n.Vault.Open(outgoing.SlackOf(c.ID), c.URL)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"text": post.Text, "blocks": post.Blocks, "unfurl_links": false, "unfurl_media": false,
		"link_names": false, "parse": "none"}) // what people wrote names nobody
	if err != nil {
		return err
	}
	a, err := n.Outbound.Post(ctx, to, http.Header{"Content-Type": {"application/json"}}, body)
	switch {
	case err != nil:
		return err
	case a.Status == http.StatusOK:
		return nil
	case a.Status == http.StatusTooManyRequests:
		return waitError{cmp.Or(retryAfter(a.Header, n.Store.Now()), n.Quiet)}
	case slices.Contains([]int{403, 404, 410}, a.Status):
		return errRevoked
	case a.Status == http.StatusBadRequest:
		return fmt.Errorf("%w: %s", errRefused, peertext.Line(a.Body, 100))
	}
	return fmt.Errorf("Slack answered %d: %s", a.Status, peertext.Line(a.Body, 100))
}
