package ops

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// SendMessage posts a message. Recipients' agents receive it at their next
// event.
func (s *Service) SendMessage(ctx context.Context, who coord.Caller, in wire.SendMessage) (coord.Message, error) {
	return s.send(ctx, who, in.To, in.SessionID, letter{subject: in.Subject, body: in.Body, requiresAck: in.RequiresAck})
}

// PostToConversation adds a message to a conversation.
func (s *Service) PostToConversation(ctx context.Context, who coord.Caller, in wire.PostToConversation) (coord.Message, error) {
	return s.send(ctx, who, "thread:"+in.ID, nil, letter{body: in.Body, requiresAck: in.RequiresAck})
}

func (s *Service) send(ctx context.Context, who coord.Caller, to string, session *string, text letter) (out coord.Message, err error) {
	if strings.TrimSpace(text.body) == "" {
		return out, problem.InvalidField("body", "must not be blank")
	}
	err = s.write(ctx, who, func(tx *store.Tx) error {
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
		l.subject, l.body, l.requiresAck, l.session = text.subject, text.body, text.requiresAck, sess
		out, err = s.post(ctx, tx, who, l)
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
	sess, err := s.actingSession(ctx, tx, *who, session, "")
	if err == nil && sess != nil {
		who.SessionID = sess.ID
	}
	return sess, err
}

// listener returns the session whose agent reads the answer to a call that
// cannot say which one it is, nil if that is not sure: what is noted as told
// to the wrong one would be lost to it.
func (s *Service) listener(ctx context.Context, tx *store.Tx, who *coord.Caller) (*store.SessionRow, error) {
	if who.SessionID != "" {
		return s.speaker(ctx, tx, who, nil)
	}
	if who.Via != coord.ViaTool {
		return nil, nil
	}
	sess, err := onlyAgent(tx.Sessions(ctx, who.OrgID, store.SessionFilter{User: who.UserID, Token: who.TokenID, Unended: true, Since: tx.Now.Add(-quietAfter)}))
	if err == nil && sess != nil {
		who.SessionID = sess.ID
	}
	return sess, err
}

// onlyAgent returns the latest of sessions if they are of one agent; nil if
// there are several.
func onlyAgent(own []store.SessionRow, err error) (*store.SessionRow, error) {
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

// reader returns whose marks a call sets: a person's own in the dashboard,
// their agents' otherwise.
func reader(who coord.Caller) store.Reader {
	return store.Reader{User: who.UserID, Agent: who.Via != coord.ViaCookie}
}

// ListMessages returns the caller's inbox over REST, newest first. What it
// returns becomes read.
func (s *Service) ListMessages(ctx context.Context, who coord.Caller, in wire.ListMessages) (out wire.Page[coord.Message], err error) {
	want := store.MessageFilter{Inbox: true, Unread: in.UnreadOnly, Limit: in.Limit + 1}
	if err := uncursor(in.Cursor, &want.Before); err != nil {
		return out, err
	}
	err = s.write(ctx, who, func(tx *store.Tx) error {
		sess, err := s.listener(ctx, tx, &who)
		if err != nil {
			return err
		}
		rows, err := tx.Messages(ctx, who.OrgID, reader(who), want)
		if err != nil {
			return err
		}
		out.Items, out.NextCursor = page(rows, in.Limit, func(m coord.Message) []any { return []any{m.Seq} })
		return s.see(ctx, tx, who, sess, out.Items)
	})
	return out, err
}

// see marks messages as read by the caller and, where an agent is, as gone
// into its context; the marks show on what is returned.
func (s *Service) see(ctx context.Context, tx *store.Tx, who coord.Caller, sess *store.SessionRow, ms []coord.Message) error {
	ids := make([]string, len(ms))
	for i := range ms {
		ids[i] = ms[i].ID
	}
	if err := tx.MarkRead(ctx, reader(who), ids); err != nil {
		return err
	}
	if sess == nil {
		return nil
	}
	if err := s.deliver(ctx, tx, *sess, ids); err != nil {
		return err
	}
	for _, m := range ms { // a question that was read as a message is not told again
		if m.About != nil && m.About.Kind == aboutQuestion {
			q, err := tx.Question(ctx, who.OrgID, m.About.Ref)
			if err != nil {
				return err
			}
			q.Answers = slices.DeleteFunc(q.Answers, func(a coord.Answer) bool { return a.At > m.CreatedAt })
			if err := s.deliverQuestions(ctx, tx, *sess, []coord.Question{q.Question}); err != nil {
				return err
			}
		}
	}
	return nil
}

// AckMessage acknowledges a message.
func (s *Service) AckMessage(ctx context.Context, who coord.Caller, in wire.AckMessage) (out wire.Acked, err error) {
	const none = "no such message to you; your inbox lists those"
	if err := wantUUID(in.ID, none); err != nil {
		return out, err
	}
	if !who.Personal() {
		return out, problem.Newf(problem.Forbidden, "an acknowledgement is a person's; this needs a personal token")
	}
	err = s.write(ctx, who, func(tx *store.Tx) error {
		ms, err := tx.Messages(ctx, who.OrgID, reader(who), store.MessageFilter{IDs: []string{in.ID}, Inbox: true, Limit: 1})
		if err != nil {
			return err
		}
		if len(ms) == 0 {
			return problem.Newf(problem.NotFound, none)
		}
		sess, err := s.listener(ctx, tx, &who)
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
		if err := s.see(ctx, tx, who, sess, ms); err != nil {
			return err
		}
		return tell(ctx, tx, who, coord.EventMessageAcked, in.ID, "", map[string]any{"conversation_id": ms[0].ConversationID, "user_id": who.UserID})
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
			return problem.Later(sent[w.max-1].Add(w.window).Sub(tx.Now), "you have sent %d %s within a %s, which is the limit; wait, or put several into one", w.max, q.noun, w.name)
		}
	}
	return tx.NoteSend(ctx, newID(), who.OrgID, sender, q.kind, dayAgo)
}
