package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/notify"
	"github.com/svc-hq/svc/internal/server/outbound"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/vault"
)

// keyCheck is where the database remembers which key sealed its secrets.
const keyCheck = "vault_key"

// openVault opens the vault of a configuration and checks that it can open
// what the database holds: a second replica with a key of its own would lose
// secrets one by one.
func openVault(ctx context.Context, cfg Config, st *store.Store) (*vault.Vault, error) {
	v, err := vault.FromSetting(cfg.SecretKey)
	if cfg.SecretKey == "" {
		v, err = vault.Open(cfg.Data)
	} else if err != nil {
		err = fmt.Errorf("SVC_SECRET_KEY: %w", err)
	}
	if err != nil {
		return nil, err
	}
	id, err := v.KeyID()
	if err != nil {
		return nil, err
	}
	return v, st.Write(ctx, keyCheck, func(tx *store.Tx) error {
		used, err := tx.Meta(ctx, keyCheck)
		if err != nil || used == "" {
			return firstOf(err, tx.SetMeta(ctx, keyCheck, id))
		}
		if !v.Has(used) {
			return fmt.Errorf("the secrets in this database were sealed with the key %s, which this server does not have: set "+
				"SVC_SECRET_KEY to the same value on every replica, or copy %s from the data folder of the one that made it", used, vault.FileName)
		}
		return nil
	})
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// rotateKey makes a new key, if the keys are in a file, and seals every secret
// anew with the newest.
func rotateKey(ctx context.Context, env Env, args []string) error {
	cfg, err := config(env, "rotate-key", args)
	if err != nil {
		return err
	}
	st, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer st.Close()
	v, err := openVault(ctx, cfg, st)
	if err != nil {
		return err
	}
	if v.FromFile() {
		if err := v.Rotate(); err != nil {
			return err
		}
	}
	n := 0
	err = st.Write(ctx, keyCheck, func(tx *store.Tx) error {
		id, err := v.KeyID()
		if err != nil {
			return err
		}
		n, err = tx.Reseal(ctx, func(what, sealed string) (string, error) {
			text, err := v.Open(what, sealed)
			if err != nil {
				return "", fmt.Errorf("%s: %w", what, err)
			}
			return v.Seal(what, text)
		})
		return firstOf(err, tx.SetMeta(ctx, keyCheck, id))
	})
	if err != nil {
		return err
	}
	if v.FromFile() {
		if err := v.Prune(); err != nil {
			return err
		}
	}
	id, _ := v.KeyID()
	fmt.Fprintf(env.Stdout, "sealed %d secrets with the key %s\n", n, id)
	return nil
}

// outgoing assembles what leaves the house.
func (d *Daemon) outgoing(v *vault.Vault, out *outbound.Client, m *metrics) {
	var mailer *notify.Mailer
	if d.cfg.SMTPAddr != "" {
		// its address was checked with the configuration
		mailer, _ = notify.NewMailer(notify.SMTP{
			Addr:     d.cfg.SMTPAddr,
			User:     d.cfg.SMTPUser,
			Password: d.cfg.SMTPPassword,
			From:     d.cfg.SMTPFrom,
			TLS:      d.cfg.SMTPTLS,
		})
	}
	n := notify.New(notify.Config{Store: d.store, Ops: d.Ops, Vault: v, Outbound: out, Mailer: mailer, Log: d.log, Version: d.cfg.Version,
		Tried: m.delivery})
	n.Register(d.queue)
	woken := d.events.Woken
	d.events.Woken = func(orgs []string) { woken(orgs); n.Woken(orgs) }
	d.notifier = n
}

// runJobs does the background work. The embedded database is served by one
// process: whatever is leased belonged to one that died.
func (d *Daemon) runJobs(ctx context.Context) {
	if d.cfg.Embedded() {
		if err := d.queue.TakeOver(ctx); err != nil && ctx.Err() == nil {
			d.log.Warn("taking over jobs failed; they are done once their leases run out", "err", err)
		}
	}
	d.queue.Run(ctx)
}

// jobGauge counts the jobs when it is asked: they are shared by all replicas.
type jobGauge struct {
	queue *jobs.Queue
	now   func() coord.Time
}

var (
	jobsKept = desc("svc_jobs", "Background jobs by kind and state.", "kind", "state")
	jobAge   = desc("svc_job_age_seconds", "For how long the oldest job that could be done has waited, by kind.", "kind")
	strange  = desc("svc_billing_strange_prices", "Orgs that pay for a price which belongs to no plan; they keep the plan they had.")
)

func (g *jobGauge) Describe(ch chan<- *prometheus.Desc) {
	ch <- jobsKept
	ch <- jobAge
}

func (g *jobGauge) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	counts, err := g.queue.Counts(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(jobsKept, err)
		return
	}
	for _, c := range counts {
		ch <- prometheus.MustNewConstMetric(jobsKept, prometheus.GaugeValue, float64(c.Count), c.Kind, c.State)
		if c.State == "due" {
			ch <- prometheus.MustNewConstMetric(jobAge, prometheus.GaugeValue, g.now().Sub(c.Oldest).Seconds(), c.Kind)
		}
	}
}

// strangerGauge counts, when it is asked, who pays for what is no plan of ours.
type strangerGauge struct {
	count func(context.Context) (int, error)
}

func (g *strangerGauge) Describe(ch chan<- *prometheus.Desc) { ch <- strange }

func (g *strangerGauge) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	n, err := g.count(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(strange, err)
		return
	}
	ch <- prometheus.MustNewConstMetric(strange, prometheus.GaugeValue, float64(n))
}
