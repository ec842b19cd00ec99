package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

// chorus repeats the messages of a server, as read by everybody, until there
// are n. No person may send that many: the API limits them.
func chorus(ctx context.Context, tx *store.Tx, n int) error {
	said, err := heard(ctx, tx)
	if err != nil {
		return err
	}
	if len(said) == 0 {
		return fmt.Errorf("nothing has been said that could be said again")
	}
	for i := len(said); i < n; i++ {
		m := said[i%len(said)]
		m.ID, m.RequiresAck = uuid.NewString(), false
		if err := tx.InsertMessage(ctx, &m, nil); err != nil {
			return err
		}
	}
	return nil
}

func countSaid(ctx context.Context, tx *store.Tx) error {
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM messages").Scan(&n); err != nil {
		return err
	}
	_, err := fmt.Println(n)
	return err
}

func heard(ctx context.Context, tx *store.Tx) (said []coord.Message, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT m.org_id, m.conversation_id, m.from_user, u.name, u.email, m.target, m.body
		FROM messages m JOIN users u ON u.id = m.from_user WHERE m.from_kind = 'user' ORDER BY m.seq`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		m := coord.Message{From: coord.Sender{Kind: coord.SenderUser, User: &coord.User{}}}
		if err := rows.Scan(&m.OrgID, &m.ConversationID, &m.From.User.ID, &m.From.User.Name, &m.From.User.Email, &m.To, &m.Body); err != nil {
			return nil, err
		}
		said = append(said, m)
	}
	return said, rows.Err()
}

// past moves what happened back in time, so that a team that was made up in
// seconds looks as if it had worked for days. Orders stay; the nearer to now,
// the denser. Records get the times of their events.
func past(ctx context.Context, tx *store.Tx, days int64) error {
	const part = `(o.%[3]s - x.seq) / o.%[3]s` // how far back: 1 is the beginning
	const cube = `CAST($1 - $2 * 1.0 * ` + part + ` * ` + part + ` * ` + part + ` AS BIGINT)`
	span := days * 24 * 60 * 60 * 1000
	for _, f := range []struct{ table, column, counter string }{
		{"events", "occurred_at", "event_seq"},
		{"messages", "created_at", "message_seq"},
	} {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`UPDATE %[1]s AS x SET %[2]s = `+cube+` FROM orgs o WHERE o.id = x.org_id AND o.%[3]s > 0`,
			f.table, f.column, f.counter), tx.Now, span)
		if err != nil {
			return err
		}
	}
	for _, f := range []struct{ table, column, events string }{
		{"sessions", "started_at", "'session.started'"},
		{"intents", "created_at", "'intent.declared', 'intent.drafted'"},
		{"intents", "last_activity_at", "'intent.declared', 'change.recorded', 'intent.closed'"},
		{"intents", "closed_at", "'intent.closed'"},
		{"conflicts", "first_seen_at", "'conflict.detected'"},
	} {
		const theirs = ` FROM events e WHERE e.org_id = x.org_id AND e.subject_id = x.id AND e.type IN (%[3]s))`
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`UPDATE %[1]s AS x SET %[2]s = (SELECT MAX(e.occurred_at)`+theirs+
			` WHERE EXISTS (SELECT 1`+theirs, f.table, f.column, f.events))
		if err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE conversations AS c SET updated_at = (SELECT MAX(m.created_at) FROM messages m WHERE m.conversation_id = c.id)
		WHERE EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = c.id)`)
	return err
}
