package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Sum is how often something happened on a day that is over.
type Sum struct {
	Day    coord.Time
	Figure string
	User   string
	Repo   string
	Detail string
	Count  int
}

// SummedUntil returns up to when an org's days are summed up, 0 if none is.
func (tx *Tx) SummedUntil(ctx context.Context, org string) (until coord.Time, err error) {
	err = tx.QueryRowContext(ctx, `SELECT until FROM daily_sums_until WHERE org_id = $1`, org).Scan(&until)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return until, err
}

// NextEventAt returns when the first event at or after a moment happened, 0 if
// there is none.
func (tx *Tx) NextEventAt(ctx context.Context, org string, since coord.Time) (at coord.Time, err error) {
	var found *coord.Time
	err = tx.QueryRowContext(ctx, `SELECT MIN(occurred_at) FROM events WHERE org_id = $1 AND occurred_at >= $2`, org, since).Scan(&found)
	if found != nil {
		at = *found
	}
	return at, err
}

// SaveSums adds the sums of days, and notes that all before until are summed
// up. It reports whether somebody else did so before.
func (tx *Tx) SaveSums(ctx context.Context, org string, from, until coord.Time, sums []Sum) (late bool, err error) {
	n, err := tx.exec(ctx, `INSERT INTO daily_sums_until (org_id, until) VALUES ($1, $2)
		ON CONFLICT (org_id) DO UPDATE SET until = EXCLUDED.until WHERE daily_sums_until.until = $3`, org, until, from)
	if err != nil || n == 0 {
		return true, err
	}
	for chunk := range slices.Chunk(sums, 25) {
		var f filter
		rows := make([]string, len(chunk))
		for i, s := range chunk {
			marks := []string{f.arg(org), f.arg(s.Day), f.arg(s.Figure), f.arg(s.User), f.arg(s.Repo), f.arg(s.Detail), f.arg(s.Count)}
			rows[i] = "(" + strings.Join(marks, ", ") + ")"
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO daily_sums (org_id, day, figure, user_id, repo_id, detail, n)
			VALUES `+strings.Join(rows, ", "), f.args...); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Sums returns the sums of a window's days.
func (tx *Tx) Sums(ctx context.Context, org string, w StatsWindow) ([]Sum, error) {
	f := filter{}
	f.and(`org_id = ?`, org)
	f.and(`day >= ?`, w.Since)
	f.and(`day < ?`, w.Until)
	f.equals("repo_id", w.Repo)
	return all(ctx, tx, func(r scanner) (s Sum, err error) {
		err = r.Scan(&s.Day, &s.Figure, &s.User, &s.Repo, &s.Detail, &s.Count)
		return s, err
	}, `SELECT day, figure, user_id, repo_id, detail, n FROM daily_sums`+f.where(), f.args...)
}

// A Stale is a kind of rows that are kept for a while only.
type Stale struct {
	Name  string
	picks string // the ids of some that are past their time: $1 the org, $2 the moment, $3 how many
	drops []string
}

// Stales are what is forgotten after a time. Conflicts that keep their like
// from being raised, or by which a kind is judged, stay, and so do deliveries
// that are still to be tried. Events go in the order of the log, and only once
// they are sealed, so that the rest of the chain can be checked.
var Stales = []Stale{
	{"events", `WITH oldest AS (SELECT seq, occurred_at FROM events WHERE org_id = $1
				AND seq <= COALESCE((SELECT h.seq FROM event_heads h WHERE h.org_id = $1), 0) ORDER BY seq LIMIT $3+0)
			SELECT seq FROM oldest WHERE seq < COALESCE((SELECT MIN(x.seq) FROM oldest x WHERE x.occurred_at >= $2), 9223372036854775807)`,
		[]string{`DELETE FROM event_seals WHERE org_id = ? AND seq IN `, `DELETE FROM events WHERE org_id = ? AND seq IN `}},
	{"sessions", `SELECT s.id FROM sessions s WHERE s.org_id = $1 AND s.ended_at IS NOT NULL AND s.ended_at < $2
			AND NOT EXISTS (SELECT 1 FROM intents i WHERE i.id = s.intent_id AND i.closed_at IS NULL)
			AND NOT EXISTS (SELECT 1 FROM statuses x WHERE x.session_id = s.id)
			ORDER BY s.ended_at LIMIT $3+0`,
		[]string{`DELETE FROM told WHERE session_id IN `, `DELETE FROM deliveries WHERE session_id IN `,
			`DELETE FROM sessions WHERE org_id = ? AND id IN `}},
	{"conflicts", `SELECT c.id FROM conflicts c WHERE c.org_id = $1 AND c.closed_at IS NOT NULL AND c.closed_at < $2
			AND c.status <> 'overridden' AND (c.resolution IS NULL OR c.resolution = 'cleared')
			AND NOT EXISTS (SELECT 1 FROM conflict_feedback f WHERE f.conflict_id = c.id)
			ORDER BY c.closed_at LIMIT $3+0`,
		[]string{`DELETE FROM conflict_actions WHERE conflict_id IN `, `DELETE FROM conflicts WHERE org_id = ? AND id IN `}},
	{"deliveries", `SELECT id FROM webhook_deliveries WHERE org_id = $1 AND created_at < $2 AND next_attempt_at IS NULL
			ORDER BY created_at LIMIT $3+0`,
		[]string{`DELETE FROM webhook_deliveries WHERE org_id = ? AND id IN `}},
}

// Forget drops at most a number of rows that are older than a moment and
// returns how many it found.
func (tx *Tx) Forget(ctx context.Context, s Stale, org string, before coord.Time, most int) (int, error) {
	rows, err := tx.QueryContext(ctx, s.picks, org, before, most)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var ids []any
	for rows.Next() {
		var id any
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		ids = append(ids, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(ids) == 0 {
		return 0, err
	}
	for _, drop := range s.drops {
		var f filter
		if before, after, ok := strings.Cut(drop, "?"); ok {
			drop = before + f.arg(org) + after
		}
		marks := make([]string, len(ids))
		for i, id := range ids {
			marks[i] = f.arg(id)
		}
		if _, err := tx.ExecContext(ctx, drop+`(`+strings.Join(marks, ", ")+`)`, f.args...); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}
