package talk

import (
	"context"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// questionsLast is how long a question waits for an answer.
const questionsLast = 72 * time.Hour

// AboutQuestion is the kind of what a question's messages are about.
const AboutQuestion = "question"

// Ask puts a question. What names a contract, route or symbol is answered at
// once from the current state; the question also goes to whoever should know.
func (s *Service) Ask(ctx context.Context, who coord.Caller, in wire.Ask) (out coord.Question, err error) {
	if strings.TrimSpace(in.Question) == "" {
		return out, problem.InvalidField("question", "must not be blank")
	}
	key, err := askedKey(in)
	if err != nil {
		return out, err
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		q := store.QuestionRow{OrgID: who.OrgID, ExpiresAt: c.Now.Add(questionsLast)}
		q.ID, q.Question.Question, q.Status, q.CreatedAt, q.Answers = ground.NewID(), in.Question, coord.QuestionOpen, c.Now, []coord.Answer{}
		sess, err := s.asker(ctx, c, in, &q)
		if err != nil {
			return err
		}
		q.AskedBy = ground.SenderOf(c.Who, sess)
		l, err := s.route(ctx, c, in, key, sess, &q)
		if err != nil {
			return err
		}
		if err := s.within(ctx, c.Tx, c.Who, questionLimits); err != nil {
			return err
		}
		l.Body, l.Session = in.Question, sess
		m, err := ground.Post(ctx, c.Tx, c.Who, l)
		if err != nil {
			return err
		}
		q.ConversationID, q.MessageID = m.ConversationID, m.ID
		if err := c.InsertQuestion(ctx, q); err != nil {
			return err
		}
		out = q.Question
		told := wire.QuestionAskedPayload{Immediate: q.Immediate != nil}
		if !q.Private {
			told.ToUser, told.ToSession = q.ToUser, q.ToSession
		}
		return c.TellOf(ctx, coord.EventQuestionAsked, q.ID, repoID(q.Repo), told)
	})
	return out, err
}

func repoID(r *coord.RepoName) string {
	if r == nil {
		return ""
	}
	return r.ID
}

// toSomebody reports whether a question's target is a person or an intent.
func toSomebody(to string) bool {
	kind, _, ok := strings.Cut(to, ":")
	return ok && (strings.EqualFold(kind, "user") || strings.EqualFold(kind, "intent"))
}

// askedKey returns the contract or symbol that a question names, in canonical
// form, or "".
func askedKey(in wire.Ask) (string, error) {
	field, text := "to", in.To
	if toSomebody(in.To) {
		if in.About == nil {
			return "", nil
		}
		field, text = "about", *in.About
	} else if in.About != nil {
		return "", problem.InvalidField("about", "goes with a person or an intent; to names a contract already")
	}
	key, err := scope.ParseLookup(text)
	if err != nil && field == "to" {
		return "", problem.InvalidField("to",
			"names nobody to ask: use intent:INT-n, user:<email>, or a contract, route or symbol such as GET /users/{id}, db:public.users "+
				"or src/a.go#Load")
	}
	if err != nil {
		return "", problem.InvalidField(field, "%s", err.Error())
	}
	return key, nil
}

// asker finds the session that asks and the repo it asks in, as far as they
// are named or clear.
func (s *Service) asker(ctx context.Context, c *ground.Change, in wire.Ask, q *store.QuestionRow) (*store.SessionRow, error) {
	p, err := s.work.Locate(ctx, c.Tx, c.Who, in.SessionID, in.Repo)
	if err != nil {
		if in.Repo != nil || problem.KindOf(err) != problem.Validation || in.SessionID != nil {
			return nil, err
		}
		return nil, nil // from nowhere: every repo may know
	}
	if p.Session != nil {
		c.Who.SessionID = p.Session.ID
	}
	q.Repo = &coord.RepoName{ID: p.Repo.ID, FullName: p.Repo.FullName}
	return p.Session, nil
}

// route finds who is asked, and answers from the current state what can be.
func (s *Service) route(ctx context.Context, c *ground.Change, in wire.Ask, key string, sess *store.SessionRow,
	q *store.QuestionRow) (l ground.Letter, err error) {
	var known []fact
	if key != "" {
		repos, err := reposToAsk(ctx, c, q.Repo)
		if err != nil {
			return l, err
		}
		if known, err = facts(ctx, c, repos, key); err != nil {
			return l, err
		}
		answer := tellFacts(key, known)
		q.Immediate = &answer
	}
	about := &coord.About{Kind: AboutQuestion, Ref: q.ID}
	if toSomebody(in.To) {
		l, err = s.askPerson(ctx, c, in.To, sess, q)
		if key != "" {
			q.About = &key
		}
	} else {
		q.To, q.About = key, &key
		l, err = s.askKnower(ctx, c, known, sess, q)
	}
	if err != nil {
		return l, err
	}
	l.About = about
	subject := "Question"
	if q.About != nil {
		subject += " about " + *q.About
	}
	l.Subject = &subject
	if l.Thread.Kind == coord.Direct {
		l.Thread = store.DirectThread(l.Thread.Users, about, &subject)
	}
	return l, nil
}

// askPerson routes a question to a member, or to whoever works on an intent.
func (s *Service) askPerson(ctx context.Context, c *ground.Change, to string, sess *store.SessionRow,
	q *store.QuestionRow) (ground.Letter, error) {
	l, err := envelope{s, c.Tx, c.Who, sess}.address(ctx, to)
	if err != nil {
		return l, err
	}
	q.To, q.ToUser, q.Private = l.To, &l.Recipients[0], true
	if l.About != nil { // an intent: its session is asked first
		i, err := work.FindIntent(ctx, c.Tx, c.Who, l.About.Ref)
		if err != nil {
			return l, err
		}
		q.ToSession, q.Repo = i.SessionID, &i.Repo
	}
	return l, nil
}

// askKnower routes a question about a contract or symbol: to whoever's live
// work touches it, else to whoever last changed it, else to the repo's
// channel.
func (s *Service) askKnower(ctx context.Context, c *ground.Change, known []fact, sess *store.SessionRow,
	q *store.QuestionRow) (ground.Letter, error) {
	f, err := knower(ctx, c, known, sess)
	if err != nil {
		return ground.Letter{}, err
	}
	e := envelope{s, c.Tx, c.Who, sess}
	if f == nil {
		if q.Repo == nil {
			return ground.Letter{}, problem.InvalidField("repo",
				"is required: nobody is known to work on %s, so the question would go to a repo's channel", peertext.Quoted(q.To))
		}
		return e.channel(ctx, coord.Conversation{Kind: coord.Channel, Repo: q.Repo})
	}
	q.ToUser = &f.user
	if f.session != "" {
		q.ToSession = &f.session
	}
	return ground.Letter{Thread: store.DirectThread(e.with(f.user), nil, nil), To: q.To, Recipients: []string{f.user}}, nil
}

// AnswerQuestion answers a question.
func (s *Service) AnswerQuestion(ctx context.Context, who coord.Caller, in wire.AnswerQuestion) (out coord.Question, err error) {
	if strings.TrimSpace(in.Answer) == "" {
		return out, problem.InvalidField("answer", "must not be blank")
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		who := who
		sess, err := s.speaker(ctx, tx, &who, in.SessionID)
		if err != nil {
			return err
		}
		q, err := s.answerable(ctx, tx, who, sess, in.ID)
		if err != nil {
			return err
		}
		a := coord.Answer{ID: ground.NewID(), Answer: in.Answer, By: ground.SenderOf(who, sess), At: tx.Now}
		if err := tx.InsertAnswer(ctx, q.ID, a); err != nil {
			return err
		}
		if err := s.postAnswer(ctx, tx, who, sess, q, a); err != nil {
			return err
		}
		if q, err = tx.Question(ctx, who.OrgID, q.ID); err != nil {
			return err
		}
		out = q.Question
		return ground.Tell(ctx, tx, who, coord.EventQuestionAnswered, q.ID, repoID(q.Repo), wire.QuestionAnsweredPayload{
			Answers:      len(q.Answers),
			AskedSession: q.AskedBy.SessionID,
		})
	})
	return out, err
}

// AnswerTool is AnswerQuestion as an agent calls it.
func (s *Service) AnswerTool(ctx context.Context, who coord.Caller, in wire.AnswerTool) (coord.Question, error) {
	return s.AnswerQuestion(ctx, who, wire.AnswerQuestion{ID: in.Question, Answer: in.Answer, SessionID: in.SessionID})
}

// answerable returns a question that the caller may answer.
func (s *Service) answerable(ctx context.Context, tx *store.Tx, who coord.Caller, sess *store.SessionRow,
	id string) (store.QuestionRow, error) {
	const none = "no such question to you; your briefing lists those"
	if err := ground.WantUUID(id, none); err != nil {
		return store.QuestionRow{}, err
	}
	q, err := tx.Question(ctx, who.OrgID, id)
	if problem.KindOf(err) == problem.NotFound {
		err = problem.Newf(problem.NotFound, none)
	}
	if err != nil {
		return q, err
	}
	asked := q.AskedBy.User != nil && q.AskedBy.User.ID == who.UserID
	toThem := q.ToUser != nil && *q.ToUser == who.UserID
	switch {
	case q.Private && !asked && !toThem:
		return q, problem.Newf(problem.NotFound, none)
	case asked && !(toThem && sess != nil && (q.AskedBy.SessionID == nil || *q.AskedBy.SessionID != sess.ID)):
		return q, problem.Newf(problem.Forbidden, "this is your own question; to add to it, post to thread:%s", q.ConversationID)
	case q.Status == coord.QuestionExpired:
		return q, problem.Newf(problem.Conflict, "this question expired; write to thread:%s if the answer still matters", q.ConversationID)
	}
	return q, nil
}

// postAnswer puts an answer into the question's conversation, for people to
// read. The asker's agent is told the answer as such.
func (s *Service) postAnswer(ctx context.Context, tx *store.Tx, who coord.Caller, sess *store.SessionRow, q store.QuestionRow,
	a coord.Answer) error {
	l := ground.Letter{Conv: q.ConversationID, Thread: store.Thread{Kind: coord.Direct}, To: "thread:" + q.ConversationID, Body: a.Answer,
		About: &coord.About{Kind: AboutQuestion, Ref: q.ID}, Session: sess}
	kind, member, err := tx.ConversationKind(ctx, who.OrgID, q.ConversationID, who.UserID)
	if err != nil {
		return err
	}
	switch {
	case kind == coord.Channel:
		e := envelope{s, tx, who, sess}
		if l, err = e.channel(ctx, coord.Conversation{Kind: coord.Channel, Repo: q.Repo}); err != nil {
			return err
		}
		l.Body, l.About, l.Session = a.Answer, &coord.About{Kind: AboutQuestion, Ref: q.ID}, sess
	case !member && who.Personal(): // somebody else knew: now they take part
		if err := tx.AddParticipant(ctx, q.ConversationID, who.UserID); err != nil {
			return err
		}
	}
	if kind == coord.Direct && q.AskedBy.User != nil {
		l.Recipients = []string{q.AskedBy.User.ID}
	}
	_, err = ground.Post(ctx, tx, who, l)
	return err
}
