package db

import (
	"context"
	"time"
)

// SQLite copies its log into the database once the log has some pages, and
// waits for the disk to have them. By itself it does so in the commit that is
// one too many, and whoever is in that commit or behind it waits, on a busy
// disk for more than a hook may take. So another connection copies while
// writers go on. What is left to the commits is to find that all is copied, so
// that the log begins anew; where copying does not keep up it grows to
// logPages and they copy after all.
const (
	copyPages  = 1000 // of 4 KB
	logPages   = "8000"
	copyEvery  = 500 * time.Millisecond
	peekAtLog  = `PRAGMA wal_checkpoint(NOOP)`
	copyTheLog = `PRAGMA wal_checkpoint(PASSIVE)`
)

// copyLog copies the log as it grows, until ctx ends. It looks only where
// something was committed: a service that does nothing costs nothing.
func (d *DB) copyLog(ctx context.Context) {
	tick := time.NewTicker(copyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !d.grown.Swap(false) {
			continue
		}
		if t := d.tail.Load(); t != nil && t.watch(ctx) {
			continue // it copies the log, once it has read it
		}
		left, err := d.uncopied(ctx, peekAtLog)
		if err == nil && left >= copyPages {
			left, err = d.uncopied(ctx, copyTheLog)
		}
		if err != nil || left >= copyPages { // it is tried again; a full disk is told by the next write
			d.grown.Store(true)
		}
	}
}

// uncopied runs a checkpoint and returns how many pages are left.
func (d *DB) uncopied(ctx context.Context, checkpoint string) (pages int, err error) {
	var busy, logged, copied int
	err = d.pool.QueryRowContext(ctx, checkpoint).Scan(&busy, &logged, &copied)
	return logged - copied, err
}
