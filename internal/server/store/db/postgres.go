package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
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
		// A write looks up few rows, which are in memory: as PostgreSQL reckons by itself,
		// it reads the whole of a table that was small when it last counted it.
		"random_page_cost": "1.1",
	}
)

// connectIn bounds how long a connection is tried for, unless the DSN does.
const connectIn = 5 * time.Second

// suspected is when a connection was last found broken. One that was not used
// since is asked whether it lives before it is used: a way to the database that
// is spared otherwise.
type suspected struct{ at atomic.Int64 }

const idleFor = time.Minute // after which a connection is asked in any case: what lies between forgets it

func (s *suspected) ping(_ context.Context, p stdlib.ShouldPingParams) bool {
	return p.IdleDuration > idleFor || time.Now().Add(-p.IdleDuration).UnixNano() <= s.at.Load()
}

// anew runs what begins on a connection that may have broken while nobody used
// it, once more if it had: lost reports that, and that nothing was done.
func (s *suspected) anew(run func() (lost bool, err error)) error {
	lost, err := run()
	if lost {
		s.at.Store(time.Now().UnixNano())
		_, err = run()
	}
	return err
}

// broke reports whether an error is of a connection that broke.
func broke(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return pgCode(err) == "" || strings.HasPrefix(pgCode(err), "57P")
}

// openPostgres opens the database at dsn, with connections that gather. What the
// DSN itself says of patience counts.
func openPostgres(dsn string, p patience, s *suspected) (*sql.DB, error) {
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
	db := sql.OpenDB(gatheringConnector{stdlib.GetConnector(*cfg, stdlib.OptionShouldPing(s.ping)), bears + bears/2 + time.Second})
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
