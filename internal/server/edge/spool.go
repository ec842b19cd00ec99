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
	made    bool // there is a folder
	whose   string
	next    int64
	queues  map[string][]*report // by session
	busy    map[string]bool
	refused int
}

const retryEvery = time.Second // at most this late, a report is tried again

// openSpool reads what a process before has left. Files that are half written
// have no name yet.
func openSpool(dir string, send func(context.Context, *report) bool) (*spool, error) {
	s := &spool{dir: dir, send: send, more: make(chan struct{}, 1), queues: map[string][]*report{}, busy: map[string]bool{}}
	reports, broken, err := left(dir)
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(dir)
	s.made, s.refused = err == nil, broken
	for _, r := range reports {
		n := int64(0)
		if _, err := fmt.Sscanf(filepath.Base(r.file), "%d.json", &n); err == nil {
			s.next = max(s.next, n)
		}
		s.queues[r.key()] = append(s.queues[r.key()], r)
	}
	return s, nil
}

// left reads the reports in a folder, the oldest first, and counts those that
// cannot be read.
func left(dir string) (out []*report, broken int, err error) {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, 0, err
	}
	for _, f := range files { // by name, which is by age
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		r := &report{file: filepath.Join(dir, f.Name())}
		if err != nil || json.Unmarshal(text, r) != nil {
			broken++
			continue
		}
		out = append(out, r)
	}
	return out, broken, nil
}

// takeOver moves what waits in another folder here. What is in both after a
// crash is harmless: the server takes one report with one key.
func (s *spool) takeOver(dir string) error {
	reports, _, err := left(dir)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if err := s.put(&report{Session: r.Session, Repo: r.Repo, Body: r.Body, Record: r.Record, Key: r.Key}); err != nil {
			return err
		}
		if err := os.Remove(r.file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, newsPrefix+"*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		all, err := readNews(file)
		for _, n := range all {
			if err == nil {
				err = s.addNews(filepath.Join(s.dir, filepath.Base(file)), n)
			}
		}
		if err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
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
	if err := s.write(r.file, text); err != nil {
		return err
	}
	s.queues[r.key()] = append(s.queues[r.key()], r)
	s.wake()
	return nil
}

// write makes a file, whole or not at all. s is locked.
func (s *spool) write(file string, text []byte) error {
	if !s.made {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return err
		}
		s.made = true
		if s.whose != "" {
			_ = os.WriteFile(filepath.Join(s.dir, whoseFile), []byte(s.whose), 0o600) // else nobody inherits it
		}
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// sign says whose the reports are, for who inherits them.
func (s *spool) sign(whose string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whose = whose; s.made {
		_ = os.WriteFile(filepath.Join(s.dir, whoseFile), []byte(whose), 0o600) // else nobody inherits it
	}
}

func (s *spool) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// run sends reports until ctx ends: sessions side by side, each in order.
func (s *spool) run(ctx context.Context) {
	retry := time.NewTimer(retryEvery)
	defer retry.Stop()
	for {
		s.mu.Lock()
		if len(s.queues) > 0 { // else there is nothing to try again
			retry.Reset(retryEvery)
		}
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
		case <-retry.C:
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
			return // it is tried again
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
type news struct {
	Of   string // the report's key
	Text string
	File string `json:",omitempty"` // the report's: it is told once that is gone, so that a crash tells nothing twice
}

const newsPrefix = "news-"

func (s *spool) newsFile(of wire.EdgeSession) string {
	return filepath.Join(s.dir, newsPrefix+short((&report{Session: of}).key()))
}

// readNews reads a file of news, of which there may be none. What cannot be
// decoded is written anew.
func readNews(file string) (all []news, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil && json.Unmarshal(text, &all) != nil {
		all = nil
	}
	return all, err
}

// keepNews adds what the server said to a report to what its session is to be
// told.
func (s *spool) keepNews(r *report, dedupe, text string) error {
	return s.addNews(s.newsFile(r.Session), news{dedupe, text, r.file})
}

func (s *spool) addNews(file string, add news) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := readNews(file)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(n news) bool { return n.Of == add.Of && add.Of != "" }) {
		return nil // sent again after a crash
	}
	body, err := json.Marshal(append(all, add))
	if err != nil {
		return err
	}
	return s.write(file, body)
}

// takeNews returns what a session is to be told, once.
func (s *spool) takeNews(of wire.EdgeSession) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := s.newsFile(of)
	all, err := readNews(file)
	if err != nil || len(all) == 0 {
		return ""
	}
	var texts []string
	rest := slices.DeleteFunc(all, func(n news) bool {
		if _, err := os.Stat(n.File); err == nil {
			return false
		}
		texts = append(texts, n.Text)
		return true
	})
	if len(rest) == 0 {
		err = os.Remove(file)
	} else if body, encodeErr := json.Marshal(rest); encodeErr != nil || len(texts) == 0 {
		err = encodeErr
	} else {
		err = s.write(file, body)
	}
	if err != nil { // better late than twice
		return ""
	}
	return strings.Join(texts, "\n")
}
