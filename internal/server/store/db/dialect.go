package db

import (
	"database/sql"
	"errors"
	"net/url"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A dialect is everything that differs between the two databases.
type dialect struct {
	name        string // also the suffix of migrations meant for one database
	open        func(dsn string, s *suspected) (*sql.DB, error)
	openWriter  func(dsn string, s *suspected) (*sql.DB, error) // where writers have connections of their own
	lockOrg     string                                          // statement that makes an org's writers queue
	skipLocked  string                                          // ends a SELECT that takes rows nobody else is taking
	isDuplicate func(error) bool
	isRetryable func(error) bool   // the transaction lost to another and may be tried again
	isDown      func(error) bool   // the database cannot serve right now
	isLocked    func(error) bool   // another process writes, for longer than a lock is waited for
	faultOf     func(error) string // what is wrong with the database's disk, room or files, if that is why
}

func dialectOf(dsn string) dialect {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return postgres
	}
	return embedded
}

var postgres = dialect{
	name:       "postgres",
	open:       func(dsn string, s *suspected) (*sql.DB, error) { return openPostgres(dsn, readerPatience, s) },
	openWriter: func(dsn string, s *suspected) (*sql.DB, error) { return openPostgres(dsn, writerPatience, s) },
	lockOrg:    `SELECT pg_advisory_xact_lock(hashtextextended($1, 7780))`,
	skipLocked: `FOR UPDATE SKIP LOCKED`,
	isDuplicate: func(err error) bool {
		return pgCode(err) == "23505"
	},
	isRetryable: func(err error) bool {
		switch pgCode(err) {
		case "40001", "40P01", idledTooLong: // serialization failure, deadlock
			return true
		}
		return false
	},
	isLocked: func(err error) bool { return pgCode(err) == lockNotAvailable },
	isDown:   postgresIsDown,
	faultOf:  postgresFault,
}

const maxSQLiteConns = 16

// busyTimeout is for how many milliseconds another process's lock is waited for.
const busyTimeout = "5000"

// minSQLite is the first release without the WAL-reset corruption bug.
const minSQLite = "3.51.3"

var embedded = dialect{
	name: "sqlite",
	open: func(path string, _ *suspected) (*sql.DB, error) {
		// synchronous=FULL: with NORMAL a power cut loses acknowledged commits.
		q := url.Values{"_pragma": {"busy_timeout(" + busyTimeout + ")", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			"wal_autocheckpoint(" + logPages + ")"}}
		db := openSQLite("file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode())
		db.SetMaxOpenConns(maxSQLiteConns)
		db.SetMaxIdleConns(maxSQLiteConns)
		return db, nil
	},
	isDuplicate: func(err error) bool {
		c := sqliteCode(err)
		return c == sqlite3.SQLITE_CONSTRAINT_UNIQUE || c == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	},
	isLocked:    func(err error) bool { return sqliteCode(err)&0xff == sqlite3.SQLITE_BUSY },
	isRetryable: func(error) bool { return false }, // one writer: nobody to lose to
	isDown: func(err error) bool {
		switch sqliteCode(err) & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
			sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL: // the last: too many began to read at once
			return true
		}
		return false
	},
	faultOf: sqliteFault,
}

func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}
