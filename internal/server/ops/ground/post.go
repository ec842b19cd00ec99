package ground

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// SenderOf returns who a message is from.
func SenderOf(who coord.Caller, session *store.SessionRow) coord.Sender {
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

// A Letter is a message before it is posted.
type Letter struct {
	Thread      store.Thread
	Conv        string // its conversation's id, if there is one already
	To          string // the target as the sender named it
	Subject     *string
	Body        string
	RequiresAck bool
	About       *coord.About
	Recipients  []string // user ids; see addressees for the sender's own
	Session     *store.SessionRow
}

// Addressees returns who gets a letter. The sender does not, except what one
// of their agents writes to a channel or to them alone: that is for their
// other agents.
func (l Letter) Addressees(who coord.Caller) []string {
	to := slices.Compact(slices.Sorted(slices.Values(l.Recipients)))
	others := slices.DeleteFunc(slices.Clone(to), func(id string) bool { return id == "" || id == who.UserID })
	if l.Session == nil || l.Thread.Kind == coord.Direct && len(others) > 0 {
		return others
	}
	return slices.DeleteFunc(to, func(id string) bool { return id == "" })
}

// Post puts a letter into its thread, for its recipients' agents to receive at
// their next event.
func Post(ctx context.Context, tx *store.Tx, who coord.Caller, l Letter) (coord.Message, error) {
	conv := l.Conv
	if conv == "" {
		var err error
		if conv, err = tx.EnsureConversation(ctx, who.OrgID, NewID(), l.Thread); err != nil {
			return coord.Message{}, err
		}
	}
	m := coord.Message{ID: NewID(), OrgID: who.OrgID, ConversationID: conv, From: SenderOf(who, l.Session), To: l.To, Subject: l.Subject,
		Body: l.Body, RequiresAck: l.RequiresAck, About: l.About, Acks: []coord.Ack{}, Receipts: []coord.Receipt{}}
	to := l.Addressees(who)
	if err := tx.InsertMessage(ctx, &m, to); err != nil {
		return m, err
	}
	repo := ""
	if l.Thread.RepoID != nil {
		repo = *l.Thread.RepoID
	}
	told := wire.MessagePayload{ConversationID: conv, Kind: l.Thread.Kind, RequiresAck: l.RequiresAck}
	if l.Thread.Kind != coord.Direct {
		told.Recipients = to
	}
	return m, Tell(ctx, tx, who, coord.EventMessageSent, m.ID, repo, told)
}
