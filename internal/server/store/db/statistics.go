package db

import (
	"context"
)

// Analyze gathers the statistics by which the databases choose their ways. It
// looks at samples, so that it takes a moment however much there is.
func (d *DB) Analyze(ctx context.Context) error {
	if d.name == postgres.name {
		return d.analyzePostgres(ctx)
	}
	err := d.Write(ctx, "", func(tx *Tx) error {
		for _, query := range []string{`PRAGMA analysis_limit = 400`, `ANALYZE`} {
			if _, err := tx.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
	// A connection reads the statistics as it opens.
	d.pool.SetMaxIdleConns(0)
	d.pool.SetMaxIdleConns(maxSQLiteConns)
	return err
}

// analyzePostgres does so on a connection that may take its time.
func (d *DB) analyzePostgres(ctx context.Context) error {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return d.wrap(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SET statement_timeout = 0`); err != nil {
		return d.wrap(err)
	}
	_, err = conn.ExecContext(ctx, `ANALYZE`)
	conn.ExecContext(context.WithoutCancel(ctx), `RESET statement_timeout`)
	return d.wrap(err)
}
