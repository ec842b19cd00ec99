package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/svc-hq/svc/internal/history"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
	"github.com/svc-hq/svc/internal/tools/drill"
)

func sorted[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// A team is a database with people in it, made once.
type team struct {
	file   []byte
	writer string // token of who claims
	agents []teamtest.Agent
	people []string // tokens of those who talk
}

var made struct {
	sync.Once
	team
}

// theTeam returns the team, which lived for a moment by a clock like every
// world's.
func theTeam(t *testing.T) team {
	made.Do(func() {
		cryptotest.SetGlobalRandom(t, 1)
		file := filepath.Join(t.TempDir(), "svc.db")
		storetest.Prepare(t, file)
		synctest.Test(t, func(t *testing.T) {
			n := &network{}
			w := daemontest.StartWith(t, daemon.Config{Database: file, MetricsAddr: "off", Listen: n.serve()})
			w.Near = true
			x := teamtest.New(t, w, "Acme")
			made.writer = x.Ada.Token
			for _, p := range []teamtest.Person{x.Bob, x.Cyd, x.Newcomer()} {
				made.agents = append(made.agents, x.Agent(p, teamtest.APIRepo))
			}
			for range 3 {
				made.people = append(made.people, x.Newcomer().Token)
			}
		})
		var err error
		if made.file, err = os.ReadFile(file); err != nil { // all is in it: everybody closed
			t.Fatal(err)
		}
	})
	return made.team
}

// Defects are what a test may plant.
type defects struct {
	longLease time.Duration // an edge keeps its lease so much longer than it may
	lostWakes float64       // the share of commits of which followers are not told
	lazySyncs bool          // commits are acknowledged before the disk has them
}

// A world is a service, its disk, its people and the lines between, by a clock
// that stands still while anything works.
type world struct {
	*testing.T
	team
	defects
	book history.Book
	r    *rand.Rand // of whoever decides what happens next
	net  *network
	disk *disk
	dir  string
	dirs int

	service  *daemon.Daemon
	stopping sync.WaitGroup
	dead     bool      // it does not start any more
	hits     int       // how often the power was cut
	fault    time.Time // when something last was not as it should be

	at      *drill.Server
	writer  *drill.Client
	lines   []*line
	desks   []*desk
	streams []*stream
	work    sync.WaitGroup

	mu     sync.Mutex
	trace  []string
	wakes  *rand.Rand
	claims []claim // acknowledged and held
	said   int
	done   int // operations
	here   int // edits that an edge decided
	asked  int // those that the service did
	denied int
}

type claim struct {
	n                int
	path, ref, title string
}

func newWorld(t *testing.T, seed uint64, bad defects) *world {
	w := &world{T: t, team: theTeam(t), defects: bad, r: rand.New(rand.NewPCG(seed, 1)), wakes: rand.New(rand.NewPCG(seed, 2)),
		net: &network{}, dir: t.TempDir(), at: &drill.Server{Name: "svcd", Addr: "svc.test"}}
	time.Sleep(time.Minute) // the team lived before
	w.newDisk()
	if err := os.WriteFile(w.file(), w.team.file, 0o600); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.writer = w.client(w.team.writer, 15*time.Second)
	for i, a := range w.agents {
		w.desks = append(w.desks, newDesk(w, a, i))
	}
	for range 2 {
		w.streams = append(w.streams, newStream(w))
	}
	w.note("begins")
	return w
}

// client is somebody with a line to the service.
func (w *world) client(token string, most time.Duration) *drill.Client {
	l := w.net.line()
	w.lines = append(w.lines, l)
	return &drill.Client{Token: token, HTTP: &http.Client{Timeout: most, Transport: &http.Transport{DialContext: l.dial,
		MaxIdleConnsPerHost: 64}}}
}

func (w *world) newDisk() {
	if w.disk != nil {
		w.disk.gone()
	}
	w.dirs++
	dir := filepath.Join(w.dir, fmt.Sprint(w.dirs))
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.Fatal(err)
	}
	w.disk = newDisk(dir)
	w.disk.lazy = w.lazySyncs
}

func (w *world) file() string { return filepath.Join(w.disk.dir, "svc.db") }

// start starts the service on its disk.
func (w *world) start() {
	l := w.net.serve()
	d, err := daemon.Start(context.Background(), daemon.Config{Addr: address.String(), PublicURL: "http://" + w.at.Addr, Version: "1.2.3",
		MetricsAddr: "off", Data: w.dir, Database: w.file(), SecretKey: daemontest.SecretKey, Listen: l}, slog.New(slog.DiscardHandler))
	if err != nil {
		w.net.down()
		w.book.Wrong("the service does not start: %v", err)
		w.dead = true
		return
	}
	if w.lostWakes > 0 {
		told := d.Ops.Ground.Store.Committed
		d.Ops.Ground.Store.Committed = func(orgs []string) {
			w.mu.Lock()
			lost := w.wakes.Float64() < w.lostWakes
			w.mu.Unlock()
			if !lost {
				told(orgs)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.service, w.fault = d, time.Now() // leases of the service before may be out for some seconds
}

// note writes down what happens, and when.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, time.Now().Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

// powerCut ends the service as a power cut does: nobody hears of it from that
// moment on, and its disk keeps what was synced. The old one is wound up where
// nobody sees it.
func (w *world) powerCut() {
	w.net.down()
	w.disk.cut()
	for _, l := range w.lines {
		go l.breakOff()
	}
}

// rise starts the service on what is left on its disk.
func (w *world) rise() {
	old, before := w.service, w.disk
	w.stopping.Go(func() { _ = old.Stop() }) // it writes to a disk without power
	w.newDisk()
	if err := before.rise(w.disk.dir, w.r); err != nil {
		w.Fatal(err)
	}
	w.hits++
	w.start()
	w.note("the service is back")
}

// restart stops the service as an operator does.
func (w *world) restart() {
	then := time.Now().Add(12 * time.Second) // whenever the last requests have ended, which an HTTP server looks for by chance
	w.net.down()
	if err := w.service.Stop(); err != nil {
		w.book.Wrong("the service stops with %v", err)
	}
	time.Sleep(time.Until(then))
	w.start()
	w.note("the service was restarted")
}

// say notes how a write went.
func (w *world) say(kind, name string, err error) bool {
	w.mu.Lock()
	w.done++
	w.mu.Unlock()
	var a drill.Answered
	switch {
	case err == nil:
		w.book.Acknowledged(kind, name)
		return true
	case errors.As(err, &a):
		w.book.Refused(a.Status, a.RetryAfter, a.Error())
	default:
		w.book.Lost()
	}
	return false
}

// end checks the history once all is well again.
func (w *world) end() (wrong []error) {
	w.work.Wait()
	if w.dead {
		return w.book.Check(history.Found{})
	}
	for _, l := range w.lines {
		l.set(func() { l.cut, l.silent, l.delay = false, false, 0 })
	}
	for _, d := range w.desks {
		d.settle()
	}
	found, err := w.found()
	if err != nil {
		return []error{err}
	}
	wrong = w.book.Check(found)
	before := w.decisions()
	w.restart()
	for path, said := range w.decisions() {
		if before[path] != said {
			wrong = append(wrong, fmt.Errorf("of %s the service said %q, and %q after it was started anew", path, before[path], said))
		}
	}
	return wrong
}

// decisions asks the service itself for files that are claimed and one that is
// not.
func (w *world) decisions() map[string]string {
	out := map[string]string{}
	paths := []string{"free/one.go"}
	for _, c := range w.claims[max(0, len(w.claims)-8):] {
		paths = append(paths, c.path)
	}
	asker := w.client(w.agents[0].Token, 15*time.Second)
	for _, path := range paths {
		var reply struct{ Decision string }
		q := teamtest.HookRequest(w.agents[0], "pre_edit", map[string]any{"paths": []string{path}})
		if err := asker.Call(w.Context(), w.at, q.Method, q.Path, q.Body, &reply); err != nil {
			reply.Decision = err.Error()
		}
		out[path] = reply.Decision
	}
	return out
}

// found reads what the service has.
func (w *world) found() (f history.Found, err error) {
	ctx := w.Context()
	if f.Intents, err = drill.All[history.FoundIntent](ctx, w.writer, w.at, "/v1/intents?limit=100"); err != nil {
		return f, err
	}
	if f.Events, err = drill.All[history.FoundEvent](ctx, w.writer, w.at, "/v1/events?limit=200"); err != nil {
		return f, err
	}
	changes, err := drill.All[struct{ Payload struct{ Paths []string } }](ctx, w.writer, w.at, "/v1/events?type=change.recorded&limit=200")
	if err != nil {
		return f, err
	}
	for _, c := range changes {
		for _, p := range c.Payload.Paths {
			if strings.HasPrefix(p, "own/") {
				f.Reports = append(f.Reports, p)
			}
		}
	}
	f.Messages, err = drill.Said(ctx, w.writer, w.at)
	return f, err
}

// close winds the world up, inside its clock.
func (w *world) close() {
	for _, s := range w.streams {
		s.stop()
	}
	for _, d := range w.desks {
		d.edge.Close()
	}
	for _, l := range w.lines {
		l.breakOff()
	}
	w.net.down()
	_ = w.service.Stop() // a second time is none
	w.stopping.Wait()
	w.disk.gone()
	os.RemoveAll(w.dir)
}
