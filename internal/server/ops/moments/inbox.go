package moments

import (
	"context"
	"errors"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/talk"
	"github.com/svc-hq/svc/internal/server/store"
)

// Inbox returns what waits for the caller's agent, newest first. What it
// returns becomes read. With waiting it returns as soon as there is something
// new to this agent.
func (s *Service) Inbox(ctx context.Context, who coord.Caller, in wire.InboxTool) (out wire.Inbox, err error) {
	if in.WaitSeconds == 0 {
		return s.inbox(ctx, who, in)
	}
	done, err := s.openWait(&who)
	if err != nil {
		return out, err
	}
	defer done()
	start := time.Now()
	waiting, cancel := context.WithTimeout(ctx, time.Duration(min(in.WaitSeconds, wire.MaxWaitSeconds))*time.Second)
	defer cancel()
	err = s.awaitMessage(waiting, who)
	timedOut := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if err != nil && !timedOut {
		return out, err
	}
	out, err = s.inbox(ctx, who, in)
	waited := int(time.Since(start).Milliseconds())
	out.WaitedMS, out.TimedOut = &waited, &timedOut
	return out, err
}

// awaitMessage returns when there is a message that is new to the caller's
// agent.
func (s *Service) awaitMessage(ctx context.Context, who coord.Caller) error {
	sub, err := s.Log.FollowNow(ctx, who.OrgID) // first, so that nothing falls in between
	if err != nil {
		return err
	}
	defer sub.Close()
	for {
		if found, err := s.hasNew(ctx, who); found || err != nil {
			return err
		}
		for sent := false; !sent; {
			entries, err := sub.Next(ctx)
			if err != nil {
				return err
			}
			for _, e := range entries {
				sent = sent || e.Type == coord.EventMessageSent
			}
		}
	}
}

// hasNew reports whether there is an unread message that the caller's agent
// has not seen.
func (s *Service) hasNew(ctx context.Context, who coord.Caller) (found bool, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		who := who
		sess, err := s.talk.Listener(ctx, tx, &who)
		if err != nil {
			return err
		}
		want := inboxOf(who, sess, true)
		want.Unseen, want.Limit = sess, 1
		ms, err := tx.Messages(ctx, who.OrgID, talk.Reader(who), want)
		found = len(ms) > 0
		return err
	})
	return found, err
}

// inboxOf returns what is in an agent's inbox: not what it wrote itself, or
// its person, where nobody knows which agent it is.
func inboxOf(who coord.Caller, sess *store.SessionRow, unread bool) store.MessageFilter {
	want := store.MessageFilter{Inbox: true, Unread: unread}
	if sess != nil {
		want.NotLineage = sess.LineageID
	} else {
		want.NotFrom = who.UserID
	}
	return want
}

// inbox looks, and writes only if there is something that becomes read.
func (s *Service) inbox(ctx context.Context, who coord.Caller, in wire.InboxTool) (out wire.Inbox, err error) {
	see := false
	look := func(tx *store.Tx) error {
		who := who
		sess, err := s.talk.Listener(ctx, tx, &who)
		if err != nil {
			return err
		}
		want := inboxOf(who, sess, in.UnreadOnly)
		want.Limit = in.Limit
		if out.Items, err = tx.Messages(ctx, who.OrgID, talk.Reader(who), want); err != nil {
			return err
		}
		if see {
			if err := talk.See(ctx, tx, who, sess, out.Items); err != nil {
				return err
			}
		}
		out.Unread, err = tx.CountMessages(ctx, who.OrgID, talk.Reader(who), inboxOf(who, sess, true))
		return err
	}
	if err = s.Read(ctx, look); err != nil || len(out.Items) == 0 {
		return out, err
	}
	see = true
	err = s.Write(ctx, who, look)
	return out, err
}
