package rest_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
)

// A busyWorld is a service that can be given more to do than it takes on.
type busyWorld struct {
	*daemontest.World
	t       *testing.T
	o       *daemontest.Org
	repo    string
	answers chan daemontest.Response // of what was sent and is under way
	sent    int
	free    func()
}

// newBusyWorld starts a service with room for little, in which an agent is
// known, and lets no write get on until free is called.
func newBusyWorld(t *testing.T, l api.Limits) *busyWorld {
	w := daemontest.StartWith(t, daemon.Config{Database: t.TempDir() + "/svc.db", Limits: &l})
	b := &busyWorld{World: w, t: t, o: w.Org("Acme"), answers: make(chan daemontest.Response, 100)}
	b.repo = repo(w, b.o)
	b.Must(200, b.preEdit("known"), nil)
	b.Must(200, b.preEdit("known"), nil)
	free, held := make(chan struct{}), make(chan struct{})
	go w.D.Ops.Ground.Store.Write(context.Background(), b.o.ID, func(*store.Tx) error {
		close(held)
		<-free
		return nil
	})
	<-held
	freed := false
	b.free = func() {
		if !freed {
			close(free)
		}
		freed = true
	}
	t.Cleanup(b.free)
	return b
}

// preEdit asks for an agent, which is written down if nobody knows it yet.
func (b *busyWorld) preEdit(agent string) daemontest.Request {
	return daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: b.o.Owner(), Body: map[string]any{
		"event": "pre_edit", "session": map[string]any{"tool": "codex", "external_id": agent}, "paths": []string{"a.go"},
		"repo": map[string]any{"remote_fingerprints": []string{"github.com/" + b.repo}, "branch": "work"}}}
}

func (b *busyWorld) post(token string) daemontest.Request {
	body := map[string]any{"to": "channel:" + b.repo, "body": "Hello"}
	return daemontest.Request{Method: "POST", Path: "/v1/messages", Token: token, Body: body}
}

func (b *busyWorld) list() daemontest.Request {
	return daemontest.Request{Method: "GET", Path: "/v1/intents", Token: b.o.Tokens[coord.Member]}
}

// begin sends requests that will be answered later.
func (b *busyWorld) begin(requests ...daemontest.Request) {
	b.sent += len(requests)
	for _, r := range requests {
		go func() { b.answers <- b.Do(r) }()
	}
}

// awaitLoad waits until as many calls of a class work or wait.
func (b *busyWorld) awaitLoad(metric, class string, n int) {
	b.t.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`(?m)^%s\{class="%s"\} %d$`, metric, class, n))
	await.True(b.t, fmt.Sprint(line), func() bool {
		return line.MatchString(b.Metrics())
	})
}

func (b *busyWorld) refused(status int, r daemontest.Request) {
	b.t.Helper()
	res := b.Do(r)
	if res.Status != status || res.Header.Get("Retry-After") == "" {
		b.t.Errorf("%s %s = %d, Retry-After %q, want %d with one\n%s", r.Method, r.Path, res.Status, res.Header.Get("Retry-After"), status,
			res.Body)
	}
}

// finish lets writes get on; whatever was taken on is done.
func (b *busyWorld) finish() {
	b.t.Helper()
	b.free()
	for range b.sent {
		if res := <-b.answers; res.Status >= 300 {
			b.t.Errorf("a request that was taken on = %d\n%s", res.Status, res.Body)
		}
	}
}

func few() api.Limits {
	return api.Limits{Room: 8, Reading: 8, PerCaller: 64, Streams: 5, Tabs: 5, Stays: 100}
}

// TestLoadIsShedFromTheRightEnd: lists and figures are refused first, recording
// next, and whether an edit may go on last; whether the service is up is always
// told.
func TestLoadIsShedFromTheRightEnd(t *testing.T) {
	b := newBusyWorld(t, few())
	post := b.post(b.o.Owner())
	b.begin(post, post, post)
	b.awaitLoad("svc_calls_at_work", "recording", 3)
	b.Must(200, b.list(), nil)
	b.begin(post)
	b.awaitLoad("svc_calls_at_work", "recording", 4)
	b.refused(503, b.list())
	b.refused(503, daemontest.Request{Method: "GET", Path: "/v1/stats", Token: b.o.Owner()})
	b.refused(503, daemontest.Request{Method: "GET", Path: "/v1/stream", Token: b.o.Owner()})
	b.Must(200, b.preEdit("known"), nil)
	b.begin(post, post)
	b.awaitLoad("svc_calls_at_work", "recording", 6)
	b.refused(503, post)
	b.Must(200, b.preEdit("known"), nil)
	b.begin(b.preEdit("new"), b.preEdit("newer"))
	b.awaitLoad("svc_calls_at_work", "deciding", 2)
	var reply wire.HookReply
	if b.Must(200, b.preEdit("known"), &reply); reply.Unchecked != wire.UncheckedBusy || reply.InjectContext == "" {
		t.Errorf("an edit that nobody could look at: %+v", reply)
	}
	b.Must(200, daemontest.Request{Method: "GET", Path: "/healthz"}, nil)
	b.finish()
	b.Must(200, b.list(), nil)
	b.Must(200, b.preEdit("known"), nil)
	b.awaitLoad("svc_calls_refused_total", "reading", 3)
	b.awaitLoad("svc_calls_refused_total", "deciding", 1)
	if strings.Contains(b.Log.String(), "more to do") {
		t.Errorf("each refusal is logged:\n%s", b.Log)
	}
}

// TestACallWaitsForRoom: in a queue that ends; then it is refused.
func TestACallWaitsForRoom(t *testing.T) {
	l := few()
	l.Queue, l.Patience = 1, time.Hour
	b := newBusyWorld(t, l)
	post := b.post(b.o.Owner())
	b.begin(post, post, post, post)
	b.awaitLoad("svc_calls_at_work", "recording", 4)
	b.begin(b.list())
	b.awaitLoad("svc_calls_queued", "reading", 1)
	b.refused(503, b.list())
	b.finish()
	b.awaitLoad("svc_calls_queued", "reading", 0)
}

// TestATokenHasSoManyRequests: another is refused with 429 and other tokens are
// not concerned. A body that does not come counts. Whether an edit may go on has
// places of its own: it is answered all the same, also where others of its kind
// were begun and not sent.
func TestATokenHasSoManyRequests(t *testing.T) {
	l := few()
	l.PerCaller = 2
	b := newBusyWorld(t, l)
	b.begin(b.post(b.o.Owner()), b.post(b.o.Owner()))
	b.awaitLoad("svc_calls_at_work", "recording", 2)
	b.checked()
	b.refused(429, daemontest.Request{Method: "GET", Path: "/v1/me", Token: b.o.Owner()})
	b.Must(200, b.list(), nil)
	b.finish()
	await.True(t, "slow bodies to be counted", func() bool {
		for range l.PerCaller { // the question below may have taken the place of one
			b.start("/v1/messages")
		}
		return b.Do(daemontest.Request{Method: "GET", Path: "/v1/me", Token: b.o.Owner()}).Status == 429
	})
	b.checked()
	for range 5 * l.PerCaller {
		b.start("/v1/hooks/evaluate")
		b.start("/v1/scope-check")
	}
	b.checked()
	b.Must(200, b.list(), nil)
}

// start begins a request of the owner whose body does not come.
func (b *busyWorld) start(path string) {
	c, err := net.Dial("tcp", strings.TrimPrefix(b.URL, "http://"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
		path, b.o.Owner())
}

// checked proves that an edit is looked at.
func (b *busyWorld) checked() {
	b.t.Helper()
	var reply wire.HookReply
	if b.Must(200, b.preEdit("known"), &reply); reply.Unchecked != "" || reply.SessionID == nil {
		b.t.Errorf("the edit was not looked at: %+v", reply)
	}
}

// TestABrowserHasSoManyStreams, and the service so many streams and waits.
func TestABrowserHasSoManyStreams(t *testing.T) {
	l := few()
	l.Tabs, l.Stays = 2, 4
	w := daemontest.StartWith(t, daemon.Config{Database: t.TempDir() + "/svc.db", Limits: &l})
	o := w.Org("Acme")
	stream := func(who coord.Role) daemontest.Request {
		return daemontest.Request{Method: "GET", Path: "/v1/stream", Cookie: w.Cookie(o.Users[who]), Org: o.Slug}
	}
	refused := func(status int, r daemontest.Request) {
		t.Helper()
		if res := w.Do(r); res.Status != status || res.Header.Get("Retry-After") == "" {
			t.Errorf("another stream = %d, Retry-After %q, want %d with one", res.Status, res.Header.Get("Retry-After"), status)
		}
	}
	w.Open(stream(coord.Owner))
	w.Open(stream(coord.Owner))
	refused(http.StatusTooManyRequests, stream(coord.Owner))
	w.Open(stream(coord.Member))
	w.Open(daemontest.Request{Method: "GET", Path: "/v1/stream", Token: o.Tokens[coord.Admin]})
	refused(http.StatusServiceUnavailable, stream(coord.Member))
	w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/intents", Token: o.Owner()}, nil)
}
