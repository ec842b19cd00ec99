package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/svc-hq/svc/internal/core/problem"
)

// faultLasts is how long a fault counts after it was last seen: whoever looks
// whether the database works may look at pages that are fine.
const faultLasts = 30 * time.Second

// A Fault is what the database has said of its own disk, room or files.
type Fault struct {
	What  string
	Since time.Time
}

// Error implements error.
func (f *Fault) Error() string {
	return fmt.Sprintf("%s, since %s", f.What, f.Since.UTC().Format(time.RFC3339))
}

// faults is the latest fault.
type faults struct {
	mu   sync.Mutex
	now  Fault // nothing if What is empty
	last time.Time
}

// noticed notes an error of an operation, if it is a fault.
func (d *DB) noticed(err error) {
	what := d.faultOf(err)
	if what == "" {
		return
	}
	d.faults.mu.Lock()
	defer d.faults.mu.Unlock()
	d.faults.last = d.now()
	if d.faults.now.What == "" {
		d.faults.now.Since = d.faults.last
	}
	d.faults.now.What = what
}

// Faulty returns the fault that was last noticed, nil if there is none.
func (d *DB) Faulty() *Fault {
	d.faults.mu.Lock()
	defer d.faults.mu.Unlock()
	if d.faults.now.What == "" {
		return nil
	}
	f := d.faults.now
	return &f
}

// Works forgets a fault, once a read and a write have succeeded: at once if the
// try before had met it, else when operations have not for a while.
func (d *DB) Works(before error) {
	met := d.faultOf(before) != ""
	d.faults.mu.Lock()
	defer d.faults.mu.Unlock()
	if met || d.now().Sub(d.faults.last) >= faultLasts {
		d.faults.now = Fault{}
	}
}

func sqliteFault(err error) string {
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_IOERR:
		return "disk I/O error"
	case sqlite3.SQLITE_FULL:
		return "the disk is full"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return "the database file is damaged"
	}
	return ""
}

// postgresFault leaves out what the way to PostgreSQL, or a wish of ours, can
// bring about: too many connections, and what it calls an internal error.
func postgresFault(err error) string {
	switch code := pgCode(err); {
	case code == "53100":
		return "PostgreSQL's disk is full"
	case code == "53200":
		return "PostgreSQL is out of memory"
	case code == "XX001", code == "XX002":
		return "PostgreSQL found damaged data"
	case strings.HasPrefix(code, "58"):
		return "PostgreSQL cannot read or write its files"
	}
	return ""
}

// wrap turns "the database cannot serve" into a problem that says so; others
// pass through. It is where the errors of all operations pass.
func (d *DB) wrap(err error) error {
	var known *problem.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	d.noticed(err)
	if errors.Is(err, errBusy) || errors.Is(err, context.DeadlineExceeded) || d.isDown(err) {
		return fmt.Errorf("%w (%w)", &problem.Error{Kind: problem.Unavailable,
			Detail: "the database cannot serve this right now; try again", RetryAfter: 2 * time.Second}, err)
	}
	return err
}
