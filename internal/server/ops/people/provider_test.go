package people_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// A foreign provider is one that others wrote, at which a browser signs in.
type foreign struct{ *mockoidc.MockOIDC }

func newForeign(t *testing.T) foreign {
	t.Helper()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Shutdown() })
	return foreign{m}
}

func (f foreign) config() daemon.Config {
	c := f.Config()
	return daemon.Config{OIDCIssuer: c.Issuer, OIDCClientID: c.ClientID, OIDCSecret: c.ClientSecret, OIDCName: "Acme ID"}
}

// signIn takes a browser from our start to the provider and back.
func (f foreign) signIn(t *testing.T, w *daemontest.World, query string, u *mockoidc.MockUser) daemontest.Response {
	t.Helper()
	f.QueueUser(u)
	res := w.Must(302, request{Method: "GET", Path: "/v1/auth/oidc/start?return_to=/x" + query}, nil)
	flow := cookieOf(t, res).Value
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	there, err := browser.Get(res.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	there.Body.Close()
	back, err := url.Parse(there.Header.Get("Location"))
	if err != nil || back.Query().Get("code") == "" {
		t.Fatalf("the provider sends the browser to %q (%d)", there.Header.Get("Location"), there.StatusCode)
	}
	return w.Do(request{Method: "GET", Path: back.RequestURI(), Header: map[string]string{"Cookie": "svc_oidc=" + flow}})
}

// world starts a service that has a provider.
func (f foreign) world(t *testing.T, dsn string, change func(*daemon.Config)) *daemontest.World {
	t.Helper()
	c := f.config()
	c.Database = dsn
	if change != nil {
		change(&c)
	}
	return daemontest.StartWith(t, c)
}

func whoIs(w *daemontest.World, res daemontest.Response) (out struct {
	User coord.User
	Orgs []struct{ Role coord.Role }
}) {
	w.Must(200, request{Method: "GET", Path: "/v1/auth/session", Cookie: session(res)}, &out)
	return out
}

// Everybody is back in after the provider was replaced by another, and after
// somebody was made anew there.
func TestAChangedProviderLocksNobodyOut(t *testing.T) {
	dsn := t.TempDir() + "/svc.db"
	before, after := newForeign(t), newForeign(t)
	w := before.world(t, dsn, nil)
	o := w.Org("Acme")
	owner, member := o.Users[coord.Owner], o.Users[coord.Member]
	people := []coord.User{owner, member, o.Users[coord.Admin]}
	for _, u := range people {
		if res := before.signIn(t, w, "", &mockoidc.MockUser{Subject: "old " + u.ID, Email: u.Email, EmailVerified: true}); res.Status != 302 {
			t.Fatalf("at the first provider: %d %s", res.Status, res.Body)
		}
	}
	again := func(u coord.User) *mockoidc.MockUser {
		return &mockoidc.MockUser{Subject: "new " + u.ID, Email: u.Email, EmailVerified: true}
	}
	// Somebody was made anew there: the owner unbinds them.
	if res := before.signIn(t, w, "", again(member)); res.Status != 403 ||
		!strings.Contains(string(res.Body), "an owner of your org can unbind it") {
		t.Errorf("another subject with the same address: %d %s", res.Status, res.Body)
	}
	w.Must(403, request{Method: "POST", Path: "/v1/members/" + member.ID + "/unbind", Token: o.Tokens[coord.Admin]}, nil)
	w.Must(204, request{Method: "POST", Path: "/v1/members/" + member.ID + "/unbind", Token: o.Owner()}, nil)
	if res := before.signIn(t, w, "", again(member)); res.Status != 302 {
		t.Errorf("after they were unbound: %d %s", res.Status, res.Body)
	}
	w.Stop()

	// Another provider, of which nobody was told: the owner gets in by a link
	// that the server's operator makes, and it shows.
	w = after.world(t, dsn, nil)
	if res := after.signIn(t, w, "", again(owner)); res.Status != 403 {
		t.Errorf("the owner at another provider: %d", res.Status)
	}
	var out, errs strings.Builder
	args := []string{"user", "sign-in", owner.Email, "--database", dsn, "--data", t.TempDir()}
	if code := daemon.Main(context.Background(), daemon.Env{Program: "svcd", Args: args, Stdout: &out, Stderr: &errs}); code != 0 {
		t.Fatalf("svcd user sign-in = %d %s", code, errs.String())
	}
	_, code, _ := strings.Cut(strings.TrimSpace(out.String()), "/link#")
	link := request{Method: "POST", Path: "/v1/auth/link", Body: map[string]any{"code": code}}
	res := w.Must(200, link, nil)
	if who := whoIs(w, res); who.User.ID != owner.ID || who.Orgs[0].Role != coord.Owner {
		t.Errorf("by the link one is %+v", who)
	}
	w.Must(404, link, nil) // once
	if !told(w, o, coord.EventSigninBreakGlass) {
		t.Error("the audit log does not tell of the broken glass")
	}
	w.Stop()

	// Announced as the first one's successor, it lets everybody in.
	w = after.world(t, dsn, func(c *daemon.Config) { c.OIDCReplaces = before.Issuer() })
	for _, u := range people {
		res := after.signIn(t, w, "", again(u))
		if res.Status != 302 || whoIs(w, res).User.ID != u.ID {
			t.Errorf("%s at the successor: %d %s", u.Email, res.Status, res.Body)
		}
	}
}

func told(w *daemontest.World, o *daemontest.Org, want coord.EventType) bool {
	var log struct{ Items []coord.Event }
	w.Must(200, request{Method: "GET", Path: "/v1/events?type=" + string(want), Token: o.Owner()}, &log)
	return len(log.Items) > 0
}

// Name, address and role follow the provider, a domain may join, and one of
// several providers is chosen by name.
func TestWhatTheProviderSaysIsFollowed(t *testing.T) {
	f, second := newForeign(t), newForeign(t)
	more, _ := json.Marshal([]map[string]any{{"name": "Second ID", "issuer": second.Issuer(), "client_id": second.Config().ClientID,
		"client_secret": second.Config().ClientSecret, "domains": []string{"example.com"}}})
	file := filepath.Join(t.TempDir(), "more.json")
	if err := os.WriteFile(file, more, 0o600); err != nil {
		t.Fatal(err)
	}
	w := f.world(t, t.TempDir()+"/svc.db", func(c *daemon.Config) { c.OIDCRoles, c.OIDCMore = "leads=admin,devs=member", file })
	o := w.Org("Acme")
	u := &mockoidc.MockUser{Subject: "1", Email: "ana@acme.example", EmailVerified: true, PreferredUsername: "Ana", Groups: []string{"devs"}}
	first := whoIs(w, f.signIn(t, w, "", u))
	if first.User.Name != "Ana" || first.Orgs[0].Role != coord.Member {
		t.Errorf("by a group one is %+v", first)
	}
	u.Email, u.PreferredUsername, u.Groups = "ana.new@acme.example", "Ana Neu", []string{"devs", "leads"}
	if who := whoIs(w, f.signIn(t, w, "", u)); who.User.ID != first.User.ID || who.User.Name != "Ana Neu" || who.User.Email != u.Email ||
		who.Orgs[0].Role != coord.Admin {
		t.Errorf("after the provider changed all of it: %+v", who)
	}
	// An address that somebody else has is not taken over, nor is an owner demoted.
	u.Email = o.Users[coord.Owner].Email
	if who := whoIs(w, f.signIn(t, w, "", u)); who.User.Email == u.Email {
		t.Errorf("two people are one: %+v", who)
	}
	boss := &mockoidc.MockUser{Subject: "2", Email: o.Users[coord.Owner].Email, EmailVerified: true, Groups: []string{"devs"}}
	if who := whoIs(w, f.signIn(t, w, "", boss)); who.Orgs[0].Role != coord.Owner {
		t.Errorf("the owner became %+v", who)
	}
	if who := whoIs(w, second.signIn(t, w, "&provider=Second+ID", &mockoidc.MockUser{Subject: "3", Email: "new@example.com",
		EmailVerified: true})); len(who.Orgs) != 1 || who.Orgs[0].Role != coord.Member {
		t.Errorf("by a domain one is %+v", who)
	}
	if res := second.signIn(t, w, "&provider=Second+ID", &mockoidc.MockUser{Subject: "4", Email: "x@evil.example",
		EmailVerified: true}); res.Status != 403 {
		t.Errorf("a stranger = %d", res.Status)
	}
}

// An address that only userinfo has, and what providers write instead of true.
func TestThinAndOddTokens(t *testing.T) {
	i := newIssuer(t)
	start := func(trust bool) (*daemontest.World, coord.User) {
		w := daemontest.StartWith(t, daemon.Config{Database: t.TempDir() + "/svc.db", OIDCIssuer: i.URL, OIDCClientID: "svc", OIDCSecret: "hush",
			OIDCName: "Acme ID", OIDCTrust: trust})
		return w, w.Org("Acme").Users[coord.Owner]
	}
	for name, c := range map[string]struct {
		token, info map[string]any
		trust       bool
		want        int
	}{
		"a thin token":         {nil, map[string]any{"sub": "7", "email": "$", "email_verified": true}, false, 302},
		"verified as a text":   {map[string]any{"email": "$", "email_verified": "true"}, nil, false, 302},
		"no word of it":        {map[string]any{"email": "$"}, nil, false, 403},
		"no word, but trusted": {map[string]any{"email": "$"}, nil, true, 302},
		"verified by userinfo": {map[string]any{"email": "$"}, map[string]any{"sub": "7", "email": "$", "email_verified": true}, false, 302},
		"another is verified": {map[string]any{"email": "$"}, map[string]any{"sub": "7", "email": "x@y.example", "email_verified": true},
			false, 403},
		"userinfo of another": {nil, map[string]any{"sub": "8", "email": "$", "email_verified": true}, false, 403},
		"userinfo says no":    {nil, map[string]any{"sub": "7", "email": "$", "email_verified": "false"}, false, 403},
		"made out to another": {map[string]any{"email": "$", "email_verified": true, "azp": "other"}, nil, false, 403},
		"for several, to us": {map[string]any{"email": "$", "email_verified": true, "azp": "svc", "aud": []string{"svc", "x"}}, nil,
			false, 302},
		"for several, to nobody":   {map[string]any{"email": "$", "email_verified": true, "aud": []string{"svc", "x"}}, nil, false, 403},
		"false where one must say": {map[string]any{"email": "$", "email_verified": "yes"}, nil, false, 403},
	} {
		w, u := start(c.trust)
		fill := func(claims map[string]any) map[string]any {
			out := map[string]any{}
			for k, v := range claims {
				if out[k] = v; v == "$" {
					out[k] = u.Email
				}
			}
			return out
		}
		claims := fill(c.token)
		claims["sub"] = "7"
		if _, ok := c.token["email_verified"]; !ok {
			claims["email_verified"] = nil
		}
		i.set(fill(c.info))
		if res := i.visit(t, w, "/", claims).back(w); res.Status != c.want {
			t.Errorf("%s = %d, want %d\n%s", name, res.Status, c.want, res.Body)
		}
		w.Stop()
	}
}

// After signing out the provider asks which account is meant, and can be
// signed out of as well.
func TestSigningOutAtTheProvider(t *testing.T) {
	w, i := openIDWorld(t)
	res := w.Must(302, request{Method: "GET", Path: "/v1/auth/oidc/start?choose=true"}, nil)
	if to, _ := url.Parse(res.Header.Get("Location")); to.Query().Get("prompt") != "select_account" {
		t.Errorf("the provider is asked %s", to)
	}
	res = w.Must(302, request{Method: "GET", Path: "/v1/auth/oidc/end"}, nil)
	to, _ := url.Parse(res.Header.Get("Location"))
	if !strings.HasPrefix(to.String(), i.URL+"/end?") || to.Query().Get("client_id") != "svc" ||
		to.Query().Get("post_logout_redirect_uri") != w.URL+"/sign-in?out=1" {
		t.Errorf("to sign out there, the browser goes to %s", to)
	}
}

// A postbox is a mail server that keeps what comes.
type postbox struct {
	addr    string
	letters chan string
}

func newPostbox(t *testing.T) *postbox {
	t.Helper()
	p := &postbox{letters: make(chan string, 100)}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return p, nil }))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = l.Addr().String()
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return p
}

func (*postbox) Mail(string, *smtp.MailOptions) error { return nil }
func (*postbox) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (*postbox) Reset()                               {}
func (*postbox) Logout() error                        { return nil }
func (p *postbox) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	p.letters <- string(text)
	return err
}

// Whoever is bound elsewhere gets a letter whose link binds the account anew.
func TestAMailedLinkBindsAnew(t *testing.T) {
	before, after, box := newForeign(t), newForeign(t), newPostbox(t)
	dsn := t.TempDir() + "/svc.db"
	w := before.world(t, dsn, nil)
	o := w.Org("Acme")
	u := o.Users[coord.Member]
	before.signIn(t, w, "", &mockoidc.MockUser{Subject: "1", Email: u.Email, EmailVerified: true})
	w.Stop()
	w = after.world(t, dsn, func(c *daemon.Config) {
		c.SMTPAddr, c.SMTPFrom, c.SMTPTLS = box.addr, "svc@svc.example", "none"
	})
	fresh := &mockoidc.MockUser{Subject: "2", Email: u.Email, EmailVerified: true}
	if res := after.signIn(t, w, "", fresh); res.Status != 403 || !strings.Contains(string(res.Body), "an email to it has a link") {
		t.Fatalf("at another provider: %d %s", res.Status, res.Body)
	}
	var letter string
	select {
	case letter = <-box.letters:
	case <-time.After(await.Patience):
		t.Fatal("no letter came")
	}
	code := regexp.MustCompile(`/link#([A-Za-z0-9_-]+)`).FindStringSubmatch(letter)
	if code == nil {
		t.Fatalf("the letter has no link:\n%s", letter)
	}
	res := w.Must(200, request{Method: "POST", Path: "/v1/auth/link", Body: map[string]any{"code": code[1]}}, nil)
	if who := whoIs(w, res); who.User.ID != u.ID {
		t.Errorf("the link is of %+v", who)
	}
	if res := after.signIn(t, w, "", fresh); res.Status != 302 || !told(w, o, coord.EventSigninRebound) {
		t.Errorf("from then on: %d %s", res.Status, res.Body)
	}
}
