package store

import (
	"context"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A QuestionRow is a question with what only the service needs.
type QuestionRow struct {
	coord.Question
	OrgID          string
	Private        bool    // asked of a person: only the two see it
	ToUser         *string // nil where it went to a channel
	ToSession      *string // asked first, while it lives
	ConversationID string
	MessageID      string
	UpdatedAt      coord.Time
	ExpiresAt      coord.Time
}

const questionColumns = `q.id, q.org_id, q.target, q.about, q.question, q.asked_kind, u.id, u.email, u.name, q.asked_session,
	q.asked_tool, r.id, r.full_name,
	q.status, q.immediate, q.private, q.to_user, q.to_session, q.conversation_id, q.message_id, q.created_at, q.updated_at, q.expires_at`

const questionTables = ` FROM questions q LEFT JOIN users u ON u.id = q.asked_user LEFT JOIN repos r ON r.id = q.repo_id`

// questionScanner reads questions as they stand now: one that nobody answered
// in time has expired, without anybody having to note it.
func (tx *Tx) questionScanner(r scanner) (q QuestionRow, err error) {
	var id, email, name, repo, fullName *string
	err = r.Scan(&q.ID, &q.OrgID, &q.To, &q.About, &q.Question.Question, &q.AskedBy.Kind, &id, &email, &name, &q.AskedBy.SessionID,
		&q.AskedBy.Tool, &repo, &fullName,
		&q.Status, &q.Immediate, &q.Private, &q.ToUser, &q.ToSession, &q.ConversationID, &q.MessageID, &q.CreatedAt, &q.UpdatedAt, &q.ExpiresAt)
	q.AskedBy.User = userOf(id, email, name)
	if repo != nil {
		q.Repo = &coord.RepoName{ID: *repo, FullName: *fullName}
	}
	if q.Status == coord.QuestionOpen && q.ExpiresAt <= tx.Now {
		q.Status = coord.QuestionExpired
	}
	q.Answers = []coord.Answer{}
	return q, err
}

// InsertQuestion adds a question.
func (tx *Tx) InsertQuestion(ctx context.Context, q QuestionRow) error {
	var user, repo *string
	if q.AskedBy.User != nil {
		user = &q.AskedBy.User.ID
	}
	if q.Repo != nil {
		repo = &q.Repo.ID
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO questions (id, org_id, target, about, question, asked_kind, asked_user, asked_session, asked_tool, repo_id, status,
		immediate, private,
			to_user, to_session, conversation_id, message_id, created_at, updated_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $18, $19)`,
		q.ID, q.OrgID, q.To, q.About, q.Question.Question, q.AskedBy.Kind, user, q.AskedBy.SessionID, q.AskedBy.Tool, repo, q.Status,
		q.Immediate, q.Private,
		q.ToUser, q.ToSession, q.ConversationID, q.MessageID, tx.Now, q.ExpiresAt)
	return err
}

// InsertAnswer adds an answer; its question is answered with it.
func (tx *Tx) InsertAnswer(ctx context.Context, question string, a coord.Answer) error {
	var user *string
	if a.By.User != nil {
		user = &a.By.User.ID
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO answers (id, question_id, answer, by_kind, by_user, by_session, by_tool, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		a.ID, question, a.Answer, a.By.Kind, user, a.By.SessionID, a.By.Tool, a.At); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE questions SET status = $2, updated_at = $3 WHERE id = $1`, question, coord.QuestionAnswered, tx.Now)
	return err
}

// Question returns an org's question with its answers.
func (tx *Tx) Question(ctx context.Context, org, id string) (QuestionRow, error) {
	q, err := one(ctx, tx, "no such question in this org", tx.questionScanner,
		`SELECT `+questionColumns+questionTables+` WHERE q.id = $2 AND q.org_id || '' = $1`, org, id)
	if err != nil {
		return q, err
	}
	rows := []QuestionRow{q}
	err = tx.withAnswers(ctx, rows)
	return rows[0], err
}

// OpenQuestionsTo returns the open questions to a person, oldest first.
func (tx *Tx) OpenQuestionsTo(ctx context.Context, org, user string, limit int) ([]QuestionRow, error) {
	return all(ctx, tx, tx.questionScanner, `SELECT `+questionColumns+questionTables+`
		WHERE q.org_id = $1 AND q.to_user = $2 AND q.status = 'open' AND q.expires_at > $3 ORDER BY q.created_at, q.id LIMIT $4+0`, org, user,
		tx.Now, limit)
}

// answersFor is how long an answer waits for an agent to hear it.
const answersFor = 14 * 24 * time.Hour

// The keys under which a session's agent has been told of questions and
// answers.
func questionKey(id string) string { return "question " + id }
func answerKey(id string) string   { return "answer " + id }

// notTold leaves out what went into an agent's context, in whichever of its
// sessions.
func notTold(key string) string {
	return `NOT EXISTS (SELECT 1 FROM told t JOIN sessions o ON o.id = t.session_id
	WHERE t.key = ` + key + ` AND o.org_id = ? AND o.user_id = ? AND o.tool = ? AND o.external_id = ?)`
}

// forSession is true of what is meant for one session, for whoever's it is
// once that one is quiet: column names the session.
func forSession(column string) string {
	return `(` + column + ` IS NULL OR ` + column + ` = ? OR NOT EXISTS (SELECT 1 FROM sessions w WHERE w.id = ` + column + `
		AND w.ended_at IS NULL AND w.last_heartbeat_at > ?))`
}

// UntoldQuestions returns open questions to a session's person that its agent
// has not been told of, oldest first. While the session a question is about
// was heard of since quiet, it alone is told.
func (tx *Tx) UntoldQuestions(ctx context.Context, s SessionRow, quiet coord.Time, limit int) ([]QuestionRow, error) {
	query, args := questionsUntold().of(&s, untold{tx.Now, quiet, limit})
	return all(ctx, tx, tx.questionScanner, query, args...)
}

var questionsUntold = sync.OnceValue(func() template {
	return templateOf(`SELECT ` + questionColumns + untoldQuestions() + ` ORDER BY q.created_at, q.id LIMIT :limit+0`)
})

// untoldQuestions is where they are found.
func untoldQuestions() string {
	return questionTables + ` WHERE q.org_id = :org AND q.to_user = :user AND q.status = 'open' AND q.expires_at > :now
		AND ` + by(forSession("q.to_session"), ":session", ":quiet") + `
		AND (q.asked_session IS NULL OR q.asked_session <> :session)
		AND ` + by(notTold(`'`+questionKey("")+`' || q.id`), ":org", ":user", ":tool", ":external")
}

// UntoldAnswers returns the questions of a session, or of its person's
// sessions that are quiet, with those of their answers that its agent has not
// been told, oldest first.
func (tx *Tx) UntoldAnswers(ctx context.Context, s SessionRow, quiet coord.Time, limit int) ([]QuestionRow, error) {
	query, args := answersUntold().of(&s, untold{tx.Now, quiet, limit})
	var answers []coord.Answer
	qs, err := all(ctx, tx, func(r scanner) (q QuestionRow, err error) {
		var a coord.Answer
		q, err = tx.questionScanner(answerTail{r, &a})
		answers = append(answers, a)
		return q, err
	}, query, args...)
	out := []QuestionRow{}
	at := map[string]int{}
	for i, q := range qs {
		if _, seen := at[q.ID]; !seen {
			at[q.ID] = len(out)
			out = append(out, q)
		}
		x := &out[at[q.ID]]
		x.Answers = append(x.Answers, answers[i])
	}
	return out, err
}

var answersUntold = sync.OnceValue(func() template {
	return templateOf(`SELECT ` + questionColumns + `, ` + answerColumns + untoldAnswers() + ` ORDER BY a.at, a.id LIMIT :limit+0`)
})

// untoldAnswers is where they are found.
func untoldAnswers() string {
	// An answer that an agent of theirs was told before this session began is
	// no news to it.
	return questionTables + ` JOIN answers a ON a.question_id = q.id LEFT JOIN users au ON au.id = a.by_user
		WHERE q.org_id = :org AND q.asked_user = :user AND q.updated_at > :kept
		AND ` + by(forSession("q.asked_session"), ":session", ":quiet") + `
		AND NOT EXISTS (SELECT 1 FROM told t JOIN sessions o ON o.id = t.session_id
			WHERE t.key = '` + answerKey("") + `' || a.id AND o.user_id = :user AND t.at < :started)
		AND ` + by(notTold(`'`+answerKey("")+`' || a.id`), ":org", ":user", ":tool", ":external")
}

const answerColumns = `a.id, a.answer, a.by_kind, au.id, au.email, au.name, a.by_session, a.by_tool, a.at`

// An answerTail scans a row that ends in answerColumns: the answer into a,
// the rest into what it is asked for.
type answerTail struct {
	row scanner
	a   *coord.Answer
}

func (t answerTail) Scan(dest ...any) error {
	var id, email, name *string
	err := t.row.Scan(append(dest, &t.a.ID, &t.a.Answer, &t.a.By.Kind, &id, &email, &name, &t.a.By.SessionID, &t.a.By.Tool, &t.a.At)...)
	t.a.By.User = userOf(id, email, name)
	return err
}

// TellQuestions notes that questions, with the answers they hold, went into a
// session's agent's context.
func (tx *Tx) TellQuestions(ctx context.Context, session string, qs []coord.Question) error {
	for _, q := range qs {
		if err := tx.Tell(ctx, session, questionKey(q.ID), ""); err != nil {
			return err
		}
		for _, a := range q.Answers {
			if err := tx.Tell(ctx, session, answerKey(a.ID), ""); err != nil {
				return err
			}
		}
	}
	return nil
}

func (tx *Tx) withAnswers(ctx context.Context, qs []QuestionRow) error {
	for i := range qs {
		var err error
		if qs[i].Answers, err = all(ctx, tx, func(r scanner) (a coord.Answer, err error) {
			err = answerTail{r, &a}.Scan()
			return a, err
		}, `SELECT `+answerColumns+` FROM answers a LEFT JOIN users au ON au.id = a.by_user WHERE a.question_id = $1 ORDER BY a.at, a.id`,
			qs[i].ID); err != nil {
			return err
		}
	}
	return nil
}
