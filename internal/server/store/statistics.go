package store

import (
	"context"
)

// Analyze gathers the statistics by which the databases choose their ways. It
// looks at samples, so that it takes a moment however much there is.
func (s *Store) Analyze(ctx context.Context) error {
	if s.name == postgres.name {
		return s.analyzePostgres(ctx)
	}
	err := s.Write(ctx, "", func(tx *Tx) error {
		for _, query := range []string{`PRAGMA analysis_limit = 400`, `ANALYZE`} {
			if _, err := tx.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
	// A connection reads the statistics as it opens.
	s.db.SetMaxIdleConns(0)
	s.db.SetMaxIdleConns(maxSQLiteConns)
	return err
}

// analyzePostgres does so on a connection that may take its time.
func (s *Store) analyzePostgres(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.wrap(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SET statement_timeout = 0`); err != nil {
		return s.wrap(err)
	}
	_, err = conn.ExecContext(ctx, `ANALYZE`)
	conn.ExecContext(context.WithoutCancel(ctx), `RESET statement_timeout`)
	return s.wrap(err)
}
