package talk

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

// What waits for a session's agent: the hook and the tools put it into the
// agent's context and note so in the same transaction, which makes it once.
// The three lists are for who speaks for the session, and oldest first.

// QuietAfter is how long a session may be silent before what is meant for it
// goes to another of the same person.
const QuietAfter = 30 * time.Minute

// Undelivered returns messages to the session's person that did not go into
// the session's context yet: direct ones, and those of the team's and the
// repo's channel. What the session's own lineage wrote is not among them.
func Undelivered(ctx context.Context, tx *store.Tx, who coord.Caller, session store.SessionRow, limit int) ([]coord.Message, error) {
	if session.User.ID != who.UserID {
		return nil, nil
	}
	return tx.Undelivered(ctx, session, limit)
}

// Deliver notes that messages went into the session's context.
func Deliver(ctx context.Context, tx *store.Tx, session store.SessionRow, ids []string) error {
	return tx.Deliver(ctx, session, ids)
}

// OpenQuestions returns open questions to the session's person that its agent
// has not been told of.
func OpenQuestions(ctx context.Context, tx *store.Tx, who coord.Caller, session store.SessionRow, limit int) ([]coord.Question, error) {
	if session.User.ID != who.UserID {
		return nil, nil
	}
	rows, err := tx.UntoldQuestions(ctx, session, tx.Now.Add(-QuietAfter), limit)
	return questionsOf(rows), err
}

// NewAnswers returns the session's questions with the answers that its agent
// has not been told.
func NewAnswers(ctx context.Context, tx *store.Tx, who coord.Caller, session store.SessionRow, limit int) ([]coord.Question, error) {
	if session.User.ID != who.UserID {
		return nil, nil
	}
	rows, err := tx.UntoldAnswers(ctx, session, tx.Now.Add(-QuietAfter), limit)
	return questionsOf(rows), err
}

// DeliverQuestions notes that questions, with the answers they hold, went into
// the session's context.
func DeliverQuestions(ctx context.Context, tx *store.Tx, session store.SessionRow, questions []coord.Question) error {
	return tx.TellQuestions(ctx, session.ID, questions)
}

func questionsOf(rows []store.QuestionRow) []coord.Question {
	out := make([]coord.Question, len(rows))
	for i, q := range rows {
		out[i] = q.Question
	}
	return out
}
