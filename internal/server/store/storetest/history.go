package storetest

import (
	"cmp"
	"testing"

	"github.com/svc-hq/svc/internal/server/store"
)

// A Past is what an org did long ago and what nobody works on any more.
type Past struct {
	Org, Repo   string
	User, Other string // who did it
	Intents     int    // closed ones; the rest goes with them
	Days        int    // over how many; a year and a half if nothing is said
}

// Live it as if it had happened: for each closed intent two sessions that
// ended, one conflict that was resolved, four messages that were read, with
// their receipts, and twenty events.
func (p Past) Live(t testing.TB, s *store.Store) {
	t.Helper()
	err := s.Write(t.Context(), p.Org, func(tx *store.Tx) error {
		step := int64(cmp.Or(p.Days, 547)) * 24 * 3600 * 1000 / int64(p.Intents)
		began := int64(tx.Now) - int64(p.Intents+1)*step
		for _, q := range []struct {
			text string
			args []any
		}{
			{`UPDATE events SET occurred_at = $2 WHERE org_id = $1`, []any{p.Org, began}}, // the log is in order
			{`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT))
			INSERT INTO intents (id, org_id, number, repo_id, owner_id, status, resume_status, title, mode, effective_mode, branch, scope, observed,
				depends_on, blocked_by, outcome, created_at, updated_at, last_activity_at, closed_at)
			SELECT 'old-intent-' || i, $2, (SELECT intent_seq FROM orgs WHERE id = $2) + i, $3, $4, CASE WHEN i % 3 = 0
				THEN 'abandoned' ELSE 'merged' END, 'active',
				'Old work ' || i, 'shared', 'shared', 'branch-' || i, '{"paths":["old/file' || i || '.go"]}', '[]', '[]', '[]', 'merged',
				CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT), CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT),
					CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT), CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT)
			FROM n`, []any{p.Intents, p.Org, p.Repo, p.User, began, step}},
			{`UPDATE orgs SET intent_seq = intent_seq + CAST($2 AS BIGINT), conflict_seq = conflict_seq + CAST($2 AS BIGINT) WHERE id = $1`,
				[]any{p.Org, p.Intents}},
			{`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT) * 2)
			INSERT INTO sessions (id, org_id, user_id, token_id, repo_id, tool, external_id, lineage_id, intent_id, branch, client, started_at,
				last_heartbeat_at, ended_at)
			SELECT 'old-session-' || i, $2, CASE WHEN i % 2 = 0 THEN $4 ELSE $7 END, 'old', $3, 'codex', 'old-' || i, 'old-session-' || i,
				'old-intent-' || (i + 1) / 2, 'branch-' || i, '{}',
				CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT) / 2, CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT) / 2,
					CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT) / 2
			FROM n`, []any{p.Intents, p.Org, p.Repo, p.User, began, step, p.Other}},
			{`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT))
			INSERT INTO conflicts (id, org_id, number, kind, severity, status, repo_id, holder, challenger, holder_user, challenger_user, parties,
				evidence, evidence_keys,
				explanation, suggestion, fingerprint, resolution, first_seen_at, updated_at, closed_at, attempted_by)
			SELECT 'old-conflict-' || i, $2, (SELECT conflict_seq FROM orgs WHERE id = $2) - CAST($1 AS BIGINT) + i, 'claim_overlap', 'warn',
				'resolved', $3, 'old-intent-' || i, 'old-intent-' || (i + 1), $4, $7,
				'[]', '[]', '[]', 'Both worked on it.', '{}', 'old-print-' || i, CASE WHEN i % 50 = 0 THEN 'agreed' ELSE 'cleared' END,
				CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT), CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT),
					CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT), ''
			FROM n`, []any{p.Intents, p.Org, p.Repo, p.User, began, step, p.Other}},
			{`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT) / 20)
			INSERT INTO conversations (id, org_id, kind, conv_key, created_at, updated_at)
			SELECT 'old-thread-' || i, $2, 'direct', 'direct:old:' || i, CAST($3 AS BIGINT), CAST($3 AS BIGINT) + i FROM n`,
				[]any{p.Intents, p.Org, began}},
			{`INSERT INTO conversation_members (conversation_id, user_id)
			SELECT c.id, u.id FROM conversations c JOIN users u ON u.id IN ($2, $3) WHERE c.org_id = $1 AND c.id LIKE 'old-thread-%'`,
				[]any{p.Org, p.User, p.Other}},
			{`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT) * 4)
			INSERT INTO messages (id, org_id, conversation_id, seq, from_kind, from_user, target, body, requires_ack, created_at)
			SELECT 'old-message-' || i, $2, 'old-thread-' || (1 + i % (CAST($1 AS BIGINT) / 20)),
				(SELECT message_seq FROM orgs WHERE id = $2) + i, 'user', CASE WHEN i % 2 = 0 THEN $3 ELSE $4 END,
				'user', 'What was said about part ' || i, i % 10 = 0, CAST($5 AS BIGINT) + i * CAST($6 AS BIGINT) / 4
			FROM n`, []any{p.Intents, p.Org, p.User, p.Other, began, step}},
			{`UPDATE orgs SET message_seq = message_seq + CAST($2 AS BIGINT) * 4 WHERE id = $1`, []any{p.Org, p.Intents}},
			{`INSERT INTO message_recipients (message_id, user_id, org_id, seq, read_at, agent_read_at, delivered_at, acked_at, at)
			SELECT id, CASE WHEN from_user = $2 THEN $3 ELSE $2 END, org_id, seq, created_at, created_at, created_at, created_at, created_at
			FROM messages WHERE org_id = $1 AND id LIKE 'old-message-%'`, []any{p.Org, p.User, p.Other}},
			{`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT) * 20)
			INSERT INTO events (org_id, seq, type, occurred_at, actor_kind, actor_id, subject_kind, subject_id, repo_id, payload)
			SELECT $2, (SELECT event_seq FROM orgs WHERE id = $2) + i,
				CASE i % 10 WHEN 0 THEN 'intent.declared' WHEN 1 THEN 'intent.closed' WHEN 2 THEN 'conflict.detected' WHEN 3 THEN 'session.started'
				WHEN 4 THEN 'message.sent' ELSE 'change.recorded' END,
				CAST($4 AS BIGINT) + i * CAST($5 AS BIGINT) / 20, 'session', 'old-session-' || (1 + i / 10), 'intent', 'old-intent-' || (1 + i / 20),
					$3,
				'{"ref":"INT-1","copy":"a","files":1,"kind":"claim_overlap","severity":"warn"}'
			FROM n`, []any{p.Intents, p.Org, p.Repo, began, step}},
			{`UPDATE orgs SET event_seq = event_seq + CAST($2 AS BIGINT) * 20 WHERE id = $1`, []any{p.Org, p.Intents}},
		} {
			if _, err := tx.ExecContext(t.Context(), q.text, q.args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
