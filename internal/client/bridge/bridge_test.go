package bridge_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-hq/svc/internal/client/bridge"
)

const token = "svc_secret"

// A host is the other side of the pipes.
type host struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Scanner
	log  *syncBuffer
	done chan error
}

func start(t *testing.T, b *bridge.Bridge) *host {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	h := &host{t, inW, bufio.NewScanner(outR), &syncBuffer{}, make(chan error, 1)}
	h.out.Buffer(nil, 8<<20)
	b.In, b.Out, b.Log = inR, outW, h.log
	if b.Backoff == nil {
		b.Backoff = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}
	}
	go func() {
		h.done <- b.Run(t.Context())
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return h
}

func (h *host) send(format string, args ...any) {
	h.t.Helper()
	if _, err := fmt.Fprintf(h.in, format+"\n", args...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) receive() string {
	h.t.Helper()
	if !h.out.Scan() {
		h.t.Fatalf("the bridge closed its output; log: %s", h.log)
	}
	return h.out.Text()
}

func (h *host) expect(want string) {
	h.t.Helper()
	if got := h.receive(); !strings.Contains(got, want) {
		h.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func to(server string) func() (bridge.Credential, error) {
	return func() (bridge.Credential, error) { return bridge.Credential{Server: server, Token: token}, nil }
}

func TestMessagesGoThereAndBack(t *testing.T) {
	var mu sync.Mutex
	var got []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		got = append(got, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Authorization"),
			r.Header.Get("Content-Type"), r.Header.Get("Accept"),
			r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Mcp-Method"), r.Header.Get("Mcp-Name"), string(body)}, "|"))
		mu.Unlock()
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		switch m.Method {
		case "initialize":
			answer(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, m.ID)
		case "notifications/initialized":
			w.WriteHeader(202)
		default:
			answer(w, "{\n \"jsonrpc\":\"2.0\",\n \"id\":%s,\n \"result\":{}}", m.ID)
		}
	})
	h := start(t, &bridge.Bridge{Login: to(s)})
	h.send(`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}`)
	h.expect(`{"jsonrpc":"2.0","id":"a","result":{"protocolVersion":"2025-11-25"}}`)
	h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	h.expect(`{"jsonrpc":"2.0","id":2,"result":{}}`) // one line, whatever the service sent
	h.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"inböx",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	h.expect(`"id":3`)
	h.in.Close()
	if err := <-h.done; err != nil {
		t.Error(err)
	}
	const common = "POST|/mcp|Bearer svc_secret|application/json|application/json, text/event-stream|"
	want := []string{
		common + `|||{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}`,
		common + `2025-11-25|||{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		common + `2025-11-25|||{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		common + `2026-07-28|tools/call|=?base64?aW5iw7Z4?=|{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"inböx",` +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	}
	// A notification and the request after it may overtake each other.
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAnEventStreamIsUnpacked(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": ka\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done() // a server that forgets to end the stream
	})
	h := start(t, &bridge.Bridge{Login: to(s)})
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
	h.expect(`notifications/progress`)
	h.expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	h.in.Close()
	if err := <-h.done; err != nil {
		t.Error(err)
	}
}

func TestWithoutALoginEachRequestIsAnsweredWithAHint(t *testing.T) {
	var loggedIn atomic.Bool
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { answer(w, `{"jsonrpc":"2.0","id":3,"result":{}}`) })
	h := start(t, &bridge.Bridge{Login: func() (bridge.Credential, error) {
		if loggedIn.Load() {
			return to(s)()
		}
		return bridge.Credential{Server: s}, nil
	}})
	for _, id := range []string{"1", `"x"`} {
		h.send(`{"jsonrpc":"2.0","id":%s,"method":"initialize"}`, id)
		got := h.receive()
		if !strings.Contains(got, `"id":`+id) || !strings.Contains(got, "svc login") {
			t.Errorf("answer = %s", got)
		}
	}
	h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`) // gets no answer
	loggedIn.Store(true)
	h.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	h.expect(`{"jsonrpc":"2.0","id":3,"result":{}}`)
}

func TestARejectedTokenIsReplacedByANewLogin(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer fresh" {
			w.WriteHeader(401)
			return
		}
		answer(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
	var stored atomic.Value
	stored.Store("stale")
	h := start(t, &bridge.Bridge{Login: func() (bridge.Credential, error) {
		return bridge.Credential{Server: s, Token: stored.Load().(string)}, nil
	}})
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	h.expect("rejected the token")
	stored.Store("fresh")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
	h.expect(`"result":{}`)
}

func TestARestartOfTheServerIsWaitedFor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	var once sync.Once
	h := start(t, &bridge.Bridge{
		Login:   to("http://" + addr),
		Backoff: []time.Duration{time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond, time.Second, 2 * time.Second},
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			res, err := http.DefaultTransport.RoundTrip(r)
			once.Do(func() { // the first try fails; then the server comes up
				l, err := net.Listen("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					answer(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
				})}
				go srv.Serve(l)
				t.Cleanup(func() { srv.Close() })
			})
			return res, err
		}),
	})
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
	h.expect(`"result":{}`)
}

// A tool call whose answer was lost may have been carried out: it is never
// sent twice. What only reads is.
func TestALostAnswerIsAskedForAgainOnlyWhenSafe(t *testing.T) {
	var calls atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1)%2 == 0 {
			answer(w, `{"jsonrpc":"2.0","id":2,"result":{}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"jsonrpc\"") // and gone
	})
	h := start(t, &bridge.Bridge{Login: to(s)})
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"intent_declare"}}`)
	h.expect("does not answer")
	if n := calls.Load(); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
	calls.Store(0)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	h.expect(`"id":2,"result":{}`)
}

func TestACancelledRequestIsWithdrawnAndNotAnswered(t *testing.T) {
	begun, withdrawn, told := make(chan bool), make(chan bool), make(chan bool, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "wait_for"):
			close(begun)
			<-r.Context().Done()
			close(withdrawn)
		case strings.Contains(string(body), "cancelled"):
			told <- true
			w.WriteHeader(202)
		default:
			answer(w, `{"jsonrpc":"2.0","id":8,"result":{}}`)
		}
	})
	h := start(t, &bridge.Bridge{Login: to(s)})
	h.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait_for"}}`)
	<-begun
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	<-withdrawn
	<-told
	h.send(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	h.expect(`"id":8`) // nothing for 7 came before it
}

func TestWhatIsNotTheServiceIsTold(t *testing.T) {
	for _, tt := range []struct {
		name, kind, body, want string
		status                 int
	}{
		{"a page", "text/html", "<html>", "is not the service", 200},
		{
			"a problem",
			"application/problem+json",
			`{"type":"urn:svc:problem:forbidden","detail":"this needs a token with scope mcp:tools"}`,
			"scope mcp:tools",
			403,
		},
		{"an error of the protocol", "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, `"code":-32601`, 404},
		{"a redirect", "text/plain", "", "302", 302},
		{"JSON of somebody else", "application/json", `{"ok":true}`, "is not the service", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				w.Header().Set("Location", "https://elsewhere.example")
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			})
			h := start(t, &bridge.Bridge{Login: to(s)})
			h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
			h.expect(tt.want)
		})
	}
}

func TestNonsenseFromTheHost(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { answer(w, `{"jsonrpc":"2.0","id":1,"result":{}}`) })
	h := start(t, &bridge.Bridge{Login: to(s)})
	h.send(`{"jsonrpc":`)
	h.expect(`"id":null,"error":{"code":-32700`)
	h.send("")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	h.expect(`"result":{}`)
}

func TestDebugShowsMessagesButNoToken(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { answer(w, `{"jsonrpc":"2.0","id":1,"result":{}}`) })
	h := start(t, &bridge.Bridge{Login: to(s), Debug: true})
	h.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	h.expect(`"result":{}`)
	h.in.Close()
	<-h.done
	if log := h.log.String(); !strings.Contains(log, `> {"jsonrpc":"2.0","id":1,"method":"ping"}`) || strings.Contains(log, token) {
		t.Errorf("log = %s", log)
	}
}

func serve(t *testing.T, f http.HandlerFunc) string {
	s := httptest.NewServer(f)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

func answer(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, format, args...)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// Agent hosts put all they are given before a model, and get words alone. Any
// other client gets the records too.
func TestAgentHostsAreServedForTheirModel(t *testing.T) {
	for name, want := range map[string]string{"claude-code": "/mcp?for=model", "codex-mcp-client": "/mcp?for=model", "mcp-inspector": "/mcp"} {
		s := serve(t, tellURL)
		h := start(t, &bridge.Bridge{Login: to(s)})
		h.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":%q}}}`, name)
		h.expect(fmt.Sprintf("%q", want))
		h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		h.expect(fmt.Sprintf("%q", want))
	}
	s := serve(t, tellURL)
	h := start(t, &bridge.Bridge{Login: to(s)})
	h.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"Gemini CLI"}}}}`)
	h.expect(`"/mcp?for=model"`)
}

func tellURL(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"at":%q}}`, r.URL.String())
}
