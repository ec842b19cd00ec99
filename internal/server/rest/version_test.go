package rest_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// What somebody else changed since one read it is never overwritten.
func TestAChangeOfAnotherVersionIsRefused(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		number, _ := declare(w, o, coord.Owner, repo(w, o))
		for _, tt := range []struct {
			path, method string
			read         string // where its version is told, if elsewhere
			mine, theirs map[string]any
			now          func(map[string]any) any // what must be theirs in the end
			want         any
		}{
			{"/v1/intents/" + coord.IntentRef(number), "PATCH", "", map[string]any{"title": "Mine"}, map[string]any{"title": "Theirs"},
				func(m map[string]any) any { return m["title"] }, "Theirs"},
			{"/v1/policies", "PUT", "", map[string]any{"rules": map[string]any{"require_intent": "warn"}},
				map[string]any{"rules": map[string]any{"require_intent": "block"}},
				func(m map[string]any) any { return m["org"].(map[string]any)["require_intent"] }, "block"},
			{"/v1/integrations/slack", "PUT", "", map[string]any{"webhook_url": nil},
				map[string]any{"webhook_url": "https://hooks.slack.com/services/T0/B0/x"},
				func(m map[string]any) any { return m["connected"] }, true},
			{"/v1/org", "PATCH", "/v1/me", map[string]any{"data_mode": "full"}, map[string]any{"data_mode": "metadata_only"},
				func(m map[string]any) any { return m["org"].(map[string]any)["data_mode"] }, "metadata_only"},
			{"/v1/integrations/digest", "PUT", "", map[string]any{"hour": 3}, map[string]any{"hour": 4},
				func(m map[string]any) any { return m["hour"] }, float64(4)},
		} {
			get := daemontest.Request{Method: "GET", Path: cmp.Or(tt.read, tt.path), Token: o.Owner()}
			seen := w.Must(200, get, nil).Header.Get("ETag")
			if seen == "" {
				t.Fatalf("%s has no ETag", tt.path)
			}
			change := func(status int, body map[string]any, tag string) {
				w.Must(status, daemontest.Request{Method: tt.method, Path: tt.path, Token: o.Owner(), Body: body,
					Header: map[string]string{"If-Match": tag}}, nil)
			}
			change(200, tt.theirs, seen)
			change(http.StatusPreconditionFailed, tt.mine, seen)
			var now map[string]any
			res := w.Must(200, get, &now)
			if got := tt.now(now); got != tt.want {
				t.Errorf("%s is %v, want %v: the refused change was written", tt.path, got, tt.want)
			}
			change(200, tt.mine, res.Header.Get("ETag"))
			change(200, tt.theirs, "*")
		}
	})
}

func TestLargeAnswersArePacked(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		name := repo(w, o)
		declare(w, o, coord.Owner, name)
		declare(w, o, coord.Member, name)
		get := func(accept string) daemontest.Response {
			return w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/conflicts", Token: o.Owner(),
				Header: map[string]string{"Accept-Encoding": accept}}, nil)
		}
		plain := get("identity")
		if plain.Header.Get("Content-Encoding") != "" || len(plain.Body) < 1024 || plain.Header.Get("Vary") != "Accept-Encoding" {
			t.Fatalf("%d bytes, %v", len(plain.Body), plain.Header)
		}
		for _, accept := range []string{"gzip", "br, gzip;q=0.5", "*"} {
			packed := get(accept)
			r, err := gzip.NewReader(bytes.NewReader(packed.Body))
			if err != nil || packed.Header.Get("Content-Encoding") != "gzip" {
				t.Fatalf("%s: %v, %v", accept, err, packed.Header)
			}
			if text, err := io.ReadAll(r); err != nil || !bytes.Equal(text, plain.Body) || len(packed.Body) > len(plain.Body)/2 {
				t.Errorf("%s: %d bytes packed, %d plain, %v", accept, len(packed.Body), len(plain.Body), err)
			}
		}
		for _, accept := range []string{"gzip;q=0", "br"} {
			if got := get(accept); got.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s got %s", accept, got.Header.Get("Content-Encoding"))
			}
		}
	})
}

// Who keeps a list fetches what changed, closed records among it.
func TestListsOfWhatChanged(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		name := repo(w, o)
		old, _ := declare(w, o, coord.Owner, name)
		list := func(path string) (numbers []int) {
			var page struct{ Items []struct{ Number int } }
			w.Must(200, daemontest.Request{Method: "GET", Path: path, Token: o.Owner()}, &page)
			for _, i := range page.Items {
				numbers = append(numbers, i.Number)
			}
			return numbers
		}
		var was coord.Intent
		w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/intents/" + coord.IntentRef(old), Token: o.Owner()}, &was)
		since := "?changed_since=" + was.UpdatedAt.String()
		if got := list("/v1/intents" + since); got != nil {
			t.Errorf("changed since the last change: %v", got)
		}
		closed, conflicts := declare(w, o, coord.Member, name)
		w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/intents/" + coord.IntentRef(closed) + "/close", Token: o.Owner(),
			Body: map[string]any{"outcome": "abandoned"}}, nil)
		if got := list("/v1/intents" + since); !slices.Contains(got, closed) {
			t.Errorf("changed intents = %v, want %d among them", got, closed)
		}
		if got := list("/v1/conflicts" + since); !slices.Equal(got, conflicts) {
			t.Errorf("changed conflicts = %v, want %v", got, conflicts)
		}
		if got := list("/v1/conflicts?severity=info"); got != nil {
			t.Errorf("conflicts of an exclusive claim for information: %v", got)
		}
		later := coord.TimeOf(time.Now().Add(time.Hour)).String()
		if got := list("/v1/conflicts?changed_since=" + later); got != nil {
			t.Errorf("changed in an hour: %v", got)
		}
	})
}

// A session whose agent is gone is ended by its person or an admin.
func TestASessionIsEndedByItsPerson(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		own := onSession("/end")(t, w, o)
		w.Must(403, daemontest.Request{Method: "POST", Path: own.path, Token: o.Owner()}, nil) // an agent works with it
		end := func(status int, role coord.Role) {
			w.Must(status, daemontest.Request{Method: "POST", Path: own.path, Cookie: w.Cookie(o.Users[role]), Org: o.Slug}, nil)
		}
		end(403, coord.Viewer)
		end(200, coord.Owner)
		var s coord.Session
		w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/sessions/" + own.id, Token: o.Tokens[coord.Member]}, &s)
		if s.Status != coord.SessionEnded || s.EndedAt == nil {
			t.Errorf("the session is %s, ended at %v", s.Status, s.EndedAt)
		}
		var live struct{ Items []coord.Session }
		w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/sessions?status=live", Token: o.Owner()}, &live)
		if len(live.Items) != 0 {
			t.Errorf("live sessions: %+v", live.Items)
		}
	})
}
