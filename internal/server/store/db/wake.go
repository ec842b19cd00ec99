package db

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Channel is what replicas tell each other about orgs.
type Channel string

// newReplicas says that another process serves the database; no org is meant.
const newReplicas Channel = "svc_replicas"

// Notify tells the other replicas which orgs have something new. It is a hint,
// sent after commit: inside the transaction it would serialise all commits.
// On SQLite there are no other replicas.
func (d *DB) Notify(ctx context.Context, on Channel, orgs ...string) error {
	if d.name != postgres.name {
		return nil
	}
	const perCall = 200 // a payload must stay under 8,000 bytes
	for len(orgs) > 0 {
		n := min(perCall, len(orgs))
		if _, err := d.pool.ExecContext(ctx, `SELECT pg_notify($1, $2)`, string(on), strings.Join(orgs[:n], ",")); err != nil {
			return err
		}
		orgs = orgs[n:]
	}
	return nil
}

// Listen calls fn with the orgs of each notification on a channel until ctx
// ends or the connection breaks. On SQLite it waits for ctx.
func (d *DB) Listen(ctx context.Context, on Channel, fn func(orgs []string)) error {
	if d.name != postgres.name {
		<-ctx.Done()
		return ctx.Err()
	}
	conn, err := pgx.Connect(ctx, d.dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `LISTEN `+string(on)); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		fn(strings.Split(n.Payload, ","))
	}
}
