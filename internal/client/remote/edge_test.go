package remote_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Calls go through the edge while there is one, and are done once: by the server
// itself where there is none, it is of another version, or it could not send
// them.
func TestCallsGoThroughTheEdge(t *testing.T) {
	var direct, near []string
	answer := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"user":{"email":"ann@example.com"}}`))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(wire.EdgeKey) != "" {
			t.Error("the server sees the key of the edge's door")
		}
		direct = append(direct, r.Method+" "+r.URL.Path)
		answer(w)
	}))
	defer server.Close()
	step := wire.EdgeAsked
	edge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.Path, wire.EdgePath)
		switch {
		case step == "":
			http.NotFound(w, r)
			return
		case !ok || r.Header.Get(wire.EdgeKey) != "key" || r.Header.Get(wire.EdgeServer) != server.URL ||
			r.Header.Get("Authorization") != "Bearer "+token:
			t.Errorf("asked %s with %v", r.URL, r.Header)
		}
		w.Header().Set(wire.EdgeAnswer, string(step))
		if step == wire.EdgeUnchecked {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		near = append(near, r.Method+" "+path)
		answer(w)
	}))
	defer edge.Close()
	runs := true
	c, err := remote.New(server.URL, token, remote.Options{Transport: remote.ThroughEdge(func() (remote.Edge, bool) {
		return remote.Edge{Server: server.URL, Address: edge.URL, Key: "key"}, runs
	})})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() {
		t.Helper()
		if me, err := c.Me(t.Context()); err != nil || me.User.Email != "ann@example.com" {
			t.Fatalf("answered %+v: %v", me, err)
		}
	}
	ask()
	if !slices.Equal(near, []string{"GET /v1/me"}) || direct != nil {
		t.Errorf("the edge was asked %v, the server %v", near, direct)
	}
	for _, try := range []struct {
		name   string
		change func()
	}{
		{"not there", func() { runs = false }},
		{"older", func() { runs, step = true, "" }},
		{"cut off", func() { runs, step = true, wire.EdgeUnchecked }},
		{"gone meanwhile", func() { runs = true; edge.Close() }},
	} {
		try.change()
		direct, near = nil, nil
		ask()
		if !slices.Equal(direct, []string{"GET /v1/me"}) || near != nil {
			t.Errorf("with an edge that is %s, the edge was asked %v, the server %v", try.name, near, direct)
		}
	}
}
