package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/rest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A frame is one event of a stream.
type frame struct{ id, event, data string }

// A stream is an open connection to GET /v1/stream.
type stream struct {
	body   io.ReadCloser
	r      *bufio.Reader
	cancel context.CancelFunc
}

func (s *stream) close() { s.cancel(); s.body.Close() }

// listen opens a stream; query is such as types=a,b.
func listen(t testing.TB, url, token, query, lastID string) *stream {
	t.Helper()
	s, err := tryListen(url, token, query, lastID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

func tryListen(url, token, query, lastID string) (*stream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/v1/stream?"+query, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		res.Body.Close()
		cancel()
		return nil, fmt.Errorf("stream answered %s", res.Status)
	}
	return &stream{res.Body, bufio.NewReader(res.Body), cancel}, nil
}

// next returns the next frame; comments and the retry line are passed over.
func (s *stream) next() (f frame, err error) {
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return f, err // what is not ended by a blank line is no frame
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && f.event != "":
			return f, nil
		case name == "id":
			f.id = value
		case name == "event":
			f.event = value
		case name == "data":
			f.data = value
		}
	}
}

func (s *stream) must(t *testing.T) frame {
	t.Helper()
	f, err := s.next()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAStreamIsAsTheInterfaceSays(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		s := listen(t, w.URL, o.Owner(), "", "")
		name := repo(w, o)
		var got strings.Builder
		for !strings.HasSuffix(got.String(), "}\n\n") {
			line, err := s.r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(line)
		}
		var log struct{ Items []json.RawMessage }
		w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/events?type=repo.registered", Token: o.Owner()}, &log)
		if len(log.Items) != 1 || !strings.Contains(string(log.Items[0]), name) {
			t.Fatalf("the audit log has %s", log.Items)
		}
		want := "retry: 3000\n\nid: 1\nevent: repo.registered\ndata: " + string(log.Items[0]) + "\n\n"
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("stream (-want +got)\n%s", diff)
		}
	})
}

func TestStreamsAreFiltered(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		one, two := repo(w, o), repo(w, o) // events 1 and 2
		project(w, o)                      // 3
		declare(w, o, coord.Owner, two)    // 4
		for _, tt := range []struct {
			query string
			want  string // ids
		}{
			{"types=project.created", "3"},
			{"types=project.created,intent.declared", "3 4"},
			{"types=project.created&types=intent.declared", "3 4"},
			{"repos=" + one, "1"},
			{"repos=" + one + "," + two, "1 2 4"},
			{"repos=github.com/" + two, "2 4"},
			{"repos=" + two + "&types=intent.declared", "4"},
		} {
			owner := o.Users[coord.Owner]
			s := listen(t, w.URL, w.Token(o, &owner, coord.Scopes()...), tt.query, "0") // a token has five streams
			var ids []string
			for range strings.Fields(tt.want) {
				ids = append(ids, s.must(t).id)
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("%s: events %s, want %s", tt.query, got, tt.want)
			}
		}
		if res := w.Do(daemontest.Request{Method: "GET", Path: "/v1/stream?repos=no/such", Token: o.Owner()}); res.Status != 404 {
			t.Errorf("a stream of an unknown repo = %d, want 404", res.Status)
		}
	})
}

func TestAStreamShowsOneOrgOnly(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	ours, theirs := w.Org("Ours"), w.Org("Theirs")
	s := listen(t, w.URL, ours.Owner(), "", "0")
	repo(w, theirs)
	repo(w, ours)
	if f := s.must(t); !strings.Contains(f.data, ours.ID) {
		t.Errorf("we see %s", f.data)
	}
}

// Resuming after an id that the log has not reached, as after a backup was
// restored, must not swallow what comes next.
func TestResumingFromTheFutureIsFromNow(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		repo(w, o)
		s := listen(t, w.URL, o.Owner(), "", "999999")
		repo(w, o)
		if f := s.must(t); f.id != "2" {
			t.Errorf("got event %s, want 2", f.id)
		}
	})
}

func TestShutdownTellsStreamsToReconnect(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	s := listen(t, w.URL, o.Owner(), "", "")
	if _, err := s.r.ReadString('\n'); err != nil { // the retry line: the stream stands
		t.Fatal(err)
	}
	w.Stop()
	if log := w.Log.String(); strings.Contains(log, "did not finish in time") {
		t.Errorf("shutdown waited for a stream:\n%s", log)
	}
	if f := s.must(t); f != (frame{event: "reconnect", data: `{"after_ms":1000}`}) {
		t.Errorf("goodbye = %+v", f)
	}
	if _, err := s.next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the goodbye came %v, want the end", err)
	}
}

// A client that is cut off anywhere, also inside a frame, and resumes after
// the last id it has, sees every event exactly once: across restarts, and on
// PostgreSQL across replicas.
func TestAClientCutOffAnywhereMissesNothing(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		servers := []string{w.URL}
		if strings.HasPrefix(dsn, "postgres") {
			servers = append(servers, w.Replica().URL)
		}
		const writers, each = 4, 30
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() { registerRepos(t, servers[i%len(servers)], o.Owner(), i, each) })
		}
		restarted := make(chan struct{})
		go func() {
			defer close(restarted)
			for n := range 3 {
				awaitEvents(t, w.Store, o.ID, int64((n+1)*writers*each/5))
				w.Restart()
			}
		}()
		rnd := rand.New(rand.NewPCG(1, 2))
		last, cuts := 0, 0
		deadline := time.Now().Add(await.Patience)
		for last < writers*each {
			if time.Now().After(deadline) {
				t.Fatalf("only %d of %d events after %d cuts", last, writers*each, cuts)
			}
			last = followABit(t, rnd, servers[rnd.IntN(len(servers))], o.Owner(), last, writers*each)
			cuts++
		}
		wg.Wait()
		<-restarted
		if cuts < 10 {
			t.Errorf("only %d cuts", cuts)
		}
	})
}

// followABit resumes after last, is cut off after some bytes or at the end,
// and returns the last id seen.
func followABit(t *testing.T, rnd *rand.Rand, url, token string, last, end int) int {
	t.Helper()
	query, header := "", strconv.Itoa(last)
	if rnd.IntN(2) == 0 {
		query, header = "last_event_id="+header, ""
	}
	s, err := tryListen(url, token, query, header)
	if err != nil {
		return last // the server is restarting
	}
	defer s.close()
	s.r = bufio.NewReader(io.LimitReader(s.body, int64(20+rnd.IntN(4000))))
	for last < end {
		f, err := s.next()
		if err != nil || f.event == "reconnect" {
			return last
		}
		if f.id != strconv.Itoa(last+1) {
			t.Fatalf("event %s came after %d", f.id, last)
		}
		last++
	}
	return last
}

// registerRepos makes n events, trying again while the server restarts.
func registerRepos(t *testing.T, url, token string, writer, n int) {
	for i := range n {
		body := fmt.Sprintf(`{"full_name":"acme/%d-%d"}`, writer, i)
		for try := 0; ; try++ {
			req, _ := http.NewRequest("POST", url+"/v1/repos", strings.NewReader(body))
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				res.Body.Close()
				if res.StatusCode == 201 || res.StatusCode == 409 { // 409: it was made, the answer was lost
					break
				}
			}
			if try > 2000 {
				t.Errorf("repo %s cannot be made: %v", body, err)
				return
			}
			time.Sleep(5 * time.Millisecond) // the server is restarting: nothing to wait for but time
		}
	}
}

// awaitEvents waits until an org's log has n events.
func awaitEvents(t *testing.T, s *store.Store, org string, n int64) {
	await.True(t, "the events to be written", func() bool {
		var got int64
		err := s.Read(context.Background(), func(tx *store.Tx) (err error) {
			got, err = tx.LastSeq(context.Background(), org)
			return err
		})
		return err == nil && got >= n
	})
}

// A page is a ResponseWriter that a stream can be read from while it lasts.
type page struct {
	mu     sync.Mutex
	header http.Header
	text   strings.Builder
}

func (p *page) Header() http.Header { return p.header }
func (p *page) WriteHeader(int)     {}
func (p *page) Flush()              {}
func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}
func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func TestAQuietStreamIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := storetest.Open(t)
		log := slog.New(slog.DiscardHandler)
		events := eventlog.New(st, log)
		who := auth.New(st, "http://x")
		h := rest.New(api.New(ops.New(st, events, live.New(st), log, ops.Config{})), who, log, "1").Handler()
		secret := auth.NewToken()
		err := st.Write(t.Context(), "acme", func(tx *store.Tx) error {
			if err := tx.InsertOrg(t.Context(), coord.Org{
				ID:        "acme",
				Slug:      "acme",
				Name:      "Acme",
				DataMode:  coord.DataFull,
				Plan:      "self_hosted",
				CreatedAt: tx.Now,
			}); err != nil {
				return err
			}
			return tx.InsertToken(t.Context(), coord.Token{
				ID:        "t",
				OrgID:     "acme",
				Kind:      coord.ServiceToken,
				Scopes:    coord.ServiceScopes(),
				CreatedAt: tx.Now,
			}, secret.Hash)
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "GET", "/v1/stream", nil)
		r.Header.Set("Authorization", "Bearer "+secret.Text)
		p := &page{header: http.Header{}}
		done := make(chan struct{})
		go func() { defer close(done); h.ServeHTTP(p, r) }()
		time.Sleep(46 * time.Second)
		cancel()
		<-done
		if want := "retry: 3000\n\n: ka\n\n: ka\n\n: ka\n\n"; p.String() != want {
			t.Errorf("46 quiet seconds gave %q, want %q", p, want)
		}
	})
}

// TestATokenHasFiveStreams, and another when one of them ends; other tokens
// have theirs.
func TestATokenHasFiveStreams(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	open := func(token string) (*http.Response, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		req := w.Build(daemontest.Request{Method: "GET", Path: "/v1/stream", Token: token}).WithContext(ctx)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res, cancel
	}
	var end context.CancelFunc
	for i := range 5 {
		res, cancel := open(o.Owner())
		if res.StatusCode != http.StatusOK {
			t.Fatalf("stream %d: %s", i+1, res.Status)
		}
		end = cancel
	}
	if res, _ := open(o.Owner()); res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Errorf("the sixth: %s, Retry-After %q", res.Status, res.Header.Get("Retry-After"))
	}
	if res, _ := open(o.Tokens[coord.Member]); res.StatusCode != http.StatusOK {
		t.Errorf("of another token: %s", res.Status)
	}
	end()
	await.True(t, "room for another", func() bool {
		res, _ := open(o.Owner())
		return res.StatusCode == http.StatusOK
	})
}
