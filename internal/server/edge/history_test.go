package edge_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/history"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/edge"
	"github.com/svc-hq/svc/internal/server/leases"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var (
	decisions = flag.Int("decisions", 1500, "how many edits a random history has, at each database")
	seed      = flag.Uint64("seed", 40, "of the random histories")
)

// A team is several edges of a team, of one or two replicas, whose lines,
// clocks and processes fail at random while people take claims.
type team struct {
	*testing.T
	x        *teamtest.Team
	replicas []*daemontest.World
	careless bool
	slow     int // how many times as long leases and failures last

	book     history.Book
	claims   atomic.Int64 // so many were acknowledged
	edits    atomic.Int64
	here     atomic.Int64 // decided by an edge
	refused  atomic.Int64
	reported atomic.Int64
	said     atomic.Int64 // words in the team's channel
	machines []*machine
	waited   int // reports that were not sent when all was well again
}

const (
	kept   = 40 // claims that are held at once
	shared = 6  // files that several edit
	enough = 10 // claims, for a history to show something
)

func path(i int64) string { return fmt.Sprintf("api/f%d.go", i) }

// A machine is a desk in a history: it may be killed between two hooks.
type machine struct {
	*team
	agent  teamtest.Agent
	line   *line
	dir    string
	jumped atomic.Int64 // how far its clock on the wall is off

	reports int            // that this machine's agent made
	unheard []string       // keys of questions that nobody answered, as its hooks keep them
	heard   map[string]int // how often its agent was told something

	mu   sync.RWMutex // held while the edge is replaced
	edge *edge.Edge
	born int // how many there were, with it
}

func (m *machine) start() {
	m.born++
	m.edge = edge.New(edge.Options{Dir: m.dir, Key: "key", Log: slog.New(slog.DiscardHandler), Margin: 40 * time.Millisecond,
		Careless: m.careless, Wall: func() time.Time { return time.Now().Add(time.Duration(m.jumped.Load())) }})
}

// hook sends an event, and keeps what its agent hears.
func (m *machine) hook(event wire.HookEvent, more map[string]any) (reply wire.HookReply, step wire.EdgeStep, ok bool) {
	q := teamtest.HookRequest(m.agent, event, more)
	body, err := json.Marshal(q.Body)
	if err != nil {
		m.Error(err)
		return reply, "", false
	}
	r := httptest.NewRequest(q.Method, wire.EdgePath+q.Path, bytes.NewReader(body))
	r.Header.Set(wire.EdgeKey, "key")
	r.Header.Set(wire.EdgeServer, m.line.URL)
	r.Header.Set("Authorization", "Bearer "+m.agent.Token)
	w := httptest.NewRecorder()
	m.mu.RLock()
	defer m.mu.RUnlock()
	m.edge.ServeHTTP(w, r)
	if ok = w.Code == http.StatusOK && json.Unmarshal(w.Body.Bytes(), &reply) == nil; ok {
		m.hear(reply)
	}
	return reply, wire.EdgeStep(w.Header().Get(wire.EdgeAnswer)), ok
}

var word = regexp.MustCompile(`\bword-[0-9]+\.`)

// hear counts what an answer says.
func (m *machine) hear(reply wire.HookReply) {
	for _, w := range word.FindAllString(reply.InjectContext, -1) {
		m.heard[w]++
	}
	for line := range strings.SplitSeq(reply.InjectContext, "\n") {
		if strings.HasPrefix(line, "svc CF-") {
			m.heard[line]++
		}
	}
}

// work edits until there were enough edits.
func (m *machine) work(r *rand.Rand) {
	for m.edits.Add(1) <= int64(*decisions) || m.claims.Load() < enough {
		<-time.After(time.Duration(r.IntN(8)) * time.Millisecond) // as agents do
		known := m.claims.Load()                                  // acknowledged before the edit is asked for
		at := known + r.Int64N(kept)
		if known > 0 && r.IntN(3) > 0 {
			at = max(0, known-1-r.Int64N(3)) // one of the latest
		}
		key := uuid.NewString()
		asked := m.book.Ask(path(at))
		reply, step, ok := m.hook(wire.HookPreEdit, map[string]any{"paths": []string{path(at)}, "dedupe_key": key})
		if !ok || reply.Unchecked != "" {
			m.unheard = append(m.unheard, key)
		}
		if !ok {
			continue // nobody answered: today's outage
		}
		if step == wire.EdgeDecided {
			m.here.Add(1)
		}
		switch {
		case reply.Decision == wire.Block:
			m.refused.Add(1)
		case reply.Unchecked == "" && asked.Allowed(string(step)) && !m.careless:
			m.Errorf("%s was allowed (%s) after its claim was acknowledged; %s", path(at), step, m.evidence(path(at)))
		}
		if r.IntN(20) == 0 {
			m.report(fmt.Sprintf("shared/f%d.go", r.IntN(shared)))
		}
	}
}

// evidence is what the service itself says of a file, for whoever has to find
// out why an edge allowed an edit of it.
func (m *machine) evidence(path string) string {
	asked := m.replicas[0].Do(teamtest.HookRequest(m.agent, wire.HookPreEdit, map[string]any{"paths": []string{path}}))
	return fmt.Sprintf("to %s, by its edge number %d. The service: %s", m.agent.External, m.born, asked.Body)
}

// report tells of an edit of a file that others edit, too, and of one that
// nobody else has.
func (m *machine) report(path string) {
	m.reports++
	m.reported.Add(1)
	_, step, _ := m.hook(wire.HookPostEdit, map[string]any{"paths": []string{path, m.own(m.reports)}, "dedupe_key": uuid.NewString(),
		"unheard": m.unheard[max(0, len(m.unheard)-20):]})
	if step != wire.EdgeSpooled {
		m.Errorf("a report = %q", step)
	}
	m.book.Acknowledged(history.Report, m.own(m.reports))
	m.unheard = nil
}

// own is a file of one report.
func (m *machine) own(n int) string { return fmt.Sprintf("own/%s/%d.go", m.agent.External[:8], n) }

// suffer breaks things until the edits are done.
func (m *machine) suffer(r *rand.Rand, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(m.ms(r.IntN(800))): // long enough for a lease
		}
		switch r.IntN(6) {
		case 0, 1: // a partition, some of them longer than a lease
			m.line.cut.Store(true)
			m.line.CloseClientConnections()
			select {
			case <-done:
			case <-time.After(m.ms(r.IntN(1500))):
			}
			m.line.cut.Store(false)
		case 2: // frames and answers are lost
			m.line.CloseClientConnections()
		case 3: // the clock on the wall jumps
			m.jumped.Store(int64(time.Duration(r.IntN(7200)-3600) * time.Second))
		case 4: // the edge is killed
			m.mu.Lock()
			m.edge.Close()
			m.start()
			m.mu.Unlock()
		}
	}
}

// claimAll takes claims, each at some replica, and gives the oldest up.
func (h *team) claimAll(r *rand.Rand, done <-chan struct{}) {
	var held []string
	for i := int64(0); ; i++ {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(r.IntN(200)) * time.Millisecond):
		}
		var made struct{ Intent struct{ Ref string } }
		h.insist(h.replicas[r.IntN(len(h.replicas))], 201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: h.x.Ada.Token,
			Body: map[string]any{"title": "Claim " + path(i), "repo": teamtest.APIRepo, "mode": "exclusive",
				"scope": map[string]any{"paths": []string{path(i)}}}}, &made)
		h.book.Claimed(path(i))
		h.claims.Store(i + 1)
		if held = append(held, made.Intent.Ref); len(held) > kept {
			h.book.Free(path(i + 1 - int64(len(held))))
			h.insist(h.x.W, 200, daemontest.Request{Method: "POST", Path: "/v1/intents/" + held[0] + "/close", Token: h.x.Ada.Token,
				Body: map[string]any{"outcome": "abandoned"}}, nil)
			held = held[1:]
		}
	}
}

// insist sends a request until a busy service has taken it.
func (h *team) insist(at *daemontest.World, status int, r daemontest.Request, out any) {
	var res daemontest.Response
	for range 20 {
		if res = at.Do(r); res.Status != http.StatusServiceUnavailable {
			break
		}
	}
	if res.Status != status || out != nil && json.Unmarshal(res.Body, out) != nil {
		h.Errorf("%s %s = %d: %s", r.Method, r.Path, res.Status, res.Body)
	}
}

// talk has people say something in the team's channel, now and then: each no
// more than a person may.
func (h *team) talk(r *rand.Rand, people []teamtest.Person, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(1000+r.IntN(2000)) * time.Millisecond):
		}
		n := h.said.Load()
		if n == int64(len(people))*200 { // so many a person may say in a day, and a long history lasts
			return
		}
		h.insist(h.x.W, 201, daemontest.Request{Method: "POST", Path: "/v1/messages", Token: people[n%int64(len(people))].Token,
			Body: map[string]any{"to": "channel:team", "body": fmt.Sprintf("word-%d.", n)}}, nil)
		h.said.Add(1)
	}
}

func (h *team) ms(n int) time.Duration { return time.Duration(n*h.slow) * time.Millisecond }

// slower plays histories until one shows something. On a machine that has much
// else to do leases may be over before they arrive: then they last longer.
func slower(t *testing.T, play func(t *testing.T, slow int) (shows bool)) {
	for slow := 1; slow <= 64; slow *= 4 {
		shows := false
		t.Run(fmt.Sprintf("%d times as slow", slow), func(t *testing.T) { shows = play(t, slow) })
		if shows || t.Failed() {
			return
		}
	}
	t.Error("the histories show nothing")
}

func runHistory(t *testing.T, dsn string, two, careless bool, slow int) *team {
	h := &team{T: t, careless: careless, slow: slow}
	times := leases.Times{Lease: h.ms(800), Period: h.ms(1600), Renew: h.ms(50), Hold: h.ms(60)}
	x := teamtest.New(t, daemontest.StartWith(t, daemon.Config{Database: dsn, Leases: &times}), "Acme")
	h.x, h.replicas = x, []*daemontest.World{x.W}
	if two {
		h.replicas = append(h.replicas, x.W.Replica())
	}
	for i, p := range []teamtest.Person{x.Bob, x.Cyd, x.Newcomer()} {
		m := &machine{team: h, agent: x.Agent(p, teamtest.APIRepo), line: newLine(t, h.replicas[i%len(h.replicas)].URL), dir: t.TempDir(),
			heard: map[string]int{}}
		m.start()
		t.Cleanup(func() { m.edge.Close() })
		h.machines = append(h.machines, m)
	}
	people := []teamtest.Person{x.Newcomer(), x.Newcomer(), x.Newcomer()} // before anything fails
	done := make(chan struct{})
	var work, rest sync.WaitGroup
	rest.Go(func() { h.claimAll(rand.New(rand.NewPCG(*seed, 0)), done) })
	rest.Go(func() { h.talk(rand.New(rand.NewPCG(*seed, 100)), people, done) })
	for i, m := range h.machines {
		work.Go(func() { m.work(rand.New(rand.NewPCG(*seed, uint64(2*i+1)))) })
		rest.Go(func() { m.suffer(rand.New(rand.NewPCG(*seed, uint64(2*i+2))), done) })
	}
	work.Wait()
	close(done)
	rest.Wait()
	for _, m := range h.machines { // all is well again: what waits is sent
		m.line.cut.Store(false)
		m.jumped.Store(0)
		m.report("shared/f0.go")
		m.drain()
	}
	t.Logf("%d edits, %d decided by edges, %d refused, %d claims, %d reports of which %d waited in the end, %d words, %d wrong",
		h.edits.Load(), h.here.Load(), h.refused.Load(), h.claims.Load(), h.reported.Load(), h.waited, h.said.Load(), h.book.Stale())
	return h
}

// drain waits until all reports are sent, for as long as some are: of a long
// history there may be many.
func (m *machine) drain() {
	for first, left := true, 1; left > 0; first = false {
		before := left
		await.True(m, "reports are sent", func() bool {
			if r := m.edge.Report().Servers; len(r) == 1 {
				left = r[0].Spooled
			}
			return first || left == 0 || left < before
		})
		if first {
			m.waited += left
		}
	}
}

// Whatever fails, no edge allows what an acknowledged claim forbids, every
// report arrives once, and every agent hears all that is said to it, once.
func TestHistories(t *testing.T) {
	slower(t, func(t *testing.T, slow int) bool {
		var nothing atomic.Bool
		t.Run("on", func(t *testing.T) { // returns when both have
			storetest.EachDSN(t, func(t *testing.T, dsn string) {
				h := runHistory(t, dsn, strings.Contains(dsn, "://"), false, slow)
				h.checkReports()
				h.checkTold()
				if h.here.Load() == 0 || h.refused.Load() == 0 || h.claims.Load() == 0 {
					nothing.Store(true)
				}
			})
		})
		return !nothing.Load()
	})
}

// pages calls each with every record of a list.
func pages[T any](h *team, path string, each func(T)) {
	for cursor := ""; ; {
		var page struct {
			Items      []T
			NextCursor *string `json:"next_cursor"`
		}
		h.x.W.Must(200, daemontest.Request{Method: "GET", Path: path + cursor, Token: h.x.Ada.Token}, &page)
		for _, item := range page.Items {
			each(item)
		}
		if page.NextCursor == nil {
			return
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// checkReports counts how often each report was recorded.
func (h *team) checkReports() {
	var found history.Found
	pages(h, "/v1/events?type=change.recorded&limit=200", func(e struct{ Payload wire.ChangePayload }) {
		for _, p := range e.Payload.Paths {
			if strings.HasPrefix(p, "own/") {
				found.Reports = append(found.Reports, p)
			}
		}
	})
	for _, err := range h.book.Check(found) {
		h.Error(err)
	}
}

// checkTold asks what is left to tell: by now every agent has heard all that was
// said in the channel.
func (h *team) checkTold() {
	for _, m := range h.machines {
		missing := func() (out []int) {
			for i := range int(h.said.Load()) {
				if m.heard[fmt.Sprintf("word-%d.", i)] == 0 {
					out = append(out, i)
				}
			}
			return out
		}
		for before := -1; len(missing()) > 0 && len(missing()) != before; { // a prompt has room for so many
			before = len(missing())
			await.True(h, "a prompt is answered", func() bool {
				_, step, ok := m.hook(wire.HookPrompt, map[string]any{"dedupe_key": uuid.NewString()})
				return ok && step == wire.EdgeAsked
			})
		}
		if never := missing(); len(never) > 0 {
			h.Errorf("%s never heard %v of %d words", m.agent.External, never, h.said.Load())
		}
		for word, times := range m.heard {
			if times != 1 {
				h.Errorf("%s was told %q %d times", m.agent.External, word, times)
			}
		}
	}
	if h.said.Load() == 0 {
		h.Error("nobody had anything to hear")
	}
}

// Edges that do not heed their leases are found out by the same histories.
func TestHistoriesNeedLeases(t *testing.T) {
	if testing.Short() {
		return // make test plays histories
	}
	slower(t, func(t *testing.T, slow int) bool {
		return runHistory(t, t.TempDir()+"/svc.db", false, true, slow).book.Stale() > 0
	})
}
