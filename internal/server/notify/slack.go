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
)

// toSlack makes a post be written if a channel hears of any of the events.
func (n *Notifier) toSlack(ctx context.Context, tx *store.Tx, org string, events []coord.Event) error {
	if !slices.ContainsFunc(events, outgoing.ChatWorthy) {
		return nil
	}
	c, err := tx.Slack(ctx, org)
	if err != nil || c == nil {
		return err
	}
	return jobs.Gather(ctx, tx, jobs.New{Kind: outgoing.JobSlack, Org: org, Key: outgoing.JobSlack + ":" + org, At: tx.Now.Add(n.Gather)})
}

// postNews posts what happened since the last post, as one message.
func (n *Notifier) postNews(ctx context.Context, r *jobs.Run) error {
	var c *store.Slack
	var post wire.ChatPost
	var last int64
	var news, more bool
	err := n.Store.Read(ctx, func(tx *store.Tx) (err error) {
		if c, err = tx.Slack(ctx, r.OrgID); err != nil || c == nil {
			return err
		}
		events, err := tx.EventsAfter(ctx, r.OrgID, c.Seq, perPost)
		if err != nil || len(events) == 0 {
			return err
		}
		last, more = events[len(events)-1].Seq, len(events) == perPost
		post, news, err = n.Ops.Outgoing.Notes(ctx, tx, r.OrgID, events)
		return err
	})
	if err != nil || c == nil || last == 0 {
		return err
	}
	if c.LastPostAt != nil && news {
		if free := c.LastPostAt.Add(n.Quiet); free > n.Store.Now() {
			return jobs.Later(free)
		}
	}
	if news {
		if err = n.say(ctx, c, post); err != nil && !errors.Is(err, errRevoked) {
			return n.chatFailed(ctx, r.OrgID, err)
		}
	}
	return n.chatDone(ctx, r, last, more, func(c *store.Slack, now coord.Time) { note(c, now, news, err) })
}

// chatDone notes up to where the log has been told and what came of it. The
// job goes on if there is more to look through; what happens from now on asks
// for it again.
func (n *Notifier) chatDone(ctx context.Context, r *jobs.Run, last int64, more bool, note func(*store.Slack, coord.Time)) error {
	return n.Store.Write(ctx, r.OrgID, func(tx *store.Tx) error {
		c, err := tx.Slack(ctx, r.OrgID)
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
func (n *Notifier) chatFailed(ctx context.Context, org string, cause error) error {
	err := n.Store.Write(ctx, org, func(tx *store.Tx) error {
		c, err := tx.Slack(ctx, org)
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
		c, err = tx.Slack(ctx, r.OrgID)
		return err
	})
	if err != nil || c == nil {
		return err // disconnected meanwhile
	}
	err = n.say(ctx, c, in.Post)
	if err != nil && !errors.Is(err, errRevoked) {
		return n.chatFailed(ctx, r.OrgID, err)
	}
	return n.chatDone(ctx, r, 0, false, func(c *store.Slack, now coord.Time) { note(c, now, true, err) })
}

// errRevoked says that the channel does not take posts any more: nothing to
// be retried.
var errRevoked = errors.New("Slack no longer takes posts at this address; connect the channel again")

// A waitError asks for a break.
type waitError struct{ after time.Duration }

func (w waitError) Error() string {
	return fmt.Sprintf("Slack asks to wait %v", w.after.Round(time.Second))
}

func (n *Notifier) say(ctx context.Context, c *store.Slack, post wire.ChatPost) error {
	to, err := n.Vault.Open(outgoing.SlackOf(c.OrgID), c.URL)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"text": post.Text, "blocks": post.Blocks, "unfurl_links": false, "unfurl_media": false})
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
	}
	return fmt.Errorf("Slack answered %d: %s", a.Status, peertext.Line(a.Body, 100))
}
