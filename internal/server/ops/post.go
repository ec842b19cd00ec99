package ops

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

// senderOf returns who a message is from.
func senderOf(who coord.Caller, session *store.SessionRow) coord.Sender {
	switch {
	case who.Via == coord.ViaSystem:
		return coord.Sender{Kind: coord.SenderSystem}
	case !who.Personal():
		return coord.Sender{Kind: coord.SenderService}
	}
	u := who.User()
	from := coord.Sender{Kind: coord.SenderUser, User: &u}
	if session != nil {
		from.Kind, from.SessionID, from.Tool = coord.SenderSession, &session.ID, &session.Tool
	}
	return from
}

// A letter is a message before it is posted.
type letter struct {
	thread      store.Thread
	conv        string // its conversation's id, if there is one already
	to          string // the target as the sender named it
	subject     *string
	body        string
	requiresAck bool
	about       *coord.About
	recipients  []string // user ids; see addressees for the sender's own
	session     *store.SessionRow
}

// addressees returns who gets a letter. The sender does not, except what one
// of their agents writes to a channel or to them alone: that is for their
// other agents.
func (l letter) addressees(who coord.Caller) []string {
	to := slices.Compact(slices.Sorted(slices.Values(l.recipients)))
	others := slices.DeleteFunc(slices.Clone(to), func(id string) bool { return id == "" || id == who.UserID })
	if l.session == nil || l.thread.Kind == coord.Direct && len(others) > 0 {
		return others
	}
	return slices.DeleteFunc(to, func(id string) bool { return id == "" })
}

// post puts a letter into its thread, for its recipients' agents to receive at
// their next event.
func (s *Service) post(ctx context.Context, tx *store.Tx, who coord.Caller, l letter) (coord.Message, error) {
	conv := l.conv
	if conv == "" {
		var err error
		if conv, err = tx.EnsureConversation(ctx, who.OrgID, newID(), l.thread); err != nil {
			return coord.Message{}, err
		}
	}
	m := coord.Message{ID: newID(), OrgID: who.OrgID, ConversationID: conv, From: senderOf(who, l.session), To: l.to, Subject: l.subject,
		Body: l.body, RequiresAck: l.requiresAck, About: l.about, Acks: []coord.Ack{}, Receipts: []coord.Receipt{}}
	to := l.addressees(who)
	if err := tx.InsertMessage(ctx, &m, to); err != nil {
		return m, err
	}
	repo := ""
	if l.thread.RepoID != nil {
		repo = *l.thread.RepoID
	}
	return m, tell(ctx, tx, who, coord.EventMessageSent, m.ID, repo, map[string]any{"conversation_id": conv, "kind": l.thread.Kind, "recipients": to, "requires_ack": l.requiresAck})
}
