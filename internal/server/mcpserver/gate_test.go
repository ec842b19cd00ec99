package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
)

type (
	ctx = context.Context
	tx  = store.Tx
)

// post sends a message as it is.
func (s *team) post(token, body string, header ...string) daemontest.Response {
	s.t.Helper()
	h := map[string]string{"Accept": accept, "Content-Type": "application/json"}
	for i := 0; i < len(header); i += 2 {
		h[header[i]] = header[i+1]
	}
	return s.Do(daemontest.Request{Method: "POST", Path: "/mcp", Token: token, Body: []byte(body), Header: h})
}

func TestForeignHostsAndOriginsAreRefusedBeforeAuthentication(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		for _, tt := range []struct {
			host, origin string
			ours         bool
		}{
			{"", "", true},
			{"localhost:7780", "", true},
			{"LOCALHOST", "", true},
			{"[::1]:7780", "", true},
			{"svc.example.com", "", true},
			{"svc.example.com:443", "https://svc.example.com", true},
			{"", "http://localhost:3000", true},
			{"", "http://127.0.0.1:5173", true},
			{"evil.example", "", false},
			{"svc.example.com.evil.example", "", false},
			{"localhost.evil.example:7780", "", false},
			{"169.254.169.254", "", false},
			{"", "https://evil.example", false},
			{"", "null", false},
			{"evil.example", "http://evil.example", false}, // a rebound name: origin and host agree
			{"", "https://svc.example.com@evil.example", false},
			{"", "file://localhost/x", false},
			{"", "http://", false},
		} {
			for _, token := range []string{s.org.Owner(), ""} {
				req := s.Build(daemontest.Request{
					Method: "POST",
					Path:   "/mcp",
					Token:  token,
					Body:   []byte(plainRequest),
					Header: map[string]string{"Accept": accept},
				})
				if tt.host != "" {
					req.Host = tt.host
				}
				if tt.origin != "" {
					req.Header.Set("Origin", tt.origin)
				}
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				want := 200
				switch {
				case !tt.ours:
					want = 403
				case token == "":
					want = 401
				}
				if res.StatusCode != want {
					t.Errorf("host %q, origin %q, token %v: %d, want %d", tt.host, tt.origin, token != "", res.StatusCode, want)
				}
				if want == 403 && res.Header.Get("WWW-Authenticate") != "" {
					t.Errorf("host %q, origin %q: asks for a token", tt.host, tt.origin)
				}
			}
		}
	})
}

func TestOnlyPostIsTaken(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		for _, verb := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
			send := func(token string) daemontest.Response {
				return s.Do(daemontest.Request{
					Method: verb,
					Path:   "/mcp",
					Token:  token,
					Header: map[string]string{"Accept": accept, "Mcp-Session-Id": "x"},
				})
			}
			if res := send(s.org.Owner()); res.Status != 405 || res.Header.Get("Allow") != "POST" {
				t.Errorf("%s = %d, Allow %q", verb, res.Status, res.Header.Get("Allow"))
			}
			if res := send(s.org.Service); res.Status != 403 {
				t.Errorf("%s of a service token = %d, want 403", verb, res.Status)
			}
			if res := send(""); res.Status != 401 || res.Header.Get("WWW-Authenticate") != `Bearer realm="svc"` {
				t.Errorf("%s without a token = %d, %q", verb, res.Status, res.Header.Get("WWW-Authenticate"))
			}
		}
	})
}

func TestWhoMayCall(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		owner := s.org.Users[coord.Owner]
		all := s.org.Owner()
		revoked, expired, gone := s.Token(s.org, &owner, coord.ScopeTools), s.Token(s.org, &owner, coord.ScopeTools), coord.User{}
		gone = s.Member(s.org, coord.Member)
		left := s.Token(s.org, &gone, coord.ScopeTools)
		for _, token := range []string{revoked, expired, left} {
			if res := s.post(token, plainRequest); res.Status != 200 {
				t.Fatalf("before: %d", res.Status)
			}
		}
		s.end(revoked)
		s.expire(expired)
		s.Must(204, daemontest.Request{Method: "DELETE", Path: "/v1/members/" + gone.ID, Token: all}, nil)

		cookie := s.Cookie(owner)
		for _, tt := range []struct {
			name, authorization string
			cookie              string
			query               string
			want                int
		}{
			{name: "no token", want: 401},
			{name: "an empty bearer", authorization: "Bearer ", want: 401},
			{name: "a word", authorization: "Bearer nonsense", want: 401},
			{name: "an unknown token", authorization: "Bearer svc_" + strings.Repeat("A", 43), want: 401},
			{name: "the token without its last character", authorization: "Bearer " + all[:len(all)-1], want: 401},
			{name: "another scheme", authorization: "Basic " + all, want: 401},
			{name: "a revoked token", authorization: "Bearer " + revoked, want: 401},
			{name: "an expired token", authorization: "Bearer " + expired, want: 401},
			{name: "the token of one who left", authorization: "Bearer " + left, want: 401},
			{name: "a dashboard cookie", cookie: cookie, want: 401},
			{name: "the token in the query string", query: "?token=" + all + "&access_token=" + all + "&authorization=Bearer+" + all, want: 401},
			{
				name:          "a token without mcp:tools",
				authorization: "Bearer " + s.Token(s.org, &owner, coord.ScopeHooks, coord.ScopeIntentsWrite),
				want:          403,
			},
			{name: "a service token", authorization: "Bearer " + s.org.Service, want: 403},
			{name: "a token with mcp:tools", authorization: "Bearer " + s.Token(s.org, &owner, coord.ScopeTools), want: 200},
			{name: "bearer in small letters", authorization: "bearer " + all, want: 200},
		} {
			t.Run(tt.name, func(t *testing.T) {
				h := map[string]string{"Accept": accept}
				if tt.authorization != "" {
					h["Authorization"] = tt.authorization
				}
				res := s.Do(daemontest.Request{
					Method: "POST",
					Path:   "/mcp" + tt.query,
					Cookie: tt.cookie,
					Org:    s.org.Slug,
					Body:   []byte(plainRequest),
					Header: h,
				})
				if res.Status != tt.want {
					t.Errorf("status %d, want %d: %.300s", res.Status, tt.want, res.Body)
				}
				challenge := map[int]string{
					200: "",
					401: `Bearer realm="svc"`,
					403: `Bearer realm="svc", error="insufficient_scope", scope="mcp:tools"`,
				}[tt.want]
				if got := res.Header.Get("WWW-Authenticate"); got != challenge {
					t.Errorf("WWW-Authenticate is %q, want %q", got, challenge)
				}
				if strings.Contains(string(res.Body), all) {
					t.Error("the answer repeats the token")
				}
			})
		}
		for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
			if res := s.Do(daemontest.Request{Method: "GET", Path: path}); res.Status != 404 ||
				!strings.Contains(res.Header.Get("Content-Type"), "json") {
				t.Errorf("GET %s = %d %s", path, res.Status, res.Header.Get("Content-Type"))
			}
		}
	})
}

// end revokes a token as an admin would.
func (s *team) end(token string) {
	s.t.Helper()
	var list struct{ Items []coord.Token }
	s.Must(200, daemontest.Request{Method: "GET", Path: "/v1/tokens?limit=200", Token: s.org.Owner()}, &list)
	for _, x := range list.Items {
		if strings.HasPrefix(token, x.Prefix) {
			s.Must(204, daemontest.Request{Method: "DELETE", Path: "/v1/tokens/" + x.ID, Token: s.org.Owner()}, nil)
		}
	}
}

// expire lets a token's time run out.
func (s *team) expire(token string) {
	s.Write(s.org.ID, func(ctx ctx, x *tx) error {
		_, err := x.ExecContext(ctx, `UPDATE tokens SET expires_at = $1 WHERE $2 LIKE prefix || '%'`, x.Now.Add(-time.Minute), token)
		return err
	})
	s.D.Ops.Ground.Forget(s.org.ID)
}

func TestSizeAndShapeOfRequests(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		call := func(arguments string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"channels","arguments":` + arguments + `}}`
		}
		pad := func(n int) string {
			const frame = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":""}}`
			return strings.Replace(frame, `""`, `"`+strings.Repeat("x", n-len(frame))+`"`, 1)
		}
		for _, tt := range []struct {
			name, body string
			status     int
			code       int // of the JSON-RPC error, 0 if there is none
		}{
			{"exactly 1 MiB", pad(1 << 20), 200, 0},
			{"1 MiB and one byte", pad(1<<20 + 1), 413, 0},
			{"nothing", "", 400, -32700},
			{"half a message", plainRequest[:20], 400, -32700},
			{"two messages", plainRequest + plainRequest, 400, -32700},
			{"a NUL byte", "\x00" + plainRequest, 400, -32700},
			{"a NUL byte in a string", strings.Replace(plainRequest, "list", "li\x00st", 1), 400, -32700},
			{"bytes that are no UTF-8", strings.Replace(plainRequest, "list", "li\xffst", 1), 400, -32700},
			{"a batch", "[" + plainRequest + "]", 400, -32600},
			{"an empty batch", " [ ]", 400, -32600},
			{"a string", `"tools/list"`, 400, -32600},
			{"null", `null`, 400, -32600},
			{"the method twice", `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping"}`, 400, -32700},
			{"the tool's name twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inbox","name":"channels"}}`, 400, -32700},
			{"an argument twice", call(`{"limit":1,"limit":2}`), 400, -32700},
			{"Method for method", strings.Replace(plainRequest, `"method"`, `"Method"`, 1), 400, -32600},
			{"JSONRPC for jsonrpc", strings.Replace(plainRequest, `"jsonrpc"`, `"JSONRPC"`, 1), 400, -32600},
			{"another JSON-RPC", strings.Replace(plainRequest, "2.0", "1.0", 1), 400, -32600},
			{"ID for id is a notification", strings.Replace(plainRequest, `"id"`, `"ID"`, 1), 400, 0},
			{"a null id", strings.Replace(plainRequest, `:1`, `:null`, 1), 400, -32600},
			{"a broken id", strings.Replace(plainRequest, `:1`, `:1.5`, 1), 400, -32600},
			{"an object as id", strings.Replace(plainRequest, `:1`, `:{}`, 1), 400, -32600},
			{"params as a list", strings.Replace(plainRequest, `}`, `,"params":[]}`, 1), 400, -32602},
			{"64 levels", call(strings.Repeat(`{"a":`, 61) + "1" + strings.Repeat("}", 61)), 200, 0},
			{"65 levels", call(strings.Repeat(`{"a":`, 63) + "1" + strings.Repeat("}", 63)), 400, 0},
			{"100,000 levels", strings.Repeat(`[`, 100_000), 400, 0},
			{"an unknown method", strings.Replace(plainRequest, "tools/list", "tools/vanish", 1), 404, -32601},
			{"an undeclared method", strings.Replace(plainRequest, "tools/list", "prompts/list", 1), 200, -32601},
			{"an unknown tool", strings.Replace(call("{}"), "channels", "vanish", 1), 200, -32602},
			{"a tool in capital letters", strings.Replace(call("{}"), "channels", "Channels", 1), 200, -32602},
			{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, 0},
			{"a cancellation of what is not there", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, 202, 0},
			{"an answer to nothing", `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, 0},
			{"a ping", strings.Replace(plainRequest, "tools/list", "ping", 1), 200, 0},
		} {
			t.Run(tt.name, func(t *testing.T) {
				res := s.post(s.org.Owner(), tt.body)
				expect(t, res, tt.status, tt.code)
				if res.Status == 202 && len(res.Body) > 0 {
					t.Errorf("an answer to a notification: %s", res.Body)
				}
			})
		}
		for _, kind := range []string{"text/plain", "", "application/xml", "application/json-seq"} {
			res := s.post(s.org.Owner(), plainRequest, "Content-Type", kind)
			expect(t, res, 415, 0)
			if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("a body of type %q is refused as %q", kind, got)
			}
		}
		expect(t, s.post(s.org.Owner(), call("{}"), "Content-Type", "application/json; charset=utf-8"), 200, 0)
		if strings.Contains(s.Log.String(), "panic") {
			t.Error("something panicked")
		}
	})
}

// expect checks status and JSON-RPC error code of an answer.
func expect(t *testing.T, res daemontest.Response, status, code int) {
	t.Helper()
	var out struct{ Error struct{ Code int } }
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		res.JSON(t, &out)
	}
	if res.Status != status || out.Error.Code != code {
		t.Errorf("%d with code %d, want %d with %d: %.300s", res.Status, out.Error.Code, status, code, res.Body)
	}
	if res.Header.Get("Mcp-Session-Id") != "" {
		t.Error("a session id")
	}
}

// A NUL that is escaped is valid JSON, but no text of ours.
func TestEscapedNULIsRefusedByTheTool(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		a := s.agent("Ana", "acme/api")
		for _, in := range []args{{"title": "a\x00b"}, {"title": "x", "scope": args{"paths": []string{"a\x00b"}}}, {"title": "x", "a\x00b": 1}} {
			a.fails("intent_declare", in, "validation")
		}
	})
}

func TestHeadersAndVersions(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		meta := func(version, more string) string {
			return fmt.Sprintf(`"_meta":{%q:%q%s}`, metaVersion, version, more)
		}
		caps := fmt.Sprintf(`,%q:{}`, metaCaps)
		request := func(method, params string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
		}
		list := request("tools/list", meta(modern, caps))
		call := request("tools/call", `"name":"channels",`+meta(modern, caps))
		legacyCall := request("tools/call", `"name":"channels"`)
		initialize := func(version string) string {
			return request("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}`, version))
		}
		for _, tt := range []struct {
			name, body             string
			version, method, named string // headers
			status, code           int
		}{
			// The revision without sessions: headers mirror the message.
			{"a list", list, modern, "tools/list", "", 200, 0},
			{"a call", call, modern, "tools/call", "channels", 200, 0},
			{"a call with a packed name", call, modern, "tools/call", "=?base64?Y2hhbm5lbHM=?=", 200, 0},
			{"a call with a name that only looks packed", call, modern, "tools/call", "=?base64?***?=", 400, -32020},
			{"no version header", list, "", "tools/list", "", 400, -32020},
			{"another version in the header", list, "2025-11-25", "tools/list", "", 400, -32020},
			{"no method header", list, modern, "", "", 400, -32020},
			{"another method in the header", list, modern, "tools/call", "", 400, -32020},
			{"the method in capital letters", list, modern, "TOOLS/LIST", "", 400, -32020},
			{"no name header", call, modern, "tools/call", "", 400, -32020},
			{"another name in the header", call, modern, "tools/call", "inbox", 400, -32020},
			{"no version in the message", request("tools/list", `"_meta":{"x":1}`), modern, "tools/list", "", 400, -32602},
			{"no meta in a call", legacyCall, modern, "tools/call", "channels", 400, -32602},
			{"no capabilities", request("tools/list", meta(modern, "")), modern, "tools/list", "", 400, -32602},
			{
				"no capabilities in a call",
				request("tools/call", `"name":"channels",`+meta(modern, "")),
				modern,
				"tools/call",
				"channels",
				400,
				-32602,
			},
			{
				"capabilities that are none",
				request("tools/call", `"name":"channels",`+meta(modern, fmt.Sprintf(`,%q:[]`, metaCaps))),
				modern,
				"tools/call",
				"channels",
				400,
				-32602,
			},
			{
				"a client that is none",
				request("tools/call", `"name":"channels",`+meta(modern, caps+fmt.Sprintf(`,%q:7`, metaClient))),
				modern,
				"tools/call",
				"channels",
				400,
				-32602,
			},
			{"an unknown tool", request("tools/call", `"name":"vanish",`+meta(modern, caps)), modern, "tools/call", "vanish", 400, -32602},
			{"an unknown method", request("tools/vanish", meta(modern, caps)), modern, "tools/vanish", "", 404, -32601},
			{"an undeclared method", request("prompts/list", meta(modern, caps)), modern, "prompts/list", "", 404, -32601},
			{"discover", request("server/discover", meta(modern, caps)), modern, "server/discover", "", 200, 0},
			{"initialize is gone", request("initialize", meta(modern, caps)), modern, "initialize", "", 404, -32601},
			{"ping is gone", request("ping", meta(modern, caps)), modern, "ping", "", 404, -32601},
			// Versions.
			{"a version to come", request("tools/list", meta("2027-01-01", caps)), "2027-01-01", "tools/list", "", 400, -32022},
			{
				"a call of a version to come",
				request("tools/call", `"name":"channels",`+meta("2027-01-01", caps)),
				"2027-01-01",
				"tools/call",
				"channels",
				400,
				-32022,
			},
			{"a version that never was", legacyCall, "2025-01-01", "", "", 400, -32022},
			{"a version that is a word", legacyCall, "latest", "", "", 400, -32602},
			{"2025-11-25", legacyCall, "2025-11-25", "", "", 200, 0},
			{"2025-06-18", legacyCall, "2025-06-18", "", "", 200, 0},
			{"2025-03-26", legacyCall, "2025-03-26", "", "", 200, 0},
			{"2024-11-05", legacyCall, "2024-11-05", "", "", 200, 0},
			{"no version at all", legacyCall, "", "", "", 200, 0},
			{"initialize", initialize("2025-11-25"), "", "", "", 200, 0},
			{"initialize with a version we do not speak", initialize("1999-01-01"), "", "", "", 200, 0},
			{"discover by an old client", request("server/discover", ""), "2025-11-25", "", "", 200, -32601},
		} {
			t.Run(tt.name, func(t *testing.T) {
				var h []string
				for k, v := range map[string]string{headVersion: tt.version, headMethod: tt.method, headName: tt.named} {
					if v != "" {
						h = append(h, k, v)
					}
				}
				h = append(h, "Mcp-Session-Id", "mine", "Last-Event-ID", "7") // ignored, always
				res := s.post(s.org.Owner(), tt.body, h...)
				expect(t, res, tt.status, tt.code)
				if tt.code == -32022 && (!strings.Contains(string(res.Body), `"supported":["2026-07-28"`) ||
					!strings.Contains(string(res.Body), `"requested":"`+tt.version+`"`)) {
					t.Errorf("it does not say which versions are supported: %s", res.Body)
				}
				if strings.Contains(tt.name, "initialize with") && !strings.Contains(string(res.Body), `"protocolVersion":"2025-11-25"`) {
					t.Errorf("no version offered: %s", res.Body)
				}
			})
		}
		for _, take := range []string{"application/json", "text/event-stream", "text/html"} {
			expect(t, s.post(s.org.Owner(), legacyCall, "Accept", take), 400, 0)
		}
		expect(t, s.post(s.org.Owner(), legacyCall, "Accept", "*/*"), 200, 0)
	})
}
