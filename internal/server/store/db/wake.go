package db

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Channel is what replicas tell each other about orgs.
type Channel string

// newReplicas says that another process serves the database; no org is meant.
const newReplicas Channel = "svc_replicas"

// notify is told by itself, after a commit or in one way with it: inside the
// transaction it would serialise all commits.
const notify = `SELECT pg_notify($1, $2)`

// MaxNotice is how long a notice may be.
const MaxNotice = 7900

// A notice is what other replicas are told along with a commit.
type notice struct {
	on   Channel
	text string
}

// TellReplicas has other replicas told something as soon as the transaction is
// committed: they hear of it when its caller does. It is a hint, which may be
// lost. On SQLite there are no other replicas.
func (tx *Tx) TellReplicas(on Channel, text string) {
	tx.notices = append(tx.notices, notice{on, text})
}

// Notify tells the other replicas which orgs have something new. It is a hint,
// sent after commit.
func (d *DB) Notify(ctx context.Context, on Channel, orgs ...string) error {
	if d.name != postgres.name {
		return nil
	}
	const perCall = 200 // a payload must stay under 8,000 bytes
	for len(orgs) > 0 {
		n := min(perCall, len(orgs))
		if _, err := d.pool.ExecContext(ctx, notify, string(on), strings.Join(orgs[:n], ",")); err != nil {
			return err
		}
		orgs = orgs[n:]
	}
	return nil
}

// Orgs are those that a notification of Notify names.
func Orgs(text string) []string { return strings.Split(text, ",") }

// Listen calls fn with the text of each notification on a channel until ctx
// ends, also after a connection broke, of which lost is told. On SQLite it waits
// for ctx.
func (d *DB) Listen(ctx context.Context, on Channel, fn func(text string), lost func(error)) {
	for d.name == postgres.name && ctx.Err() == nil {
		err := d.listen(ctx, on, fn)
		if ctx.Err() != nil {
			return
		}
		lost(err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	<-ctx.Done()
}

func (d *DB) listen(ctx context.Context, on Channel, fn func(text string)) error {
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
		fn(n.Payload)
	}
}
