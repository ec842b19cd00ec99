package people_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// open starts a service on which everybody may sign up.
func open(t *testing.T, dsn string) (*daemontest.World, *postbox) {
	box := newPostbox(t)
	return daemontest.StartWith(t, daemon.Config{Database: dsn, SignUp: "open", SMTPAddr: box.addr, SMTPFrom: "svc@svc.example",
		SMTPTLS: "none", PublicURL: "https://svc.example"}), box
}

func signUp(w *daemontest.World, email string) daemontest.Response {
	return w.Do(request{Method: "POST", Path: "/v1/auth/sign-up", Body: wire.SignUp{Email: email}})
}

var signUpLink = regexp.MustCompile(`/sign-up#([A-Za-z0-9_-]+)`)

// code reads the next letter.
func (p *postbox) code(t *testing.T) string {
	t.Helper()
	select {
	case letter := <-p.letters:
		if found := signUpLink.FindStringSubmatch(letter); found != nil {
			return found[1]
		}
		t.Fatalf("the letter has no link:\n%s", letter)
	case <-time.After(await.Patience):
		t.Fatal("no letter came")
	}
	return ""
}

func finish(w *daemontest.World, code, org, name string) daemontest.Response {
	return w.Do(request{Method: "POST", Path: "/v1/auth/sign-up/finish",
		Body: wire.FinishSignUp{Code: code, Org: org, Name: name, Password: password}})
}

// Whoever signs up owns an org. Somebody with an account makes one more, signed
// in, and each of their tokens is of one of them.
func TestSigningUpMakesAnOrg(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w, box := open(t, dsn)
		if res := signUp(w, "Ana@Example.com"); res.Status != 204 {
			t.Fatalf("asking = %d %s", res.Status, res.Body)
		}
		code := box.code(t)
		if res := finish(w, code, " \t ", "Ana"); res.Status != 400 {
			t.Errorf("a blank org = %d", res.Status)
		}
		if res := finish(w, code, "Ac\u202eme", "Ana"); res.Status != 400 {
			t.Errorf("an org with a name that turns = %d", res.Status)
		}
		res := finish(w, code, "Acme", "Ana")
		if res.Status != 201 {
			t.Fatalf("finishing = %d %s", res.Status, res.Body)
		}
		var in wire.SignedIn
		res.JSON(t, &in)
		if in.User.Email != "ana@example.com" || len(in.Orgs) != 1 || in.Orgs[0].Slug != "acme" || in.Orgs[0].Role != coord.Owner ||
			!in.MayMakeOrgs {
			t.Errorf("signed up as %+v", in)
		}
		if res := finish(w, code, "Again", "Ana"); res.Status != 404 {
			t.Errorf("the link twice = %d, want 404", res.Status)
		}
		cookie := daemontest.CookieOf(res)
		var second wire.OrgPlace
		w.Must(201, request{Method: "POST", Path: "/v1/orgs", Cookie: cookie, Body: wire.CreateOrg{Org: "Acme"}}, &second)
		if second.Slug != "acme-2" || second.Role != coord.Owner {
			t.Errorf("another org of that name is %+v", second)
		}
		for _, org := range []string{"acme", "acme-2"} {
			var made wire.CreatedToken
			w.Must(201, request{Method: "POST", Path: "/v1/tokens", Cookie: cookie, Org: org, Body: map[string]any{"name": "laptop"}}, &made)
			var me wire.Me
			w.Must(200, request{Method: "GET", Path: "/v1/me", Token: made.Plaintext, Org: "acme"}, &me)
			if me.Org.Slug != org {
				t.Errorf("a token of %s acts in %s", org, me.Org.Slug)
			}
		}
		w.Must(400, request{Method: "GET", Path: "/v1/members", Cookie: cookie}, nil) // in which?
	})
}

// Nobody learns from signing up whether an address has an account, and nobody
// opens one by it but who reads its mail.
func TestSigningUpTellsNothingOfAccounts(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w, box := open(t, dsn)
		o := w.Org("Acme")
		ana := o.Users[coord.Owner]
		w.Password(ana, password)
		known, unknown := signUp(w, ana.Email), signUp(w, "nobody@example.com")
		if known.Status != 204 || known.Status != unknown.Status || string(known.Body) != string(unknown.Body) {
			t.Errorf("known %d %s, unknown %d %s", known.Status, known.Body, unknown.Status, unknown.Body)
		}
		codes := map[string]string{}
		for range 2 {
			code := box.code(t)
			var seen wire.SignUpPreview
			w.Must(200, request{Method: "POST", Path: "/v1/auth/sign-up/look", Body: wire.InviteCode{Code: code}}, &seen)
			if seen.Account != (seen.Email == ana.Email) {
				t.Errorf("the link of %s says account: %v", seen.Email, seen.Account)
			}
			codes[seen.Email] = code
		}
		if res := finish(w, codes[ana.Email], "Evil", "Mallory"); res.Status != 409 || len(res.Header.Values("Set-Cookie")) > 0 {
			t.Errorf("a link to an address with an account = %d %s", res.Status, res.Body)
		}
		if res := signIn(w, ana.Email, password); res.Status != 200 {
			t.Errorf("her own password after that = %d", res.Status)
		}
		// Adding by address would tell, too: it does the same for all of them.
		add := func(email string) daemontest.Response {
			return w.Do(request{Method: "POST", Path: "/v1/members", Token: o.Owner(), Body: map[string]any{"email": email, "role": "member"}})
		}
		if a, b := add(ana.Email), add("nobody-else@example.com"); a.Status != 403 || string(a.Body) != string(b.Body) {
			t.Errorf("adding %d %s\n%d %s", a.Status, a.Body, b.Status, b.Body)
		}
		w.Freeze()
		limited := func(email func(int) string, most int) bool {
			for i := range most {
				if signUp(w, email(i)).Status == 429 {
					return true
				}
			}
			return false
		}
		if !limited(func(int) string { return "eve@example.com" }, 4) {
			t.Error("one address gets letters without end")
		}
		if !limited(func(i int) string { return fmt.Sprintf("eve%d@example.com", i) }, 25) {
			t.Error("one place asks for letters without end")
		}
	})
}

// Where sign-up is off, or by invitation, only a link of whoever runs the server
// makes an org.
func TestWhoMaySignUp(t *testing.T) {
	for mode, made := range map[string]int{"off": 403, "invite": 201} {
		t.Run(mode, func(t *testing.T) {
			storetest.EachDSN(t, func(t *testing.T, dsn string) {
				w := daemontest.StartWith(t, daemon.Config{Database: dsn, SignUp: mode})
				var options wire.SignInOptions
				w.Must(200, request{Method: "GET", Path: "/v1/auth/options"}, &options)
				if string(options.SignUp) != mode {
					t.Errorf("the sign-in page is told %s", options.SignUp)
				}
				o := w.Org("Acme")
				ana := o.Users[coord.Owner]
				if res := signUp(w, "ana@example.com"); res.Status != 403 {
					t.Errorf("asking = %d", res.Status)
				}
				link, err := w.D.Ops.People.InviteToSignUp(t.Context(), ana.Email)
				if err != nil {
					t.Fatal(err)
				}
				_, code, _ := strings.Cut(link, "#")
				create := func(u coord.User, code string) int {
					return w.Do(request{Method: "POST", Path: "/v1/orgs", Cookie: w.Cookie(u), Body: wire.CreateOrg{Org: "Mine", Code: code}}).Status
				}
				got := []int{create(ana, ""), create(o.Users[coord.Member], code), create(ana, code), create(ana, code)}
				want := []int{403, 403, made, map[int]int{403: 403, 201: 404}[made]}
				if !slices.Equal(got, want) {
					t.Errorf("without a link, with another's, with one's own, twice: %v, want %v", got, want)
				}
			})
		})
	}
}

// svc login --org gets a token of that org and of no other.
func TestALoginIsOfTheOrgItAsksFor(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.StartWith(t, daemon.Config{Database: dsn, SignUp: "invite"})
		one, two := w.SignedUp("One"), w.SignedUp("Two")
		ana := w.Joins(two, w.Cookie(two.Users[coord.Owner]), "owner-one", coord.Member)
		if ana.ID != one.Users[coord.Owner].ID {
			t.Fatal("an invite made a second account")
		}
		cookie := w.Cookie(ana)
		for asked, want := range map[string]map[string]int{
			"two": {"one": 409, "two": 204},
			"":    {"one": 204},
		} {
			var d wire.DeviceStarted
			w.Must(200, request{Method: "POST", Path: "/v1/auth/device", Body: wire.StartDevice{Hostname: "laptop", Org: asked}}, &d)
			var seen wire.DeviceRequest
			w.Must(200, request{Method: "POST", Path: "/v1/auth/device/lookup", Cookie: cookie, Org: "one",
				Body: wire.UserCode{UserCode: d.UserCode}}, &seen)
			if seen.Org != asked {
				t.Errorf("the page is told %q, want %q", seen.Org, asked)
			}
			last := ""
			for _, in := range []string{"one", "two"} {
				if status, tried := want[in]; tried {
					w.Must(status, request{Method: "POST", Path: "/v1/auth/device/approve", Cookie: cookie, Org: in,
						Body: wire.UserCode{UserCode: d.UserCode}}, nil)
					last = in
				}
			}
			var issued wire.DeviceIssued
			w.Must(200, request{Method: "POST", Path: "/v1/auth/device/token", Body: wire.DeviceToken{DeviceCode: d.DeviceCode}}, &issued)
			var me wire.Me
			w.Must(200, request{Method: "GET", Path: "/v1/me", Token: issued.Token}, &me)
			if me.Org.Slug != last {
				t.Errorf("asked for %q, approved in %s: a token of %s", asked, last, me.Org.Slug)
			}
		}
	})
}
