package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-hq/svc/internal/client/lsp"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/rest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A second is a long time to see somebody else's line change. The service and svc
// lsp run here by a clock that stands still while anything works and goes on when
// all of them wait: what passes is what they wait for, on purpose, between an edit
// and its mark. What the machine takes besides BenchmarkEditor measures.
func TestMarksComeWithinASecond(t *testing.T) {
	dir := gittest.Init(t)
	gittest.Write(t, dir, "notes.txt", numbered(60, 0))
	gittest.Write(t, dir, "other.txt", numbered(9, 0))
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-qm", "files")
	gittest.Run(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	blob := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD:notes.txt"))
	synctest.Test(t, func(t *testing.T) {
		s := newStill(t)
		e := s.editor(dir)
		for _, name := range []string{"other.txt", "notes.txt"} {
			e.open(name)
		}
		time.Sleep(time.Minute) // it has connected, and nothing is left to do
		within := func(what string, most time.Duration, do func(), want ...string) {
			t.Helper()
			synctest.Wait()
			for len(e.marks) > 0 {
				<-e.marks // of before
			}
			began := time.Now()
			do()
			for last := "nothing"; ; {
				select {
				case last = <-e.marks:
				case <-time.After(time.Minute):
					t.Fatalf("%s: the last marks are %s", what, last)
				}
				if last == strings.Join(want, " ") {
					break
				}
			}
			if took := time.Since(began); took > most {
				t.Errorf("%s: the marks came after %v, want %v", what, took, most)
			}
		}
		edit := func(n int, hunks string) func() {
			return func() { s.post("bob", "/v1/hooks/evaluate", editOf(n, "notes.txt", blob, hunks)) }
		}
		const far, near = time.Second, time.Duration(0) // another's edit, one's own
		within("an edit", far, edit(1, `{"start":40,"count":1,"lines_hash":"966d93e2867070f4a4262aff737925a8"}`), "40")
		within("lines above it", near, func() { e.put("notes.txt", 3, 4, "typed\nand typed\n") }, "41")
		within("an edit further down", far, edit(2, `{"start":50,"count":2,"lines_hash":"966d93e2867070f4a4262aff737925a8"}`), "51-52")
		within("an edit of the same place", far, func() { e.put("notes.txt", 51, 52, "mine\n") }, "51-52!")
		within("a claim", far, func() {
			s.post("bob", "/v1/intents", `{"title":"Rewrite the notes","repo":"github.com/acme/shop","scope":{"paths":["notes.txt"]}}`)
		}, "51-52!") // told anew: the lenses show it
		within("the edit undone", far, edit(3, ""))
		e.leave()
	})
}

// A still is a service and its people, by a clock that stands still.
type still struct {
	t       *testing.T
	handler http.Handler
	tokens  map[string]string
}

func newStill(t *testing.T) *still {
	st, log := storetest.Open(t), slog.New(slog.DiscardHandler)
	events, set := eventlog.New(st, log), live.New(st)
	events.Woken = set.Stale
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go events.Run(ctx)
	s := &still{t: t, tokens: map[string]string{}}
	s.handler = rest.New(api.New(ops.New(st, events, set, log, ops.Config{})), auth.New(st, "http://localhost"), log, "1").Handler()
	err := st.Write(t.Context(), "acme", func(tx *store.Tx) error {
		ctx := t.Context()
		err := tx.InsertOrg(ctx, coord.Org{ID: "acme", Slug: "acme", Name: "Acme", DataMode: coord.DataFull, Plan: "self_hosted",
			CreatedAt: tx.Now})
		for _, name := range []string{"olga", "bob"} {
			secret := auth.NewToken()
			s.tokens[name] = secret.Text
			err = errors.Join(err, tx.InsertUser(ctx, coord.User{ID: name, Email: name + "@example.com", Name: name}),
				tx.InsertMember(ctx, "acme", name, coord.Owner),
				tx.InsertToken(ctx, coord.Token{ID: name, OrgID: "acme", Kind: coord.PersonalToken, UserID: &name, Scopes: coord.Scopes(),
					CreatedAt: tx.Now}, secret.Hash))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.post("olga", "/v1/repos", `{"full_name":"acme/shop","provider":"github"}`)
	return s
}

func (s *still) client(name string) *remote.Client {
	c, err := remote.New("http://localhost", s.tokens[name], remote.Options{Transport: s})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *still) post(name, path, body string) {
	s.t.Helper()
	if err := s.client(name).Send(s.t.Context(), "POST", path, json.RawMessage(body), nil); err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
}

// RoundTrip answers without a network, which would let no clock stand still.
func (s *still) RoundTrip(r *http.Request) (*http.Response, error) {
	body, to := io.Pipe()
	w := &piped{to: to, header: http.Header{}, begun: make(chan int, 1)}
	ctx, cancel := context.WithCancel(r.Context())
	context.AfterFunc(ctx, func() { to.CloseWithError(ctx.Err()) })
	if r.Body == nil {
		r.Body = http.NoBody
	}
	go func() {
		defer cancel()
		s.handler.ServeHTTP(w, r.WithContext(ctx))
		w.WriteHeader(http.StatusOK)
		to.Close()
	}()
	status := <-w.begun
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: w.sent, Body: body, Request: r}, nil
}

// A piped is an answer that is read while it is written.
type piped struct {
	to     *io.PipeWriter
	header http.Header
	sent   http.Header
	begun  chan int
}

func (p *piped) Header() http.Header { return p.header }
func (p *piped) Flush()              { p.WriteHeader(http.StatusOK) }

func (p *piped) WriteHeader(status int) {
	if p.sent == nil {
		p.sent = p.header.Clone()
		p.begun <- status
	}
}

func (p *piped) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.to.Write(b)
}

// A stillEditor has svc lsp in it.
type stillEditor struct {
	*editor
	marks chan string // where they are, and ! where git will not merge
	done  chan error
}

// silent tells nobody what is typed.
type silent struct{}

func (silent) Tell(context.Context, map[string][]byte) error { return nil }
func (silent) Session() string                               { return "" }
func (silent) End(context.Context)                           {}

func (s *still) editor(dir string) *stillEditor {
	in, typed := io.Pipe()
	said, out := io.Pipe()
	e := &stillEditor{&editor{t: s.t, dir: dir, in: typed, texts: map[string]string{}}, make(chan string, 100), make(chan error, 1)}
	w := lsp.World{In: in, Out: out, Now: time.Now, Log: func(err error) { s.t.Log(err) }, Connect: func(string) (lsp.Service, error) {
		return lsp.Service{Client: s.client("olga"), Repo: "github.com/acme/shop", Copy: "here", Typist: silent{},
			Saved: func(context.Context, []string) error { return nil }, End: func(context.Context) {}}, nil
	}}
	go func() {
		e.done <- w.Run(s.t.Context())
		out.Close()
	}()
	s.t.Cleanup(func() { typed.Close() })
	go e.hear(bufio.NewReader(said))
	e.send(map[string]any{"id": 1, "method": "initialize", "params": map[string]any{}})
	return e
}

func (e *stillEditor) hear(said *bufio.Reader) {
	for {
		m, err := readMessage(said)
		if err != nil {
			return
		}
		if m.Method != "textDocument/publishDiagnostics" {
			continue
		}
		var p struct{ Diagnostics []lspMark }
		_ = json.Unmarshal(m.Params, &p)
		var at []string
		for _, d := range p.Diagnostics {
			place := fmt.Sprint(d.Range.Start.Line + 1)
			if d.Range.End.Line > d.Range.Start.Line+1 {
				place += fmt.Sprint("-", d.Range.End.Line)
			}
			if d.Severity == 2 {
				place += "!"
			}
			at = append(at, place)
		}
		e.marks <- strings.Join(at, " ")
	}
}

func (e *stillEditor) leave() {
	e.send(map[string]any{"id": 2, "method": "shutdown"})
	e.notify("exit", nil)
	if err := <-e.done; err != nil {
		e.t.Error(err)
	}
}
