package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A SessionRow is a session with what only the service needs.
type SessionRow struct {
	coord.Session
	IntentID *string
	Client   SessionClient
	Surface  *string
}

// A SessionClient is the program that speaks for a session.
type SessionClient struct {
	CLIVersion    string `json:"cli_version"`
	OS            string `json:"os"`
	ToolVersion   string `json:"tool_version"`
	MachineIDHash string `json:"machine_id_hash"`
}

// SessionName returns how a host's session is known: by the id that its host
// gave it and, from clients that send one, by its key. Who knows the id without
// the key is another session.
func SessionName(external, key string) string {
	if key == "" {
		return external
	}
	sum := sha256.Sum256([]byte(key))
	return external + keyMark + hex.EncodeToString(sum[:])
}

// keyMark stands before the hash of a key. No id of a host has it.
const keyMark = "\x1f"

// Keyed reports whether acting as the session takes its key.
func (s SessionRow) Keyed() bool { return strings.Contains(s.ExternalID, keyMark) }

// ProvedBy reports whether a key is the session's.
func (s SessionRow) ProvedBy(key string) bool {
	external, _, keyed := strings.Cut(s.ExternalID, keyMark)
	return keyed && key != "" && SessionName(external, key) == s.ExternalID
}

const sessionColumns = `s.id, s.org_id, s.token_id, s.tool, s.external_id, s.lineage_id, s.intent_id, s.model, s.surface, s.branch,
	s.worktree_hash, s.head_sha, s.base_sha,
	s.client, s.status_excerpt, s.status_at, s.file, s.fail_opens, s.fail_opens_at, s.started_at, s.last_heartbeat_at, s.last_tool_at,
	s.ended_at, s.stopped_at, s.asked_at, u.id, u.email, u.name, r.id, r.full_name, i.number, i.title, i.status`

const sessionTables = ` FROM sessions s
	JOIN users u ON u.id = s.user_id
	JOIN repos r ON r.id = s.repo_id
	LEFT JOIN intents i ON i.id = s.intent_id`

func scanSession(r scanner) (s SessionRow, err error) {
	var number *int
	var title *string
	var status *coord.IntentStatus
	err = r.Scan(&s.ID, &s.OrgID, &s.TokenID, &s.Tool, &s.ExternalID, &s.LineageID, &s.IntentID, &s.Model, &s.Surface, &s.Branch,
		&s.WorktreeHash, &s.HeadSHA, &s.BaseSHA,
		asJSON{&s.Client}, &s.StatusText, &s.StatusAt, &s.File, &s.FailOpens, &s.FailOpensAt, &s.StartedAt, &s.LastHeartbeatAt, &s.LastToolAt,
		&s.EndedAt, &s.StoppedAt, &s.AskedAt,
		&s.User.ID, &s.User.Email, &s.User.Name, &s.Repo.ID, &s.Repo.FullName, &number, &title, &status)
	if number != nil {
		s.Intent = &coord.IntentName{Ref: coord.IntentRef(*number), Number: *number, Title: title, Status: *status}
	}
	return s, err
}

// InsertSession adds a session.
func (tx *Tx) InsertSession(ctx context.Context, s SessionRow) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO sessions (id, org_id, user_id, token_id, repo_id, tool, external_id, lineage_id, intent_id, model, surface, branch,
			worktree_hash, head_sha, base_sha,
			client, started_at, last_heartbeat_at, file, fail_opens, fail_opens_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
		s.ID, s.OrgID, s.User.ID, s.TokenID, s.Repo.ID, s.Tool, s.ExternalID, s.LineageID, s.IntentID, s.Model, s.Surface, s.Branch,
		s.WorktreeHash, s.HeadSHA, s.BaseSHA,
		js(s.Client), s.StartedAt, s.LastHeartbeatAt, s.File, s.FailOpens, s.FailOpensAt)
	return err
}

// UpdateSession stores what a hook event told of a session.
func (tx *Tx) UpdateSession(ctx context.Context, s SessionRow) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE sessions SET token_id = $2, lineage_id = $3, intent_id = $4, model = $5, surface = $6, branch = $7, worktree_hash = $8,
			head_sha = $9, base_sha = $10,
			client = $11, status_excerpt = $12, status_at = $13, last_heartbeat_at = $14, ended_at = $15, file = $16,
			fail_opens = $17, fail_opens_at = $18, stopped_at = $19, asked_at = $20,
			turns_at = CASE WHEN intent_id = $4 THEN turns_at ELSE 0 END
		WHERE id = $1`,
		s.ID, s.TokenID, s.LineageID, s.IntentID, s.Model, s.Surface, s.Branch, s.WorktreeHash, s.HeadSHA, s.BaseSHA,
		js(s.Client), s.StatusText, s.StatusAt, s.LastHeartbeatAt, s.EndedAt, s.File, s.FailOpens, s.FailOpensAt,
		s.StoppedAt, s.AskedAt)
	return err
}

// Session returns an org's session.
func (tx *Tx) Session(ctx context.Context, org, id string) (SessionRow, error) {
	return one(ctx, tx, "no such session in this org", scanSession,
		`SELECT `+sessionColumns+sessionTables+` WHERE s.id = $2 AND s.org_id || '' = $1`, org, id)
}

// SessionByName returns a host's session in a repo, or nil.
func (tx *Tx) SessionByName(ctx context.Context, org, user, tool, name, repo string) (*SessionRow, error) {
	s, err := scanSession(tx.QueryRowContext(ctx, `SELECT `+sessionColumns+sessionTables+`
		WHERE s.org_id = $1 AND s.user_id = $2 AND s.tool = $3 AND s.external_id = $4 AND s.repo_id = $5`, org, user, tool, name, repo))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &s, err
}

// LineageOf returns the lineage of a host's session, in whatever repo it was
// seen, or an empty string.
func (tx *Tx) LineageOf(ctx context.Context, org, user, tool, name string) (string, error) {
	ls, err := all(ctx, tx, scanText, `
		SELECT lineage_id FROM sessions
		WHERE org_id = $1 AND user_id = $2 AND tool = $3 AND external_id = $4
		ORDER BY started_at, id LIMIT 1`, org, user, tool, name)
	if err != nil || len(ls) == 0 {
		return "", err
	}
	return ls[0], nil
}

// GiveKey makes a key known for sessions of a client that had none so far.
func (tx *Tx) GiveKey(ctx context.Context, org, user, tool, external, key string) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE sessions SET external_id = $5
		WHERE org_id = $1 AND user_id = $2 AND tool = $3 AND external_id = $4
			AND NOT EXISTS (SELECT 1 FROM sessions o
				WHERE o.org_id = $1 AND o.user_id = $2 AND o.tool = $3 AND o.external_id = $5 AND o.repo_id = sessions.repo_id)`,
		org, user, tool, external, SessionName(external, key))
	return err
}

// SessionsTold returns the sessions that the next events after one are about.
func (tx *Tx) SessionsTold(ctx context.Context, org string, after, next int64) ([]SessionRow, error) {
	return all(ctx, tx, scanSession, `SELECT `+sessionColumns+sessionTables+` WHERE s.org_id || '' = $1 AND s.id IN (`+told("session")+`)`,
		org, after, after+next)
}

// UnendedOnTold returns the sessions that work on those intents.
func (tx *Tx) UnendedOnTold(ctx context.Context, org string, after, next int64) ([]SessionRow, error) {
	return all(ctx, tx, scanSession, `SELECT `+sessionColumns+sessionTables+`
		WHERE s.org_id || '' = $1 AND s.ended_at IS NULL AND s.intent_id IN `+intentsTold+`
		ORDER BY s.last_heartbeat_at DESC, s.id DESC`, org, after, after+next)
}

// UnendedOn are the sessions that work on an intent.
func UnendedOn(intent string) SessionFilter { return SessionFilter{Intent: intent, Unended: true} }

// A SessionFilter narrows a list of sessions.
type SessionFilter struct {
	Repo     string
	User     string
	NotUser  string
	Token    string
	Intent   string
	Lineage  string
	Since    coord.Time // heard of since then
	Unended  bool
	Changed  coord.Time // heard of, spoken, ended or in another state since then
	Before   coord.Time // keyset: heartbeat and id of the last row
	BeforeID string
	Limit    int
}

// workersChanged finds the sides of conflicts that changed or ended since a
// moment: what their agents are doing may be something else now.
const workersChanged = `SELECT holder FROM conflicts WHERE org_id = ? AND closed_at IS NULL AND updated_at > ?
	UNION SELECT challenger FROM conflicts WHERE org_id = ? AND closed_at IS NULL AND updated_at > ?
	UNION SELECT holder FROM conflicts WHERE org_id = ? AND closed_at > ?
	UNION SELECT challenger FROM conflicts WHERE org_id = ? AND closed_at > ?`

func changedArgs(org string, since coord.Time) (args []any) {
	for range 4 {
		args = append(args, org, since)
	}
	return args
}

// Sessions returns an org's sessions, the latest heard of first.
func (tx *Tx) Sessions(ctx context.Context, org string, want SessionFilter) ([]SessionRow, error) {
	f := filter{}
	f.and(`s.org_id = ?`, org)
	is := f.equals
	if want.Unended { // there are few
		is = f.within
	}
	is("s.repo_id", want.Repo)
	f.equals("s.user_id", want.User)
	f.equals("s.lineage_id", want.Lineage)
	is("s.token_id", want.Token)
	f.equals("s.intent_id", want.Intent)
	if want.NotUser != "" {
		f.and(`s.user_id <> ?`, want.NotUser)
	}
	if want.Since > 0 {
		f.and(`s.last_heartbeat_at > ?`, want.Since)
	}
	if want.Unended {
		f.and(`s.ended_at IS NULL`)
	}
	if want.Changed > 0 {
		f.and(`(s.last_heartbeat_at > ? OR s.status_at > ? OR s.ended_at > ? OR s.id IN (`+workersChanged+`) OR s.intent_id IN (`+
			workersChanged+`) OR s.intent_id IN (SELECT id FROM intents WHERE org_id = ? AND closed_at IS NULL AND updated_at > ?))`,
			slices.Concat([]any{want.Changed, want.Changed, want.Changed}, changedArgs(org, want.Changed), changedArgs(org, want.Changed),
				[]any{org, want.Changed})...)
	}
	if want.BeforeID != "" {
		f.and(`(s.last_heartbeat_at, s.id) < (?, ?)`, want.Before, want.BeforeID)
	}
	return all(ctx, tx, scanSession,
		`SELECT `+sessionColumns+sessionTables+f.where()+` ORDER BY s.last_heartbeat_at DESC, s.id DESC`+f.limit(want.Limit), f.args...)
}

// A Spoken is what an agent said last of what it does.
type Spoken struct {
	Session string
	Intent  *int // its number
	Text    string
	At      coord.Time
}

// Spoken returns what the agents of a repo said that were heard of since a moment,
// the latest heard of first.
func (tx *Tx) Spoken(ctx context.Context, org, repo string, since coord.Time) ([]Spoken, error) {
	return all(ctx, tx, func(r scanner) (s Spoken, err error) {
		return s, r.Scan(&s.Session, &s.Intent, &s.Text, &s.At)
	}, `SELECT s.id, i.number, s.status_excerpt, s.status_at FROM sessions s LEFT JOIN intents i ON i.id = s.intent_id
		WHERE s.org_id = $1 AND s.repo_id = $2 AND s.last_heartbeat_at > $3 AND s.status_at IS NOT NULL AND s.status_excerpt IS NOT NULL
		ORDER BY s.last_heartbeat_at DESC, s.id DESC`, org, repo, since)
}

// Heartbeat notes that a session was heard of, which is activity of its intent
// too.
func (tx *Tx) Heartbeat(ctx context.Context, id string, at coord.Time) error {
	if _, err := tx.ExecContext(ctx, `UPDATE sessions SET last_heartbeat_at = $2 WHERE id = $1 AND last_heartbeat_at < $2`, id,
		at); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE intents SET last_activity_at = $2
		WHERE last_activity_at < $2 AND id = (SELECT intent_id FROM sessions WHERE id = $1)`, id, at)
	return err
}

// TouchTool notes that a session's agent called a tool.
func (tx *Tx) TouchTool(ctx context.Context, id string, at coord.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET last_tool_at = $2 WHERE id = $1 AND coalesce(last_tool_at, 0) < $2`, id, at)
	return err
}

// BindSession makes an intent a session's; an empty one releases it. What became
// of the conflicts of its new work meanwhile is yet to be told.
func (tx *Tx) BindSession(ctx context.Context, session, intent string) error {
	var id *string
	if intent != "" {
		id = &intent
	}
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET intent_id = $2, turns_at = 0 WHERE id = $1`, session, id)
	return err
}

// ReleaseSessions takes an intent from all sessions of a user, or of everyone
// if user is empty.
func (tx *Tx) ReleaseSessions(ctx context.Context, intent, user string) error {
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET intent_id = NULL WHERE intent_id = $1 AND ($2 = '' OR user_id = $2)`, intent, user)
	return err
}

// QuietSessions returns the sessions last heard of before a moment that have
// not ended.
func (tx *Tx) QuietSessions(ctx context.Context, org string, before coord.Time) ([]SessionRow, error) {
	return all(ctx, tx, scanSession, `SELECT `+sessionColumns+sessionTables+`
		WHERE s.org_id = $1 AND s.ended_at IS NULL AND s.last_heartbeat_at < $2 ORDER BY s.id LIMIT 500`, org, before)
}

// EndSession marks a session as over.
func (tx *Tx) EndSession(ctx context.Context, id string, at coord.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET ended_at = $2 WHERE id = $1`, id, at)
	return err
}

// TurnsTold notes that a session's agent knows what became of its conflicts.
func (tx *Tx) TurnsTold(ctx context.Context, session string) error {
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET turns_at = $2 WHERE id = $1`, session, tx.Now)
	return err
}

// Told returns what a session's agent has been told, by key.
func (tx *Tx) Told(ctx context.Context, session string) (map[string]string, error) {
	out := map[string]string{}
	rows, err := tx.QueryContext(ctx, `SELECT key, mark FROM told WHERE session_id = $1`, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var k, m string
		if err := rows.Scan(&k, &m); err != nil {
			return nil, err
		}
		out[k] = m
	}
	return out, rows.Err()
}

// Tell notes that a session's agent has been told something.
func (tx *Tx) Tell(ctx context.Context, session, key, mark string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO told (session_id, key, mark, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (session_id, key) DO UPDATE SET mark = EXCLUDED.mark, at = EXCLUDED.at`, session, key, mark, tx.Now)
	return err
}

// HookReply returns the answer given to a hook event before, or nil.
func (tx *Tx) HookReply(ctx context.Context, org, key string) ([]byte, error) {
	rs, err := all(ctx, tx, scanText, `SELECT reply FROM hook_replies WHERE org_id = $1 AND dedupe_key = $2`, org, key)
	if err != nil || len(rs) == 0 {
		return nil, err
	}
	return []byte(rs[0]), nil
}

// KeepHookReply remembers the answer to a hook event.
func (tx *Tx) KeepHookReply(ctx context.Context, org, key string, reply []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO hook_replies (org_id, dedupe_key, reply, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		org, key, string(reply), tx.Now)
	return err
}

// ForgetHookReplies drops answers given before a moment.
func (tx *Tx) ForgetHookReplies(ctx context.Context, before coord.Time) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM hook_replies WHERE at < $1`, before)
	return err
}
