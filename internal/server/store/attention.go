package store

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A mute is kept as a dismissal of every item that it silences.
const mutePrefix = "mute:"

func muteID(m coord.Mute) string { return mutePrefix + m.What + ":" + m.ID }

// Dismissed returns the attention items that a person put away, and what they
// do not want to be asked about at all.
func (tx *Tx) Dismissed(ctx context.Context, org, user string) (items map[string]bool, mutes []coord.Mute, err error) {
	ids, err := all(ctx, tx, scanText, `SELECT item_id FROM dismissals WHERE org_id = $1 AND user_id = $2`, org, user)
	items, mutes = make(map[string]bool, len(ids)), []coord.Mute{}
	for _, id := range ids {
		what, muted := strings.CutPrefix(id, mutePrefix)
		if !muted {
			items[id] = true
			continue
		}
		kind, name, _ := strings.Cut(what, ":")
		mutes = append(mutes, coord.Mute{What: kind, ID: name})
	}
	return items, mutes, err
}

// Mute stops asking a person about something.
func (tx *Tx) Mute(ctx context.Context, org, user string, m coord.Mute) error {
	return tx.Dismiss(ctx, org, user, []string{muteID(m)})
}

// Unmute asks a person about something again.
func (tx *Tx) Unmute(ctx context.Context, org, user string, m coord.Mute) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM dismissals WHERE org_id = $1 AND user_id = $2 AND item_id = $3`, org, user, muteID(m))
	return err
}

// Dismiss puts attention items away.
func (tx *Tx) Dismiss(ctx context.Context, org, user string, ids []string) error {
	for _, id := range ids {
		if _, err := tx.ExecContext(ctx, `INSERT INTO dismissals (org_id, user_id, item_id, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, org, user, id, tx.Now); err != nil {
			return err
		}
	}
	return nil
}

// ForgetDismissals drops a person's dismissals of items that are no more.
func (tx *Tx) ForgetDismissals(ctx context.Context, org, user string, keep []string) error {
	f := filter{}
	f.and(`org_id = ? AND user_id = ? AND item_id NOT LIKE ?`, org, user, mutePrefix+"%")
	for _, id := range keep {
		f.and(`item_id <> ?`, id)
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM dismissals`+f.where(), f.args...)
	return err
}

// OwedAcks returns the messages that ask a person for an acknowledgement they
// have not given, newest first.
func (tx *Tx) OwedAcks(ctx context.Context, org, user string, limit int) ([]coord.Message, error) {
	return tx.personal(ctx, org, user, `x.owes_ack`, limit)
}

// UnreadDirect returns the direct messages that a person has not read in the
// dashboard and that ask for nothing more, newest first. Questions are apart.
func (tx *Tx) UnreadDirect(ctx context.Context, org, user string, limit int) ([]coord.Message, error) {
	return tx.personal(ctx, org, user, `c.kind = 'direct' AND x.read_at IS NULL AND NOT m.requires_ack
		AND (m.about_kind IS NULL OR m.about_kind <> 'question')`, limit)
}

func (tx *Tx) personal(ctx context.Context, org, user, cond string, limit int) ([]coord.Message, error) {
	return all(ctx, tx, scanMessage, `SELECT `+Reader{}.messageColumns()+messageTables+`
		JOIN message_recipients x ON x.message_id = m.id AND x.user_id = $2
		WHERE x.org_id = $1 AND `+cond+` ORDER BY m.seq DESC LIMIT $3+0`, org, user, limit)
}

// PendingHandoffs returns the handoffs of live intents to a person that they
// have not adopted, oldest first.
func (tx *Tx) PendingHandoffs(ctx context.Context, org, user string) ([]IntentRow, error) {
	f := filter{}
	f.and(`i.org_id = ? AND i.closed_at IS NULL`, org)
	f.within("i.owner_id", user)
	in(&f, "i.status", coord.LiveIntentStatuses())
	f.and(`EXISTS (SELECT 1 FROM handoffs h WHERE h.intent_id = i.id AND h.to_id = i.owner_id AND h.adopted_at IS NULL
		AND NOT EXISTS (SELECT 1 FROM handoffs l WHERE l.intent_id = i.id AND (l.created_at, l.id) > (h.created_at, h.id)))`)
	rows, err := all(ctx, tx, scanIntent, `SELECT `+intentColumns+intentTables+f.where()+` ORDER BY i.number`, f.args...)
	for k := range rows {
		if err == nil {
			rows[k].Handoff, err = tx.LastHandoff(ctx, rows[k].ID)
		}
	}
	return rows, err
}

// SilentSessions returns a person's sessions whose agent calls tools while its
// hooks have been quiet since long before.
func (tx *Tx) SilentSessions(ctx context.Context, org, user string, since coord.Time, gap int64) ([]SessionRow, error) {
	return all(ctx, tx, scanSession, `SELECT `+sessionColumns+sessionTables+`
		WHERE s.org_id = $1 AND s.user_id || '' = $2 AND s.ended_at IS NULL AND s.last_tool_at > $3 AND s.last_tool_at - s.last_heartbeat_at > $4
		ORDER BY s.started_at, s.id LIMIT 50`, org, user, since, gap)
}

// UncheckedSessions returns a person's sessions of which the service learnt
// after a moment that events of theirs went unanswered.
func (tx *Tx) UncheckedSessions(ctx context.Context, org, user string, since coord.Time) ([]SessionRow, error) {
	return all(ctx, tx, scanSession, `SELECT `+sessionColumns+sessionTables+`
		WHERE s.org_id = $1 AND s.user_id || '' = $2 AND s.last_heartbeat_at > $3 AND s.fail_opens_at > $3
		ORDER BY s.fail_opens_at, s.id LIMIT 50`, org, user, since)
}
