package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/history"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/edge"
	"github.com/svc-hq/svc/internal/tools/drill"
)

// A desk is a machine with an agent and an edge.
type desk struct {
	w     *world
	agent teamtest.Agent
	line  *line
	dir   string
	name  string

	mu      sync.RWMutex // held while the edge is replaced
	edge    *edge.Edge
	wall    time.Duration // by which its clock on the wall is off
	reports int
}

func newDesk(w *world, a teamtest.Agent, i int) *desk {
	d := &desk{w: w, agent: a, line: w.net.line(), name: fmt.Sprint("desk", i)}
	d.dir = filepath.Join(w.dir, d.name)
	w.lines = append(w.lines, d.line)
	d.start()
	return d
}

func (d *desk) start() {
	began := time.Now()
	d.edge = edge.New(edge.Options{Dir: d.dir, Key: "key", Log: slog.New(slog.DiscardHandler), Dial: d.line.dial,
		Jitter: func() time.Duration { return 7 * d.line.good },
		Margin: wire.LeaseMargin - d.w.longLease,
		Boot:   func() time.Duration { return time.Since(began) },
		Wall: func() time.Time {
			d.mu.RLock()
			defer d.mu.RUnlock()
			return time.Now().Add(d.wall)
		}})
}

// kill ends the edge as a signal does: nothing that it says arrives.
func (d *desk) kill() {
	d.line.set(func() { d.line.cut = true })
	d.line.breakOff()
	d.edge.Close()
	d.start()
	d.line.set(func() { d.line.cut = false })
}

// hook sends an event of the agent's host.
func (d *desk) hook(event wire.HookEvent, more map[string]any) (reply wire.HookReply, step wire.EdgeStep, ok bool) {
	q := teamtest.HookRequest(d.agent, event, more)
	body, err := json.Marshal(q.Body)
	if err != nil {
		d.w.Error(err)
		return reply, "", false
	}
	r := httptest.NewRequest(q.Method, wire.EdgePath+q.Path, bytes.NewReader(body))
	r.Header.Set(wire.EdgeKey, "key")
	r.Header.Set(wire.EdgeServer, "http://"+d.w.at.Addr)
	r.Header.Set("Authorization", "Bearer "+d.agent.Token)
	answer := httptest.NewRecorder()
	d.edge.ServeHTTP(answer, r)
	ok = answer.Code == http.StatusOK && json.Unmarshal(answer.Body.Bytes(), &reply) == nil
	return reply, wire.EdgeStep(answer.Header().Get(wire.EdgeAnswer)), ok
}

// ask asks whether a file may be edited.
func (d *desk) ask(path string) {
	q := d.w.book.Ask(path)
	reply, step, ok := d.hook(wire.HookPreEdit, map[string]any{"paths": []string{path}})
	w := d.w
	w.mu.Lock()
	w.done++
	switch {
	case step == wire.EdgeDecided:
		w.here++
	case step == wire.EdgeAsked:
		w.asked++
	}
	if reply.Decision == wire.Block {
		w.denied++
	}
	w.mu.Unlock()
	w.note("%s asks for %s: %s %s %s", d.name, path, reply.Decision, step, reply.Unchecked)
	if ok && reply.Decision != wire.Block && reply.Unchecked == "" {
		q.Allowed(string(step))
	}
}

// report tells of an edit.
func (d *desk) report() {
	d.mu.Lock()
	d.reports++
	n := d.reports
	d.mu.Unlock()
	path := fmt.Sprintf("own/%s/%d.go", d.name, n)
	_, step, ok := d.hook(wire.HookPostEdit, map[string]any{"paths": []string{path}, "dedupe_key": path})
	d.w.mu.Lock()
	d.w.done++
	d.w.mu.Unlock()
	if ok && step == wire.EdgeSpooled {
		d.w.book.Acknowledged(history.Report, path)
	}
	d.w.note("%s reports %s: %s", d.name, path, step)
}

// settle waits until all reports are sent, on a good line.
func (d *desk) settle() {
	d.mu.Lock()
	d.wall = 0
	d.mu.Unlock()
	d.report()
	for range 600 {
		if r := d.edge.Report().Servers; len(r) == 1 && r[0].Spooled == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	d.w.book.Wrong("the reports of %s are not sent after a minute on a good line", d.name)
}

// A stream follows the log and resumes where it was.
type stream struct {
	w      *world
	client *drill.Client
	line   *line
	stop   func()

	mu    sync.Mutex
	ear   history.Ear
	since time.Time // when it was connected
}

const bound = 100 * time.Millisecond // within which a stream hears of what was acknowledged

func newStream(w *world) *stream {
	s := &stream{w: w, client: w.client(w.team.writer, 0)}
	s.line = w.lines[len(w.lines)-1]
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.stop = func() { cancel(); <-done }
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			s.mu.Lock()
			after := s.ear.Last
			s.mu.Unlock()
			if err := s.client.Follow(ctx, w.at, after, s.hear); err != nil {
				w.book.Wrong("%v", err)
				return
			}
			s.mu.Lock()
			s.since = time.Time{}
			s.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return s
}

func (s *stream) hear(id int, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = time.Now()
	}
	return s.ear.Hear(id)
}

// behind reports whether a stream that was there at a moment has not heard an
// event yet.
func (s *stream) behind(id int, then time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.since.IsZero() && s.since.Before(then) && s.ear.Last < id
}
