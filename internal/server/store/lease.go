package store

import (
	"context"
	"math/rand/v2"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A LeaseRow says that a replica lets edges decide by themselves in a repo.
type LeaseRow struct {
	OrgID   string
	Replica string
	RepoID  string
	Renewed int64 // counts up while the replica lives
	Seen    int64 // every edge with a lease from it has seen the log up to here
}

// PutLease notes that a replica gives leases on a repo. Its count begins
// anywhere, so that one that is taken out and put in again is told from the
// first.
func (tx *Tx) PutLease(ctx context.Context, replica, org, repo string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO edge_leases (replica, org_id, repo, renewed, seen) VALUES ($1, $2, $3, $4, 0)
		ON CONFLICT (org_id, repo, replica) DO UPDATE SET renewed = edge_leases.renewed + 1`, replica, org, repo, rand.Int64N(1<<60))
	return err
}

// RenewLeases says that a replica is alive, for all its leases.
func (tx *Tx) RenewLeases(ctx context.Context, replica string) error {
	_, err := tx.ExecContext(ctx, `UPDATE edge_leases SET renewed = renewed + 1 WHERE replica = $1`, replica)
	return err
}

// LeaseSeen notes how far all edges of a replica have seen the log.
func (tx *Tx) LeaseSeen(ctx context.Context, replica, org, repo string, seq int64) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE edge_leases SET seen = $4 WHERE replica = $1 AND org_id = $2 AND repo = $3 AND seen < $4`, replica, org, repo, seq)
	return err
}

// Leases returns what replicas other than one note, of an org or of all.
func (tx *Tx) Leases(ctx context.Context, org, but string) ([]LeaseRow, error) {
	return all(ctx, tx, func(r scanner) (l LeaseRow, err error) {
		err = r.Scan(&l.OrgID, &l.Replica, &l.RepoID, &l.Renewed, &l.Seen)
		return l, err
	}, `SELECT org_id, replica, repo, renewed, seen FROM edge_leases WHERE (org_id = $1 OR $1 = '') AND replica <> $2`, org, but)
}

// DropLease takes a row out, if it was not renewed since it was read.
func (tx *Tx) DropLease(ctx context.Context, l LeaseRow) error {
	_, err := tx.ExecContext(ctx, `
		DELETE FROM edge_leases WHERE replica = $1 AND org_id = $2 AND repo = $3 AND renewed = $4`, l.Replica, l.OrgID, l.RepoID, l.Renewed)
	return err
}

// EndLease takes a replica's own row out: no edge has a lease from it there.
func (tx *Tx) EndLease(ctx context.Context, replica, org, repo string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM edge_leases WHERE replica = $1 AND org_id = $2 AND repo = $3`, replica, org, repo)
	return err
}

// LookForLeases notes whether replicas other than one let edges decide in an org,
// where that costs no way to the database of its own. tx holds the org's lock,
// without which none begins to: it stays true until what tx does is known to
// whoever begins later.
func (tx *Tx) LookForLeases(ctx context.Context, org, but string) error {
	if !tx.Gathers() {
		return nil
	}
	rows, err := tx.Leases(ctx, org, but)
	tx.unleased = err == nil && len(rows) == 0
	return err
}

// Noted collects the events that writes under one context have told.
type Noted struct {
	Events []coord.Event
	// Leased says that other replicas may have let edges decide when one of
	// them was told.
	Leased bool
}

type notedKey struct{}

// Noting returns a context under which committed writes note their events. It
// is for one goroutine.
func Noting(ctx context.Context) (context.Context, *Noted) {
	n := &Noted{}
	return context.WithValue(ctx, notedKey{}, n), n
}

// Note adds to what is noted under a context what was noted under another.
func Note(ctx context.Context, more Noted) {
	if n, _ := ctx.Value(notedKey{}).(*Noted); n != nil {
		n.Events = append(n.Events, more.Events...)
		n.Leased = n.Leased || more.Leased
	}
}

// noting runs a write and notes what it told, once it is committed.
func noting(ctx context.Context, fn func(*Tx) error, write func(func(*Tx) error) error) error {
	n, _ := ctx.Value(notedKey{}).(*Noted)
	if n == nil {
		return write(fn)
	}
	var last *Tx // of the tries, the one that was committed
	err := write(func(tx *Tx) error {
		last = tx
		return fn(tx)
	})
	if err == nil && last != nil {
		Note(ctx, Noted{last.events, len(last.events) > 0 && !last.unleased})
	}
	return err
}
