package people_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

const password = "correct horse battery"

func signIn(w *daemontest.World, email, password string) daemontest.Response {
	return w.Do(request{Method: "POST", Path: "/v1/auth/sign-in", Body: map[string]any{"email": email, "password": password}})
}

// cookieOf returns the one cookie an answer sets.
func cookieOf(t *testing.T, res daemontest.Response) *http.Cookie {
	t.Helper()
	cookies := (&http.Response{Header: res.Header}).Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d sets %d cookies\n%s", res.Status, len(cookies), res.Body)
	}
	return cookies[0]
}

func TestCookiesAreGuarded(t *testing.T) {
	for _, tt := range []struct {
		url, name string
		secure    bool
	}{{"", "svc_session", false}, {"https://svc.example.com", "__Host-svc_session", true}} {
		w := daemontest.StartWith(t, daemon.Config{Database: t.TempDir() + "/svc.db", PublicURL: tt.url})
		u := w.Org("Acme").Users[coord.Owner]
		w.Password(u, password)
		c := cookieOf(t, signIn(w, u.Email, password))
		if c.Name != tt.name || c.Secure != tt.secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" ||
			len(c.Value) != 43 || c.MaxAge <= 0 {
			t.Errorf("the cookie at %q is %+v", tt.url, c)
		}
		again := cookieOf(t, w.Do(request{
			Method: "POST",
			Path:   "/v1/auth/sign-in",
			Cookie: c.Value,
			Body:   map[string]any{"email": u.Email, "password": password},
		}))
		if again.Value == c.Value {
			t.Error("signing in keeps the cookie that was there before")
		}
		w.Must(200, request{Method: "GET", Path: "/v1/auth/session", Cookie: c.Value}, nil)
		out := cookieOf(t, w.Must(204, request{Method: "POST", Path: "/v1/auth/sign-out", Cookie: c.Value}, nil))
		if out.MaxAge >= 0 || out.Value != "" || out.Name != tt.name {
			t.Errorf("signing out sets %+v", out)
		}
		w.Must(401, request{Method: "GET", Path: "/v1/auth/session", Cookie: c.Value}, nil)
		w.Must(200, request{Method: "GET", Path: "/v1/auth/session", Cookie: again.Value}, nil)
	}
}

func TestSessionsEnd(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		u := o.Users[coord.Owner]
		w.Password(u, password)
		first, second := cookieOf(t, signIn(w, u.Email, password)).Value, cookieOf(t, signIn(w, u.Email, password)).Value
		change := func(current, new string) request {
			return request{Method: "POST", Path: "/v1/auth/password", Cookie: first, Body: map[string]any{"current": current, "new": new}}
		}
		w.Must(401, change("wrong", "another good phrase"), nil)
		for _, bad := range []string{"short", "password1234", "owner-acme1234"} {
			w.Must(400, change(password, bad), nil)
		}
		w.Must(204, change(password, "another good phrase"), nil)
		w.Must(200, request{Method: "GET", Path: "/v1/auth/session", Cookie: first}, nil)
		w.Must(401, request{Method: "GET", Path: "/v1/auth/session", Cookie: second}, nil)
		if res := signIn(w, u.Email, password); res.Status != 401 {
			t.Errorf("the old password = %d", res.Status)
		}
		// Fourteen idle days end a session; use keeps it, but not beyond thirty.
		w.Advance(13 * 24 * time.Hour)
		w.Must(200, request{Method: "GET", Path: "/v1/auth/session", Cookie: first}, nil)
		w.Advance(13 * 24 * time.Hour)
		w.Must(200, request{Method: "GET", Path: "/v1/auth/session", Cookie: first}, nil)
		w.Advance(5 * 24 * time.Hour)
		w.Must(401, request{Method: "GET", Path: "/v1/auth/session", Cookie: first}, nil)
		idle := w.Cookie(u)
		w.Advance(15 * 24 * time.Hour)
		w.Must(401, request{Method: "GET", Path: "/v1/auth/session", Cookie: idle}, nil)
	})
}

// Every unsafe route that takes a cookie refuses what another site may send.
func TestForgedWritesAreRefused(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	cookie := w.Cookie(o.Users[coord.Owner])
	forgeries := []map[string]string{
		{"X-Svc-CSRF": ""}, {"X-Svc-CSRF": "0"}, {"X-Svc-CSRF": "true"}, {"X-Svc-CSRF": "1, 1"},
		{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": w.URL + ".evil.example"},
		{"Origin": strings.Replace(w.URL, "127.0.0.1", "localhost", 1)},
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "cross-site", "Origin": w.URL},
	}
	routes := 0
	for _, op := range api.Table {
		method, path, _ := strings.Cut(op.Route, " ")
		if op.Route == "" || method == "GET" || op.Door == api.Public || op.Door == api.BearerOnly {
			continue
		}
		routes++
		path = strings.NewReplacer("{id}", o.ID, "{ref}", "1", "{userId}", o.ID, "{repo}", "x").Replace(path)
		for _, h := range forgeries {
			res := w.Do(request{Method: method, Path: path, Cookie: cookie, Org: o.Slug, Header: h})
			if res.Status != 403 || !strings.Contains(string(res.Body), "X-Svc-CSRF") && !strings.Contains(string(res.Body), "another site") {
				t.Errorf("%s with %v = %d %s", op.Route, h, res.Status, res.Body)
			}
		}
	}
	if routes < 10 {
		t.Errorf("only %d routes", routes)
	}
	ok := map[string]string{"Origin": w.URL, "Sec-Fetch-Site": "same-origin"}
	w.Must(201, request{
		Method: "POST",
		Path:   "/v1/repos",
		Cookie: cookie,
		Org:    o.Slug,
		Header: ok,
		Body:   map[string]any{"full_name": "acme/x"},
	}, nil)
	// A token is proof enough: no browser sends it by itself.
	w.Must(201, request{Method: "POST", Path: "/v1/repos", Token: o.Owner(), Body: map[string]any{"full_name": "acme/y"}}, nil)
}

func TestTheDashboardSaysInWhichOrgItActs(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	one, two := w.Org("One"), w.Org("Two")
	cookie := w.Cookie(one.Users[coord.Owner])
	var me struct{ Org coord.Org }
	w.Must(200, request{Method: "GET", Path: "/v1/me", Cookie: cookie}, &me) // the only one there is
	if me.Org.ID != one.ID {
		t.Errorf("acting in %+v", me.Org)
	}
	w.Must(403, request{Method: "GET", Path: "/v1/me", Cookie: cookie, Org: two.Slug}, nil)
	w.Must(403, request{Method: "GET", Path: "/v1/me", Cookie: cookie, Org: "nowhere"}, nil)
}

// Nobody learns from an answer whether an address has an account.
func TestUnknownAddressesLookLikeWrongPasswords(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	w.Password(o.Users[coord.Owner], password)
	known, unknown, none := signIn(w, o.Users[coord.Owner].Email,
		"wrong"), signIn(w, "nobody@example.com", "wrong"), signIn(w, o.Users[coord.Viewer].Email, "wrong")
	if known.Status != 401 || string(known.Body) != string(unknown.Body) || string(known.Body) != string(none.Body) || unknown.Status != 401 {
		t.Errorf("known %d %s\nunknown %d %s\nwithout a password %d %s", known.Status, known.Body, unknown.Status, unknown.Body, none.Status,
			none.Body)
	}
	if len(known.Header.Values("Set-Cookie")) > 0 {
		t.Error("a failed sign-in sets a cookie")
	}
}

// Failures are limited; an office that signs in behind one address is not, and
// nobody is kept out by the failures of others.
func TestFailuresToSignInAreLimited(t *testing.T) {
	for name, c := range map[string]struct {
		email func(i int) string
		most  int
	}{
		"per account": {func(int) string { return "owner-acme@example.com" }, 12},
		"per address": {func(i int) string { return strings.Repeat("x", i+1) + "@example.com" }, 62},
	} {
		w := daemontest.Start(t, t.TempDir()+"/svc.db")
		w.Org("Acme")
		w.Freeze()
		limited := false
		for i := range c.most {
			if res := signIn(w, c.email(i), "wrong"); res.Status == 429 {
				limited = i >= 5 && res.Header.Get("Retry-After") != ""
				break
			}
		}
		if !limited {
			t.Errorf("%s: no limit", name)
		}
	}
}

func TestAnOfficeSignsInBehindOneAddress(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	w.Password(o.Users[coord.Owner], password)
	for i := range 25 {
		if res := signIn(w, o.Users[coord.Owner].Email, password); res.Status != 200 {
			t.Fatalf("sign-in %d of one minute = %d %s", i+1, res.Status, res.Body)
		}
	}
}

// Somebody elsewhere who fails at an account does not keep its owner out.
func TestOthersFailuresDoNotLockOut(t *testing.T) {
	w := daemontest.StartWith(t, daemon.Config{Database: t.TempDir() + "/svc.db", TrustProxy: true})
	o := w.Org("Acme")
	u := o.Users[coord.Owner]
	w.Password(u, password)
	from := func(address, secret string) int {
		return w.Do(request{Method: "POST", Path: "/v1/auth/sign-in", Body: map[string]any{"email": u.Email, "password": secret},
			Header: map[string]string{"X-Forwarded-For": address}}).Status
	}
	if got := from("192.0.2.7", password); got != 200 {
		t.Fatalf("at home = %d", got)
	}
	refused := 0
	for i := range 130 { // a botnet
		if from(fmt.Sprintf("198.51.100.%d", i), "wrong") == 429 {
			refused++
		}
	}
	if got := from("192.0.2.7", password); got != 200 || refused == 0 {
		t.Errorf("at home, while others try = %d; %d of those were refused", got, refused)
	}
}
