package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"

	"modernc.org/sqlite"
)

// openSQLite opens a database whose connections remember what they prepared.
// SQLite parses and plans a statement in the caller's process, which costs
// several times what running a typical one of ours does.
func openSQLite(dsn string) *sql.DB { return sql.OpenDB(sqliteConnector{dsn}) }

type sqliteConnector struct{ dsn string }

func (c sqliteConnector) Driver() driver.Driver { return &sqlite.Driver{} }

func (c sqliteConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return &rememberingConn{sqliteConn: conn.(sqliteConn), known: map[string]*statement{}}, nil
}

// A sqliteConn is what database/sql uses of a connection of the driver.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// A rememberingConn keeps its prepared statements. Like all connections it
// serves one caller at a time.
type rememberingConn struct {
	sqliteConn
	known map[string]*statement
}

type statement struct {
	preparedStmt
	busy bool // rows of it are open
}

type preparedStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// maxStatements bounds what a connection remembers: some texts are put
// together of parts.
const maxStatements = 400

// statement returns a prepared query, nil if it is to run without: in use, or
// several statements at once.
func (c *rememberingConn) statement(ctx context.Context, query string) (*statement, error) {
	if s := c.known[query]; s != nil {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if strings.Contains(query, ";") {
		return nil, nil
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if len(c.known) >= maxStatements {
		c.forget()
	}
	s := &statement{preparedStmt: prepared.(preparedStmt)}
	c.known[query] = s
	return s, nil
}

func (c *rememberingConn) forget() {
	for query, s := range c.known {
		if !s.busy {
			s.Close()
			delete(c.known, query)
		}
	}
}

// ExecContext implements driver.ExecerContext.
func (c *rememberingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	return s.ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext.
func (c *rememberingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &openRows{rows, s}, nil
}

// BeginTx implements driver.ConnBeginTx. To read takes no more than two
// statements, which are remembered, too. The first cannot be interrupted: it
// waits for nobody, and the driver may say that it was when it was not, which
// left the connection in a transaction that nobody ended.
func (c *rememberingConn) BeginTx(ctx context.Context, how driver.TxOptions) (driver.Tx, error) {
	if !how.ReadOnly {
		return c.sqliteConn.BeginTx(ctx, how)
	}
	_, err := c.ExecContext(context.WithoutCancel(ctx), `BEGIN`, nil)
	return reading{c}, err
}

// A reading is a transaction that reads.
type reading struct{ conn *rememberingConn }

// Commit implements driver.Tx.
func (r reading) Commit() error {
	_, err := r.conn.ExecContext(context.Background(), `COMMIT`, nil)
	if err != nil {
		r.Rollback() // database/sql uses the connection again
	}
	return err
}

// Rollback implements driver.Tx.
func (r reading) Rollback() error {
	_, err := r.conn.ExecContext(context.Background(), `ROLLBACK`, nil)
	return err
}

// Close implements driver.Conn.
func (c *rememberingConn) Close() error {
	for _, s := range c.known {
		s.Close()
	}
	return c.sqliteConn.Close()
}

// openRows keep their statement from being used until they are closed.
type openRows struct {
	driver.Rows
	of *statement
}

// Close implements driver.Rows.
func (r *openRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
