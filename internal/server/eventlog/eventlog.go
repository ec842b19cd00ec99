// Package eventlog wakes whoever follows an org's events after each commit,
// on every replica, and lets them resume by event id. A wake-up is a hint:
// the log in the database is the truth, and a slow poll finds what a lost
// hint would have told. It never reads what an event is about: whoever follows
// decides what to make of it.
package eventlog

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	keep     = 512                    // recent events held per followed org
	batch    = 256                    // events read at once
	coalesce = 10 * time.Millisecond  // between two notifications to other replicas
	poll     = 500 * time.Millisecond // at most this late if every hint is lost
	stale    = 5 * time.Second        // without a look at the log, those who follow it are not served
)

// An Entry is an event as streams of Server-Sent Events tell it, written once
// for all of them.
type Entry struct {
	coord.Event
	Frame []byte
	Chunk []byte // the frame as a chunk of an answer over HTTP/1.1
}

func entryOf(e coord.Event) (Entry, error) {
	text, err := json.Marshal(e, json.Deterministic(true))
	if err != nil {
		return Entry{}, err
	}
	// JSON has no raw newline, so a frame cannot be broken from inside.
	frame := fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", e.ID, e.Type, text)
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", len(frame), frame)
	end := len(chunk) - len("\r\n")
	return Entry{e, chunk[end-len(frame) : end : end], chunk}, nil
}

// A Log follows the events of one store.
type Log struct {
	store *store.Store
	log   *slog.Logger
	dirty chan []string
	// Woken, if set, is told of orgs that have new events, here or on another
	// replica. It must not block.
	Woken func(orgs []string)

	seen  atomic.Int64 // when it was last looked at, or nobody wanted it, Unix ms
	mu    sync.Mutex
	feeds map[string]*feed
}

// A feed is the recent past of one org and those who wait for its future.
type feed struct {
	mu      sync.Mutex
	recent  []Entry // without gaps, oldest first
	subs    map[*Sub]bool
	loading bool
	again   bool
}

// New returns a Log of s. Run must be running for other replicas' events to
// arrive promptly.
func New(s *store.Store, log *slog.Logger) *Log {
	l := &Log{store: s, log: log, dirty: make(chan []string, 1024), feeds: map[string]*feed{}}
	s.Committed = l.committed
	l.seen.Store(time.Now().UnixMilli())
	return l
}

func (l *Log) committed(orgs []string) {
	l.wake(orgs)
	select {
	case l.dirty <- orgs:
	default: // the poll will find it
	}
}

// Run passes wake-ups between replicas until ctx ends.
func (l *Log) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { l.notify(ctx) })
	wg.Go(func() { l.listen(ctx) })
	wg.Go(func() { l.poll(ctx) })
	wg.Wait()
}

// notify tells other replicas, at most once per coalesce.
func (l *Log) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case orgs := <-l.dirty:
			timer := time.NewTimer(coalesce)
			for waiting := true; waiting; {
				select {
				case more := <-l.dirty:
					orgs = slices.Concat(orgs, more)
				case <-timer.C:
					waiting = false
				}
			}
			l.tell(ctx, orgs)
		}
	}
}

// Flush tells replicas of what was committed here, for who does not Run.
func (l *Log) Flush(ctx context.Context) {
	var all []string
	for {
		select {
		case orgs := <-l.dirty:
			all = append(all, orgs...)
		default:
			l.tell(ctx, all)
			return
		}
	}
}

func (l *Log) tell(ctx context.Context, orgs []string) {
	orgs = slices.Compact(slices.Sorted(slices.Values(orgs)))
	if err := l.store.Notify(ctx, store.NewEvents, orgs...); err != nil && ctx.Err() == nil {
		l.log.Warn("waking other replicas failed; they will poll", "err", err)
	}
}

func (l *Log) listen(ctx context.Context) {
	l.store.Listen(ctx, store.NewEvents, func(text string) { l.wake(store.Orgs(text)) }, func(err error) {
		l.log.Warn("listening for other replicas failed; polling meanwhile", "err", err)
	})
}

func (l *Log) poll(ctx context.Context) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.pollOnce(ctx)
		}
	}
}

func (l *Log) pollOnce(ctx context.Context) {
	l.mu.Lock()
	orgs := make([]string, 0, len(l.feeds))
	for o := range l.feeds {
		orgs = append(orgs, o)
	}
	l.mu.Unlock()
	if len(orgs) == 0 {
		l.seen.Store(time.Now().UnixMilli())
		return
	}
	var last map[string]int64
	err := l.store.Read(ctx, func(tx *store.Tx) (err error) {
		last, err = tx.LastSeqs(ctx, orgs)
		return err
	})
	if err != nil {
		return // the next tick tries again
	}
	l.seen.Store(time.Now().UnixMilli())
	for org, seq := range last {
		if f := l.feed(org); f != nil && f.last() < seq {
			l.wake([]string{org})
		}
	}
}

// Ready reports, for the readiness check, how old what is known of the log is; an
// error means that streams and waits may not be told of what happens.
func (l *Log) Ready(context.Context) (string, error) {
	ago := time.Since(time.UnixMilli(l.seen.Load())).Round(100 * time.Millisecond)
	if ago > stale {
		return "", fmt.Errorf("the event log was last read %v ago", ago)
	}
	return fmt.Sprintf("read %v ago", ago), nil
}

func (f *feed) last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.recent) == 0 {
		return 0
	}
	return f.recent[len(f.recent)-1].Seq
}

// feed returns the feed of an org, nil if nobody follows it.
func (l *Log) feed(org string) *feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.feeds[org]
}

// wake loads what is new in the orgs that somebody follows, and tells them.
func (l *Log) wake(orgs []string) {
	if l.Woken != nil {
		l.Woken(orgs)
	}
	for _, org := range orgs {
		f := l.feed(org)
		if f == nil {
			continue
		}
		f.mu.Lock()
		start := !f.loading
		f.loading, f.again = true, true
		f.mu.Unlock()
		if start {
			go l.load(org, f)
		}
	}
}

// load appends new events to the feed until there are no more. One goroutine
// per org does so, whatever the number of followers.
func (l *Log) load(org string, f *feed) {
	for {
		f.mu.Lock()
		if !f.again {
			f.loading = false
			f.mu.Unlock()
			return
		}
		f.again = false
		var after int64 = -1
		if n := len(f.recent); n > 0 {
			after = f.recent[n-1].Seq
		}
		f.mu.Unlock()
		entries, err := l.read(context.Background(), org, after)
		if err != nil {
			l.log.Warn("reading new events failed; the poll tries again", "err", err)
			entries = nil
		}
		f.mu.Lock()
		f.recent = append(f.recent, entries...)
		if over := len(f.recent) - keep; over > 0 {
			f.recent = append([]Entry(nil), f.recent[over:]...)
		}
		f.again = f.again || len(entries) == batch
		for s := range f.subs {
			s.poke()
		}
		f.mu.Unlock()
	}
}

// read returns events after a seq; with -1 the newest one alone, from which
// an empty feed starts.
func (l *Log) read(ctx context.Context, org string, after int64) ([]Entry, error) {
	var events []coord.Event
	err := l.store.Read(ctx, func(tx *store.Tx) (err error) {
		if after < 0 {
			events, err = tx.Events(ctx, org, store.EventFilter{Limit: 1})
			return err
		}
		events, err = tx.EventsAfter(ctx, org, after, batch)
		return err
	})
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(events))
	for i, e := range events {
		if entries[i], err = entryOf(e); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// A Sub follows an org's events from some point on.
type Sub struct {
	log   *Log
	feed  *feed
	org   string
	after int64
	wake  chan struct{}
}

// Follow returns a Sub that yields the events after the given id.
func (l *Log) Follow(org string, after int64) *Sub {
	l.mu.Lock() // held until s is in: Close drops a feed that nobody follows
	defer l.mu.Unlock()
	f := l.feeds[org]
	if f == nil {
		f = &feed{subs: map[*Sub]bool{}}
		l.feeds[org] = f
	}
	s := &Sub{log: l, feed: f, org: org, after: after, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	f.subs[s] = true
	f.mu.Unlock()
	s.poke()
	return s
}

// FollowNow returns a Sub that yields the events that come from now on.
func (l *Log) FollowNow(ctx context.Context, org string) (*Sub, error) {
	s := l.Follow(org, 0) // first, so that nothing falls in between
	err := l.store.Read(ctx, func(tx *store.Tx) (err error) {
		s.after, err = tx.LastSeq(ctx, org)
		return err
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// After returns the id of the event after which the next one is yielded. It is
// for whoever calls Next.
func (s *Sub) After() int64 { return s.after }

// Close ends following.
func (s *Sub) Close() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.subs, s)
	if len(s.feed.subs) == 0 && s.log.feeds[s.org] == s.feed {
		delete(s.log.feeds, s.org)
	}
}

func (s *Sub) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Next waits for events after the last one it returned and returns them in
// order. An empty answer means that ctx ended.
func (s *Sub) Next(ctx context.Context) ([]Entry, error) {
	for {
		entries, err := s.Ready(ctx)
		if err != nil || len(entries) > 0 {
			return entries, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.wake:
		}
	}
}

// Woken is sent on when there may be something Ready: for whoever waits for
// other things, too.
func (s *Sub) Woken() <-chan struct{} { return s.wake }

// Ready returns what can be had without waiting: from memory if the feed
// reaches back far enough, else from the database.
func (s *Sub) Ready(ctx context.Context) ([]Entry, error) {
	if entries, ok := s.Recent(); ok {
		return entries, nil
	}
	entries, err := s.log.read(ctx, s.org, s.after)
	if err != nil {
		return nil, err
	}
	if len(entries) == batch {
		s.poke() // there may be more
	}
	return s.take(entries), nil
}

// Recent is Ready if memory reaches back far enough, and says whether it does.
func (s *Sub) Recent() (entries []Entry, ok bool) {
	s.feed.mu.Lock()
	recent := s.feed.recent
	s.feed.mu.Unlock()
	if len(recent) == 0 || recent[0].Seq > s.after+1 {
		return nil, false
	}
	i := int(min(s.after+1-recent[0].Seq, int64(len(recent))))
	return s.take(recent[i:]), true
}

func (s *Sub) take(entries []Entry) []Entry {
	if n := len(entries); n > 0 {
		s.after = entries[n-1].Seq
	}
	return entries
}
