package people_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func TestOnlyOwnersTouchOwnersAndAdmins(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	roles := coord.Roles()
	for _, by := range []coord.Role{coord.Owner, coord.Admin} {
		for _, of := range roles {
			want := func(success int) int {
				if by == coord.Admin && (of == coord.Owner || of == coord.Admin) {
					return http.StatusForbidden
				}
				return success
			}
			check := func(what string, success int, r request) {
				t.Helper()
				r.Token = o.Tokens[by]
				if res := w.Do(r); res.Status != want(success) {
					t.Errorf("%s %s %s = %d, want %d\n%s", by, what, of, res.Status, want(success), res.Body)
				}
			}
			email := string(by) + "-adds-" + string(of) + "@example.com"
			check("adds", 201, request{Method: "POST", Path: "/v1/members", Body: map[string]any{"email": email, "role": of}})
			check("invites", 201, request{Method: "POST", Path: "/v1/invites", Body: map[string]any{"role": of}})
			check("promotes to", 200, request{
				Method: "PATCH",
				Path:   "/v1/members/" + w.Member(o, coord.Viewer).ID,
				Body:   map[string]any{"role": of},
			})
			target := w.Member(o, of)
			check("makes a token for", 201, request{
				Method: "POST",
				Path:   "/v1/tokens",
				Body:   map[string]any{"name": "x", "user_email": target.Email},
			})
			check("demotes", 200, request{Method: "PATCH", Path: "/v1/members/" + target.ID, Body: map[string]any{"role": "viewer"}})
			check("removes", 204, request{Method: "DELETE", Path: "/v1/members/" + w.Member(o, of).ID})
		}
	}
	// A service token may add people, but nobody powerful.
	for role, want := range map[coord.Role]int{coord.Owner: 403, coord.Admin: 403, coord.Member: 201} {
		res := w.Do(request{
			Method: "POST",
			Path:   "/v1/members",
			Token:  o.Service,
			Body:   map[string]any{"email": "by-service-" + role + "@example.com", "role": role},
		})
		if res.Status != want {
			t.Errorf("a service token adds %s = %d, want %d", role, res.Status, want)
		}
	}
}

func TestTheLastOwnerStays(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		path := "/v1/members/" + o.Users[coord.Owner].ID
		w.Must(409, request{Method: "DELETE", Path: path, Token: o.Owner()}, nil)
		w.Must(409, request{Method: "PATCH", Path: path, Token: o.Owner(), Body: map[string]any{"role": "admin"}}, nil)
		w.Must(200, request{Method: "PATCH", Path: path, Token: o.Owner(), Body: map[string]any{"role": "owner"}}, nil)
		second := w.Member(o, coord.Owner)
		token := w.Token(o, &second, coord.Scopes()...)
		// Two owners who remove each other at once: one must stay.
		done := make(chan int, 2)
		go func() { done <- w.Do(request{Method: "DELETE", Path: path, Token: token}).Status }()
		go func() {
			done <- w.Do(request{Method: "DELETE", Path: "/v1/members/" + second.ID, Token: o.Owner()}).Status
		}()
		first, other := <-done, <-done
		if first == 204 && other == 204 {
			t.Errorf("both owners were removed")
		}
	})
}

// A removed member is out at once: tokens, dashboard, streams, also on a
// replica that remembers them.
func TestRemovingAMemberEndsEverythingTheyHold(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		there := w
		if strings.HasPrefix(dsn, "postgres") {
			there = w.Replica()
		}
		o := w.Org("Acme")
		u := w.Member(o, coord.Admin)
		token, cookie := w.Token(o, &u, coord.Scopes()...), w.Cookie(u)
		var invite struct{ URL string }
		w.Must(201, request{Method: "POST", Path: "/v1/invites", Token: token, Body: map[string]any{"role": "member"}}, &invite)
		for _, r := range []request{{Token: token}, {Cookie: cookie, Org: o.Slug}} {
			r.Method, r.Path = "GET", "/v1/me"
			there.Must(200, r, nil)
		}
		name := "acme/" + u.ID
		w.Must(200, request{
			Method: "POST",
			Path:   "/v1/hooks/evaluate",
			Token:  token,
			Body: map[string]any{"event": "session_start", "session": map[string]any{"external_id": "x", "tool": "codex"},
				"repo": map[string]any{"remote_fingerprints": []string{"github.com/" + name}}},
		}, nil)
		online := func() int {
			var page wire.Page[wire.Online]
			there.Must(200, request{Method: "GET", Path: "/v1/presence?repo=" + name, Token: o.Owner()}, &page)
			return len(page.Items)
		}
		if n := online(); n != 1 {
			t.Fatalf("%d agents online, want theirs", n)
		}
		streams := []<-chan struct{}{follow(t, there, request{Token: token}), follow(t, there, request{Cookie: cookie, Org: o.Slug})}
		w.Must(204, request{Method: "DELETE", Path: "/v1/members/" + u.ID, Token: o.Owner()}, nil)
		if res := w.Do(request{Method: "GET", Path: "/v1/me", Token: token}); res.Status != 401 {
			t.Errorf("the token here = %d, want 401", res.Status)
		}
		if n := online(); n != 0 {
			t.Errorf("%d agents online of one who has left", n)
		}
		await.True(t, "the token on the other replica to end", func() bool {
			return there.Do(request{Method: "GET", Path: "/v1/me", Token: token}).Status == 401
		})
		if res := there.Do(request{Method: "GET", Path: "/v1/me", Cookie: cookie, Org: o.Slug}); res.Status != 401 {
			t.Errorf("the cookie = %d, want 401", res.Status)
		}
		for _, s := range streams {
			select {
			case <-s:
			case <-time.After(await.Patience):
				t.Errorf("a stream is still open")
			}
		}
		_, code, _ := strings.Cut(invite.URL, "#")
		if res := w.Do(request{Method: "POST", Path: "/v1/auth/invite", Body: map[string]any{"code": code}}); res.Status != 404 {
			t.Errorf("the invite they made = %d, want 404", res.Status)
		}
	})
}

// Somebody who is in two orgs stays signed in to the other.
func TestRemovalFromOneOrgLeavesTheOther(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	one, two := w.Org("One"), w.Org("Two")
	u := one.Users[coord.Member]
	w.Write(two.ID, func(ctx context.Context, tx *store.Tx) error { return tx.InsertMember(ctx, two.ID, u.ID, coord.Member) })
	cookie := w.Cookie(u)
	w.Must(204, request{Method: "DELETE", Path: "/v1/members/" + u.ID, Token: one.Owner()}, nil)
	w.Must(403, request{Method: "GET", Path: "/v1/me", Cookie: cookie, Org: one.Slug}, nil)
	w.Must(200, request{Method: "GET", Path: "/v1/me", Cookie: cookie, Org: two.Slug}, nil)
}

// An admin must not reach another org by making an account for an address
// first and waiting for the other org to add it.
func TestAnAccountMadeElsewhereIsNotAddedByItsAddress(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	theirs, ours := w.Org("Theirs"), w.Org("Ours")
	code := invite(t, w, theirs, map[string]any{"role": "member", "email": "victim@example.com"})
	w.Must(200, request{
		Method: "POST",
		Path:   "/v1/auth/accept-invite",
		Body:   map[string]any{"code": code, "name": "Not me", "password": "correct horse battery"},
	}, nil)
	res := w.Do(request{
		Method: "POST",
		Path:   "/v1/members",
		Token:  ours.Owner(),
		Body:   map[string]any{"email": "victim@example.com", "role": "member"},
	})
	if res.Status != 409 || !strings.Contains(string(res.Body), "invite") {
		t.Errorf("adding the address = %d, want 409 with a way out\n%s", res.Status, res.Body)
	}
	// Whoever has no way in yet can be added by address.
	other := w.Member(theirs, coord.Member)
	w.Must(201, request{
		Method: "POST",
		Path:   "/v1/members",
		Token:  ours.Owner(),
		Body:   map[string]any{"email": other.Email, "role": "member"},
	}, nil)
}

// follow opens a stream and returns a channel that is closed when it ends.
func follow(t *testing.T, w *daemontest.World, r request) <-chan struct{} {
	t.Helper()
	r.Method, r.Path = "GET", "/v1/stream"
	s := w.Open(r)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer s.Close()
		buf := make([]byte, 4096)
		for {
			if _, err := s.Read(buf); err != nil {
				return
			}
		}
	}()
	return ended
}

// invite makes an invite and returns its code.
func invite(t *testing.T, w *daemontest.World, o *daemontest.Org, body map[string]any) string {
	t.Helper()
	var made coord.Invite
	w.Must(201, request{Method: "POST", Path: "/v1/invites", Token: o.Owner(), Body: body}, &made)
	_, code, ok := strings.Cut(*made.URL, "/invite#")
	if !ok {
		t.Fatalf("the invite's link is %s", *made.URL)
	}
	return code
}
