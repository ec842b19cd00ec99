package db

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// How long PostgreSQL bears with a connection. A replica may stop at any
// moment, between two statements of a transaction that holds its org's lock,
// and those of the others must not wait for it to come back.
type patience map[string]string

var (
	readerPatience = patience{
		"lock_timeout":                        "5s",
		"statement_timeout":                   "30s",
		"idle_in_transaction_session_timeout": "60s",
	}
	writerPatience = patience{
		"lock_timeout":                        "5s", // longer than a stopped replica can hold one
		"statement_timeout":                   "15s",
		"idle_in_transaction_session_timeout": "1500ms",
	}
)

// connectIn bounds how long a connection is tried for, unless the DSN does.
const connectIn = 5 * time.Second

// openPostgres opens the database at dsn, with connections that gather. What the
// DSN itself says of patience counts.
func openPostgres(dsn string, p patience) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	for name, value := range p {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = value
		}
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectIn
	}
	bears := milliseconds(cfg.RuntimeParams["statement_timeout"])
	db := sql.OpenDB(gatheringConnector{stdlib.GetConnector(*cfg), bears + bears/2 + time.Second})
	db.SetMaxOpenConns(32)
	db.SetMaxIdleConns(32)
	return db, nil
}

// milliseconds reads a time as PostgreSQL writes it: without a unit it is in
// milliseconds, and none at all is no bound.
func milliseconds(text string) time.Duration {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return time.Duration(n) * time.Millisecond
	}
	return time.Hour
}

// What PostgreSQL says when its patience has ended.
const (
	lockNotAvailable = "55P03"
	statementTooLong = "57014"
	idledTooLong     = "25P03"
)

// postgresIsDown reports whether an error is about the server or the way to
// it, and not about what was asked of it.
func postgresIsDown(err error) bool {
	switch code := pgCode(err); code {
	case lockNotAvailable, statementTooLong, idledTooLong,
		"25006", // only reads: a standby that is not yet, or no longer, the primary
		"58030": // its disk fails
		return true
	case "":
	default: // connection, resources, shutdown
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P")
	}
	var connect *pgconn.ConnectError
	var network *net.OpError
	if errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) {
		return true
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone, syscall.ECONNRESET,
		syscall.EPIPE} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}

func pgCode(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
