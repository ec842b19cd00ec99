package store

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Figures are what metrics tell of all orgs together.
type Figures struct {
	Sessions  []SessionFigure
	Intents   []Figure // by status
	Conflicts []Figure // by kind and severity
	Events    int64    // told since the server was made
}

// A Figure counts what is live by what it is.
type Figure struct {
	Of, Severity string
	Count        int64
}

// A SessionFigure counts live sessions of one host with one client.
type SessionFigure struct {
	Tool   string
	Client SessionClient
	Silent bool // its agent calls tools while its hooks are quiet
	Count  int64
}

// LiveFigures counts what is live.
func (tx *Tx) LiveFigures(ctx context.Context) (f Figures, err error) {
	now := tx.Now
	f.Sessions, err = all(ctx, tx, func(r scanner) (s SessionFigure, err error) {
		err = r.Scan(&s.Tool, asJSON{&s.Client}, &s.Silent, &s.Count)
		return s, err
	}, `
		SELECT tool, client, last_tool_at IS NOT NULL AND last_tool_at - last_heartbeat_at > $1 AS quiet, COUNT(*)
		FROM sessions WHERE ended_at IS NULL AND last_heartbeat_at > $2
		GROUP BY tool, client, quiet`, coord.SilentGap.Milliseconds(), now.Add(-coord.SessionExpiryHours*time.Hour))
	if err != nil {
		return f, err
	}
	count := func(r scanner) (c Figure, err error) {
		err = r.Scan(&c.Of, &c.Severity, &c.Count)
		return c, err
	}
	if f.Intents, err = all(ctx, tx, count, `SELECT status, '', COUNT(*) FROM intents WHERE closed_at IS NULL GROUP BY status`); err != nil {
		return f, err
	}
	if f.Conflicts, err = all(ctx, tx, count,
		`SELECT kind, severity, COUNT(*) FROM conflicts WHERE closed_at IS NULL GROUP BY kind, severity`); err != nil {
		return f, err
	}
	err = tx.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(event_seq), 0) AS BIGINT) FROM orgs`).Scan(&f.Events)
	return f, err
}
