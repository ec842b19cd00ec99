//go:build unix

package hosttest

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A call is a tool call that the model makes: with named arguments, or with
// free text where the host's tool takes that. A call without a tool says text.
type call struct {
	tool string
	args map[string]any
	text string
}

// A turn is one answer of the model. Before it answers, look sees what the
// host sent that it had not sent before.
type turn struct {
	look func(fresh string)
	call call
}

// A model is a server on loopback that speaks the protocols of the hosts'
// model providers and follows a script: the turn is told by how many results
// of tools the host sends along, so a request that is repeated gets the same
// answer.
type model struct {
	URL  string
	stop func() // waits for requests under way

	tb    testing.TB
	mark  string // the tool that tells the agent's own requests from a host's small talk
	turns []turn

	mu    sync.Mutex
	seen  int            // turns that have looked
	heard map[string]int // texts of the request before, and how often each was in it
	log   []string       // what was asked, for a test that fails
}

func startModel(tb testing.TB, mark string, turns []turn) *model {
	m := &model{tb: tb, mark: mark, turns: turns, heard: map[string]int{}}
	srv := httptest.NewServer(m)
	m.URL, m.stop = srv.URL, srv.Close
	tb.Cleanup(m.stop)
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req map[string]any
	if err := decodeBody(r, &req); err != nil && r.Method == http.MethodPost {
		m.tb.Logf("model: %s %s: %v", r.Method, r.URL.Path, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, r.Method+" "+r.URL.Path)
	for _, p := range protocols {
		if r.Method != http.MethodPost || !strings.Contains(r.URL.Path, p.path) {
			continue
		}
		c := call{text: "ok"}
		n := p.results(req)
		if offers(req["tools"], m.mark) {
			c = m.answer(n, req)
		}
		p.reply(w, r, req, n, c)
		return
	}
	other(w, r)
}

// answer plays the turn after n results of tools.
func (m *model) answer(n int, req map[string]any) call {
	now := map[string]int{}
	var fresh strings.Builder
	texts(req, func(s string) {
		if now[s]++; now[s] > m.heard[s] {
			fresh.WriteString(s + "\n")
		}
	})
	m.heard = now
	if n >= len(m.turns) {
		return call{text: "done"}
	}
	if n == m.seen {
		m.seen++
		m.log = append(m.log, "---- fresh:\n"+fresh.String())
		m.turns[n].look(fresh.String())
	}
	return m.turns[n].call
}

func decodeBody(r *http.Request, to any) error {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = unzipped
	}
	return json.NewDecoder(body).Decode(to)
}

// offers reports whether a tool of that name is anywhere in a request's tools.
func offers(tools any, name string) bool {
	switch v := tools.(type) {
	case []any:
		for _, x := range v {
			if offers(x, name) {
				return true
			}
		}
	case map[string]any:
		if v["name"] == name {
			return true
		}
		return offers(v["function"], name) || offers(v["functionDeclarations"], name) || offers(v["tools"], name)
	}
	return false
}

// texts calls f with every string in a JSON value.
func texts(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, x := range v {
			texts(x, f)
		}
	case map[string]any:
		for _, x := range v {
			texts(x, f)
		}
	}
}

// other answers what hosts ask besides.
func other(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/models"):
		sendJSON(w, object{"object": "list", "data": []object{{"id": "fake-model", "object": "model"}}, "models": []object{}})
	case r.Method == http.MethodHead:
	default:
		http.Error(w, "{}", http.StatusNotFound)
	}
}
