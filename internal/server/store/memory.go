package store

import (
	"context"

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
		FROM messages m JOIN conversations c ON c.id = m.conversation_id LEFT JOIN repos r ON r.id = c.repo_id LEFT JOIN users u ON u.id = m.from_user`+
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
	}, `SELECT p.conversation_id, p.user_id FROM conversation_members p JOIN conversations c ON c.id = p.conversation_id`+f.where()+` ORDER BY p.user_id`, f.args...)
	for i := range ms {
		if ms[i].Direct {
			ms[i].Users = takes[ms[i].Conversation]
		}
	}
	return err
}

// StatusMemories returns the sessions of an org whose agent told what it did
// since a moment, the newest first.
func (tx *Tx) StatusMemories(ctx context.Context, org string, since coord.Time, limit int) ([]SessionRow, error) {
	return all(ctx, tx, scanSession, `SELECT `+sessionColumns+sessionTables+`
		WHERE s.org_id = $1 AND s.last_heartbeat_at >= $2 AND s.status_at >= $2 AND s.status_excerpt IS NOT NULL
		ORDER BY s.status_at DESC, s.id DESC LIMIT $3+0`, org, since, limit)
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
