package db

import (
	"context"
	"errors"
)

// Foresee asks in one go what fn asks, where that spares ways to the database;
// the answers are then at hand for who asks again. fn calls methods of tx that
// only ask; what they return to it means nothing.
func (tx *Tx) Foresee(ctx context.Context, fn func()) error {
	if tx.gathered == nil {
		return nil
	}
	if !tx.gathered.reading {
		ctx = context.WithoutCancel(ctx)
	}
	return tx.gathered.foresee(ctx, fn)
}

// Echo asks nothing, so that the way to the database and back can be measured.
func (tx *Tx) Echo(ctx context.Context) error {
	var one int
	return tx.QueryRowContext(ctx, `SELECT 1`).Scan(&one)
}

// Gathers reports whether tx goes to the database as seldom as it can.
func (tx *Tx) Gathers() bool { return tx.gathered != nil }

// errForeseen is what a question gets that is not asked yet.
var errForeseen = errors.New("foreseen")

func (c *gatheringConn) foresee(ctx context.Context, fn func()) error {
	c.foreseeing, c.foreseen = true, nil
	func() {
		defer func() { c.foreseeing = false }()
		fn()
	}()
	if len(c.foreseen) == 0 {
		return nil
	}
	err := c.ask(ctx, c.foreseen)
	for _, q := range c.foreseen {
		c.remember(q)
	}
	return err
}
