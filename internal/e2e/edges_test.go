package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/badline"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/edge"
)

// realServer runs svcd as a process of its own, with Olga at its dashboard and
// repositories acme/r0, acme/r1 and so on.
func realServer(b *testing.B, repos int) (*server, int) {
	data := b.TempDir()
	team := newServer(b, data)
	team.stop()
	p := runServer(b, program(b, "svcd"), data, "")
	team.URL = p.url
	for i := range repos {
		team.post("/v1/repos", fmt.Sprintf(`{"full_name":"acme/r%d","provider":"github"}`, i), nil)
	}
	return team, p.cmd.Process.Pid
}

func (s *server) claim(repo int, path string) time.Duration {
	began := time.Now()
	s.post("/v1/intents", fmt.Sprintf(`{"title":"Take %s","repo":"github.com/acme/r%d","mode":"exclusive","scope":{"paths":[%q]}}`,
		path, repo, path), nil)
	return time.Since(began)
}

func hookBody(b *testing.B, repo int, agent string, event wire.HookEvent, more map[string]any) []byte {
	body := map[string]any{"event": event, "session": map[string]any{"external_id": agent, "tool": "claude_code"},
		"repo": map[string]any{"remote_fingerprints": []string{fmt.Sprintf("github.com/acme/r%d", repo)}, "branch": agent,
			"worktree_hash": agent}}
	for k, v := range more {
		body[k] = v
	}
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkClaimWithEdges measures an exclusive claim in a repository that forty
// machines follow at 80 ms, over TLS, against the same with all forty beside the
// server, since they share this machine: one round trip to the farthest more,
// and the lease if one of them has died.
func BenchmarkClaimWithEdges(b *testing.B) {
	const edges, trip, claims = 40, 80 * time.Millisecond, 20
	team, _ := realServer(b, 1)
	front, err := badline.NewFront(team.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = front.Close() })
	roots := filepath.Join(b.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, front.Authority, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("SSL_CERT_FILE", roots)
	var lines []*badline.Line
	for range 2 { // one for the edge that dies, one for the others
		line, err := badline.New(front.Addr)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(line.Close)
		lines = append(lines, line)
	}
	taken := 0
	claim := func() time.Duration {
		took := make([]time.Duration, claims)
		for i := range took {
			taken++
			took[i] = team.claim(0, fmt.Sprintf("shared/%d.go", taken))
		}
		return usual(took)
	}
	alone := claim()
	token := team.token("bob@example.com")
	for i := range edges {
		e := edge.New(edge.Options{Dir: b.TempDir(), Key: "key", Log: slog.New(slog.DiscardHandler)})
		b.Cleanup(e.Close)
		line := lines[min(i, 1)]
		await.True(b, "the edge decides", func() bool {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("POST", wire.EdgePath+"/v1/hooks/evaluate", bytes.NewReader(
				hookBody(b, 0, fmt.Sprintf("agent-%d", i), wire.HookPreEdit, map[string]any{"paths": []string{"free.go"}})))
			r.Header.Set(wire.EdgeKey, "key")
			r.Header.Set(wire.EdgeServer, "https://"+line.Addr)
			r.Header.Set(wire.EdgeBudget, "3000")
			r.Header.Set("Authorization", "Bearer "+token)
			e.ServeHTTP(w, r)
			return w.Header().Get(wire.EdgeAnswer) == string(wire.EdgeDecided)
		})
	}
	for b.Loop() {
		near := claim()
		for _, l := range lines {
			l.Set(badline.Away(trip))
		}
		figure(b, float64(alone.Microseconds())/1000, 1000, "ms-without-edges")
		figure(b, float64(near.Microseconds())/1000, 1000, "ms-with-edges-beside-it")
		figure(b, float64(claim())/float64(near+trip), 1.1, "ratio-to-one-trip")
		lines[0].Silence(true)
		dead := team.claim(0, "dead.go")
		lines[0].Silence(false)
		figure(b, float64(dead)/float64(near+trip+wire.LeaseTime), 1.1, "ratio-to-one-lease")
	}
}

// BenchmarkThousandEdges compares what following costs the server of a thousand
// machines, each with an agent at work, with what the hooks of a thousand agents
// cost it that ask it themselves: four edits a minute, each with the question
// before and the report after. It is processor time of svcd for each request,
// and as many as there would be on a machine that has the time.
func BenchmarkThousandEdges(b *testing.B) {
	const agents, repos, tokens, span = 1000, 20, 40, 10 * time.Second
	team, pid := realServer(b, repos)
	load := &crowd{b: b, team: team}
	load.http.Transport = &http.Transport{MaxIdleConnsPerHost: agents}
	for range tokens {
		load.tokens = append(load.tokens, team.token("bob@example.com"))
	}
	for i := range agents {
		load.send(i, "/v1/hooks/evaluate", hookBody(b, i%repos, load.agent(i), wire.HookSessionStart, nil), nil)
	}
	measure := func(run func(stop <-chan struct{}) *sync.WaitGroup) float64 {
		stop := make(chan struct{})
		running := run(stop)
		time.Sleep(2 * time.Second) // the first questions bring the whole copy
		before := usage(b, pid).cpu
		load.sent.Store(0)
		time.Sleep(span)
		each := (usage(b, pid).cpu - before).Seconds() / float64(load.sent.Load())
		b.Logf("%d requests in %v, %.2f ms each", load.sent.Load(), span, 1000*each)
		close(stop)
		running.Wait()
		return each
	}
	for b.Loop() {
		follow := measure(func(stop <-chan struct{}) *sync.WaitGroup { return load.follow(agents, repos, stop) })
		hooks := measure(func(stop <-chan struct{}) *sync.WaitGroup { return load.edit(agents, repos, stop) })
		follow *= agents / wire.FollowHold.Seconds()
		hooks *= agents * 2 / editEvery.Seconds()
		b.ReportMetric(100*follow, "%cpu-1000-edges")
		b.ReportMetric(100*hooks, "%cpu-1000-agents")
		figure(b, follow/hooks, 1, "ratio")
	}
}

const editEvery = 15 * time.Second

// A crowd is a thousand machines at once.
type crowd struct {
	b      *testing.B
	team   *server
	tokens []string
	http   http.Client
	sent   atomic.Int64
}

func (c *crowd) agent(i int) string { return fmt.Sprintf("agent-%d", i) }

func (c *crowd) send(i int, path string, body []byte, out any) {
	req, err := http.NewRequest("POST", c.team.URL+path, bytes.NewReader(body))
	if err != nil {
		c.b.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.tokens[i%len(c.tokens)])
	res, err := c.http.Do(req)
	if err != nil {
		c.b.Error(err)
		return
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || out != nil && json.Unmarshal(text, out) != nil {
		c.b.Errorf("%s = %s: %s", path, res.Status, text)
	}
	c.sent.Add(1)
}

// follow asks as edges do, each again as soon as it is answered.
func (c *crowd) follow(agents, repos int, stop <-chan struct{}) *sync.WaitGroup {
	var wait sync.WaitGroup
	for i := range agents {
		wait.Go(func() {
			q := wire.FollowWork{Edge: fmt.Sprintf("edge-%04d", i), Remotes: []string{fmt.Sprintf("github.com/acme/r%d", i%repos)},
				Sessions: []wire.EdgeSession{{Tool: "claude_code", ExternalID: c.agent(i)}}}
			for open := true; open; {
				body, err := json.Marshal(q)
				if err != nil {
					c.b.Error(err)
					return
				}
				var f wire.WorkFrame
				c.send(i, "/v1/work/follow", body, &f)
				q.Epoch, q.Seen, q.Next, q.Mark = f.Epoch, f.At, f.Next, f.Mark
				select {
				case <-stop:
					open = false
				default:
				}
			}
		})
	}
	return &wait
}

// edit asks and reports, each agent four times a minute.
func (c *crowd) edit(agents, repos int, stop <-chan struct{}) *sync.WaitGroup {
	var wait sync.WaitGroup
	for i := range agents {
		wait.Go(func() {
			next := time.After(editEvery * time.Duration(i) / time.Duration(agents))
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-next:
				}
				next = time.After(editEvery)
				more := map[string]any{"paths": []string{fmt.Sprintf("src/%d.go", i)}}
				c.send(i, "/v1/hooks/evaluate", hookBody(c.b, i%repos, c.agent(i), wire.HookPreEdit, more), nil)
				more["dedupe_key"] = fmt.Sprintf("%d %d", i, n)
				c.send(i, "/v1/hooks/evaluate", hookBody(c.b, i%repos, c.agent(i), wire.HookPostEdit, more), nil)
			}
		})
	}
	return &wait
}
