package people_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func createToken(t *testing.T, w *daemontest.World, o *daemontest.Org, body map[string]any) (plaintext string, made coord.Token) {
	t.Helper()
	var out struct {
		coord.Token
		Plaintext string `json:"token"`
	}
	w.Must(201, request{Method: "POST", Path: "/v1/tokens", Token: o.Owner(), Body: body}, &out)
	return out.Plaintext, out.Token
}

func TestTokensAreWhatTheInterfaceSays(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		member := o.Users[coord.Member]

		pat, made := createToken(t, w, o, map[string]any{"name": "laptop", "user_email": strings.ToUpper(member.Email), "expires_in_days": 1})
		if len(pat) != 47 || !strings.HasPrefix(pat, made.Prefix) || len(made.Prefix) > 12 || *made.UserID != member.ID ||
			made.LastUsedAt != nil {
			t.Errorf("made %+v with the plaintext %s", made, pat)
		}
		if !slices.Equal(made.Scopes, coord.DeviceScopes()) {
			t.Errorf("default scopes = %v", made.Scopes)
		}
		var me struct {
			User  coord.User
			Role  coord.Role
			Token struct{ Kind string }
		}
		w.Must(200, request{Method: "GET", Path: "/v1/me", Token: pat}, &me)
		if me.User.ID != member.ID || me.Role != coord.Member || me.Token.Kind != "pat" {
			t.Errorf("the token speaks for %+v", me)
		}

		service, made := createToken(t, w, o, map[string]any{"name": "ci", "kind": "service"})
		if made.UserID != nil || slices.Contains(made.Scopes, coord.ScopeHooks) || slices.Contains(made.Scopes, coord.ScopeTools) {
			t.Errorf("a service token is %+v", made)
		}
		for _, scope := range []coord.Scope{coord.ScopeHooks, coord.ScopeTools} {
			w.Must(400, request{
				Method: "POST",
				Path:   "/v1/tokens",
				Token:  o.Owner(),
				Body:   map[string]any{"name": "x", "kind": "service", "scopes": []coord.Scope{scope}},
			}, nil)
		}
		w.Must(400, request{
			Method: "POST",
			Path:   "/v1/tokens",
			Token:  o.Owner(),
			Body:   map[string]any{"name": "x", "kind": "service", "user_email": member.Email},
		}, nil)
		w.Must(404, request{
			Method: "POST",
			Path:   "/v1/tokens",
			Token:  o.Owner(),
			Body:   map[string]any{"name": "x", "user_email": "nobody@example.com"},
		}, nil)

		// Admins see all, others their own, and nobody a secret.
		all := w.Must(200, request{Method: "GET", Path: "/v1/tokens", Token: o.Owner()}, nil)
		own := w.Must(200, request{Method: "GET", Path: "/v1/tokens", Token: pat}, nil)
		if bytes.Contains(all.Body, []byte(pat)) || bytes.Contains(all.Body, []byte(service)) || !bytes.Contains(all.Body, []byte(made.ID)) ||
			bytes.Contains(own.Body, []byte(made.ID)) {
			t.Errorf("admins see %s\nothers see %s", all.Body, own.Body)
		}

		// A member may end their own, not another's; ending twice is ending once.
		w.Must(403, request{Method: "DELETE", Path: "/v1/tokens/" + made.ID, Token: pat}, nil)
		w.Must(204, request{Method: "DELETE", Path: "/v1/tokens/" + made.ID, Token: o.Owner()}, nil)
		w.Must(204, request{Method: "DELETE", Path: "/v1/tokens/" + made.ID, Token: o.Owner()}, nil)
		w.Must(401, request{Method: "GET", Path: "/v1/me", Token: service}, nil)

		w.Advance(25 * time.Hour)
		w.Must(401, request{Method: "GET", Path: "/v1/me", Token: pat}, nil)
	})
}

// Of every text that is almost a token, none is one, and none asks the
// database.
func TestOnlyTheCanonicalTokenIsAccepted(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	token := o.Owner()
	w.Must(200, request{Method: "GET", Path: "/v1/me", Token: token}, nil)
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var near []string
	for _, c := range letters {
		near = append(near, token[:len(token)-1]+string(c))
	}
	near = append(near, token[:len(token)-1], token+"A", strings.ToLower(token), strings.ToUpper(token), "SVC_"+token[4:], token[4:],
		token+"=", strings.ReplaceAll(token, "_", "-"), token[:20]+" "+token[20:], "svc_"+strings.Repeat("A", 43))
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := []byte(token)
		b[4+rnd.IntN(43)] = letters[rnd.IntN(64)]
		near = append(near, string(b))
	}
	for _, s := range near {
		if s != token && auth.WellFormed(s) {
			t.Errorf("%q passes for %q", s, token)
		}
	}
	for _, s := range []string{token + "\n", "\t" + token, token + "\r\nX: y"} {
		if auth.WellFormed(s) {
			t.Errorf("%q is well-formed", s)
		}
	}
	for _, header := range []string{token, "Basic " + token, "Bearer", "Bearer ", "Bearer " + token + " x", "Token " + token} {
		if res := w.Do(request{Method: "GET", Path: "/v1/me", Header: map[string]string{"Authorization": header}}); res.Status != 401 {
			t.Errorf("Authorization: %s = %d, want 401", header, res.Status)
		}
	}
	w.Must(200, request{Method: "GET", Path: "/v1/me", Header: map[string]string{"Authorization": "bearer " + token}}, nil)
}

// No secret may be found in the database's files, the log or an error.
func TestSecretsAreNowhereToBeFound(t *testing.T) {
	dir := t.TempDir()
	w := daemontest.Start(t, filepath.Join(dir, "svc.db"))
	o := w.Org("Acme")
	const password = "an unusual pass phrase"
	u := o.Users[coord.Owner]
	w.Password(u, password)
	secrets := map[string]string{"the password": password}
	for i := range 20 {
		plaintext, _ := createToken(t, w, o, map[string]any{"name": fmt.Sprint("t", i)})
		secrets[fmt.Sprint("token ", i)] = plaintext
		secrets[fmt.Sprint("invite ", i)] = invite(t, w, o, map[string]any{"role": "member"})
		w.Do(request{Method: "GET", Path: "/v1/events?limit=0", Token: plaintext})
		w.Do(request{Method: "GET", Path: "/v1/nothing?token=" + plaintext, Token: plaintext})
	}
	res := w.Must(200, request{Method: "POST", Path: "/v1/auth/sign-in", Body: map[string]any{"email": u.Email, "password": password}}, nil)
	cookie, _, _ := strings.Cut(strings.TrimPrefix(res.Header.Get("Set-Cookie"), "svc_session="), ";")
	secrets["the cookie"] = cookie
	var device struct {
		DeviceCode string `json:"device_code"`
	}
	w.Must(200, request{Method: "POST", Path: "/v1/auth/device", Body: map[string]any{"hostname": "laptop"}}, &device)
	secrets["the device code"] = device.DeviceCode
	metrics := w.Metrics()
	w.Stop()
	places := map[string][]byte{"the log": []byte(w.Log.String()), "the metrics": []byte(metrics)}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no database files", err)
	}
	for _, f := range files {
		if places[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	for place, text := range places {
		for what, secret := range secrets {
			if len(secret) < 20 || bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s (%q) is in %s", what, secret, place)
			}
		}
	}
	if !slices.ContainsFunc(files, func(f string) bool { return bytes.Contains(places[f], []byte(auth.HashOf(cookie))) }) {
		t.Error("not even the hash of the cookie is there: this test looks in the wrong place")
	}
}

// Noting when a token was used must not cost a write per request.
func TestUseOfATokenIsNotedNowAndThen(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	plaintext, made := createToken(t, w, o, map[string]any{"name": "busy"})
	a := auth.New(w.Store, "http://x")
	r := request{Method: "GET", Path: "/v1/me", Token: plaintext}
	used := func() *coord.Time {
		var tok coord.Token
		w.Write(o.ID, func(ctx context.Context, tx *store.Tx) (err error) {
			tok, err = tx.Token(ctx, o.ID, made.ID)
			return err
		})
		return tok.LastUsedAt
	}
	writes, last := 0, used()
	for range 60 { // a minute's worth, flushed as often as the daemon would and more
		for range 20 {
			if _, err := a.Caller(w.Build(r), false); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := used(); now != nil && (last == nil || *now != *last) {
			writes++
			last = now
		}
		w.Advance(time.Second)
	}
	if writes < 1 || writes > 2 {
		t.Errorf("1,200 requests in a minute wrote last_used_at %d times, want 1 or 2", writes)
	}
}

func TestUseOfATokenSurvivesAStop(t *testing.T) {
	w := daemontest.StartWith(t, daemon.Config{Database: t.TempDir() + "/svc.db"})
	o := w.Org("Acme")
	plaintext, made := createToken(t, w, o, map[string]any{"name": "once"})
	w.Must(200, request{Method: "GET", Path: "/v1/me", Token: plaintext}, nil)
	w.Stop()
	var tok coord.Token
	w.Write(o.ID, func(ctx context.Context, tx *store.Tx) (err error) {
		tok, err = tx.Token(ctx, o.ID, made.ID)
		return err
	})
	if tok.LastUsedAt == nil {
		t.Error("last_used_at is empty")
	}
}
