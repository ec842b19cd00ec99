package people_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
)

// An issuer is an OpenID provider: discovery, keys, and a token endpoint that
// checks client and PKCE.
type issuer struct {
	*httptest.Server
	key    *rsa.PrivateKey
	mu     sync.Mutex
	grants map[string]grant // by code
	info   map[string]any   // what userinfo says
}

// set changes what userinfo says.
func (i *issuer) set(info map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.info = info
}

type grant struct {
	claims    map[string]any
	challenge string
}

// issuersKey is the key of every issuer: to find one costs more than most tests.
var issuersKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := issuersKey()
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key, grants: map[string]grant{}}
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]any{
			"issuer":                                i.URL,
			"authorization_endpoint":                i.URL + "/authorize",
			"token_endpoint":                        i.URL + "/token",
			"jwks_uri":                              i.URL + "/keys",
			"userinfo_endpoint":                     i.URL + "/userinfo",
			"end_session_endpoint":                  i.URL + "/end",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k",
			"n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes())}}})
	})
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if len(i.info) == 0 || r.Header.Get("Authorization") != "Bearer x" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		reply(w, i.info)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		g, ok := i.grants[r.FormValue("code")]
		delete(i.grants, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		id, secret, _ := r.BasicAuth()
		if !ok || b64(sum[:]) != g.challenge || id != "svc" || secret != "hush" {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		reply(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": i.sign(g.claims)})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (i *issuer) sign(claims map[string]any) string {
	c, _ := json.Marshal(claims)
	text := b64([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + b64(c)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + b64(sig)
}

// A visit is one sign-in through the issuer, step by step.
type visit struct {
	query url.Values // of the issuer's page
	flow  string     // the browser's cookie
	code  string
}

func (i *issuer) visit(t *testing.T, w *daemontest.World, returnTo string, claims map[string]any) visit {
	t.Helper()
	res := w.Must(302, request{Method: "GET", Path: "/v1/auth/oidc/start?return_to=" + url.QueryEscape(returnTo)}, nil)
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), i.URL+"/authorize?") {
		t.Fatalf("sent to %s, %v", to, err)
	}
	c := cookieOf(t, res)
	if c.Name != "svc_oidc" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge > 600 {
		t.Errorf("the cookie is %+v", c)
	}
	v := visit{query: to.Query(), flow: c.Value, code: rand.Text()}
	if v.query.Get("code_challenge_method") != "S256" || v.query.Get("redirect_uri") != w.URL+"/v1/auth/oidc/callback" ||
		strings.Contains(to.String(), c.Value) {
		t.Errorf("the issuer is asked %v", v.query)
	}
	all := map[string]any{
		"iss":            i.URL,
		"aud":            "svc",
		"exp":            time.Now().Add(time.Hour).Unix(),
		"iat":            time.Now().Unix(),
		"nonce":          v.query.Get("nonce"),
		"email_verified": true,
	}
	for k, x := range claims {
		if all[k] = x; x == nil {
			delete(all, k)
		}
	}
	i.mu.Lock()
	i.grants[v.code] = grant{all, v.query.Get("code_challenge")}
	i.mu.Unlock()
	return v
}

// back brings the browser back.
func (v visit) back(w *daemontest.World) daemontest.Response {
	w.Advance(time.Minute) // past the rate limit
	return w.Do(request{
		Method: "GET",
		Path:   "/v1/auth/oidc/callback?" + url.Values{"state": {v.query.Get("state")}, "code": {v.code}}.Encode(),
		Header: map[string]string{"Cookie": "svc_oidc=" + v.flow},
	})
}

// session returns the dashboard's cookie of an answer.
func session(res daemontest.Response) string {
	for _, c := range (&http.Response{Header: res.Header}).Cookies() {
		if c.Name == "svc_session" {
			return c.Value
		}
	}
	return ""
}

func openIDWorld(t *testing.T) (*daemontest.World, *issuer) {
	i := newIssuer(t)
	return daemontest.StartWith(t, daemon.Config{
		Database:     t.TempDir() + "/svc.db",
		OIDCIssuer:   i.URL,
		OIDCClientID: "svc",
		OIDCSecret:   "hush",
		OIDCName:     "Acme ID",
	}), i
}

func TestSigningInWithOpenID(t *testing.T) {
	w, i := openIDWorld(t)
	o := w.Org("Acme")
	u := o.Users[coord.Member]
	w.Password(u, password)
	stale := w.Cookie(u)
	var options struct{ OIDC string }
	w.Must(200, request{Method: "GET", Path: "/v1/auth/options"}, &options)
	if options.OIDC != "Acme ID" {
		t.Errorf("the page offers %q", options.OIDC)
	}
	res := i.visit(t, w, "/conflicts?x=1", map[string]any{"sub": "7", "email": strings.ToUpper(u.Email)}).back(w)
	if res.Status != 302 || res.Header.Get("Location") != w.URL+"/conflicts?x=1" {
		t.Fatalf("came back to %d %s\n%s", res.Status, res.Header.Get("Location"), res.Body)
	}
	var me struct{ User coord.User }
	w.Must(200, request{Method: "GET", Path: "/v1/me", Cookie: session(res)}, &me)
	if me.User.ID != u.ID {
		t.Errorf("signed in as %+v", me.User)
	}
	// The address is proved now: what was there before may be another's.
	w.Must(401, request{Method: "GET", Path: "/v1/me", Cookie: stale}, nil)
	if res := signIn(w, u.Email, password); res.Status != 401 {
		t.Errorf("the password from before = %d", res.Status)
	}
	// From now on the subject counts, whatever the address.
	res = i.visit(t, w, "/", map[string]any{"sub": "7", "email": "changed@example.com", "email_verified": false}).back(w)
	w.Must(200, request{Method: "GET", Path: "/v1/me", Cookie: session(res)}, &me)
	if me.User.ID != u.ID {
		t.Errorf("signed in as %+v", me.User)
	}
	// And the address counts for nobody else.
	if res := i.visit(t, w, "/", map[string]any{"sub": "8", "email": u.Email}).back(w); res.Status != 403 {
		t.Errorf("another subject with the same address = %d, want 403", res.Status)
	}
}

func TestAFailedSignInIsAPage(t *testing.T) {
	w, _ := openIDWorld(t)
	for path, says := range map[string]string{
		"/v1/auth/oidc/callback?code=x&state=%3Cscript%3E":         "This sign-in was not begun in this browser, or took too long; begin again.",
		"/v1/auth/oidc/callback?error=access_denied&state=x":       "stopped the sign-in",
		"/v1/auth/oidc/callback?code=" + strings.Repeat("x", 5000): "",
	} {
		teamtest.WantPage(t, w, request{Method: "GET", Path: path}, "<h1>Sign-in did not work</h1>", `href="/sign-in"`, says)
	}
}

func TestOpenIDRefusesWhatDoesNotFit(t *testing.T) {
	w, i := openIDWorld(t)
	o := w.Org("Acme")
	claims := func(more map[string]any) map[string]any {
		out := map[string]any{"sub": "7", "email": o.Users[coord.Owner].Email}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	start := func(more map[string]any) visit { return i.visit(t, w, "/", claims(more)) }
	for name, v := range map[string]visit{
		"another browser":            func() visit { v := start(nil); v.flow = start(nil).flow; return v }(),
		"no cookie":                  func() visit { v := start(nil); v.flow = ""; return v }(),
		"another state":              func() visit { v := start(nil); v.query.Set("state", start(nil).query.Get("state")); return v }(),
		"another return":             func() visit { v := start(nil); v.query.Set("state", v.query.Get("state")+"Lw"); return v }(),
		"a stolen code":              func() visit { v := start(nil); v.code = start(nil).code; return v }(),
		"no code":                    func() visit { v := start(nil); v.code = ""; return v }(),
		"a replayed token":           start(map[string]any{"nonce": "another"}),
		"another audience":           start(map[string]any{"aud": "other"}),
		"another issuer":             start(map[string]any{"iss": "https://evil.example"}),
		"an old token":               start(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}),
		"an address nobody verified": start(map[string]any{"email_verified": false}),
		"a stranger":                 start(map[string]any{"email": "stranger@example.com"}),
	} {
		if res := v.back(w); res.Status != 403 || session(res) != "" {
			t.Errorf("%s = %d, cookie %q\n%s", name, res.Status, session(res), res.Body)
		}
	}
	v := start(nil)
	if res := v.back(w); res.Status != 302 {
		t.Errorf("what fits = %d\n%s", res.Status, res.Body)
	}
	if res := v.back(w); res.Status != 403 {
		t.Errorf("the same again = %d", res.Status)
	}
	for _, to := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "javascript:alert(1)", ""} {
		res := i.visit(t, w, to, claims(nil)).back(w)
		if got := res.Header.Get("Location"); got != w.URL+"/" {
			t.Errorf("return_to %q leads to %q", to, got)
		}
	}
}

// Proving an address opens no org, except where an invite waits for it.
func TestOpenIDJoinsOnlyWhereInvited(t *testing.T) {
	w, i := openIDWorld(t)
	one, two := w.Org("One"), w.Org("Two")
	invite(t, w, one, map[string]any{"role": "viewer", "email": "new@example.com"})
	invite(t, w, two, map[string]any{"role": "member"}) // names nobody
	res := i.visit(t, w, "/", map[string]any{"sub": "9", "email": "New@example.com", "name": "New One"}).back(w)
	var who struct {
		User coord.User
		Orgs []struct {
			ID   string
			Role coord.Role
		}
	}
	w.Must(200, request{Method: "GET", Path: "/v1/auth/session", Cookie: session(res)}, &who)
	if len(who.Orgs) != 1 || who.Orgs[0].ID != one.ID || who.Orgs[0].Role != coord.Viewer || who.User.Name != "New One" {
		t.Errorf("signed in as %+v", who)
	}
	var left []coord.Invite
	w.Write(one.ID, func(ctx context.Context, tx *store.Tx) (err error) {
		left, err = tx.Invites(ctx, one.ID)
		return err
	})
	if len(left) != 0 {
		t.Errorf("the invite is still there: %+v", left)
	}
}

func TestOpenIDMayBeDownOrOff(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	for _, path := range []string{"/v1/auth/oidc/start", "/v1/auth/oidc/callback?state=x&code=y"} {
		w.Must(404, request{Method: "GET", Path: path}, nil)
		teamtest.WantPage(t, w, request{Method: "GET", Path: path}, "not configured here")
	}
	off, i := openIDWorld(t)
	i.Close()
	res := off.Must(503, request{Method: "GET", Path: "/v1/auth/oidc/start"}, nil)
	if strings.Contains(string(res.Body), i.URL) {
		t.Errorf("the answer tells of our inside: %s", res.Body)
	}
}

// A second factor is asked for after the provider, too; and how fresh a sign-in
// is, the provider says.
func TestOpenIDAndTheSecondFactor(t *testing.T) {
	w, i := openIDWorld(t)
	o := w.Org("Acme")
	u := o.Users[coord.Member]
	claims := func(ago time.Duration) map[string]any {
		return map[string]any{"sub": "7", "email": u.Email, "auth_time": time.Now().Add(-ago).Unix()}
	}
	p := &phone{t: t, w: w, user: u, cookie: session(i.visit(t, w, "/", claims(time.Hour)).back(w))}
	p.must(403, "POST", "/v1/auth/totp", nil, nil)
	start := w.Do(request{Method: "GET", Path: "/v1/auth/oidc/start?fresh=true"})
	if to := start.Header.Get("Location"); !strings.Contains(to, "prompt=login") || !strings.Contains(to, "max_age=900") {
		t.Errorf("a fresh proof is asked for at %s", to)
	}
	p.cookie = session(i.visit(t, w, "/", claims(0)).back(w))
	p.enrol()
	res := i.visit(t, w, "/conflicts?x=1", claims(0)).back(w)
	at, ticket, _ := strings.Cut(res.Header.Get("Location"), "#")
	if at != w.URL+"/sign-in?next=%2Fconflicts%3Fx%3D1" || session(res) != "" {
		t.Fatalf("after the provider: %q with a session %q", at, session(res))
	}
	if res := p.show(ticket, p.code(0)); res.Status != 200 {
		t.Errorf("then the code = %d %s", res.Status, res.Body)
	}
}
