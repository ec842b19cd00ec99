package stories

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// BenchmarkEvaluate: whole pre_edit requests that are allowed, with 100 and
// with 100,000 live claims, against a bare net/http JSON echo, in turns. It
// fails below 0.6 of the echo's throughput, by the processor that each takes,
// and if 100,000 claims take more than 1.5 times what 100 do.
func BenchmarkEvaluate(b *testing.B) {
	for name, dsn := range map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return filepath.Join(t.TempDir(), "svc.db") },
		"postgres": storetest.Postgres,
	} {
		b.Run(name, func(b *testing.B) {
			w := daemontest.Start(b, dsn(b))
			few, many := crowd(b, w, "few", 100), crowd(b, w, "many", 100_000)
			echo := httptest.NewServer(http.HandlerFunc(echoJSON))
			defer echo.Close()
			at := strings.TrimPrefix(w.URL, "http://")
			targets := []*load{
				{name: "echo", addr: strings.TrimPrefix(echo.URL, "http://"), request: few},
				{name: "100", addr: at, request: few},
				{name: "100000", addr: at, request: many},
			}
			for _, t := range targets { // what is loaded once does not count
				t.run(b)
				*t = load{name: t.name, addr: t.addr, request: t.request}
			}
			for b.Loop() {
				for range 12 {
					for _, t := range targets {
						t.run(b)
					}
					w.Log.Clear() // a real one is not kept in memory
				}
			}
			for _, t := range targets {
				slices.Sort(t.took)
				b.ReportMetric(t.rate()/targets[0].rate(), "rate/echo@"+t.name)
				b.ReportMetric(float64(targets[0].cpu)/float64(t.cpu), "echo-cpu/cpu@"+t.name)
				b.ReportMetric(float64(t.cpu.Microseconds())/float64(len(t.took)), "cpu-us@"+t.name)
				b.ReportMetric(float64(t.took[len(t.took)/2].Microseconds()), "p50-us@"+t.name)
				b.ReportMetric(float64(t.took[len(t.took)*99/100].Microseconds()), "p99-us@"+t.name)
				if share := float64(targets[0].cpu) / float64(t.cpu); share < 0.6 {
					b.Errorf("with %s claims a second of processor time answers %.2f of what an echo does, 0.6 is the least", t.name, share)
				}
			}
			growth := float64(targets[2].cpu) / float64(targets[1].cpu)
			b.ReportMetric(growth, "cpu-ratio")
			if growth > 1.5 {
				b.Errorf("with 100,000 claims an edit takes %.2f times what it takes with 100, 1.5 are the most", growth)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// echoJSON is the floor: decode a request, encode an answer.
func echoJSON(w http.ResponseWriter, r *http.Request) {
	var in wire.HookRequest
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(wire.HookReply{Decision: wire.Allow, Conflicts: []wire.HookConflict{}})
}

// crowd makes an org in which others hold n claims, and returns the request of
// an agent in it that edits a free file.
func crowd(b *testing.B, w *daemontest.World, slug string, n int) []byte {
	s := &story{w: w, org: w.Org(slug), people: map[string]*person{}, agents: map[string]*agent{}}
	me, other := s.person("me", coord.Member), s.person("other", coord.Member)
	event := wire.HookRequest{Event: wire.HookSessionStart, Session: wire.HookSession{ExternalID: "x", Tool: "claude_code"},
		Client: wire.HookClient{CLIVersion: "1.0.0", OS: "linux", MachineIDHash: strings.Repeat("ab", 16)},
		Repo: wire.HookRepo{
			RemoteFingerprints: []string{"github.com/acme/api"},
			Branch:             "main",
			WorktreeHash:       "copy",
			HeadSHA:            strings.Repeat("c0", 20),
		}}
	var started wire.HookReply
	w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: me.token, Body: event}, &started)
	var repos wire.Page[coord.Repo]
	w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/repos", Token: s.org.Owner()}, &repos)
	w.Write(s.org.ID, func(ctx context.Context, tx *store.Tx) error {
		for i := 0; i < n; i += 100 {
			row := store.IntentRow{Intent: coord.Intent{
				ID:             uuid.NewString(),
				OrgID:          s.org.ID,
				Number:         i/100 + 1,
				Status:         coord.IntentActive,
				Resume:         coord.IntentActive,
				Title:          "Work",
				Mode:           coord.Shared,
				EffectiveMode:  coord.Shared,
				Repo:           coord.RepoName{ID: repos.Items[0].ID, FullName: "acme/api"},
				Owner:          other.User,
				CreatedAt:      tx.Now,
				LastActivityAt: tx.Now,
				DependsOn:      []string{},
				BlockedBy:      []coord.Blocker{},
			}}
			for j := range 100 {
				row.Scope.Paths = append(row.Scope.Paths, fmt.Sprintf("src/area%d/part%d/file%d.go", i%1900/100, j%10, i+j))
			}
			if err := tx.SaveIntent(ctx, &row); err != nil {
				return err
			}
			if err := tx.Emit(ctx, coord.Event{
				OrgID:   s.org.ID,
				Type:    coord.EventIntentDeclared,
				Actor:   coord.Entity{Kind: "system", ID: "svc"},
				RepoID:  row.Repo.ID,
				Subject: coord.Entity{Kind: "intent", ID: row.ID},
				Payload: map[string]any{},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	event.Event, event.Paths = wire.HookPreEdit, []string{"src/area3/part3/free.go"}
	req := w.Build(daemontest.Request{
		Method: "POST",
		Path:   "/v1/hooks/evaluate",
		Token:  me.token,
		Body:   event,
		Header: map[string]string{"X-Svc-Protocol": "1"},
	})
	var out bytes.Buffer
	if err := req.Write(&out); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// A load sends one request over and over.
type load struct {
	name, addr string
	request    []byte
	took       []time.Duration
	wall, cpu  time.Duration
}

func (l *load) rate() float64 { return float64(len(l.took)) / l.wall.Seconds() }

const (
	connections = 16
	perTurn     = 100 // requests on each connection
)

func (l *load) run(b *testing.B) {
	took := make([][]time.Duration, connections)
	errs := make([]error, connections)
	cpu, start := processorTime(b), time.Now()
	var done sync.WaitGroup
	for i := range connections {
		done.Go(func() { took[i], errs[i] = l.connection() })
	}
	done.Wait()
	l.wall += time.Since(start)
	l.cpu += processorTime(b) - cpu
	for i := range connections {
		if errs[i] != nil {
			b.Fatal(errs[i])
		}
		l.took = append(l.took, took[i]...)
	}
}

func (l *load) connection() (took []time.Duration, err error) {
	conn, err := net.Dial("tcp", l.addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for range perTurn {
		start := time.Now()
		if _, err := conn.Write(l.request); err != nil {
			return nil, err
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
		if res.StatusCode != 200 || !bytes.Contains(body, []byte(`"allow"`)) {
			return nil, fmt.Errorf("%s answered %s: %s", l.name, res.Status, body)
		}
	}
	return took, nil
}

// processorTime returns what the process has used so far: other work on the
// machine does not count.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
