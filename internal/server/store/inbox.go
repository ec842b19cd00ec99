package store

import (
	"context"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Reader is for whom messages are read. A person in the dashboard and their
// agents keep marks of their own: what one has seen, the other may not have.
type Reader struct {
	User  string
	Agent bool
}

// readColumn is where the reader's mark stands.
func (r Reader) readColumn() string {
	if r.Agent {
		return "agent_read_at"
	}
	return "read_at"
}

// messageColumns need the reader as the join's user.
func (r Reader) messageColumns() string {
	return `m.id, m.org_id, m.conversation_id, m.seq, m.from_kind, u.id, u.email, u.name, m.from_session, m.from_tool, m.target, m.subject,
		m.body,
	m.requires_ack, m.about_kind, m.about_ref, m.created_at, x.` + r.readColumn() + `, x.delivered_at`
}

const messageTables = ` FROM messages m
	JOIN conversations c ON c.id = m.conversation_id
	LEFT JOIN users u ON u.id = m.from_user`

func scanMessage(r scanner) (m coord.Message, err error) {
	var id, email, name, aboutKind, aboutRef *string
	err = r.Scan(&m.ID, &m.OrgID, &m.ConversationID, &m.Seq, &m.From.Kind, &id, &email, &name, &m.From.SessionID, &m.From.Tool, &m.To,
		&m.Subject, &m.Body,
		&m.RequiresAck, &aboutKind, &aboutRef, &m.CreatedAt, &m.ReadAt, &m.DeliveredAt)
	m.From.User = userOf(id, email, name)
	if aboutKind != nil {
		m.About = &coord.About{Kind: *aboutKind, Ref: *aboutRef}
	}
	m.Acks, m.Receipts = []coord.Ack{}, []coord.Receipt{}
	return m, err
}

// userOf returns a person from columns that may be null.
func userOf(id, email, name *string) *coord.User {
	if id == nil {
		return nil
	}
	return &coord.User{ID: *id, Email: *email, Name: *name}
}

// A MessageFilter narrows a list of messages.
type MessageFilter struct {
	IDs          []string
	Conversation string
	Inbox        bool   // only those addressed to the reader
	Unread       bool   // only those the reader has no mark on; implies Inbox
	NotLineage   string // not from sessions of this lineage
	NotFrom      string // not from this user
	Unseen       *SessionRow
	Before       int64 // keyset: seq of the last row
	Limit        int
}

// build returns the filter as SQL: how the reader's rows are joined, and the
// conditions.
func (want MessageFilter) build(org string, r Reader) (join string, f filter) {
	join = ` LEFT JOIN message_recipients x ON x.message_id = m.id AND x.user_id = ` + f.arg(r.User)
	f.and(`m.org_id = ?`, org)
	in(&f, "m.id", want.IDs)
	if want.Conversation != "" {
		f.and(`m.conversation_id = ?`, want.Conversation)
	}
	if want.Inbox || want.Unread {
		// Begin at the reader's rows: the index on them is in the right order.
		join = strings.Replace(join, " LEFT", "", 1)
		f.and(`x.org_id = ?`, org)
	}
	if want.Unread {
		f.and(`x.` + r.readColumn() + ` IS NULL`)
	}
	if want.NotLineage != "" {
		f.and(notFromLineage, want.NotLineage)
	}
	if want.NotFrom != "" {
		f.and(`(m.from_user IS NULL OR m.from_user <> ?)`, want.NotFrom)
	}
	if s := want.Unseen; s != nil {
		f.and(notInContext, s.OrgID, s.User.ID, s.Tool, s.ExternalID)
	}
	if want.Before > 0 {
		f.and(`m.seq < ?`, want.Before)
	}
	return join, f
}

// Messages returns messages as a reader sees them, newest first.
func (tx *Tx) Messages(ctx context.Context, org string, r Reader, want MessageFilter) ([]coord.Message, error) {
	join, f := want.build(org, r)
	rows, err := all(ctx, tx, scanMessage,
		`SELECT `+r.messageColumns()+messageTables+join+f.where()+` ORDER BY m.seq DESC`+f.limit(want.Limit), f.args...)
	if err != nil {
		return nil, err
	}
	return rows, tx.withAcks(ctx, r, rows)
}

// CountMessages returns how many messages there are for a reader.
func (tx *Tx) CountMessages(ctx context.Context, org string, r Reader, want MessageFilter) (int, error) {
	join, f := want.build(org, r)
	return tx.count(ctx, `SELECT COUNT(*)`+messageTables+join+f.where(), f.args...)
}

// notFromLineage leaves out what an agent, or another of its lineage, wrote
// itself.
const notFromLineage = `NOT EXISTS (SELECT 1 FROM sessions f WHERE f.id = m.from_session AND f.lineage_id = ?)`

// notInContext leaves out what went into an agent's context. One agent has a
// session in each repo it works in: they share the context.
const notInContext = `NOT EXISTS (SELECT 1 FROM deliveries d JOIN sessions o ON o.id = d.session_id
	WHERE d.message_id = m.id AND o.org_id = ? AND o.user_id = ? AND o.tool = ? AND o.external_id = ?)`

// Undelivered returns messages for a session's agent that did not go into its
// context, oldest first: those sent since the session began, and older ones
// that none of the person's agents has seen. Channels of other repos are left
// out, and questions, which are delivered as such.
func (tx *Tx) Undelivered(ctx context.Context, s SessionRow, limit int) ([]coord.Message, error) {
	r := Reader{User: s.User.ID, Agent: true}
	query, args := undeliveredMessages().of(&s, untold{limit: limit})
	rows, err := all(ctx, tx, scanMessage, query, args...)
	if err != nil {
		return nil, err
	}
	return rows, tx.withAcks(ctx, r, rows)
}

var undeliveredMessages = sync.OnceValue(func() template {
	return templateOf(`SELECT ` + Reader{Agent: true}.messageColumns() + undelivered() + ` ORDER BY m.seq LIMIT :limit+0`)
})

// undelivered is where they are found.
func undelivered() string {
	return messageTables + `
		JOIN message_recipients x ON x.message_id = m.id AND x.user_id = :user
		JOIN (
			SELECT message_id FROM message_recipients WHERE org_id = :org AND user_id = :user AND at >= :started
			UNION
			SELECT message_id FROM message_recipients WHERE org_id = :org AND user_id = :user AND delivered_at IS NULL
				AND agent_read_at IS NULL
		) fresh ON fresh.message_id = m.id
		WHERE (c.repo_id IS NULL OR c.repo_id = :repo)
			AND (m.about_kind IS NULL OR m.about_kind <> 'question' OR c.kind = 'channel')
			AND ` + by(notFromLineage, ":lineage") + ` AND ` + by(notInContext, ":org", ":user", ":tool", ":external")
}

// HasNews reports whether a session's agent is to be told of a message, a
// question or an answer: whether Undelivered, UntoldQuestions or UntoldAnswers
// would return any.
func (tx *Tx) HasNews(ctx context.Context, s SessionRow, quiet coord.Time) (bool, error) {
	query, args := hasNews().of(&s, untold{now: tx.Now, quiet: quiet})
	n, err := tx.count(ctx, query, args...)
	return n > 0, err
}

var hasNews = sync.OnceValue(func() template {
	return templateOf(`SELECT CASE WHEN ` + turned() + ` OR EXISTS (SELECT 1` + undelivered() + `)
		OR EXISTS (SELECT 1` + untoldQuestions() + `)
		OR EXISTS (SELECT 1` + untoldAnswers() + `) THEN 1 ELSE 0 END`)
})

// Turned reports whether something has become of a session's conflicts since
// its agent was told of them.
func (tx *Tx) Turned(ctx context.Context, s SessionRow) (bool, error) {
	query, args := hasTurned().of(&s, untold{})
	n, err := tx.count(ctx, query, args...)
	return n > 0, err
}

var hasTurned = sync.OnceValue(func() template { return templateOf(`SELECT CASE WHEN ` + turned() + ` THEN 1 ELSE 0 END`) })

func turned() string {
	turn := func(side, over string) string {
		// A cross join, which SQLite takes in the order that is written: with
		// statistics of a young org it walked all conflicts of the org instead.
		return `EXISTS (SELECT 1 FROM sessions k CROSS JOIN conflicts t WHERE k.id = :session AND t.org_id = :org
			AND t.` + side + ` = COALESCE(k.intent_id, k.id) AND t.closed_at IS ` + over + ` AND t.updated_at > k.turns_at)`
	}
	turns := []string{turn("holder", "NULL"), turn("challenger", "NULL"), turn("holder", "NOT NULL"), turn("challenger", "NOT NULL")}
	return strings.Join(turns, " OR ")
}

// Deliver notes that messages went into a session's agent's context.
func (tx *Tx) Deliver(ctx context.Context, s SessionRow, ids []string) error {
	for _, id := range ids {
		if _, err := tx.ExecContext(ctx, `INSERT INTO deliveries (message_id, session_id, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, id,
			s.ID, tx.Now); err != nil {
			return err
		}
	}
	return tx.mark(ctx, "delivered_at", s.User.ID, ids)
}

// MarkRead notes that a reader saw messages.
func (tx *Tx) MarkRead(ctx context.Context, r Reader, ids []string) error {
	return tx.mark(ctx, r.readColumn(), r.User, ids)
}

// mark sets a recipient's mark where there is none: the first time counts.
func (tx *Tx) mark(ctx context.Context, column, user string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	f := filter{}
	now := f.arg(tx.Now)
	f.and(`user_id = ?`, user)
	f.and(column + ` IS NULL`)
	in(&f, "message_id", ids)
	_, err := tx.ExecContext(ctx, `UPDATE message_recipients SET `+column+` = `+now+f.where(), f.args...)
	return err
}

// Ack notes a person's acknowledgement, once, and returns when it was given.
// It is nil if the message is not addressed to them.
func (tx *Tx) Ack(ctx context.Context, message, user string) (at *coord.Time, first bool, err error) {
	n, err := tx.exec(ctx,
		`UPDATE message_recipients SET acked_at = $3, owes_ack = FALSE WHERE message_id = $1 AND user_id = $2 AND acked_at IS NULL`, message,
		user, tx.Now)
	if err != nil {
		return nil, false, err
	}
	times, err := all(ctx, tx, func(r scanner) (t *coord.Time, err error) {
		err = r.Scan(&t)
		return t, err
	}, `SELECT acked_at FROM message_recipients WHERE message_id = $1 AND user_id = $2`, message, user)
	if err != nil || len(times) == 0 {
		return nil, false, err
	}
	return times[0], n > 0, nil
}

// withAcks fills in who acknowledged, and for direct messages that the reader
// sent what became of them.
func (tx *Tx) withAcks(ctx context.Context, r Reader, ms []coord.Message) error {
	at := map[string]int{}
	var ids []string
	for i, m := range ms {
		mine := m.From.User != nil && m.From.User.ID == r.User
		if m.RequiresAck || mine {
			at[m.ID] = i
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	f := filter{}
	in(&f, "x.message_id", ids)
	rows, err := tx.QueryContext(ctx, `
		SELECT x.message_id, c.kind, u.id, u.email, u.name, x.delivered_at, x.read_at, x.agent_read_at, x.acked_at
		FROM message_recipients x JOIN users u ON u.id = x.user_id
		JOIN messages m ON m.id = x.message_id JOIN conversations c ON c.id = m.conversation_id`+f.where()+` ORDER BY COALESCE(x.acked_at, 0),
			u.id`, f.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var kind coord.ConversationKind
		var x coord.Receipt
		if err := rows.Scan(&id, &kind, &x.User.ID, &x.User.Email, &x.User.Name, &x.DeliveredAt, &x.ReadAt, &x.AgentReadAt,
			&x.AckedAt); err != nil {
			return err
		}
		m := &ms[at[id]]
		if x.AckedAt != nil {
			m.Acks = append(m.Acks, coord.Ack{User: x.User, AckedAt: *x.AckedAt})
		}
		if kind == coord.Direct && m.From.User != nil && m.From.User.ID == r.User {
			m.Receipts = append(m.Receipts, x)
		}
	}
	return rows.Err()
}
