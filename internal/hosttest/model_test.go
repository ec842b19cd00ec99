//go:build unix

package hosttest

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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
	// listed calls are made only of tools that the host offers the model.
	listed bool
}

// A turn is one answer of the model. Before it answers, look sees what the
// host sent that it had not sent before. With next the answer is made up then,
// from what was sent.
type turn struct {
	look func(fresh string)
	call call
	next func(fresh string) call
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
	// subs are what sub-agents say, each with a heard of its own, by a word in
	// the task that they were given.
	subs map[string]*model

	mu    sync.Mutex
	seen  int            // turns that have looked
	heard map[string]int // texts of the request before, and how often each was in it
	log   []string       // what was asked, for a test that fails
	first map[string]any // the first request
	news  []string       // texts of the last request that were not in the one before
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
			c = m.speaker(req).answer(n, req)
		}
		if c.listed && !describes(req, "", c.tool) {
			m.log = append(m.log, "no tool "+c.tool+" among "+strings.Join(toolNames(req["tools"]), " "))
			c = call{text: "I have no such tool."}
		}
		p.reply(w, r, req, n, c)
		return
	}
	other(w, r)
}

// speaker is who is asked: a sub-agent begins with its task.
func (m *model) speaker(req map[string]any) *model {
	said := m
	messages, _ := req["messages"].([]any)
	texts(messages[:min(1, len(messages))], func(text string) {
		for word, sub := range m.subs {
			if strings.Contains(text, word) {
				said = sub
			}
		}
	})
	return said
}

// answer plays the turn after n results of tools.
func (m *model) answer(n int, req map[string]any) call {
	now := map[string]int{}
	var fresh strings.Builder
	if m.first == nil {
		m.first = req
	}
	m.news = nil
	texts(req, func(s string) {
		if now[s]++; now[s] > m.heard[s] {
			m.news = append(m.news, s)
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
		if t := &m.turns[n]; t.next != nil {
			t.call = t.next(fresh.String())
		} else {
			t.look(fresh.String())
		}
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
func offers(tools any, name string) bool { return slices.Contains(toolNames(tools), name) }

// toolNames are all names in a request's tools.
func toolNames(tools any) (names []string) {
	switch v := tools.(type) {
	case []any:
		for _, x := range v {
			names = append(names, toolNames(x)...)
		}
	case map[string]any:
		if name, ok := v["name"].(string); ok {
			names = append(names, name)
		}
		for _, key := range []string{"function", "functionDeclarations", "tools"} {
			names = append(names, toolNames(v[key])...)
		}
	}
	return names
}

// describes reports whether a request tells the model how to call a tool: among
// its tools, or among what a search of its found.
func describes(v any, space, tool string) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return describes(x, space, tool) })
	case map[string]any:
		name, _ := v["name"].(string)
		if v["type"] == "namespace" {
			space = name
		}
		for _, schema := range []string{"parameters", "input_schema", "parametersJsonSchema"} {
			if v[schema] != nil && (name == tool || spaced(space, name) == tool) {
				return true
			}
		}
		if v["type"] == "tool_reference" && v["tool_name"] == tool {
			return true
		}
		for _, x := range v {
			if describes(x, space, tool) {
				return true
			}
		}
	}
	return false
}

// spaced is the full name of a tool in a namespace.
func spaced(space, name string) string { return strings.TrimSuffix(space, "__") + "__" + name }

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
