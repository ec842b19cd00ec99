package store

import (
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
		newID, org, t.Kind, t.Key, t.RepoID, t.Subject, aboutKind, aboutRef, tx.Now)
	if err != nil {
		return "", err
	}
	if n == 0 {
		var id string
		err := tx.QueryRowContext(ctx, `SELECT id FROM conversations WHERE org_id = $1 AND conv_key = $2`, org, t.Key).Scan(&id)
		return id, err
	}
	for _, u := range t.Users {
		if _, err := tx.ExecContext(ctx, `INSERT INTO conversation_members (conversation_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, newID, u); err != nil {
			return "", err
		}
	}
	return newID, nil
}

// InsertMessage adds a message to its conversation for some recipients and
// fills in its place in the org's order.
func (tx *Tx) InsertMessage(ctx context.Context, m *coord.Message, recipients []string) error {
	if err := tx.QueryRowContext(ctx, `UPDATE orgs SET message_seq = message_seq + 1 WHERE id = $1 RETURNING message_seq`, m.OrgID).Scan(&m.Seq); err != nil {
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
	_, err := tx.ExecContext(ctx, `
		INSERT INTO messages (id, org_id, conversation_id, seq, from_kind, from_user, from_session, from_tool, target, subject, body, requires_ack, about_kind, about_ref, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		m.ID, m.OrgID, m.ConversationID, m.Seq, m.From.Kind, user, m.From.SessionID, m.From.Tool, m.To, m.Subject, m.Body, m.RequiresAck, aboutKind, aboutRef, m.CreatedAt)
	if err != nil {
		return err
	}
	for _, u := range recipients {
		if _, err := tx.ExecContext(ctx, `INSERT INTO message_recipients (message_id, user_id, org_id, seq) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, m.ID, u, m.OrgID, m.Seq); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE conversations SET updated_at = $2 WHERE id = $1`, m.ConversationID, tx.Now)
	return err
}

// CountUndelivered returns how many messages to a user none of their agents
// has received yet.
func (tx *Tx) CountUndelivered(ctx context.Context, org, user string) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM message_recipients WHERE org_id = $1 AND user_id = $2 AND agent_read_at IS NULL AND delivered_at IS NULL`, org, user)
}

const messageColumns = `m.id, m.org_id, m.conversation_id, m.seq, m.from_kind, u.id, u.email, u.name, m.from_session, m.from_tool, m.target, m.subject, m.body, m.requires_ack, m.about_kind, m.about_ref, m.created_at`

func scanMessage(r scanner) (m coord.Message, err error) {
	var id, email, name, aboutKind, aboutRef *string
	err = r.Scan(&m.ID, &m.OrgID, &m.ConversationID, &m.Seq, &m.From.Kind, &id, &email, &name, &m.From.SessionID, &m.From.Tool, &m.To, &m.Subject, &m.Body, &m.RequiresAck, &aboutKind, &aboutRef, &m.CreatedAt)
	if id != nil {
		m.From.User = &coord.User{ID: *id, Email: *email, Name: *name}
	}
	if aboutKind != nil {
		m.About = &coord.About{Kind: *aboutKind, Ref: *aboutRef}
	}
	m.Acks = []coord.Ack{}
	return m, err
}

// Undelivered returns the messages to a user that did not go into a session's
// context yet, oldest first. What the session itself sent, what an agent of
// the user has read, and what another session of theirs received is left out.
func (tx *Tx) Undelivered(ctx context.Context, org, user, session string, limit int) ([]coord.Message, error) {
	return all(ctx, tx, scanMessage, `
		SELECT `+messageColumns+`
		FROM message_recipients x JOIN messages m ON m.id = x.message_id LEFT JOIN users u ON u.id = m.from_user
		WHERE x.org_id = $1 AND x.user_id = $2 AND x.agent_read_at IS NULL AND x.delivered_at IS NULL
			AND (m.from_session IS NULL OR m.from_session <> $3)
		ORDER BY x.seq LIMIT $4`, org, user, session, limit)
}

// Deliver notes that a message went into a session's context.
func (tx *Tx) Deliver(ctx context.Context, message, user, session string) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO deliveries (message_id, session_id, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, message, session, tx.Now); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE message_recipients SET delivered_at = $3 WHERE message_id = $1 AND user_id = $2 AND delivered_at IS NULL`, message, user, tx.Now)
	return err
}
