// Package notify carries what happened out of the house: to webhooks, chat,
// mail and pull requests. It reads the event log from a stored position, so that nothing is
// lost when the server dies between a commit and its telling, and works
// through the durable queue of package jobs.
package notify

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/ops/forge"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/money"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
	"github.com/svc-hq/svc/internal/server/outbound"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/vault"
)

const (
	behind    = 2 * time.Second // how often the logs are looked through for what a lost hint left
	perTurn   = 100             // events handed on in one transaction
	maxRows   = 1000            // deliveries written in one, so that other writers get on
	retention = 30 * 24 * time.Hour
	sweepKind = "sweep"
)

// Config is what a Notifier works with.
type Config struct {
	Store    *store.Store
	Ops      *ops.Rooms
	Vault    *vault.Vault
	Outbound *outbound.Client
	Mailer   *Mailer // nil if mail is not configured
	Log      *slog.Logger
	Version  string
	// Schedule is how long after each failed attempt a delivery is tried
	// again; DefaultSchedule if nil.
	Schedule []time.Duration
	// Pause is how long an endpoint that does not answer is left alone, given
	// its failures in a row; DefaultPause if nil.
	Pause func(failures int) time.Duration
	// Gather is how long chat posts wait for company, and Quiet how far apart
	// they are; DefaultGather and DefaultQuiet if 0.
	Gather, Quiet time.Duration
	// Tried, if set, is told of each try to deliver: to webhook, chat or mail.
	Tried func(to string, ok bool)
}

// A Notifier hands on the events of a store.
type Notifier struct {
	Config
	wake chan struct{}
}

// complete fills in what is missing.
func (c *Config) complete() {
	c.Gather, c.Quiet = cmp.Or(c.Gather, DefaultGather), cmp.Or(c.Quiet, DefaultQuiet)
	if c.Schedule == nil {
		c.Schedule = DefaultSchedule
	}
	if c.Pause == nil {
		c.Pause = DefaultPause
	}
	if c.Tried == nil {
		c.Tried = func(string, bool) {}
	}
}

// New returns a Notifier. Register and Run make it work.
func New(c Config) *Notifier {
	c.complete()
	return &Notifier{Config: c, wake: make(chan struct{}, 1)}
}

// Register tells a queue how to do the jobs of this package.
func (n *Notifier) Register(q *jobs.Queue) {
	q.Register(
		jobs.Kind{
			Name:    outgoing.JobWebhook,
			Limit:   256,
			Timeout: 5 * time.Minute,
			Retry:   jobs.Backoff(time.Second, 5*time.Minute, 1<<30),
			Run:     n.sendWebhook,
		},
		jobs.Kind{Name: outgoing.JobSlack, Limit: 8, Timeout: time.Minute, Retry: jobs.Backoff(10*time.Second, time.Hour, 40), Run: n.postNews},
		jobs.Kind{
			Name:    outgoing.JobSlackPost,
			Limit:   8,
			Timeout: time.Minute,
			Retry:   jobs.Backoff(10*time.Second, time.Hour, 30),
			Run:     n.postOne,
		},
		jobs.Kind{Name: ground.JobMail, Limit: 4, Timeout: time.Minute, Retry: mailRetry, Run: n.sendMail},
		jobs.Kind{
			Name:    outgoing.JobDigest,
			Limit:   2,
			Timeout: time.Minute,
			Retry:   jobs.Backoff(30*time.Second, time.Hour, 1<<30),
			Run:     n.Ops.Outgoing.RunDigest,
		},
		jobs.Kind{
			Name:    forge.JobPull,
			Limit:   4,
			Timeout: time.Minute,
			Retry:   jobs.Backoff(5*time.Second, time.Hour, 20),
			Run:     n.Ops.Forge.RunPullReport,
		},
		jobs.Kind{
			Name:    forge.JobGroup,
			Limit:   4,
			Timeout: time.Minute,
			Retry:   jobs.Backoff(2*time.Second, 10*time.Minute, 20),
			Run:     n.Ops.Forge.RunGroup,
		},
		jobs.Kind{
			Name:    forge.JobMissed,
			Limit:   2,
			Timeout: 10 * time.Minute,
			Retry:   jobs.Backoff(time.Minute, time.Hour, 1<<30),
			Run:     n.Ops.Forge.RunMissed,
		},
		jobs.Kind{
			Name:    forge.JobPush,
			Limit:   4,
			Timeout: 2 * time.Minute,
			Retry:   jobs.Backoff(5*time.Second, time.Hour, 20),
			Run:     n.Ops.Forge.RunPush,
		},
		jobs.Kind{
			Name:    forge.JobBranch,
			Limit:   2,
			Timeout: 2 * time.Minute,
			Retry:   jobs.Backoff(5*time.Second, time.Hour, 5),
			Run:     n.Ops.Forge.RunBranch,
		},
		jobs.Kind{
			Name:    money.JobStripe,
			Limit:   4,
			Timeout: time.Minute,
			Retry:   jobs.Backoff(2*time.Second, time.Hour, 100),
			Run:     n.Ops.Money.RunStripe,
		},
		jobs.Kind{
			Name:    forge.JobGitHub,
			Limit:   2,
			Timeout: 5 * time.Minute,
			Retry:   jobs.Backoff(time.Minute, time.Hour, 1<<30),
			Run:     n.Ops.Forge.RunGitHub,
		},
		jobs.Kind{Name: sweepKind, Limit: 1, Timeout: time.Minute, Retry: jobs.Backoff(time.Minute, time.Hour, 1<<30), Run: n.sweep},
	)
}

// Woken tells that orgs have new events. It does not block.
func (n *Notifier) Woken([]string) {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run hands on events until ctx ends.
func (n *Notifier) Run(ctx context.Context) {
	if err := n.plan(ctx); err != nil && ctx.Err() == nil {
		n.Log.Warn("planning the regular work failed", "err", err)
	}
	tick := time.NewTicker(behind)
	defer tick.Stop()
	for {
		if err := n.handOn(ctx); err != nil && ctx.Err() == nil {
			n.Log.Warn("handing events on failed; trying again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-tick.C:
		}
	}
}

// plan makes sure that the regular jobs are in the queue.
func (n *Notifier) plan(ctx context.Context) error {
	return n.Store.Write(ctx, "", func(tx *store.Tx) error {
		return jobs.Gather(ctx, tx, jobs.New{Kind: sweepKind, Key: sweepKind})
	})
}

// handOn advances every org whose log has gone on. Events of orgs that never
// had an endpoint cost one look here.
func (n *Notifier) handOn(ctx context.Context) error {
	var orgs []string
	err := n.Store.Read(ctx, func(tx *store.Tx) (err error) {
		orgs, err = tx.Behind(ctx)
		return err
	})
	for _, org := range orgs {
		for more := true; more && err == nil; {
			more, err = n.advance(ctx, org)
		}
	}
	return err
}

// advance hands on the next events of one org and reports whether there may
// be more. Replicas that try at once queue up, and the second finds nothing.
func (n *Notifier) advance(ctx context.Context, org string) (more bool, err error) {
	err = n.Store.Write(ctx, outgoing.FanoutLock(org), func(tx *store.Tx) error {
		seq, err := tx.FanoutSeq(ctx, org)
		if err != nil {
			return err
		}
		events, err := tx.EventsAfter(ctx, org, seq, perTurn)
		if err != nil || len(events) == 0 {
			return err
		}
		hooks, err := tx.Webhooks(ctx, org)
		if err != nil {
			return err
		}
		more = len(events) == perTurn
		if fit := maxRows / max(1, len(hooks)); fit < len(events) {
			events, more = events[:fit], true
		}
		if err := n.toWebhooks(ctx, tx, org, hooks, events); err != nil {
			return err
		}
		if err := n.toSlack(ctx, tx, org, events); err != nil {
			return err
		}
		if err := n.Ops.Forge.WakePulls(ctx, tx, org, events); err != nil {
			return err
		}
		if err := n.Ops.Money.WakeSeats(ctx, tx, org, events); err != nil {
			return err
		}
		return tx.SetFanoutSeq(ctx, org, events[len(events)-1].Seq)
	})
	return more, err
}

func (n *Notifier) toWebhooks(ctx context.Context, tx *store.Tx, org string, hooks []coord.Webhook, events []coord.Event) error {
	for _, w := range hooks { // ordered by id, so that two transactions cannot lock one another out
		if !w.Enabled {
			continue
		}
		var ds []coord.Delivery
		for _, e := range events {
			if e.Seq > w.AfterSeq && w.Wants(e.Type) {
				ds = append(ds, coord.Delivery{ID: newID(), WebhookID: w.ID, OrgID: org, EventSeq: e.Seq, EventType: e.Type})
			}
		}
		if len(ds) == 0 {
			continue
		}
		if err := tx.InsertDeliveries(ctx, ds); err != nil {
			return err
		}
		if err := outgoing.WakeWebhook(ctx, tx, org, w.ID); err != nil {
			return err
		}
	}
	return nil
}

// sweep forgets what is too old to be of use.
func (n *Notifier) sweep(ctx context.Context, r *jobs.Run) error {
	return n.Store.Write(ctx, "", func(tx *store.Tx) error {
		if err := tx.DeleteFailedJobs(ctx, retention); err != nil {
			return err
		}
		if err := tx.DeleteOldMails(ctx, retention); err != nil {
			return err
		}
		if err := tx.DeleteOldReceipts(ctx, retention); err != nil {
			return err
		}
		return r.FinishUntil(ctx, tx, tx.Now.Add(time.Hour))
	})
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
