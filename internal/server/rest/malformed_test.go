package rest_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// Whatever is sent, the answer is a problem of the 4xx kind.
func TestMalformedRequestsAreRefused(t *testing.T) {
	deep := strings.Repeat(`{"repos":`, 5000) + "1" + strings.Repeat("}", 5000)
	nulCursor := base64.RawURLEncoding.EncodeToString([]byte(`["\u0000"]`))
	post := func(body string) daemontest.Request {
		return daemontest.Request{Method: "POST", Path: "/v1/repos", Body: []byte(body)}
	}
	send := func(method, path, body string) daemontest.Request {
		return daemontest.Request{Method: method, Path: path, Body: []byte(body)}
	}
	get := func(path string) daemontest.Request { return daemontest.Request{Method: "GET", Path: path} }
	with := func(r daemontest.Request, name, value string) daemontest.Request {
		r.Header = map[string]string{name: value}
		return r
	}
	storetest.EachWalk(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		id := project(w, o)
		number, _ := declare(w, o, coord.Owner, repo(w, o))
		intent := fmt.Sprint("/v1/intents/", number)
		for _, tt := range []struct {
			name   string
			r      daemontest.Request
			status int
			kind   problem.Kind
			detail string
		}{
			{"no JSON", post(`{"full_name"`), 400, problem.BadRequest, "not valid JSON"},
			{
				"no body where one is needed",
				daemontest.Request{Method: "POST", Path: "/v1/repos"},
				400,
				problem.BadRequest,
				"a JSON object as its body, with full_name",
			},
			{"a comment", post(`{"full_name":"a/b"} // x`), 400, problem.BadRequest, "not valid JSON"},
			{"two values", post(`{"full_name":"a/b"} {}`), 400, problem.BadRequest, "not valid JSON"},
			{"NaN", post(`{"full_name":NaN}`), 400, problem.BadRequest, "not valid JSON"},
			{"a duplicate key", post(`{"full_name":"a/b","full_name":"a/c"}`), 400, problem.BadRequest, "duplicate"},
			{
				"a key in another case",
				post(`{"full_name":"a/b","FULL_NAME":"a/c"}`),
				400,
				problem.Validation,
				"FULL_NAME: is not a known field; did you mean full_name?",
			},
			{"a Go field name", post(`{"FullName":"a/b"}`), 400, problem.Validation, "FullName: is not a known field"},
			{"10 MB", post(`{"full_name":"` + strings.Repeat("x", 10<<20) + `"}`), 413, problem.TooLarge, "bytes"},
			{"deep nesting", post(deep), 400, problem.BadRequest, "nests deeper"},
			{"deep nesting of lists", post(strings.Repeat("[", 100_000)), 400, problem.BadRequest, "nests deeper"},
			{
				"a form",
				with(post(`full_name=a/b`), "Content-Type", "application/x-www-form-urlencoded"),
				415,
				problem.UnsupportedMedia,
				"application/json",
			},
			{"text", with(post(`{"full_name":"a/b"}`), "Content-Type", "text/plain"), 415, problem.UnsupportedMedia, "application/json"},
			{"no content type", with(post(`{"full_name":"a/b"}`), "Content-Type", ""), 415, problem.UnsupportedMedia, "application/json"},
			{
				"a broken content type",
				with(post(`{"full_name":"a/b"}`), "Content-Type", "application/json; charset"),
				415,
				problem.UnsupportedMedia,
				"application/json",
			},
			{
				"another charset",
				with(post(`{"full_name":"a/b"}`), "Content-Type", "application/json; charset=utf-16"),
				415,
				problem.UnsupportedMedia,
				"UTF-8",
			},
			{"compression", with(post(`x`), "Content-Encoding", "gzip"), 415, problem.UnsupportedMedia, "Content-Encoding"},
			{"a raw NUL byte", post("{\"full_name\":\"a/\x00b\"}"), 400, problem.BadRequest, "not valid JSON"},
			{"an escaped NUL", post(`{"full_name":"a/\u0000b"}`), 400, problem.Validation, "full_name: must not contain a NUL"},
			{"invalid UTF-8", post("{\"full_name\":\"a/\xff\"}"), 400, problem.BadRequest, "UTF-8"},
			{"half a surrogate pair", post(`{"full_name":"a/\ud800"}`), 400, problem.BadRequest, "not valid JSON"},
			{"a NUL in the path", get("/v1/projects/%00"), 404, problem.NotFound, ""},
			{"a NUL in a selector", daemontest.Request{Method: "DELETE", Path: "/v1/projects/" + id + "/repos/a%00b"}, 404, problem.NotFound, ""},
			{
				"invalid UTF-8 in a selector",
				daemontest.Request{Method: "DELETE", Path: "/v1/projects/" + id + "/repos/a%ffb"},
				404,
				problem.NotFound,
				"",
			},
			{"a NUL in the query", get("/v1/events?subject=%00"), 400, problem.Validation, "subject"},
			{"invalid UTF-8 in the query", get("/v1/events?subject=%ff"), 400, problem.Validation, "subject"},
			{"invalid UTF-8 in a list of the query", get("/v1/stream?repos=a/b,%ff"), 400, problem.Validation, "repos"},
			{"a bad escape in the query", get("/v1/events?subject=%zz"), 400, problem.BadRequest, "query"},
			{"a semicolon in the query", get("/v1/events?limit=1;limit=2"), 400, problem.BadRequest, "query"},
			{"a huge query", get("/v1/events?cursor=" + strings.Repeat("x", 9000)), 400, problem.Validation, "cursor"},
			{"a number beyond 64 bits", get("/v1/events?limit=99999999999999999999"), 400, problem.Validation, "limit"},
			{"two numbers for one", get("/v1/events?limit=1&limit=2"), 400, problem.Validation, "limit: is given more than once"},
			{"one number twice", get("/v1/events?limit=1&limit=1"), 200, "", ""},
			{"two repos for one", get("/v1/intents?repo=a/b&repo=a/c"), 400, problem.Validation, "repo: is given more than once"},
			{"a negative number", get("/v1/events?limit=-1"), 400, problem.Validation, "limit"},
			{"a number in hex", get("/v1/events?limit=0x10"), 400, problem.Validation, "limit"},
			{"no cursor of ours", get("/v1/members?cursor=!!"), 400, problem.Validation, "cursor"},
			{"a cursor of another list", get("/v1/members?cursor=WzFd"), 400, problem.Validation, "cursor"},
			{"a cursor with a NUL", get("/v1/members?cursor=" + nulCursor), 400, problem.Validation, "cursor"},
			{"no event id", get("/v1/stream?last_event_id=x"), 400, problem.Validation, "last_event_id"},
			{"no event id in the header", with(get("/v1/stream"), "Last-Event-ID", "\xff"), 400, problem.Validation, "last_event_id"},
			{"an org that cannot be", with(get("/v1/me"), "X-Svc-Org", "\xff\xfe"), 200, "", ""},
			{"a session that cannot be", with(post(`{"full_name":"a/s"}`), "X-Svc-Session", "\xff"), 404, problem.NotFound, "session"},
			{"a session that is not there", with(post(`{"full_name":"a/s"}`), "X-Svc-Session", id), 404, problem.NotFound, "session"},
			{
				"another hook protocol with a body of its own",
				with(send("POST", "/v1/hooks/evaluate", `{"happened":[]}`), "X-Svc-Protocol", "2"),
				400,
				problem.UnsupportedProtocol,
				"protocol 1, not 2",
			},
			{
				"a hook protocol that is none",
				with(send("POST", "/v1/hooks/evaluate", `{}`), "X-Svc-Protocol", strings.Repeat("x", 40)),
				400,
				problem.UnsupportedProtocol,
				"protocol 1",
			},
			{
				"a token that may do nothing",
				send("POST", "/v1/tokens", `{"name":"x","scopes":[]}`),
				400,
				problem.Validation,
				"scopes: must have at least 1",
			},
			{"a token without a name", send("POST", "/v1/tokens", `{"name":"  "}`), 400, problem.Validation, "name: must not be blank"},
			{
				"a webhook for no event",
				send("POST", "/v1/webhooks", `{"url":"https://example.com/x","event_types":[]}`),
				400,
				problem.Validation,
				"event_types: must have at least 1",
			},
			{
				"a chat that is neither given nor null",
				send("PUT", "/v1/integrations/slack", `{}`),
				400,
				problem.Validation,
				"webhook_url: is required",
			},
			{"a chat without a body", daemontest.Request{Method: "PUT", Path: "/v1/integrations/slack"}, 400, problem.BadRequest, ""},
			{"nothing to add to a project", send("POST", "/v1/projects/"+id+"/repos", `{}`), 400, problem.Validation, "repos: is required"},
			{"a repository that is a folder above", post(`{"full_name":"a/..","provider":"generic"}`), 400, problem.Validation, "full_name"},
			{"a repository in the same folder", post(`{"full_name":"./b"}`), 400, problem.Validation, "full_name"},
			{
				"a dependency to remove that cannot be",
				send("PATCH", intent, `{"depends_on_remove":["x"]}`),
				400,
				problem.Validation,
				"depends_on_remove[0]: ",
			},
			{
				"an intent closed to somebody who cannot own one",
				send("POST", intent+"/close", `{"outcome":"handoff","handoff_to":"`+o.Users[coord.Viewer].Email+`"}`),
				400,
				problem.Validation,
				"handoff_to: ",
			},
			{
				"a newcomer without a name",
				send("POST", "/v1/auth/accept-invite", `{"code":"x","name":" ","password":"correct horse battery"}`),
				400,
				problem.Validation,
				"name: must not be blank",
			},
			{
				"an org without a name",
				send("POST", "/v1/auth/setup", `{"code":"x","org":" ","email":"a@example.com","name":"A","password":"correct horse battery"}`),
				400,
				problem.Validation,
				"org: must not be blank",
			},
			{"no such route", get("/v1/nothing"), 404, problem.NotFound, "no such route"},
			{"no such route with odd characters", get("/v1/%22%ff%00"), 404, problem.NotFound, "no such route"},
			{"a route with a slash too many", get("/v1/me/"), 404, problem.NotFound, "no such route"},
			{"a method that is not there", daemontest.Request{Method: "PUT", Path: "/v1/me"}, 405, problem.MethodNotAllowed, "GET"},
			{"a method nobody knows", daemontest.Request{Method: "BREW", Path: "/v1/me"}, 405, problem.MethodNotAllowed, "GET"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				tt.r.Token = o.Owner()
				res := w.Do(tt.r)
				if tt.kind == "" {
					if res.Status != tt.status {
						t.Errorf("got %d, want %d\n%s", res.Status, tt.status, res.Body)
					}
					return
				}
				x := walker{T: t}
				x.isProblem("this", res, tt.status, tt.kind)
				var b problem.Body
				json.Unmarshal(res.Body, &b)
				text := b.Detail
				for _, f := range b.Errors {
					text += " " + f.Path + ": " + f.Message
				}
				if !strings.Contains(text, tt.detail) {
					t.Errorf("the answer says %q, want something about %q", text, tt.detail)
				}
			})
		}
		var made struct{ Intent struct{ Branch *string } }
		w.Must(200, daemontest.Request{Method: "PATCH", Path: intent, Token: o.Owner(), Body: []byte(`{"branch":""}`)}, &made)
		if made.Intent.Branch != nil {
			t.Errorf("an empty branch is kept as %q, want null", *made.Intent.Branch)
		}
		if strings.Contains(w.Log.String(), "level=ERROR") {
			t.Errorf("something was logged as our own mistake:\n%s", w.Log)
		}
	})
}

// What a browser says about itself is stored; it may say anything.
func TestOddHeadersDoNoHarm(t *testing.T) {
	storetest.EachWalk(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		u := o.Users[coord.Member]
		w.Password(u, "correct horse battery")
		for name, agent := range map[string]string{
			"not UTF-8":                 "\xff\xfe",
			"long, cut inside a letter": strings.Repeat("é", 400)[1:],
			"empty":                     "",
		} {
			res := w.Do(daemontest.Request{Method: "POST", Path: "/v1/auth/sign-in", Header: map[string]string{"User-Agent": agent},
				Body: map[string]any{"email": u.Email, "password": "correct horse battery"}})
			if res.Status != 200 {
				t.Errorf("sign-in with a user agent that is %s = %d\n%s", name, res.Status, res.Body)
			}
		}
		res := w.Do(daemontest.Request{Method: "GET", Path: "/v1/me", Cookie: w.Cookie(u), Org: "\xff"})
		if res.Status != 403 {
			t.Errorf("an org that cannot be = %d, want 403\n%s", res.Status, res.Body)
		}
	})
}

// raw sends bytes as they are and returns the status of the first answer and
// whether the server then hung up.
func raw(t *testing.T, w *daemontest.World, text string) (status int, closed bool) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(await.Patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Close
}

// A message whose end two servers could see differently must end the
// connection: what follows it could be somebody else's request.
func TestAmbiguousMessagesAreRefused(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	host := "Host: x\r\n"
	for _, tt := range []struct{ name, text string }{
		{"two lengths", "POST /v1/auth/sign-in HTTP/1.1\r\n" + host + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"},
		{"a negative length", "POST /v1/auth/sign-in HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n"},
		{"an unknown transfer coding", "POST /v1/auth/sign-in HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
		{
			"two transfer codings",
			"POST /v1/auth/sign-in HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		},
		{"a space before the colon", "GET /v1/me HTTP/1.1\r\n" + host + "Content-Length : 2\r\n\r\n"},
		{"no host", "GET /v1/me HTTP/1.1\r\n\r\n"},
		{"two hosts", "GET /v1/me HTTP/1.1\r\n" + host + host + "\r\n"},
		{"a NUL in a header", "GET /v1/me HTTP/1.1\r\n" + host + "Authorization: Bearer \x00\r\n\r\n"},
		{"a bad escape in the path", "GET /v1/%zz HTTP/1.1\r\n" + host + "\r\n"},
		{"a huge header", "GET /v1/me HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 40<<10) + "\r\n\r\n"},
		{"a huge path", "GET /v1/" + strings.Repeat("x", 40<<10) + " HTTP/1.1\r\n" + host + "\r\n"},
		{"no HTTP at all", "\x16\x03\x01\x00\x05hello\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, closed := raw(t, w, tt.text)
			if status < 400 || status > 499 && status != 501 {
				t.Errorf("status %d, want a 4xx", status)
			}
			if !closed {
				t.Errorf("the connection stays open after %d", status)
			}
		})
	}
	// Both a length and chunks: RFC 9112 lets the chunks win, but then the
	// connection must not be used again.
	status, closed := raw(t, w,
		"POST /v1/auth/device HTTP/1.1\r\n"+host+"Content-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n"+
			"\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n")
	if status != 400 {
		t.Errorf("length and chunks: %d, closed %v", status, closed)
	}
}

// A body that never comes must not hold a connection for long.
func TestASlowBodyIsGivenUp(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	slow := httptest.NewUnstartedServer(w.D.Handler())
	slow.Config.ReadTimeout = 2 * time.Second // enough for the head, on any machine
	slow.Start()
	defer slow.Close()
	r, hold := io.Pipe()
	defer hold.Close()
	go fmt.Fprint(hold, `{"full_name":`)
	req, err := http.NewRequest("POST", slow.URL+"/v1/repos", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+o.Owner())
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	x := walker{T: t}
	x.isProblem("a slow body", daemontest.Response{Status: res.StatusCode, Header: res.Header, Body: body}, 408, problem.RequestTimeout)
}

// FuzzBody sends anything as a body: no answer of ours may be a 500.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{}`, `{"full_name":"a/b"}`, `{"full_name":"a/b","remotes":["git@github.com:a/b.git"]}`,
		`[]`, `{"full_name":1e999}`,
		`{"remotes":[[]]}`, "\x00", `{"\u0000":1}`, `{"full_name":"` + "\xc3\x28" + `"}`,
		`{"provider":null}`, `{"full_name":"a/b","a":{"b":[{"c":1}]}}`} {
		f.Add([]byte(seed))
	}
	w := daemontest.Start(f, f.TempDir()+"/svc.db")
	o := w.Org("Acme")
	handler := w.D.Handler()
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest("POST", "/v1/repos", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+o.Owner())
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		if rec.Code >= 500 {
			t.Errorf("status %d\n%s", rec.Code, rec.Body)
		}
	})
}

// FuzzQuery sends anything as a query.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1", "limit=%31", "type=a,b", "subject=%00", "cursor=W10", "cursor=WzFd", "%zz", "a;b", "limit=1&limit=2",
		"type=,,,",
	} {
		f.Add(seed)
	}
	w := daemontest.Start(f, f.TempDir()+"/svc.db")
	o := w.Org("Acme")
	handler := w.D.Handler()
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/v1/events", nil)
		r.URL.RawQuery = query
		r.Header.Set("Authorization", "Bearer "+o.Owner())
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		if rec.Code >= 500 {
			t.Errorf("status %d\n%s", rec.Code, rec.Body)
		}
	})
}
