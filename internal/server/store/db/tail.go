package db

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

// A Tail follows what is committed to SQLite, page by page, without a commit
// that it misses: whoever writes to the file, and whatever copies the log. It
// keeps a transaction open in which it reads, and as long as there is one that
// began within the log, SQLite does not begin the log anew. Only turn lets it,
// when all is read and nobody can write.
type Tail struct {
	db   *DB
	pool *sql.DB // its own, since it keeps connections for long

	mu       sync.Mutex
	keeper   *sql.Conn // in a transaction that began within the log; nil while nothing is followed
	at       Position
	asked    bool // to begin the log anew
	snapshot bool // one is being read

	changed chan struct{} // told of commits of this process
}

const (
	// turnPages is from when on the log is begun anew, so that it stays small.
	turnPages = 2000
	// maxLog is how large the log may grow while nobody asks what is in it: 256 MB.
	maxLog = 65536
)

// ErrNotFollowed says that commits were missed, or nothing is followed yet: Hold
// begins, with what there is then.
var ErrNotFollowed = errors.New("not all that was committed can be followed")

// Tail returns what follows commits, or nil on PostgreSQL.
func (d *DB) Tail() *Tail {
	if d.writer == nil {
		return nil
	}
	pool, err := d.open(d.dsn, &d.suspected)
	if err != nil { // SQLite's opens nothing yet
		return nil
	}
	t := &Tail{db: d, pool: pool, changed: make(chan struct{}, 1)}
	d.tail.Store(t)
	return t
}

// Changed is told when this process has committed something.
func (t *Tail) Changed() <-chan struct{} { return t.changed }

func (t *Tail) wake() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// Close ends following.
func (t *Tail) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release()
	t.db.tail.CompareAndSwap(t, nil)
	return t.pool.Close()
}

// Release gives up: the log is copied and begun anew as if nobody followed.
func (t *Tail) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release()
}

func (t *Tail) release() {
	if t.keeper != nil {
		end(t.keeper)
		t.keeper = nil
	}
}

// end ends a transaction that has only read.
func end(conn *sql.Conn) {
	conn.ExecContext(context.Background(), `ROLLBACK`)
	conn.Close()
}

// look begins a transaction that sees the database as it is now.
func (t *Tail) look(ctx context.Context) (*sql.Conn, error) {
	conn, err := t.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var n int
	if _, err = conn.ExecContext(ctx, `BEGIN`); err == nil {
		err = conn.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_schema`).Scan(&n)
	}
	if err != nil {
		end(conn)
		return nil, err
	}
	return conn, nil
}

// peek returns how many frames the log has, and how many were copied.
func (t *Tail) peek(ctx context.Context, checkpoint string) (logged, copied int, err error) {
	var busy int
	err = t.pool.QueryRowContext(ctx, checkpoint).Scan(&busy, &logged, &copied)
	return logged, copied, err
}

// alone runs fn while nobody can write, in this process or another.
func alone(ctx context.Context, conn *sql.Conn, fn func() error) error {
	_, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`)
	if err == nil {
		err = fn()
	}
	conn.ExecContext(context.Background(), `ROLLBACK`) // no effect once committed, nor if it did not begin: an interrupted BEGIN may have
	return err
}

// userVersion is a number in the database's header that nothing else uses. To
// write it is the smallest commit there is. With askAnew in it somebody waits for
// the log to be begun anew, see Scrub.
const (
	userVersion   = `PRAGMA user_version`
	userVersionAt = 60
	askAnew       = -1
)

// Hold begins to follow, and returns where.
func (t *Tail) Hold(ctx context.Context) (at Position, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release()
	err = t.db.writer.aside(ctx, func(conn *sql.Conn) error {
		if err := alone(ctx, conn, func() error { return t.begin(ctx, conn) }); err != nil {
			return err
		}
		return t.keep(ctx, conn)
	})
	if err == nil {
		err = t.within(func(w *wal) (err error) {
			t.at, err = t.ofFrame(ctx, w)
			return err
		})
	}
	if err != nil {
		t.release()
	}
	return t.at, err
}

// begin commits the smallest there is. It is the first of a new log if all of
// the old one was copied and nobody reads from it.
func (t *Tail) begin(ctx context.Context, conn *sql.Conn) error {
	var n int32
	if err := conn.QueryRowContext(ctx, userVersion).Scan(&n); err != nil {
		return err
	}
	t.asked = n == askAnew
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("%s = %d", userVersion, n)); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, `COMMIT`)
	return err
}

// keep begins the transaction that keeps the log from beginning anew: it does
// only if there is something in the log that is not copied yet.
func (t *Tail) keep(ctx context.Context, conn *sql.Conn) error {
	return alone(ctx, conn, func() error {
		keeper, err := t.look(ctx)
		if err != nil {
			return err
		}
		logged, copied, err := t.peek(ctx, peekAtLog)
		if err != nil || copied >= logged {
			end(keeper)
			return errors.Join(err, ErrNotFollowed)
		}
		t.keeper = keeper
		return nil
	})
}

// within calls fn with the log.
func (t *Tail) within(fn func(*wal) error) error {
	w, err := openWAL(t.db.dsn)
	if err != nil {
		return err
	}
	defer w.Close()
	return fn(w)
}

// ofFrame returns the position of the newest commit.
func (t *Tail) ofFrame(ctx context.Context, w *wal) (p Position, err error) {
	p.Salt = w.salt
	if p.Frame, _, err = t.peek(ctx, peekAtLog); err != nil || p.Frame == 0 {
		return p, errors.Join(err, ErrNotFollowed)
	}
	head := make([]byte, frameHeader)
	if _, err := w.ReadAt(head, w.offset(p.Frame-1)); err != nil {
		return p, err
	}
	p.Sum = pair(head[16:])
	return p, nil
}

// Resume goes on behind a position that another process has reached, if the log
// is still the same. It reports whether it is.
func (t *Tail) Resume(ctx context.Context, p Position) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release()
	keeper, err := t.look(ctx)
	if err != nil {
		return false
	}
	logged, copied, err := t.peek(ctx, peekAtLog)
	if err == nil && copied < logged && p.Frame <= logged {
		err = t.within(func(w *wal) error {
			if !w.has(p) {
				return errLost
			}
			return nil
		})
		if err == nil {
			t.keeper, t.at = keeper, p
			return true
		}
	}
	end(keeper)
	return false
}

// Next returns what was committed since it was asked last; no pages if nothing
// was. With ErrNotFollowed something was missed.
func (t *Tail) Next(ctx context.Context) (Changes, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.next(ctx)
}

func (t *Tail) next(ctx context.Context) (c Changes, err error) {
	if t.keeper == nil {
		return c, ErrNotFollowed
	}
	logged, _, err := t.peek(ctx, peekAtLog)
	if err != nil || logged == t.at.Frame {
		return c, err
	}
	err = t.within(func(w *wal) error {
		if logged-t.at.Frame > maxLog || !w.has(t.at) {
			return errLost
		}
		c, err = w.read(t.at, logged)
		return err
	})
	if err != nil {
		t.release()
		return Changes{}, errors.Join(ErrNotFollowed, err)
	}
	t.at = c.At
	if first := c.Pages[1]; len(first) > userVersionAt+4 {
		t.asked = int32(binary.BigEndian.Uint32(first[userVersionAt:])) == askAnew
	}
	return c, nil
}

// rest is next until there is no more. It is short, for who holds up writers.
func (t *Tail) rest(ctx context.Context) (all Changes, err error) {
	for {
		c, err := t.next(ctx)
		if err != nil || len(c.Pages) == 0 {
			all.trim()
			return all, err
		}
		if all.Pages == nil {
			all = c
			continue
		}
		for n, page := range c.Pages {
			all.Pages[n] = page
		}
		all.Size, all.At = c.Size, c.At
	}
}

// Turn has the log copied and begun anew once it is long, and returns what was
// committed meanwhile. Writers wait for as long as a commit takes.
func (t *Tail) Turn(ctx context.Context) (c Changes, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keeper == nil || t.snapshot || t.at.Frame < turnPages && !t.asked {
		return c, nil
	}
	if err := t.copy(ctx); err != nil { // nearly all of it, while others write
		return c, err
	}
	err = t.db.writer.aside(ctx, func(conn *sql.Conn) error {
		if err := t.copy(ctx); err != nil {
			return err
		}
		begun := false
		err := alone(ctx, conn, func() (err error) {
			if c, err = t.rest(ctx); err != nil {
				return err
			}
			logged, copied, err := t.peek(ctx, peekAtLog)
			if err != nil || copied != logged {
				return err // somebody reads: another time
			}
			t.release()
			begun = true
			// What was deleted is in the file until it is cut.
			if _, err := conn.ExecContext(ctx, `PRAGMA journal_size_limit = 0`); err != nil {
				return err
			}
			return t.begin(ctx, conn)
		})
		if err != nil || !begun {
			return err
		}
		return errors.Join(t.keep(ctx, conn), t.turned(ctx, conn))
	})
	if err != nil {
		t.release()
	}
	return c, err
}

// turned notes where the log goes on: where it was, if somebody read from it, or
// at the beginning of the one that came after it.
func (t *Tail) turned(ctx context.Context, conn *sql.Conn) error {
	return t.within(func(w *wal) (err error) {
		switch {
		case w.has(t.at):
			return nil
		case w.salt[0] != t.at.Salt[0]+1:
			return errLost
		}
		t.at = w.start()
		if t.asked {
			t.asked = false
			_, err = conn.ExecContext(ctx, userVersion+` = 0`)
		}
		return err
	})
}

// copy has the log copied up to now. The transaction that keeps it from
// beginning anew has to be of now for that.
func (t *Tail) copy(ctx context.Context) error {
	keeper, err := t.look(ctx)
	if err != nil {
		return err
	}
	if logged, copied, err := t.peek(ctx, peekAtLog); err != nil || copied >= logged {
		end(keeper) // it would keep nothing
		return err
	}
	t.release()
	t.keeper = keeper
	_, _, err = t.peek(ctx, copyTheLog)
	return err
}

// watch gives up where the log has grown too long: nobody asks, or whoever asks
// does not come back. It reports whether all is being followed.
func (t *Tail) watch(ctx context.Context) bool {
	if !t.mu.TryLock() {
		return true // it is being read
	}
	defer t.mu.Unlock()
	if t.keeper == nil {
		return false
	}
	if logged, _, err := t.peek(ctx, peekAtLog); err == nil && logged > maxLog {
		t.release()
		return false
	}
	return true
}

// A Snapshot is the database of one moment.
type Snapshot struct {
	Changes // that lead up to it
	tail    *Tail
	conn    *sql.Conn
}

// Snapshot returns the database of now, and what was committed before since Next
// was asked.
func (t *Tail) Snapshot(ctx context.Context) (*Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &Snapshot{tail: t}
	err := t.db.writer.aside(ctx, func(conn *sql.Conn) error {
		return alone(ctx, conn, func() (err error) {
			if s.Changes, err = t.rest(ctx); err != nil {
				return err
			}
			s.conn, err = t.look(ctx)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	s.At, t.snapshot = t.at, true
	return s, nil
}

// Close ends the snapshot.
func (s *Snapshot) Close() {
	end(s.conn)
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
	s.tail.snapshot = false
}

// Read calls fn with all pages, from the first, once SQLite has found the
// database sound.
func (s *Snapshot) Read(ctx context.Context, fn func(n uint32, page []byte) error) error {
	var said string
	if err := s.conn.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return fmt.Errorf("the database is damaged: %s", said)
	}
	rows, err := s.conn.QueryContext(ctx, `SELECT pgno, data FROM sqlite_dbpage ORDER BY pgno`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n uint32
		var page sql.RawBytes
		if err := rows.Scan(&n, &page); err != nil {
			return err
		}
		if err := fn(n, page); err != nil {
			return err
		}
	}
	return rows.Err()
}
