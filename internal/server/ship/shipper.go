package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/server/store/db"
)

// Config says what is shipped where.
type Config struct {
	Dir      string
	Database string        // its id
	Keep     time.Duration // for how long the states of each moment are kept
	Lock     func(path string) (io.Closer, error)
	Log      *slog.Logger
	Times    *Times // nil for the usual
}

// Times say how often something is done.
type Times struct {
	Every time.Duration // changes are shipped, at most
	Look  time.Duration // it is looked whether another process has written
	Retry time.Duration // a directory that failed is tried again
	Base  time.Duration // a base is made, or as often as Keep if that is sooner
}

var usual = Times{Every: 100 * time.Millisecond, Look: time.Second, Retry: 5 * time.Second, Base: 24 * time.Hour}

// A Shipper ships what is committed, in the background.
type Shipper struct {
	Config
	tail  *db.Tail
	times Times
	stop  context.CancelFunc
	done  chan struct{}

	mu      sync.Mutex
	shipped time.Time // all that was committed by then is in the directory
	err     error     // why it is not getting on
}

// Start begins to ship. It refuses a directory that is another server's. One
// that cannot be used for another reason is tried again and again.
func Start(c Config, tail *db.Tail) (*Shipper, error) {
	s := &Shipper{Config: c, tail: tail, times: usual, done: make(chan struct{}), shipped: time.Now()}
	if c.Times != nil {
		s.times = *c.Times
	}
	d, l, err := s.occupy()
	var occupied *OccupiedError
	if errors.As(err, &occupied) {
		return nil, errors.Join(err, tail.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.run(ctx, d, l, err)
	return s, nil
}

func (s *Shipper) occupy() (*directory, *listing, error) {
	return occupy(s.Dir, s.Database, s.Lock, time.Now)
}

// Stop ships what is left and ends, or gives up if the directory does not
// answer.
func (s *Shipper) Stop(ctx context.Context) {
	s.stop()
	select {
	case <-s.done:
	case <-ctx.Done():
		s.Log.Warn("what was committed last may not be shipped: the directory does not answer", "dir", s.Dir)
	}
}

// Age returns for how long nothing more was shipped, whether or not there was
// something, and why.
func (s *Shipper) Age() (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.shipped), s.err
}

// late is from when on it is said that shipping does not get on.
const late = 30 * time.Second

// Late returns an error if shipping does not get on.
func (s *Shipper) Late(context.Context) error {
	age, err := s.Age()
	if age < late {
		return nil
	}
	if err == nil {
		err = errors.New("the directory does not answer")
	}
	return fmt.Errorf("nothing was shipped to %s for %s: %w", s.Dir, age.Round(time.Second), err)
}

func (s *Shipper) note(shipped time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err = err; err == nil {
		s.shipped = shipped
	}
}

func (s *Shipper) run(ctx context.Context, d *directory, l *listing, err error) {
	defer close(s.done)
	defer s.tail.Close()
	for ctx.Err() == nil {
		if err == nil {
			err = s.chain(ctx, d, l)
			d.close()
		}
		s.tail.Release() // so that the log is copied without us
		if ctx.Err() != nil {
			return
		}
		if _, before := s.Age(); before == nil || before.Error() != err.Error() {
			s.Log.Error("shipping stopped: what is committed now is in the database only; trying again", "dir", s.Dir, "err", err)
		}
		s.note(time.Time{}, err)
		if !wait(ctx, s.times.Retry) {
			return
		}
		d, l, err = s.occupy()
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// chain ships until something goes wrong: what follows is a chain of its own.
func (s *Shipper) chain(ctx context.Context, d *directory, l *listing) error {
	at, ok := d.goOn(l)
	if ok = ok && s.tail.Resume(ctx, at); !ok {
		if _, err := s.tail.Hold(ctx); err != nil {
			return err
		}
		if err := s.makeBase(ctx, d, func(db.Changes) error { d.start(); return nil })(); err != nil {
			return err
		}
	}
	s.Log.Info("shipping what is committed", "dir", s.Dir, "from", Stamp(d.last.Time), "goes_on", ok)
	return s.follow(ctx, d, l)
}

// makeBase returns what writes a base of the database as it is now. lead is given
// what leads up to it.
func (s *Shipper) makeBase(ctx context.Context, d *directory, lead func(db.Changes) error) func() error {
	snap, err := s.tail.Snapshot(ctx)
	if err != nil {
		return func() error { return err }
	}
	if err := lead(snap.Changes); err != nil {
		snap.Close()
		return func() error { return err }
	}
	write := d.base(snap.At)
	keep := d.now().Add(-s.Keep)
	return func() error {
		defer snap.Close()
		if err := write(func(page func(uint32, []byte) error) error { return snap.Read(ctx, page) }); err != nil {
			return err
		}
		return d.forget(keep)
	}
}

// follow ships changes, and makes a base when it is time.
func (s *Shipper) follow(ctx context.Context, d *directory, l *listing) error {
	based := d.last.Time
	for _, b := range l.bases {
		if b.Chain == d.last.Chain {
			based = b.Time
		}
	}
	var made chan error // by the base that is being made
	defer func() {
		if made != nil {
			<-made
		}
	}()
	whole := context.WithoutCancel(ctx) // what is begun is ended, with what was committed last
	for {
		if err := s.ship(whole, d); err != nil || ctx.Err() != nil {
			return err
		}
		if made == nil && d.now().Sub(based) >= min(s.times.Base, s.Keep) {
			based, made = d.now(), make(chan error, 1)
			write, to := s.makeBase(ctx, d, d.add), made
			go func() { to <- write() }()
		}
		wait(ctx, s.times.Every)
		select {
		case <-ctx.Done():
		case err := <-made:
			if made = nil; err != nil {
				return err
			}
		case <-s.tail.Changed():
		case <-time.After(s.times.Look):
		}
	}
}

// ship ships all that is committed.
func (s *Shipper) ship(ctx context.Context, d *directory) error {
	if err := d.there(); err != nil {
		return err
	}
	for {
		began := time.Now()
		c, err := s.tail.Next(ctx)
		if err != nil {
			return err
		}
		if len(c.Pages) == 0 {
			s.note(began, nil)
			break
		}
		if err = d.add(c); err != nil {
			return err
		}
	}
	c, err := s.tail.Turn(ctx)
	if err == nil {
		err = d.add(c)
	}
	return err
}
