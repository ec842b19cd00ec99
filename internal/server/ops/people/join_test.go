package people_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func accept(w *daemontest.World, body map[string]any) daemontest.Response {
	return w.Do(request{Method: "POST", Path: "/v1/auth/accept-invite", Body: body})
}

func TestAnInviteOpensOneDoorOnce(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		code := invite(t, w, o, map[string]any{"role": "member", "email": "Eve@Example.com"})
		var listed struct{ Items []map[string]any }
		w.Must(200, request{Method: "GET", Path: "/v1/invites", Token: o.Owner()}, &listed)
		if link, there := listed.Items[0]["url"]; !there || link != nil {
			t.Errorf("the list shows the link as %v, want null: it is shown once", link)
		}
		var shown struct {
			OrgName string `json:"org_name"`
			Role    coord.Role
			Email   string
		}
		w.Must(200, request{Method: "POST", Path: "/v1/auth/invite", Body: map[string]any{"code": code}}, &shown)
		if shown.OrgName != "Acme" || shown.Role != coord.Member || shown.Email != "eve@example.com" {
			t.Errorf("the guest sees %+v", shown)
		}
		for name, body := range map[string]map[string]any{
			"a short password": {"code": code, "name": "Eve", "password": "short"},
			"another address":  {"code": code, "name": "Eve", "password": password, "email": "mallory@example.com"},
		} {
			if res := accept(w, body); res.Status != 400 {
				t.Errorf("%s = %d", name, res.Status)
			}
		}
		res := accept(w, map[string]any{"code": code, "name": "Eve", "password": password})
		if res.Status != 200 {
			t.Fatalf("accepting = %d %s", res.Status, res.Body)
		}
		var me struct {
			User coord.User
			Role coord.Role
		}
		w.Must(200, request{Method: "GET", Path: "/v1/me", Cookie: cookieOf(t, res).Value, Org: o.Slug}, &me)
		if me.User.Email != "eve@example.com" || me.Role != coord.Member {
			t.Errorf("joined as %+v", me)
		}
		if res := accept(w, map[string]any{"code": code, "name": "Eve", "password": password}); res.Status != 404 {
			t.Errorf("accepting twice = %d, want 404", res.Status)
		}
		old := invite(t, w, o, map[string]any{"role": "member"})
		w.Advance(7*24*time.Hour + time.Second)
		if res := accept(w, map[string]any{"code": old, "name": "Eve", "password": password, "email": "late@example.com"}); res.Status != 404 {
			t.Errorf("accepting after a week = %d, want 404", res.Status)
		}
	})
}

// An invite of one org must never open an account that others rely on.
func TestAnInviteDoesNotOpenOtherPeoplesAccounts(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	ours, theirs := w.Org("Ours"), w.Org("Theirs")
	locked, bare, bound := ours.Users[coord.Owner], ours.Users[coord.Admin], ours.Users[coord.Member]
	w.Password(locked, password)
	gone := w.Member(ours, coord.Member) // signs in with OpenID, was removed
	w.Write("signin", func(ctx context.Context, tx *store.Tx) error {
		for _, u := range []coord.User{bound, gone} {
			if err := tx.Bind(ctx, u.ID, "subject of "+u.ID); err != nil {
				return err
			}
		}
		return tx.DeleteMember(ctx, ours.ID, gone.ID)
	})
	for _, tt := range []struct {
		name   string
		victim coord.User
		want   int
	}{
		{"an account with a password", locked, 401},
		{"an account that is in another org and has no password yet", bare, 403},
		{"an account that OpenID proved", bound, 403},
		{"an account that OpenID proved and that is in no org now", gone, 403},
	} {
		for _, named := range []bool{true, false} {
			body := map[string]any{"role": "member"}
			if named {
				body["email"] = tt.victim.Email
			}
			res := accept(w, map[string]any{
				"code":     invite(t, w, theirs, body),
				"name":     "Mallory",
				"password": "mallory knows this",
				"email":    tt.victim.Email,
			})
			if res.Status != tt.want || len(res.Header.Values("Set-Cookie")) > 0 {
				t.Errorf("%s, invite made out to it %v: %d, want %d\n%s", tt.name, named, res.Status, tt.want, res.Body)
			}
			if r := signIn(w, tt.victim.Email, "mallory knows this"); r.Status == 200 {
				t.Errorf("%s: the password was replaced", tt.name)
			}
			w.Advance(time.Hour) // past the rate limits
		}
	}
	// With the account's own password the invite works and leaves it alone.
	res := accept(w, map[string]any{
		"code":     invite(t, w, theirs, map[string]any{"role": "viewer"}),
		"name":     "Renamed",
		"password": password,
		"email":    locked.Email,
	})
	if res.Status != 200 || !strings.Contains(string(res.Body), locked.Name) || strings.Contains(string(res.Body), "Renamed") {
		t.Errorf("joining a second org = %d %s", res.Status, res.Body)
	}
}

// An open invite must not become a way to try passwords.
func TestAcceptingIsLimited(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	w.Password(o.Users[coord.Owner], password)
	code := invite(t, w, o, map[string]any{"role": "member"})
	for range 15 {
		if accept(w, map[string]any{
			"code":     code,
			"name":     "x",
			"password": "a guess at the password",
			"email":    o.Users[coord.Owner].Email,
		}).Status == 429 {
			return
		}
	}
	t.Error("15 guesses and no limit")
}

func TestSettingUpWorksOnceAndOnlyWithTheCode(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		setUp := func(code string) daemontest.Response {
			return w.Do(request{
				Method: "POST",
				Path:   "/v1/auth/setup",
				Body:   map[string]any{"code": code, "org": "Acme & Söhne", "email": "Ana@Example.com", "name": "Ana", "password": password},
			})
		}
		var options struct {
			SetUp bool `json:"set_up"`
		}
		w.Must(200, request{Method: "GET", Path: "/v1/auth/options"}, &options)
		if !options.SetUp {
			t.Error("an empty server does not offer to set it up")
		}
		if res := setUp("guess"); res.Status != 403 {
			t.Errorf("without a code = %d", res.Status)
		}
		code, err := w.D.Ops.People.NewSetupCode(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first := setUp(code)
		if first.Status != 201 {
			t.Fatalf("setting up = %d %s", first.Status, first.Body)
		}
		var me struct {
			Org  coord.Org
			Role coord.Role
			User coord.User
		}
		w.Must(200, request{Method: "GET", Path: "/v1/me", Cookie: cookieOf(t, first).Value}, &me)
		if me.Role != coord.Owner || me.Org.Slug != "acme-s-hne" || me.User.Email != "ana@example.com" {
			t.Errorf("made %+v", me)
		}
		if res := setUp(code); res.Status != 403 {
			t.Errorf("a second time = %d, want 403", res.Status)
		}
		if code, err := w.D.Ops.People.NewSetupCode(t.Context()); code != "" || err != nil {
			t.Errorf("a new code where there is an org: %q, %v", code, err)
		}
	})
}
