package store

import (
	"context"
	"maps"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
)

const conversationColumns = `c.id, c.kind, c.subject, c.about_kind, c.about_ref, r.id, r.full_name, c.created_at, c.updated_at`

const conversationTables = ` FROM conversations c LEFT JOIN repos r ON r.id = c.repo_id`

func scanConversation(s scanner) (c coord.Conversation, err error) {
	var aboutKind, aboutRef, repo, fullName *string
	err = s.Scan(&c.ID, &c.Kind, &c.Subject, &aboutKind, &aboutRef, &repo, &fullName, &c.CreatedAt, &c.UpdatedAt)
	if aboutKind != nil {
		c.About = &coord.About{Kind: *aboutKind, Ref: *aboutRef}
	}
	if repo != nil {
		c.Repo = &coord.RepoName{ID: *repo, FullName: *fullName}
	}
	c.Participants = []coord.User{}
	return c, err
}

// A ConversationFilter narrows a list of conversations.
type ConversationFilter struct {
	ID       string
	Kind     coord.ConversationKind
	Key      string // as Thread has it
	Before   coord.Time
	BeforeID string // keyset: time and id of the last row
	Limit    int
}

// Conversations returns the channels and the direct threads that a reader
// takes part in, the latest active first, with counts and the latest message.
func (tx *Tx) Conversations(ctx context.Context, org string, r Reader, want ConversationFilter) ([]coord.Conversation, error) {
	f := filter{}
	f.and(`c.org_id = ?`, org)
	// Not EXISTS, for which PostgreSQL gathers all that the reader ever took part in.
	f.and(`(c.kind = 'channel'
		OR (SELECT p.user_id FROM conversation_members p WHERE p.conversation_id = c.id AND p.user_id = ?) IS NOT NULL)`, r.User)
	f.equals("c.id", want.ID)
	f.equals("c.kind", string(want.Kind))
	f.equals("c.conv_key", want.Key)
	if want.BeforeID != "" {
		f.and(`(c.updated_at, c.id) < (?, ?)`, want.Before, want.BeforeID)
	}
	rows, err := all(ctx, tx, scanConversation, `SELECT `+conversationColumns+conversationTables+f.where()+`
		ORDER BY c.updated_at DESC, c.id DESC`+f.limit(want.Limit), f.args...)
	if err != nil || len(rows) == 0 {
		return rows, err
	}
	return rows, tx.fillConversations(ctx, org, r, rows)
}

// fillConversations adds who takes part, counts and the latest message.
func (tx *Tx) fillConversations(ctx context.Context, org string, r Reader, cs []coord.Conversation) error {
	at := map[string]int{}
	ids := make([]string, len(cs))
	for i, c := range cs {
		at[c.ID], ids[i] = i, c.ID
	}
	f := filter{}
	in(&f, "p.conversation_id", ids)
	if err := tx.each(ctx, func(s scanner) error {
		var id string
		var u coord.User
		err := s.Scan(&id, &u.ID, &u.Email, &u.Name)
		c := &cs[at[id]]
		c.Participants = append(c.Participants, u)
		return err
	}, `SELECT p.conversation_id, u.id, u.email, u.name FROM conversation_members p JOIN users u ON u.id = p.user_id`+f.where()+`
		ORDER BY u.id`, f.args...); err != nil {
		return err
	}
	f = filter{}
	in(&f, "c.id", ids)
	var last []string
	if err := tx.each(ctx, func(s scanner) error {
		var id string
		var newest *string
		var total int
		err := s.Scan(&id, &total, &newest)
		cs[at[id]].MessageCount = total
		if newest != nil {
			last = append(last, *newest)
		}
		return err
	}, `SELECT c.id, (SELECT COUNT(*) FROM messages m WHERE m.conversation_id = c.id),
			(SELECT m.id FROM messages m WHERE m.conversation_id = c.id ORDER BY m.seq DESC LIMIT 1)
		FROM conversations c`+f.where(), f.args...); err != nil {
		return err
	}
	if err := tx.countUnread(ctx, org, r, cs, at); err != nil {
		return err
	}
	if len(last) == 0 {
		return nil
	}
	latest, err := tx.Messages(ctx, org, r, MessageFilter{IDs: last, Limit: len(last)})
	for i := range latest {
		cs[at[latest[i].ConversationID]].LastMessage = &latest[i]
	}
	return err
}

// countUnread adds how many messages of conversations a reader has not read. It
// goes by what is unread, of which there is little: what was read is the past.
func (tx *Tx) countUnread(ctx context.Context, org string, r Reader, cs []coord.Conversation, at map[string]int) error {
	f := filter{}
	f.and(`x.org_id = ?`, org)
	f.and(`x.user_id = ?`, r.User)
	f.and(`x.` + r.readColumn() + ` IS NULL`)
	in(&f, "m.conversation_id", slices.Collect(maps.Keys(at)))
	return tx.each(ctx, func(s scanner) error {
		var id string
		var unread int
		err := s.Scan(&id, &unread)
		cs[at[id]].UnreadCount = unread
		return err
	}, `SELECT m.conversation_id, COUNT(*) FROM message_recipients x JOIN messages m ON m.id = x.message_id`+f.where()+`
		GROUP BY m.conversation_id`, f.args...)
}

// each runs fn on every row of a query.
func (tx *Tx) each(ctx context.Context, fn func(scanner) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// ConversationKind returns what a conversation is and whether a user takes
// part in it; an empty kind if the org has no such.
func (tx *Tx) ConversationKind(ctx context.Context, org, id, user string) (kind coord.ConversationKind, member bool, err error) {
	err = tx.each(ctx, func(s scanner) error { return s.Scan(&kind, &member) }, `
		SELECT c.kind, EXISTS (SELECT 1 FROM conversation_members p WHERE p.conversation_id = c.id AND p.user_id = $3)
		FROM conversations c WHERE c.id = $2 AND c.org_id || '' = $1`, org, id, user)
	return kind, member, err
}

// CountChannels returns how many channels an org has.
func (tx *Tx) CountChannels(ctx context.Context, org string) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM conversations WHERE org_id = $1 AND kind = 'channel'`, org)
}

// ChannelAudience returns whom a repo's channel concerns: members who worked
// in the repo since a moment or own live work in it, and those who have not
// been seen at work anywhere, of whom nobody knows better.
func (tx *Tx) ChannelAudience(ctx context.Context, org, repo string, since coord.Time) ([]string, error) {
	f := filter{}
	f.and(`m.org_id = ?`, org)
	if repo != "" {
		r, t := f.arg(repo), f.arg(since)
		g := filter{args: f.args}
		in(&g, "i.status", coord.LiveIntentStatuses())
		f.args = g.args
		f.and(`(EXISTS (SELECT 1 FROM sessions s WHERE s.org_id = m.org_id AND s.user_id = m.user_id AND s.repo_id = ` + r + `
			AND s.last_heartbeat_at > ` + t + `)
			OR EXISTS (SELECT 1 FROM intents i WHERE i.org_id = m.org_id AND i.owner_id = m.user_id AND i.repo_id = ` + r + ` AND ` + g.conds[0] + `)
			OR NOT EXISTS (SELECT 1 FROM sessions s WHERE s.org_id = m.org_id AND s.user_id = m.user_id AND s.last_heartbeat_at > ` + t + `))`)
	}
	return all(ctx, tx, scanText, `SELECT m.user_id FROM members m`+f.where()+` ORDER BY m.user_id`, f.args...)
}

// AddParticipant makes a person take part in a direct thread.
func (tx *Tx) AddParticipant(ctx context.Context, conversation, user string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO conversation_members (conversation_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		conversation, user)
	return err
}
