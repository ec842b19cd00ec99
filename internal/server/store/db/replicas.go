package db

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Replicas of one database answer from memory, and must know whether another
// may have written since. One that is alone need not ask. It may believe so
// for soleFor after each look, and one that joins does not serve before every
// other has noticed it, or has had time to stop believing.
const (
	lookEvery = 300 * time.Millisecond // while alone
	soleFor   = time.Second            // from the start of a look that found nobody
	seenEvery = 5 * time.Second        // how often a replica says that it is there
)

// theirNow is the database's clock in milliseconds, and lately the moment
// (20 seconds ago) since when a replica must have been heard of: whose clock is right matters
// less than that there is one.
const (
	theirNow = `(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT`
	lately   = theirNow + ` - 20000`
)

// replica is this process among those that serve a database.
type replica struct {
	id     string
	number int64
	start  time.Time    // what sole counts from
	sole   atomic.Int64 // until when nobody else can be there
	look   chan struct{}
}

// Alone reports whether no other process serves this database, so that what
// this one has heard of is all there is.
func (d *DB) Alone() bool {
	if d.name == embedded.name {
		return true
	}
	r := d.replica.Load()
	return r != nil && time.Since(r.start) < time.Duration(r.sole.Load())
}

// Join makes this process a replica, and returns when every other knows.
func (d *DB) Join(ctx context.Context) error {
	if d.name == embedded.name {
		return nil
	}
	r := &replica{id: uuid.NewString(), start: time.Now(), look: make(chan struct{}, 1)}
	if err := d.enlist(ctx, r); err != nil {
		return err
	}
	joined := time.Now()
	if err := d.Notify(ctx, newReplicas, r.id); err != nil {
		return err
	}
	for time.Since(joined) < soleFor+lookEvery {
		var unaware int
		err := d.Read(ctx, func(tx *Tx) error {
			return tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM replicas WHERE id <> $1 AND knows < $2 AND seen_at > `+lately,
				r.id, r.number).Scan(&unaware)
		})
		if err != nil {
			return err
		}
		if unaware == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	d.replica.Store(r)
	return nil
}

// enlist gives a replica its number. Those that died long ago are forgotten.
func (d *DB) enlist(ctx context.Context, r *replica) error {
	return d.Write(ctx, "replicas", func(tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM replicas WHERE id = $1 OR seen_at < `+lately+` - 600000`, r.id); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(number), 0) + 1 FROM replicas`).Scan(&r.number)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO replicas (id, number, knows, seen_at) VALUES ($1, $2, $2, `+theirNow+`)`, r.id, r.number)
		return err
	})
}

// Attend keeps up with who else serves the database, until ctx ends. It
// follows Join.
func (d *DB) Attend(ctx context.Context) {
	r := d.replica.Load()
	if r == nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		d.Listen(ctx, newReplicas, func(string) {
			select {
			case r.look <- struct{}{}:
			default:
			}
		}, func(error) {})
	})
	for said := time.Now(); ctx.Err() == nil; {
		alone, err := d.lookAround(ctx, r, time.Since(said) > seenEvery)
		if err == nil && time.Since(said) > seenEvery {
			said = time.Now()
		}
		wait := seenEvery
		if alone || err != nil {
			wait = lookEvery
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-r.look:
		case <-timer.C:
		}
		timer.Stop()
	}
	wg.Wait()
	d.leave(context.WithoutCancel(ctx), r)
}

// errUnlisted says that a replica was taken for dead.
var errUnlisted = errors.New("this replica is not listed any more")

// lookAround finds out whether this replica is alone.
func (d *DB) lookAround(ctx context.Context, r *replica, say bool) (alone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, soleFor)
	defer cancel()
	began := time.Since(r.start)
	var newest, knows int64
	var others int
	err = d.Read(ctx, func(tx *Tx) error {
		var mine int
		err := tx.QueryRowContext(ctx, `
			SELECT COALESCE(MAX(number), 0),
				COALESCE(MAX(CASE WHEN id = $1 THEN knows END), 0),
				COUNT(CASE WHEN id = $1 THEN 1 END),
				COUNT(CASE WHEN id <> $1 AND seen_at > `+lately+` THEN 1 END)
			FROM replicas`, r.id).Scan(&newest, &knows, &mine, &others)
		if err == nil && mine == 0 {
			err = errUnlisted
		}
		return err
	})
	if errors.Is(err, errUnlisted) {
		return false, d.enlist(ctx, r) // alone or not, the next look tells
	}
	if err != nil {
		return false, err
	}
	if others == 0 {
		r.sole.Store(int64(began + soleFor))
	} else {
		r.sole.Store(0) // before saying that the others are known
	}
	if newest > knows || say {
		err = d.Write(ctx, "", func(tx *Tx) error { return tx.seeReplicas(ctx, r.id, newest) })
	}
	return others == 0, err
}

func (tx *Tx) seeReplicas(ctx context.Context, id string, newest int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE replicas SET knows = $2, seen_at = `+theirNow+` WHERE id = $1`, id, newest)
	return err
}

// leave says that this process serves no more.
func (d *DB) leave(ctx context.Context, r *replica) {
	d.replica.Store(nil)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	d.Write(ctx, "", func(tx *Tx) error { // if not, its time runs out
		_, err := tx.ExecContext(ctx, `DELETE FROM replicas WHERE id = $1`, r.id)
		return err
	})
}
