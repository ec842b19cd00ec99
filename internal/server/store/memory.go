package store

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A MessageMemory is a message as the team remembers it.
type MessageMemory struct {
	ID           string
	Seq          int64
	Conversation string
	Direct       bool
	Users        []string // who takes part in a direct thread
	Repo         *coord.RepoName
	Subject      *string
	Body         string
	By           *coord.User
	At           coord.Time
}

// MessageMemories returns an org's messages since a moment, the newest first:
// of one id if it is not empty. Questions and answers are remembered apart.
func (tx *Tx) MessageMemories(ctx context.Context, org, id string, since coord.Time, limit int) ([]MessageMemory, error) {
	f := filter{}
	f.and(`m.org_id = ? AND m.created_at > ?`, org, since)
	f.and(`(m.about_kind IS NULL OR m.about_kind <> 'question')`)
	if id != "" {
		f.and(`m.id = ?`, id)
	}
	out, err := all(ctx, tx, func(s scanner) (m MessageMemory, err error) {
		var repo, fullName, user, email, name *string
		var kind coord.ConversationKind
		err = s.Scan(&m.ID, &m.Seq, &m.Conversation, &kind, &repo, &fullName, &m.Subject, &m.Body, &user, &email, &name, &m.At)
		m.Direct, m.By = kind == coord.Direct, userOf(user, email, name)
		if repo != nil {
			m.Repo = &coord.RepoName{ID: *repo, FullName: *fullName}
		}
		return m, err
	}, `SELECT m.id, m.seq, m.conversation_id, c.kind, r.id, r.full_name, m.subject, m.body, u.id, u.email, u.name, m.created_at
		FROM messages m JOIN conversations c ON c.id = m.conversation_id LEFT JOIN repos r ON r.id = c.repo_id
		LEFT JOIN users u ON u.id = m.from_user`+
		f.where()+` ORDER BY m.seq DESC`+f.limit(limit), f.args...)
	if err != nil {
		return nil, err
	}
	return out, tx.withParticipants(ctx, org, out)
}

func (tx *Tx) withParticipants(ctx context.Context, org string, ms []MessageMemory) error {
	takes := map[string][]string{}
	f := filter{}
	f.and(`c.org_id = ?`, org)
	if len(ms) == 1 {
		f.and(`c.id = ?`, ms[0].Conversation)
	}
	err := tx.each(ctx, func(s scanner) error {
		var conv, user string
		err := s.Scan(&conv, &user)
		takes[conv] = append(takes[conv], user)
		return err
	}, `SELECT p.conversation_id, p.user_id FROM conversation_members p JOIN conversations c ON c.id = p.conversation_id`+f.where()+`
		ORDER BY p.user_id`, f.args...)
	for i := range ms {
		if ms[i].Direct {
			ms[i].Users = takes[ms[i].Conversation]
		}
	}
	return err
}

// A StatusMemory is what an agent said at the end of a turn.
type StatusMemory struct {
	ID      string
	Session string
	Tool    string
	Excerpt string
	Intent  string // the ref of what it worked on; empty for a draft or nothing
	Repo    coord.RepoName
	By      coord.User
	At      coord.Time
}

// StatusMemories returns what agents of an org said since a moment, the newest
// first.
func (tx *Tx) StatusMemories(ctx context.Context, org string, since coord.Time, limit int) ([]StatusMemory, error) {
	return all(ctx, tx, func(s scanner) (m StatusMemory, err error) {
		var number *int
		err = s.Scan(&m.ID, &m.Session, &m.Tool, &m.Excerpt, &number, &m.Repo.ID, &m.Repo.FullName, &m.By.ID, &m.By.Email, &m.By.Name, &m.At)
		if number != nil {
			m.Intent = coord.IntentRef(*number)
		}
		return m, err
	}, `SELECT st.id, s.id, s.tool, st.excerpt, i.number, r.id, r.full_name, u.id, u.email, u.name, st.at
		FROM statuses st JOIN sessions s ON s.id = st.session_id JOIN users u ON u.id = s.user_id JOIN repos r ON r.id = s.repo_id
		LEFT JOIN intents i ON i.id = st.intent_id AND i.status <> $4
		WHERE st.org_id = $1 AND st.at >= $2
		ORDER BY st.at DESC, st.id DESC LIMIT $3+0`, org, since, limit, coord.IntentDraft)
}

// AddStatus keeps what a session's agent said.
func (tx *Tx) AddStatus(ctx context.Context, id string, s SessionRow, excerpt string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO statuses (id, org_id, session_id, intent_id, excerpt, at) VALUES ($1, $2, $3, $4, $5, $6)`,
		id, s.OrgID, s.ID, s.IntentID, excerpt, tx.Now)
	return err
}

// DeleteOldStatuses forgets what was said longer ago than age.
func (tx *Tx) DeleteOldStatuses(ctx context.Context, age time.Duration) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM statuses WHERE at < $1`, tx.Now.Add(-age))
	return err
}

// ClearStatuses forgets all that agents of an org said.
func (tx *Tx) ClearStatuses(ctx context.Context, org string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM statuses WHERE org_id = $1`, org); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET status_excerpt = NULL, status_at = NULL WHERE org_id = $1
		AND status_excerpt IS NOT NULL`, org)
	return err
}

// QuestionMemories returns an org's questions since a moment with their
// answers, the newest first.
func (tx *Tx) QuestionMemories(ctx context.Context, org string, since coord.Time, limit int) ([]QuestionRow, error) {
	rows, err := all(ctx, tx, tx.questionScanner, `SELECT `+questionColumns+questionTables+`
		WHERE q.org_id = $1 AND q.created_at > $2 ORDER BY q.created_at DESC, q.id DESC LIMIT $3+0`, org, since, limit)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, q := range rows {
		at[q.ID] = i
	}
	return rows, tx.each(ctx, func(s scanner) error {
		var id string
		var a coord.Answer
		err := answerTail{questionID{s, &id}, &a}.Scan()
		if i, ok := at[id]; ok {
			rows[i].Answers = append(rows[i].Answers, a)
		}
		return err
	}, `SELECT q.id, `+answerColumns+` FROM answers a JOIN questions q ON q.id = a.question_id LEFT JOIN users au ON au.id = a.by_user
		WHERE q.org_id = $1 AND q.created_at > $2 ORDER BY a.at, a.id`, org, since)
}

// A questionID scans a row that begins with a question's id.
type questionID struct {
	row scanner
	id  *string
}

func (q questionID) Scan(dest ...any) error { return q.row.Scan(append([]any{q.id}, dest...)...) }
