//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
)

var decisions = flag.Int("decisions", 400, "how many edits the history of killed and frozen processes has")

// A fate is a history of real processes: svcd, and two people's machines whose
// edges are killed with -9 or frozen for longer than a lease, while somebody
// takes claims.
type fate struct {
	t     *testing.T
	team  *server
	boxes []*box

	claims  atomic.Int64 // files below this one are claimed, and that was acknowledged
	edits   atomic.Int64
	here    atomic.Int64 // decided on a person's machine
	refused atomic.Int64
	faults  atomic.Int64
}

// A box is a person's machine.
type box struct {
	*far
	fate    *fate
	name    string
	token   string
	reports int
}

func (f *fate) path(i int64) string { return fmt.Sprintf("src/f%d.go", i) }

// ask sends an event to the machine's edge, as svc hook does.
func (m *box) ask(event wire.HookEvent, more map[string]any) (reply wire.HookReply, step wire.EdgeStep) {
	s, ok := m.service()
	if !ok {
		return reply, ""
	}
	key, err := os.ReadFile(filepath.Join(m.home, ".local", "share", "svc", "local", wire.LocalToken))
	if err != nil {
		return reply, ""
	}
	body := map[string]any{"event": event, "session": map[string]any{"external_id": m.name, "tool": "claude_code"},
		"repo": map[string]any{"remote_fingerprints": []string{farRepo}, "branch": m.name, "worktree_hash": m.name}}
	for k, v := range more {
		body[k] = v
	}
	text, err := json.Marshal(body)
	if err != nil {
		m.t.Error(err)
		return reply, ""
	}
	req, err := http.NewRequest("POST", s.Server+wire.EdgePath+"/v1/hooks/evaluate", bytes.NewReader(text))
	if err != nil {
		m.t.Error(err)
		return reply, ""
	}
	req.Header.Set(wire.EdgeKey, strings.TrimSpace(string(key)))
	req.Header.Set(wire.EdgeServer, "https://"+m.line.Addr)
	req.Header.Set("Authorization", "Bearer "+m.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply, "" // killed
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || json.NewDecoder(res.Body).Decode(&reply) != nil {
		return reply, ""
	}
	return reply, wire.EdgeStep(res.Header.Get(wire.EdgeAnswer))
}

func (m *box) work(r *rand.Rand) {
	f := m.fate
	for f.edits.Add(1) <= int64(*decisions) || f.claims.Load() < 5 || f.faults.Load() < 6 {
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond) // as agents do
		known := f.claims.Load()                                 // acknowledged before the edit is asked for
		at := known + r.Int64N(20)
		if known > 0 && r.IntN(3) > 0 {
			at = max(0, known-1-r.Int64N(3))
		}
		reply, step := m.ask(wire.HookPreEdit, map[string]any{"paths": []string{f.path(at)}})
		switch {
		case step == "":
			time.Sleep(5 * time.Millisecond) // there is no edge right now
			continue
		case reply.Decision == wire.Block:
			f.refused.Add(1)
		case at < known && reply.Unchecked == "":
			f.t.Errorf("%s was allowed (%s) after its claim was acknowledged", f.path(at), step)
		}
		if step == wire.EdgeDecided {
			f.here.Add(1)
		}
		if r.IntN(10) == 0 {
			m.report()
		}
	}
}

// report tells of an edit until the edge has taken it, as a host that runs the
// hook again would.
func (m *box) report() {
	m.reports++
	more := map[string]any{"paths": []string{m.own(m.reports)}, "dedupe_key": fmt.Sprintf("%s %d", m.name, m.reports)}
	await.True(m.t, "a report is taken", func() bool {
		_, step := m.ask(wire.HookPostEdit, more)
		return step == wire.EdgeSpooled || step == wire.EdgeAsked
	})
}

func (m *box) own(n int) string { return fmt.Sprintf("own/%s/%d.go", m.name, n) }

// suffer kills and freezes until the work is done.
func (m *box) suffer(r *rand.Rand, done <-chan struct{}) {
	wait := func(d time.Duration) bool {
		select {
		case <-done:
			return false
		case <-time.After(d):
			return true
		}
	}
	f := m.fate
	for wait(time.Duration(500+r.IntN(3000)) * time.Millisecond) {
		s, ok := m.service()
		if !ok {
			m.try("", "svc", "edge", "start")
			continue
		}
		f.faults.Add(1)
		switch r.IntN(3) {
		case 0:
			_ = syscall.Kill(s.PID, syscall.SIGKILL)
			m.try("", "svc", "edge", "start")
		case 1: // longer than a lease
			_ = syscall.Kill(s.PID, syscall.SIGSTOP)
			wait(wire.LeaseTime + time.Duration(r.IntN(1000))*time.Millisecond)
			_ = syscall.Kill(s.PID, syscall.SIGCONT)
		case 2: // shorter
			_ = syscall.Kill(s.PID, syscall.SIGSTOP)
			wait(time.Duration(r.IntN(2000)) * time.Millisecond)
			_ = syscall.Kill(s.PID, syscall.SIGCONT)
		}
	}
}

func (f *fate) claimAll(r *rand.Rand, done <-chan struct{}) {
	for i := int64(0); ; i++ {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(r.IntN(300)) * time.Millisecond):
		}
		body := fmt.Sprintf(`{"title":"Take %s","repo":%q,"mode":"exclusive","scope":{"paths":[%q]}}`, f.path(i), farRepo, f.path(i))
		f.team.post("/v1/intents", body, nil)
		f.claims.Store(i + 1)
	}
}

// Edges that are killed with -9 and frozen allow nothing that an acknowledged
// claim forbids, and lose no report; neither does a server that is killed.
func TestKilledAndFrozenEdges(t *testing.T) {
	data, bin := t.TempDir(), program(t, "svcd")
	team := newServer(t, data)
	team.stop()
	svcd := runServer(t, bin, data, "")
	team.URL = svcd.url
	f := &fate{t: t, team: team}
	for i := range 2 {
		l := newFar(t, team)
		m := &box{far: l, fate: f, name: fmt.Sprintf("agent-%d", i), token: team.token("bob@example.com")}
		m.run("", "svc", "edge", "start")
		await.True(t, "the edge decides", func() bool {
			_, step := m.ask(wire.HookPreEdit, map[string]any{"paths": []string{"free.go"}})
			return step == wire.EdgeDecided
		})
		f.boxes = append(f.boxes, m)
	}
	done := make(chan struct{})
	var work, rest sync.WaitGroup
	rest.Go(func() { f.claimAll(rand.New(rand.NewPCG(40, 0)), done) })
	for i, m := range f.boxes {
		work.Go(func() { m.work(rand.New(rand.NewPCG(40, uint64(2*i+1)))) })
		rest.Go(func() { m.suffer(rand.New(rand.NewPCG(40, uint64(2*i+2))), done) })
	}
	work.Wait()
	close(done)
	rest.Wait()
	svcd.kill() // what the edges still have to tell waits for the next
	runServerAt(t, strings.TrimPrefix(svcd.url, "http://"), bin, data, "")
	for _, m := range f.boxes {
		m.try("", "svc", "edge", "start")
		m.report()
		await.True(t, "all reports are sent", func() bool { r := m.far.report(); return r.Server != "" && r.Spooled == 0 })
	}
	f.check()
	t.Logf("%d edits, %d decided by edges, %d refused, %d claims, %d kills and freezes", f.edits.Load(), f.here.Load(), f.refused.Load(),
		f.claims.Load(), f.faults.Load())
	if f.here.Load() == 0 || f.refused.Load() == 0 {
		t.Error("the history shows nothing")
	}
}

// check counts how often each report was recorded.
func (f *fate) check() {
	recorded := map[string]int{}
	for cursor := ""; ; {
		var page struct {
			Items      []struct{ Payload wire.ChangePayload }
			NextCursor *string `json:"next_cursor"`
		}
		f.team.send("GET", "/v1/events?type=change.recorded&limit=200"+cursor, "", &page)
		for _, e := range page.Items {
			for _, p := range e.Payload.Paths {
				recorded[p]++
			}
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	for _, m := range f.boxes {
		for n := range m.reports {
			if times := recorded[m.own(n+1)]; times != 1 {
				f.t.Errorf("report %d of %s was recorded %d times", n+1, m.name, times)
			}
		}
	}
}
