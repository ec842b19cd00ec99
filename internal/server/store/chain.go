package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// SealLock is the lock of whatever touches the chain of the audit log: two that
// seal at once would make two chains.
const SealLock = "seal"

// A Sealed event is one as the chain of the audit log has it. docs/audit.md says
// how it is made, for those who check it without svc. Its repo is not part of it:
// merging two repositories moves the events of one to the other.
type Sealed struct {
	OrgID       string `json:"org_id"`
	Seq         int64  `json:"seq"`
	Type        string `json:"type"`
	Millis      int64  `json:"occurred_at_ms"`
	ActorKind   string `json:"actor_kind"`
	ActorID     string `json:"actor_id"`
	SubjectKind string `json:"subject_kind"`
	SubjectID   string `json:"subject_id"`
	Payload     string `json:"payload"` // as it is stored, to the byte
	Salt        string `json:"salt"`
	Digest      string `json:"digest"`
	Previous    string `json:"previous"`
	Hash        string `json:"hash"`
	Erased      bool   `json:"erased"` // somebody was taken out of the payload
}

// PayloadDigest is the digest of a payload.
func (s Sealed) PayloadDigest() string { return hexOf(s.Salt + "\n" + s.Payload) }

// HashNow is the hash of an event as it is: of the one before, and of all that
// the event is but its payload, for which its digest stands. So a person can be
// taken out of a payload, and the chain still holds.
func (s Sealed) HashNow() string {
	return hexOf(strings.Join([]string{s.Previous, s.OrgID, strconv.FormatInt(s.Seq, 10), s.Type, strconv.FormatInt(s.Millis, 10), s.ActorKind,
		s.ActorID, s.SubjectKind, s.SubjectID, s.Digest}, "\n"))
}

func hexOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A Head is up to which event an org's log is sealed.
type Head struct {
	Seq  int64
	Hash string
}

// ChainHead returns up to which event an org's log is sealed.
func (tx *Tx) ChainHead(ctx context.Context, org string) (h Head, err error) {
	err = tx.QueryRowContext(ctx, `SELECT seq, hash FROM event_heads WHERE org_id = $1`, org).Scan(&h.Seq, &h.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return h, err
}

// Unsealed returns the orgs that have events which are not sealed.
func (tx *Tx) Unsealed(ctx context.Context) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT o.id FROM orgs o LEFT JOIN event_heads h ON h.org_id = o.id
		WHERE o.event_seq > COALESCE(h.seq, 0) ORDER BY o.id`)
}

// Seal seals an org's next events, at most a number, and returns how many there
// were. It runs under SealLock.
func (tx *Tx) Seal(ctx context.Context, org string, most int) (int, error) {
	head, err := tx.ChainHead(ctx, org)
	if err != nil {
		return 0, err
	}
	events, err := all(ctx, tx, func(r scanner) (s Sealed, err error) {
		err = r.Scan(&s.OrgID, &s.Seq, &s.Type, &s.Millis, &s.ActorKind, &s.ActorID, &s.SubjectKind, &s.SubjectID, &s.Payload)
		return s, err
	}, `SELECT org_id, seq, type, occurred_at, actor_kind, actor_id, subject_kind, subject_id, payload
		FROM events WHERE org_id = $1 AND seq > $2 ORDER BY seq LIMIT $3+0`, org, head.Seq, most)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	for chunk := range slices.Chunk(events, 25) {
		var f filter
		rows := make([]string, len(chunk))
		for i, s := range chunk {
			s.Salt, s.Previous = rand.Text(), head.Hash
			s.Digest = s.PayloadDigest()
			head = Head{s.Seq, s.HashNow()}
			rows[i] = "(" + strings.Join([]string{f.arg(org), f.arg(s.Seq), f.arg(s.Salt), f.arg(s.Previous), f.arg(head.Hash)}, ", ") + ")"
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO event_seals (org_id, seq, salt, previous, hash)
			VALUES `+strings.Join(rows, ", "), f.args...); err != nil {
			return 0, err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO event_heads (org_id, seq, hash) VALUES ($1, $2, $3)
		ON CONFLICT (org_id) DO UPDATE SET seq = EXCLUDED.seq, hash = EXCLUDED.hash`, org, head.Seq, head.Hash)
	return len(events), err
}

// SealedAfter returns an org's sealed events after one and up to another, oldest
// first. One that is no longer in the log has no type.
func (tx *Tx) SealedAfter(ctx context.Context, org string, after, until int64, limit int) ([]Sealed, error) {
	return all(ctx, tx, func(r scanner) (s Sealed, err error) {
		err = r.Scan(&s.OrgID, &s.Seq, &s.Type, &s.Millis, &s.ActorKind, &s.ActorID, &s.SubjectKind, &s.SubjectID, &s.Payload,
			&s.Salt, &s.Digest, &s.Previous, &s.Hash)
		if s.Erased = s.Digest != ""; !s.Erased {
			s.Digest = s.PayloadDigest()
		}
		return s, err
	}, `SELECT c.org_id, c.seq, COALESCE(e.type, ''), COALESCE(e.occurred_at, 0), COALESCE(e.actor_kind, ''), COALESCE(e.actor_id, ''),
			COALESCE(e.subject_kind, ''), COALESCE(e.subject_id, ''), COALESCE(e.payload, ''), c.salt, c.digest, c.previous, c.hash
		FROM event_seals c LEFT JOIN events e ON e.org_id = c.org_id AND e.seq = c.seq
		WHERE c.org_id = $1 AND c.seq > $2 AND c.seq <= $3 ORDER BY c.seq LIMIT $4+0`, org, after, until, limit)
}

// Slipped returns some events that are in an org's log and not in the part of it
// that is sealed.
func (tx *Tx) Slipped(ctx context.Context, org string, until int64) ([]int64, error) {
	return all(ctx, tx, scanSeq, `SELECT e.seq FROM events e WHERE e.org_id = $1 AND e.seq <= $2
		AND NOT EXISTS (SELECT 1 FROM event_seals c WHERE c.org_id = e.org_id AND c.seq = e.seq) ORDER BY e.seq LIMIT 10`, org, until)
}

func scanSeq(r scanner) (seq int64, err error) {
	err = r.Scan(&seq)
	return seq, err
}

// Unaccounted returns the orgs in whose log a payload was changed by an erasure of
// which the log does not tell yet.
func (tx *Tx) Unaccounted(ctx context.Context) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT DISTINCT c.org_id FROM event_seals c WHERE c.digest <> '' AND c.seq > COALESCE(
		(SELECT MAX(e.seq) FROM events e WHERE e.org_id = c.org_id AND e.type = $1), 0)`, coord.EventMemberErased)
}

// loosen notes that an event's payload is about to be changed.
func (tx *Tx) loosen(ctx context.Context, org, seq any, payload string) error {
	s := Sealed{Payload: payload}
	err := tx.QueryRowContext(ctx, `SELECT salt FROM event_seals WHERE org_id = $1 AND seq = $2 AND digest = ''`, org, seq).Scan(&s.Salt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // sealed later, or loose already
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE event_seals SET digest = $3, salt = '' WHERE org_id = $1 AND seq = $2`, org, seq, s.PayloadDigest())
	}
	return err
}
