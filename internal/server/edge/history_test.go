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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
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

// A history is several edges of a team, of one or two replicas, whose lines,
// clocks and processes fail at random while people take claims.
type history struct {
	*testing.T
	x        *teamtest.Team
	replicas []*daemontest.World
	careless bool

	claims   atomic.Int64 // paths up to this one are claimed, and that was acknowledged
	edits    atomic.Int64
	here     atomic.Int64 // decided by an edge
	refused  atomic.Int64
	wrong    atomic.Int64 // allowed after an acknowledged claim
	reported atomic.Int64
}

const (
	paths  = 60
	enough = 10 // claims, for a history to show something
)

func path(i int64) string { return fmt.Sprintf("api/f%02d.go", i) }

// A machine is a desk in a history: it may be killed between two hooks.
type machine struct {
	*history
	agent  teamtest.Agent
	line   *line
	dir    string
	jumped atomic.Int64 // how far its clock on the wall is off

	mu   sync.RWMutex // held while the edge is replaced
	edge *edge.Edge
}

func (m *machine) start() {
	m.edge = edge.New(edge.Options{Dir: m.dir, Key: "key", Log: slog.New(slog.DiscardHandler), Margin: 40 * time.Millisecond,
		Careless: m.careless, Wall: func() time.Time { return time.Now().Add(time.Duration(m.jumped.Load())) }})
}

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
	ok = w.Code == http.StatusOK && json.Unmarshal(w.Body.Bytes(), &reply) == nil
	return reply, wire.EdgeStep(w.Header().Get(wire.EdgeAnswer)), ok
}

// work edits until there were enough edits.
func (m *machine) work(r *rand.Rand) {
	for m.edits.Add(1) <= int64(*decisions) || m.claims.Load() < enough {
		<-time.After(time.Duration(r.IntN(8)) * time.Millisecond) // as agents do
		known := m.claims.Load()                                  // acknowledged before the edit is asked for
		at := r.Int64N(paths)
		if known > 0 && r.IntN(3) > 0 {
			at = max(0, known-1-r.Int64N(3)) // one of the latest
		}
		reply, step, ok := m.hook(wire.HookPreEdit, map[string]any{"paths": []string{path(at)}})
		if !ok {
			continue // nobody answered: today's outage
		}
		if step == wire.EdgeDecided {
			m.here.Add(1)
		}
		switch {
		case reply.Decision == wire.Block:
			m.refused.Add(1)
		case at < known && reply.Unchecked == "":
			m.wrong.Add(1)
			if !m.careless {
				m.Errorf("%s was allowed (%s) after its claim was acknowledged", path(at), step)
			}
		}
		if r.IntN(20) == 0 {
			key := fmt.Sprintf("%s %d", m.agent.External, m.reported.Add(1))
			_, step, _ := m.hook(wire.HookPostEdit, map[string]any{"paths": []string{fmt.Sprintf("own/%s.go", m.agent.External)}, "dedupe_key": key})
			if step != wire.EdgeSpooled {
				m.Errorf("a report = %q", step)
			}
		}
	}
}

// suffer breaks things until the edits are done.
func (m *machine) suffer(r *rand.Rand, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(r.IntN(150)) * time.Millisecond):
		}
		switch r.IntN(6) {
		case 0, 1: // a partition, some of them longer than a lease
			m.line.cut.Store(true)
			m.line.CloseClientConnections()
			select {
			case <-done:
			case <-time.After(time.Duration(r.IntN(1500)) * time.Millisecond):
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

// claimAll takes claims, each at some replica.
func (h *history) claimAll(r *rand.Rand, done <-chan struct{}) {
	for i := range int64(paths) {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(r.IntN(200)) * time.Millisecond):
		}
		at := h.replicas[r.IntN(len(h.replicas))]
		at.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: h.x.Ada.Token, Body: map[string]any{
			"title": "Claim " + path(i), "repo": teamtest.APIRepo, "scope": map[string]any{"paths": []string{path(i)}}, "mode": "exclusive",
		}}, nil)
		h.claims.Store(i + 1)
	}
}

func runHistory(t *testing.T, dsn string, two, careless bool) *history {
	const ms = time.Millisecond
	times := leases.Times{Lease: 800 * ms, Period: 1600 * ms, Renew: 50 * ms, Hold: 60 * ms}
	x := teamtest.New(t, daemontest.StartWith(t, daemon.Config{Database: dsn, Leases: &times}), "Acme")
	h := &history{T: t, x: x, replicas: []*daemontest.World{x.W}, careless: careless}
	if two {
		h.replicas = append(h.replicas, x.W.Replica())
	}
	var machines []*machine
	for i, p := range []teamtest.Person{x.Bob, x.Cyd, x.Newcomer()} {
		m := &machine{history: h, agent: x.Agent(p, teamtest.APIRepo), line: newLine(t, h.replicas[i%len(h.replicas)].URL), dir: t.TempDir()}
		m.start()
		t.Cleanup(func() { m.edge.Close() })
		machines = append(machines, m)
	}
	done := make(chan struct{})
	var work, rest sync.WaitGroup
	rest.Go(func() { h.claimAll(rand.New(rand.NewPCG(*seed, 0)), done) })
	for i, m := range machines {
		work.Go(func() { m.work(rand.New(rand.NewPCG(*seed, uint64(2*i+1)))) })
		rest.Go(func() { m.suffer(rand.New(rand.NewPCG(*seed, uint64(2*i+2))), done) })
	}
	work.Wait()
	close(done)
	rest.Wait()
	for _, m := range machines { // all is well again: what waits is sent
		m.line.cut.Store(false)
		m.jumped.Store(0)
		m.hook(wire.HookPreEdit, map[string]any{"paths": []string{"own/last.go"}})
		await.True(t, "all reports are sent", func() bool {
			r := m.edge.Report().Servers
			return len(r) == 1 && r[0].Spooled == 0
		})
	}
	t.Logf("%d edits, %d decided by edges, %d refused, %d claims, %d reports, %d wrong", h.edits.Load(), h.here.Load(), h.refused.Load(),
		h.claims.Load(), h.reported.Load(), h.wrong.Load())
	return h
}

// Whatever fails, no edge allows what an acknowledged claim forbids, and every
// report arrives once.
func TestHistories(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		h := runHistory(t, dsn, strings.Contains(dsn, "://"), false)
		var sent int64
		for cursor := ""; ; {
			var page struct {
				Items      []any
				NextCursor *string `json:"next_cursor"`
			}
			at := "/v1/events?type=change.recorded&limit=200" + cursor
			h.x.W.Must(200, daemontest.Request{Method: "GET", Path: at, Token: h.x.Ada.Token}, &page)
			sent += int64(len(page.Items))
			if page.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *page.NextCursor
		}
		if sent != h.reported.Load() {
			t.Errorf("%d reports were recorded of %d", sent, h.reported.Load())
		}
		if h.here.Load() == 0 || h.refused.Load() == 0 || h.claims.Load() == 0 {
			t.Error("the history shows nothing")
		}
	})
}

// Edges that do not heed their leases are found out by the same histories.
func TestHistoriesNeedLeases(t *testing.T) {
	h := runHistory(t, t.TempDir()+"/svc.db", false, true)
	if h.wrong.Load() == 0 {
		t.Error("without leases nothing was allowed that a claim forbids: the histories prove nothing")
	}
}
