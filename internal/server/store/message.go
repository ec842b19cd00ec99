package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Thread names a conversation by what it is.
type Thread struct {
	Kind    coord.ConversationKind
	Key     string
	RepoID  *string
	Subject *string
	About   *coord.About
	Users   []string // who takes part, for direct threads
	since   coord.Time
}

// From returns the thread as being there since a moment, even if only now
// somebody looks for it.
func (t Thread) From(since coord.Time) Thread {
	t.since = since
	return t
}

// DirectThread returns the thread of some people about something.
func DirectThread(users []string, about *coord.About, subject *string) Thread {
	users = slices.Compact(slices.Sorted(slices.Values(users)))
	key := "direct:"
	if about != nil {
		key += about.Kind + " " + about.Ref
	}
	return Thread{Kind: coord.Direct, Key: key + ":" + strings.Join(users, ","), About: about, Subject: subject, Users: users}
}

// TeamChannel and RepoChannel name the channels.
func TeamChannel() Thread { return Thread{Kind: coord.Channel, Key: "team"} }

// RepoChannel returns the channel of a repo.
func RepoChannel(repo string) Thread {
	return Thread{Kind: coord.Channel, Key: "repo:" + repo, RepoID: &repo}
}

// EnsureConversation returns the id of a thread, making it if need be.
func (tx *Tx) EnsureConversation(ctx context.Context, org, newID string, t Thread) (string, error) {
	var aboutKind, aboutRef *string
	if t.About != nil {
		aboutKind, aboutRef = &t.About.Kind, &t.About.Ref
	}
	n, err := tx.exec(ctx, `
		INSERT INTO conversations (id, org_id, kind, conv_key, repo_id, subject, about_kind, about_ref, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) ON CONFLICT (org_id, conv_key) DO NOTHING`,
		newID, org, t.Kind, t.Key, t.RepoID, t.Subject, aboutKind, aboutRef, cmp.Or(t.since, tx.Now))
	if err != nil {
		return "", err
	}
	if n == 0 {
		var id string
		err := tx.QueryRowContext(ctx, `SELECT id FROM conversations WHERE org_id = $1 AND conv_key = $2`, org, t.Key).Scan(&id)
		return id, err
	}
	for _, u := range t.Users {
		if _, err := tx.ExecContext(ctx, `INSERT INTO conversation_members (conversation_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			newID, u); err != nil {
			return "", err
		}
	}
	return newID, nil
}

// InsertMessage adds a message to its conversation for some recipients and
// fills in its place in the org's order.
func (tx *Tx) InsertMessage(ctx context.Context, m *coord.Message, recipients []string) (err error) {
	if m.Seq, err = tx.Advance(ctx, messageSeq, m.OrgID, 1); err != nil {
		return err
	}
	var user *string
	if m.From.User != nil {
		user = &m.From.User.ID
	}
	var aboutKind, aboutRef *string
	if m.About != nil {
		aboutKind, aboutRef = &m.About.Kind, &m.About.Ref
	}
	m.CreatedAt = tx.Now
	_, err = tx.ExecContext(ctx, `
		INSERT INTO messages (id, org_id, conversation_id, seq, from_kind, from_user, from_session, from_tool, target, subject, body,
		requires_ack, about_kind, about_ref, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		m.ID, m.OrgID, m.ConversationID, m.Seq, m.From.Kind, user, m.From.SessionID, m.From.Tool, m.To, m.Subject, m.Body, m.RequiresAck,
		aboutKind, aboutRef, m.CreatedAt)
	if err != nil {
		return err
	}
	if err := tx.insertRecipients(ctx, m, recipients); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE conversations SET updated_at = $2 WHERE id = $1`, m.ConversationID, tx.Now)
	return err
}

// insertRecipients addresses a message. What a person's own agent wrote needs
// no reading by that person: the row is for their other agents.
func (tx *Tx) insertRecipients(ctx context.Context, m *coord.Message, recipients []string) error {
	const perStatement = 200
	for batch := range slices.Chunk(recipients, perStatement) {
		f := filter{}
		id, org, seq, at := f.arg(m.ID), f.arg(m.OrgID), f.arg(m.Seq), f.arg(m.CreatedAt)
		rows := make([]string, len(batch))
		for i, u := range batch {
			var read *coord.Time
			own := m.From.User != nil && m.From.User.ID == u
			if own {
				read = &m.CreatedAt
			}
			rows[i] = "(" + strings.Join([]string{id, f.arg(u), org, seq, at, f.arg(read), f.arg(m.RequiresAck && !own)}, ", ") + ")"
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO message_recipients (message_id, user_id, org_id, seq, at, read_at, owes_ack)
			VALUES `+strings.Join(rows, ", ")+` ON CONFLICT DO NOTHING`, f.args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// CountUndelivered returns how many messages to a user none of their agents
// has received yet.
func (tx *Tx) CountUndelivered(ctx context.Context, org, user string) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM message_recipients WHERE org_id = $1 AND user_id = $2 AND agent_read_at IS NULL
		AND delivered_at IS NULL`, org, user)
}
