package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-hq/svc/internal/server/ship"
	"github.com/svc-hq/svc/internal/server/store"
)

// shipLateEvery is how often the log says that shipping does not get on.
const shipLateEvery = time.Minute

// usualShipKeep is for how long the states of each moment are kept.
const usualShipKeep = "168h"

func checkShipKeep(s string) error {
	if d, err := time.ParseDuration(s); err != nil || d < time.Minute {
		return fmt.Errorf("%q is no time of a minute or longer, such as 168h", s)
	}
	return nil
}

// shipID is where the database keeps what it is known by among what was shipped.
const shipID = "ship_id"

// startShipping ships what is committed, if the configuration says where to.
func (d *Daemon) startShipping(ctx context.Context) error {
	if d.cfg.ShipTo == "" {
		return nil
	}
	var id string
	err := d.store.Write(ctx, shipID, func(tx *store.Tx) (err error) {
		if id, err = tx.Meta(ctx, shipID); err != nil || id != "" {
			return err
		}
		id = rand.Text()
		return tx.SetMeta(ctx, shipID, id)
	})
	if err != nil {
		return err
	}
	keep, err := time.ParseDuration(cmp.Or(d.cfg.ShipKeep, usualShipKeep))
	if err != nil {
		return err
	}
	d.shipper, err = ship.Start(ship.Config{Dir: d.cfg.ShipTo, Database: id, Keep: keep, Lock: holdShipping, Log: d.log, Times: d.cfg.Ship},
		d.store.Tail())
	return err
}

func holdShipping(path string) (io.Closer, error) {
	f, err := hold(path, false)
	if errors.Is(err, errRunning) {
		return nil, &ship.OccupiedError{Why: fmt.Sprintf("another svcd ships into %s: give each its own folder with --ship-to",
			filepath.Dir(path))}
	}
	return f, err
}

// stopShipping ships what is left.
func (d *Daemon) stopShipping(ctx context.Context) {
	if d.shipper != nil {
		d.shipper.Stop(ctx)
	}
}

var shipAge = desc("svc_shipping_age_seconds",
	"For how long nothing more of the database was shipped to --ship-to, whether or not there was something; nothing without it.")

type shipGauge struct{ age func() (time.Duration, bool) }

func (g shipGauge) Describe(to chan<- *prometheus.Desc) { to <- shipAge }

func (g shipGauge) Collect(to chan<- prometheus.Metric) {
	if age, ok := g.age(); ok {
		to <- prometheus.MustNewConstMetric(shipAge, prometheus.GaugeValue, age.Seconds())
	}
}

// shippingAge returns how old what was shipped is, if anything is.
func (d *Daemon) shippingAge() (age time.Duration, ok bool) {
	if d.shipper == nil {
		return 0, false
	}
	age, _ = d.shipper.Age()
	return age, true
}

// restoreShipped brings what was shipped back into an empty database.
func restoreShipped(ctx context.Context, env Env, dir, at string, cfg Config) error {
	var moment time.Time
	if at != "" {
		var err error
		if moment, err = time.Parse(time.RFC3339, at); err != nil {
			return usageError{fmt.Errorf("--at %q is no moment such as 2026-01-31T09:30:00Z or 2026-01-31T10:30:00+01:00", at)}
		}
	}
	lock, err := holdDatabase(cfg)
	if err != nil {
		return err
	}
	defer lock.Close()
	var state ship.State
	again := func(work string) (_ bool, err error) {
		state, err = ship.Restore(dir, moment, work)
		return true, err
	}
	err = opened(ctx, dir, again, func(work string, _ int, _ bool) error { return transfer(ctx, env, work, cfg.Database, false) })
	if err != nil {
		return err
	}
	if state.Note != "" {
		fmt.Fprintln(env.Stderr, state.Note)
	}
	fmt.Fprintf(env.Stdout, "Restored %s as it was shipped at %s. Start svcd with the key that the server had.\n", dir, ship.Stamp(state.Time))
	return nil
}

// verifyShipped looks at all that was shipped, and makes the newest state.
func verifyShipped(ctx context.Context, env Env, dir string) error {
	spans, torn, err := ship.Verify(dir)
	for _, s := range spans {
		fmt.Fprintf(env.Stdout, "Any moment from %s to %s can be restored (%d bases, %d changes).\n", ship.Stamp(s.From), ship.Stamp(s.To),
			s.Bases, s.Changes)
	}
	for _, t := range torn {
		fmt.Fprintf(env.Stdout, "%s, as after a crash; nothing behind it is missing.\n", t)
	}
	if err != nil {
		return err
	}
	newest := func(work string) (bool, error) {
		_, err := ship.Restore(dir, time.Time{}, work)
		return true, err
	}
	return opened(ctx, dir, newest, func(_ string, rows int, _ bool) error {
		fmt.Fprintf(env.Stdout, "The newest state can be read (%d rows).\n", rows)
		return nil
	})
}

// isFolder reports whether a path is that of a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
