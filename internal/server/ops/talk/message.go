package talk

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// SendMessage posts a message. Recipients' agents receive it at their next
// event.
func (s *Service) SendMessage(ctx context.Context, who coord.Caller, in wire.SendMessage) (coord.Message, error) {
	return s.send(ctx, who, in.To, in.SessionID, ground.Letter{Subject: in.Subject, Body: in.Body, RequiresAck: in.RequiresAck})
}

// PostToConversation adds a message to a conversation.
func (s *Service) PostToConversation(ctx context.Context, who coord.Caller, in wire.PostToConversation) (coord.Message, error) {
	return s.send(ctx, who, "thread:"+in.ID, nil, ground.Letter{Body: in.Body, RequiresAck: in.RequiresAck})
}

func (s *Service) send(ctx context.Context, who coord.Caller, to string, session *string,
	text ground.Letter) (out coord.Message, err error) {
	if strings.TrimSpace(text.Body) == "" {
		return out, problem.InvalidField("body", "must not be blank")
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		who := who
		sess, err := s.speaker(ctx, tx, &who, session)
		if err != nil {
			return err
		}
		l, err := envelope{s, tx, who, sess}.address(ctx, to)
		if err != nil {
			return err
		}
		if err := s.within(ctx, tx, who, messageLimits); err != nil {
			return err
		}
		l.Subject, l.Body, l.RequiresAck, l.Session = text.Subject, text.Body, text.RequiresAck, sess
		out, err = ground.Post(ctx, tx, who, l)
		return err
	})
	return out, err
}

// speaker returns the session that a call speaks for, nil if it is the
// person's own word, and attributes what follows to it. Only a tool's caller
// is taken for one of their agents without saying so.
func (s *Service) speaker(ctx context.Context, tx *store.Tx, who *coord.Caller, session *string) (*store.SessionRow, error) {
	if session == nil && who.SessionID == "" && who.Via != coord.ViaTool {
		return nil, nil
	}
	sess, err := s.work.ActingSession(ctx, tx, *who, session, "")
	if err == nil && sess != nil {
		who.SessionID = sess.ID
	}
	return sess, err
}

// Listener returns the session whose agent reads the answer to a call that
// cannot say which one it is, nil if that is not sure: what is noted as told
// to the wrong one would be lost to it.
func (s *Service) Listener(ctx context.Context, tx *store.Tx, who *coord.Caller) (*store.SessionRow, error) {
	if who.SessionID != "" {
		return s.speaker(ctx, tx, who, nil)
	}
	if who.Via != coord.ViaTool {
		return nil, nil
	}
	sess, err := OnlyAgent(tx.Sessions(ctx, who.OrgID, store.SessionFilter{
		User:    who.UserID,
		Token:   who.TokenID,
		Unended: true,
		Since:   tx.Now.Add(-QuietAfter),
	}))
	if err == nil && sess != nil {
		who.SessionID = sess.ID
	}
	return sess, err
}

// OnlyAgent returns the latest of sessions if they are of one agent; nil if
// there are several.
func OnlyAgent(own []store.SessionRow, err error) (*store.SessionRow, error) {
	if err != nil || len(own) == 0 {
		return nil, err
	}
	for _, o := range own[1:] { // one agent has a session in each of its repos
		if o.Tool != own[0].Tool || o.ExternalID != own[0].ExternalID {
			return nil, nil
		}
	}
	return &own[0], nil
}

// Reader returns whose marks a call sets: a person's own in the dashboard,
// their agents' otherwise.
func Reader(who coord.Caller) store.Reader {
	return store.Reader{User: who.UserID, Agent: who.Via != coord.ViaCookie}
}

// ListMessages returns the caller's inbox over REST, newest first. What it
// returns becomes read.
func (s *Service) ListMessages(ctx context.Context, who coord.Caller, in wire.ListMessages) (out wire.Page[coord.Message], err error) {
	want := store.MessageFilter{Inbox: true, Unread: in.UnreadOnly, Limit: in.Limit + 1}
	if err := ground.Uncursor(in.Cursor, &want.Before); err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		sess, err := s.Listener(ctx, tx, &who)
		if err != nil {
			return err
		}
		rows, err := tx.Messages(ctx, who.OrgID, Reader(who), want)
		if err != nil {
			return err
		}
		out.Items, out.NextCursor = ground.Page(rows, in.Limit, func(m coord.Message) []any { return []any{m.Seq} })
		return See(ctx, tx, who, sess, out.Items)
	})
	return out, err
}

// See marks messages as read by the caller and, where an agent is, as gone
// into its context; the marks show on what is returned.
func See(ctx context.Context, tx *store.Tx, who coord.Caller, sess *store.SessionRow, ms []coord.Message) error {
	ids := make([]string, len(ms))
	for i := range ms {
		ids[i] = ms[i].ID
	}
	if err := tx.MarkRead(ctx, Reader(who), ids); err != nil {
		return err
	}
	if sess == nil {
		return nil
	}
	if err := Deliver(ctx, tx, *sess, ids); err != nil {
		return err
	}
	for _, m := range ms { // a question that was read as a message is not told again
		if m.About != nil && m.About.Kind == AboutQuestion {
			q, err := tx.Question(ctx, who.OrgID, m.About.Ref)
			if err != nil {
				return err
			}
			q.Answers = slices.DeleteFunc(q.Answers, func(a coord.Answer) bool { return a.At > m.CreatedAt })
			if err := DeliverQuestions(ctx, tx, *sess, []coord.Question{q.Question}); err != nil {
				return err
			}
		}
	}
	return nil
}

// AckMessage acknowledges a message.
func (s *Service) AckMessage(ctx context.Context, who coord.Caller, in wire.AckMessage) (out wire.Acked, err error) {
	const none = "no such message to you; your inbox lists those"
	if err := ground.WantUUID(in.ID, none); err != nil {
		return out, err
	}
	if !who.Personal() {
		return out, problem.Newf(problem.Forbidden, "an acknowledgement is a person's; this needs a personal token")
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		ms, err := tx.Messages(ctx, who.OrgID, Reader(who), store.MessageFilter{IDs: []string{in.ID}, Inbox: true, Limit: 1})
		if err != nil {
			return err
		}
		if len(ms) == 0 {
			return problem.Newf(problem.NotFound, none)
		}
		sess, err := s.Listener(ctx, tx, &who)
		if err != nil {
			return err
		}
		at, first, err := tx.Ack(ctx, in.ID, who.UserID)
		if err != nil {
			return err
		}
		out = wire.Acked{ID: in.ID, AckedAt: *at}
		if !first {
			return nil
		}
		if err := See(ctx, tx, who, sess, ms); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventMessageAcked, in.ID, "", wire.MessageAckedPayload{
			ConversationID: ms[0].ConversationID,
			UserID:         who.UserID,
		})
	})
	return out, err
}

// MessageAck is AckMessage as an agent calls it.
func (s *Service) MessageAck(ctx context.Context, who coord.Caller, in wire.MessageAck) (wire.Acked, error) {
	return s.AckMessage(ctx, who, wire.AckMessage{ID: in.Message})
}

// Limits on what one person sends, across all replicas: counted in the
// transaction that sends.
type quota struct {
	kind, noun     string
	minute, perDay int
}

var (
	messageLimits  = quota{"message", "messages", 20, 200}
	questionLimits = quota{"question", "questions", 10, 100}
)

// within notes one more thing sent, or refuses it and says when to try again.
func (s *Service) within(ctx context.Context, tx *store.Tx, who coord.Caller, q quota) error {
	sender := who.UserID
	if sender == "" {
		sender = who.TokenID
	}
	dayAgo := tx.Now.Add(-24 * time.Hour)
	sent, err := tx.SentSince(ctx, who.OrgID, sender, q.kind, dayAgo)
	if err != nil {
		return err
	}
	for _, w := range []struct {
		max    int
		window time.Duration
		name   string
	}{{q.perDay, 24 * time.Hour, "day"}, {q.minute, time.Minute, "minute"}} {
		// Newest first: the one that has to leave the window is the max-th.
		if len(sent) >= w.max && sent[w.max-1] > tx.Now.Add(-w.window) {
			return problem.Later(sent[w.max-1].Add(w.window).Sub(tx.Now),
				"you have sent %d %s within a %s, which is the limit; wait, or put several into one", w.max, q.noun, w.name)
		}
	}
	return tx.NoteSend(ctx, ground.NewID(), who.OrgID, sender, q.kind, dayAgo)
}
