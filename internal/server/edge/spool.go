package edge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/svc-hq/svc/internal/core/wire"
)

// A report is an event that needs no answer. It is a file until the server has
// taken it and, if the server had something to say, until the agent heard that.
type report struct {
	Session wire.EdgeSession `json:"session"`
	Repo    string           `json:"repo"`
	Body    jsontext.Value   `json:"body"`
	// Record says that the edge has answered it: what the server says is for
	// its records only.
	Record bool   `json:"record,omitempty"`
	Key    string `json:"key,omitempty"` // of the refusal that it records

	file string
}

// A spool holds an account's reports. Those of one session are sent in order.
type spool struct {
	dir  string
	send func(context.Context, *report) (again bool)
	work sync.WaitGroup
	more chan struct{}

	mu      sync.Mutex
	next    int64
	queues  map[string][]*report // by session
	busy    map[string]bool
	refused int
}

const retryEvery = time.Second // at most this late, a report is tried again

// openSpool reads what a process before has left. Files that are half written
// have no name yet.
func openSpool(dir string, send func(context.Context, *report) bool) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &spool{dir: dir, send: send, more: make(chan struct{}, 1), queues: map[string][]*report{}, busy: map[string]bool{}}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files { // by name, which is by age
		number, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		r := &report{file: filepath.Join(dir, f.Name())}
		if err != nil || json.Unmarshal(text, r) != nil {
			s.refused++
			continue
		}
		if n := int64(0); len(number) > 0 {
			if _, err := fmt.Sscanf(number, "%d", &n); err == nil {
				s.next = max(s.next, n)
			}
		}
		s.queues[r.key()] = append(s.queues[r.key()], r)
	}
	return s, nil
}

func (r *report) key() string { return r.Session.Tool + " " + r.Session.ExternalID }

// put writes a report down. It is kept once put returns.
func (s *spool) put(r *report) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	r.file = filepath.Join(s.dir, fmt.Sprintf("%020d.json", s.next))
	if err := os.WriteFile(r.file+".new", text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(r.file+".new", r.file); err != nil {
		return err
	}
	s.queues[r.key()] = append(s.queues[r.key()], r)
	s.wake()
	return nil
}

func (s *spool) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// run sends reports until ctx ends: sessions side by side, each in order.
func (s *spool) run(ctx context.Context) {
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for {
		s.mu.Lock()
		for key, queue := range s.queues {
			if len(queue) > 0 && !s.busy[key] {
				s.busy[key] = true
				s.work.Go(func() { s.drain(ctx, key) })
			}
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			s.work.Wait()
			return
		case <-s.more:
		case <-tick.C:
		}
	}
}

// drain sends the reports of a session until there are none or one has to wait.
func (s *spool) drain(ctx context.Context, key string) {
	for {
		s.mu.Lock()
		queue := s.queues[key]
		if len(queue) == 0 || ctx.Err() != nil {
			delete(s.queues, key)
			if len(queue) > 0 {
				s.queues[key] = queue
			}
			delete(s.busy, key)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		if s.send(ctx, queue[0]) {
			s.mu.Lock()
			delete(s.busy, key)
			s.mu.Unlock()
			return // the ticker tries again
		}
		s.mu.Lock()
		if err := os.Remove(queue[0].file); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.refused++ // it is sent again by the next process, and its key makes that harmless
		}
		s.queues[key] = slices.Delete(s.queues[key], 0, 1)
		s.mu.Unlock()
	}
}

// waiting reports whether a session has reports that are not sent.
func (s *spool) waiting(of wire.EdgeSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queues[(&report{Session: of}).key()]) > 0
}

func (s *spool) count() (waiting, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		waiting += len(q)
	}
	return waiting, s.refused
}

// News is what the server said to a report, for the session's next hook. It is
// a file of its own, so that it outlives the process.
func (s *spool) newsFile(of wire.EdgeSession) string {
	return filepath.Join(s.dir, "news-"+short((&report{Session: of}).key()))
}

// keepNews adds to what a session is to be told.
func (s *spool) keepNews(of wire.EdgeSession, dedupe, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := s.newsFile(of)
	var all []news
	if old, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(old, &all) // what cannot be read is written anew
	}
	if slices.ContainsFunc(all, func(n news) bool { return n.Of == dedupe && dedupe != "" }) {
		return nil // sent again after a crash
	}
	body, err := json.Marshal(append(all, news{dedupe, text}))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", body, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

type news struct{ Of, Text string }

// takeNews returns what a session is to be told, once.
func (s *spool) takeNews(of wire.EdgeSession) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := s.newsFile(of)
	body, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	if err := os.Remove(file); err != nil { // better late than twice
		return ""
	}
	var all []news
	if json.Unmarshal(body, &all) != nil {
		return ""
	}
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = n.Text
	}
	return strings.Join(texts, "\n")
}
