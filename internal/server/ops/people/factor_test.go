package people_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A phone is somebody with a password, signed in, and an app for codes.
type phone struct {
	t      *testing.T
	w      *daemontest.World
	user   coord.User
	cookie string
	secret string
	spare  []string
}

func newPhone(t *testing.T, w *daemontest.World, u coord.User) *phone {
	t.Helper()
	w.Password(u, password)
	return &phone{t: t, w: w, user: u, cookie: cookieOf(t, signIn(w, u.Email, password)).Value}
}

func (p *phone) do(method, path string, body any) daemontest.Response {
	return p.w.Do(request{Method: method, Path: path, Cookie: p.cookie, Body: body})
}

func (p *phone) must(status int, method, path string, body, to any) {
	p.t.Helper()
	p.w.Must(status, request{Method: method, Path: path, Cookie: p.cookie, Body: body}, to)
}

// code is what the app shows, some steps from now by the service's clock.
func (p *phone) code(steps int) (code string) {
	p.t.Helper()
	p.w.Write("signin", func(_ context.Context, tx *store.Tx) (err error) {
		code, err = auth.TOTPAt(p.secret, tx.Now.Std().Add(time.Duration(steps)*30*time.Second))
		return err
	})
	return code
}

// enrol sets the app up, and lets its code's time pass.
func (p *phone) enrol() {
	p.t.Helper()
	var begun wire.EnrolledTOTP
	p.must(200, "POST", "/v1/auth/totp", nil, &begun)
	if !strings.HasPrefix(begun.Address, "otpauth://totp/svc") || !strings.Contains(begun.Address, "secret="+begun.Secret) ||
		begun.QR.Size < 20 || begun.QR.Path == "" {
		p.t.Fatalf("begun with %+v", begun)
	}
	p.secret = begun.Secret
	var made wire.RecoveryCodes
	p.must(200, "POST", "/v1/auth/totp/confirm", wire.Code{Code: p.code(0)}, &made)
	p.spare = made.Codes
	p.w.Advance(time.Minute)
}

// half signs in with the password and returns the ticket.
func (p *phone) half() string {
	p.t.Helper()
	res := signIn(p.w, p.user.Email, password)
	var in wire.SignedIn
	res.JSON(p.t, &in)
	if res.Status != 200 || in.SecondFactor == nil || in.User != nil || len(in.Orgs) > 0 || len(res.Header.Values("Set-Cookie")) > 0 {
		p.t.Fatalf("with the password alone = %d %s", res.Status, res.Body)
	}
	return in.SecondFactor.Ticket
}

func (p *phone) show(ticket, code string) daemontest.Response {
	return p.w.Do(request{Method: "POST", Path: "/v1/auth/second-factor", Body: wire.SecondFactor{Ticket: ticket, Code: code}})
}

// changes are what the audit log tells of second factors.
func changes(w *daemontest.World, org string) (out []string) {
	for _, e := range w.Events(org) {
		if e.Type == coord.EventSigninFactor {
			out = append(out, e.Payload["factor"].(string)+" "+e.Payload["change"].(string))
		}
	}
	return out
}

func TestASecondFactor(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		w.Freeze()
		o := w.Org("Acme")
		p := newPhone(t, w, o.Users[coord.Owner])
		other := cookieOf(t, signIn(w, p.user.Email, password)).Value

		// An app counts once it has shown a code.
		p.must(409, "POST", "/v1/auth/totp/confirm", wire.Code{Code: "123456"}, nil)
		p.must(200, "POST", "/v1/auth/totp", nil, nil)
		p.must(400, "POST", "/v1/auth/totp/confirm", wire.Code{Code: "000000"}, nil)
		if res := signIn(w, p.user.Email, password); len(res.Header.Values("Set-Cookie")) != 1 {
			t.Errorf("half set up, a sign-in = %d %s", res.Status, res.Body)
		}
		p.enrol()
		p.must(409, "POST", "/v1/auth/totp", nil, nil)
		w.Must(401, request{Method: "GET", Path: "/v1/auth/session", Cookie: other}, nil) // it did without
		p.must(200, "GET", "/v1/auth/session", nil, nil)
		if len(p.spare) != 10 || len(slices.Compact(slices.Sorted(slices.Values(p.spare)))) != 10 {
			t.Fatalf("recovery codes: %q", p.spare)
		}
		notKept(t, w, append(p.spare, p.secret)...)

		// The code is asked for after the password, and the ticket opens nothing else.
		ticket := p.half()
		for _, as := range []request{{Cookie: ticket}, {Token: ticket}} {
			as.Method, as.Path = "GET", "/v1/auth/session"
			if res := w.Do(as); res.Status != 401 {
				t.Errorf("the ticket opens %+v: %d", as, res.Status)
			}
		}
		if res := p.show(ticket, "000000"); res.Status != 401 {
			t.Errorf("a wrong code = %d %s", res.Status, res.Body)
		}
		if res := p.show("x"+ticket, p.code(0)); res.Status != 404 {
			t.Errorf("a made-up ticket = %d %s", res.Status, res.Body)
		}
		right := p.code(0)
		in := p.show(ticket, right[:3]+" "+right[3:]) // as apps show it
		p.cookie = cookieOf(t, in).Value
		p.must(200, "GET", "/v1/auth/session", nil, nil)

		// Neither ticket nor code works twice; nor does an older code.
		if res := p.show(ticket, p.code(1)); res.Status != 404 {
			t.Errorf("the ticket again = %d %s", res.Status, res.Body)
		}
		again := p.half()
		for _, code := range []string{right, p.code(-1), p.code(2), p.code(-2)} {
			if res := p.show(again, code); res.Status != 401 {
				t.Errorf("a code that was taken, is too old or too new = %d %s", res.Status, res.Body)
			}
		}
		if res := p.show(again, p.code(1)); res.Status != 200 { // a clock that is fast
			t.Errorf("the next code = %d %s", res.Status, res.Body)
		}
		late := p.half()
		w.Advance(6 * time.Minute)
		if res := p.show(late, p.code(0)); res.Status != 404 {
			t.Errorf("a ticket of six minutes ago = %d %s", res.Status, res.Body)
		}

		// A recovery code works once, however it is typed.
		if res := p.show(p.half(), strings.ToLower(p.spare[3])); res.Status != 200 {
			t.Errorf("a recovery code = %d %s", res.Status, res.Body)
		}
		if res := p.show(p.half(), p.spare[3]); res.Status != 401 {
			t.Errorf("a recovery code again = %d %s", res.Status, res.Body)
		}
		var has wire.Factors
		p.must(200, "GET", "/v1/auth/factors", nil, &has)
		if !has.TOTP || has.RecoveryCodes != 9 || has.ProveWith != "code" {
			t.Errorf("has %+v", has)
		}
		var fresh wire.RecoveryCodes
		p.must(200, "POST", "/v1/auth/recovery-codes", nil, &fresh)
		if res := p.show(p.half(), p.spare[4]); res.Status != 401 {
			t.Errorf("a recovery code of before = %d %s", res.Status, res.Body)
		}
		if res := p.show(p.half(), fresh.Codes[0]); res.Status != 200 {
			t.Errorf("a new recovery code = %d %s", res.Status, res.Body)
		}

		// Off it goes with a fresh proof alone.
		w.Advance(auth.FreshFor + time.Minute)
		p.must(403, "DELETE", "/v1/auth/totp", nil, nil)
		p.must(400, "POST", "/v1/auth/prove", wire.Prove{Password: password}, nil)
		p.must(401, "POST", "/v1/auth/prove", wire.Prove{Code: "000000"}, nil)
		p.must(204, "POST", "/v1/auth/prove", wire.Prove{Code: p.code(0)}, nil)
		p.must(204, "DELETE", "/v1/auth/totp", nil, nil)
		p.must(409, "DELETE", "/v1/auth/totp", nil, nil)
		p.must(409, "POST", "/v1/auth/recovery-codes", nil, nil)
		cookieOf(t, signIn(w, p.user.Email, password))

		want := []string{"recovery_codes remade", "recovery_codes used", "recovery_codes used", "totp added", "totp removed"}
		if got := slices.Sorted(slices.Values(changes(w, o.ID))); !slices.Equal(got, want) {
			t.Errorf("the audit log tells %q", got)
		}
	})
}

// notKept holds that no table has a secret in clear.
func notKept(t *testing.T, w *daemontest.World, secrets ...string) {
	t.Helper()
	w.Write("signin", func(ctx context.Context, tx *store.Tx) error {
		for _, table := range []string{"totps", "recovery_codes", "half_signins"} {
			rows, err := tx.QueryContext(ctx, `SELECT * FROM `+table)
			if err != nil {
				return err
			}
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			cells := make([]any, len(columns))
			for i := range cells {
				cells[i] = new(any)
			}
			for rows.Next() {
				if err := rows.Scan(cells...); err != nil {
					return err
				}
				for i, c := range cells {
					text, _ := (*c.(*any)).(string)
					for _, s := range secrets {
						if strings.Contains(text, s) || strings.Contains(text, auth.Plain(s)) {
							t.Errorf("%s.%s holds %s", table, columns[i], s)
						}
					}
				}
			}
			if err := rows.Close(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Tries are counted by account, whichever ticket or door they come by.
func TestCodesCannotBeGuessed(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	w.Freeze()
	p := newPhone(t, w, w.Org("Acme").Users[coord.Member])
	p.enrol()
	refused := 0
	for i := range 24 {
		var res daemontest.Response
		if i%2 == 0 {
			res = p.show(p.half(), "000000")
		} else {
			res = p.do("POST", "/v1/auth/prove", wire.Prove{Code: "000000"})
		}
		if res.Status == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused != 14 {
		t.Errorf("of 24 tries %d were refused", refused)
	}
	if res := p.show(p.half(), p.code(0)); res.Status != http.StatusTooManyRequests {
		t.Errorf("the right code after them = %d", res.Status)
	}
	w.Advance(time.Hour)
	if res := p.show(p.half(), p.code(0)); res.Status != http.StatusOK {
		t.Errorf("an hour later = %d %s", res.Status, res.Body)
	}
}

// An invite and a new password do not get around the second factor.
func TestAnInviteAsksForTheSecondFactor(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	w.Freeze()
	one, two := w.Org("One"), w.Org("Two")
	p := newPhone(t, w, one.Users[coord.Member])
	p.enrol()
	var invite coord.Invite
	w.Must(201, request{Method: "POST", Path: "/v1/invites", Token: two.Owner(),
		Body: map[string]any{"role": "member", "email": p.user.Email}}, &invite)
	_, code, _ := strings.Cut(*invite.URL, "#")
	var in wire.SignedIn
	res := w.Must(200, request{Method: "POST", Path: "/v1/auth/accept-invite",
		Body: map[string]any{"code": code, "name": "Moe", "password": password}}, &in)
	if in.SecondFactor == nil || len(res.Header.Values("Set-Cookie")) > 0 {
		t.Fatalf("by an invite: %s", res.Body)
	}
	if res := p.show(in.SecondFactor.Ticket, p.code(0)); res.Status != 200 || !strings.Contains(string(res.Body), `"two"`) {
		t.Errorf("then the code = %d %s", res.Status, res.Body)
	}
}

// A fresh proof is asked for, given, and what waited for it goes on. Which
// operations take one, TestEveryRow holds.
func TestAStaleProofIsAskedForAgain(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	p := newPhone(t, w, o.Users[coord.Owner])
	w.Advance(auth.FreshFor + time.Minute)
	if res := p.do("POST", "/v1/auth/totp", nil); res.Status != 403 || !strings.Contains(string(res.Body), "/v1/auth/prove") {
		t.Errorf("with an old proof = %d %s", res.Status, res.Body)
	}
	narrow := map[string]any{"name": "laptop", "scopes": []string{"intents:read"}}
	w.Must(201, request{Method: "POST", Path: "/v1/tokens", Cookie: p.cookie, Org: o.Slug, Body: narrow}, nil)
	p.must(401, "POST", "/v1/auth/prove", wire.Prove{Password: "wrong"}, nil)
	p.must(204, "POST", "/v1/auth/prove", wire.Prove{Password: password}, nil)
	p.must(200, "POST", "/v1/auth/totp", nil, nil)
	// Who has nothing to prove it with is not asked.
	bare := w.Cookie(o.Users[coord.Admin])
	w.Advance(auth.FreshFor + time.Minute)
	w.Must(200, request{Method: "POST", Path: "/v1/auth/totp", Cookie: bare}, nil)
	w.Must(409, request{Method: "POST", Path: "/v1/auth/prove", Cookie: bare}, nil)
}

// An org's rules let people without a second factor do nothing but set one up,
// and nobody make a rule that keeps themselves out.
func TestAnOrgDemandsASecondFactor(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		w.Freeze()
		o, two := w.Org("Acme"), w.Org("Two")
		boss, moe := newPhone(t, w, o.Users[coord.Owner]), newPhone(t, w, o.Users[coord.Member])
		w.Write(two.ID, func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertMember(ctx, two.ID, moe.user.ID, coord.Member)
		})
		rule := func(second, passwords bool) daemontest.Response {
			return w.Do(request{Method: "PUT", Path: "/v1/org/sign-in", Cookie: boss.cookie, Org: o.Slug,
				Body: wire.SetSignInRules{RequireSecondFactor: second, PasswordsOff: passwords}})
		}
		at := func(p *phone, org string) request {
			return request{Method: "GET", Path: "/v1/intents", Cookie: p.cookie, Org: org}
		}
		if res := rule(true, false); res.Status != 409 {
			t.Errorf("a rule that the owner does not keep = %d %s", res.Status, res.Body)
		}
		boss.enrol()
		if res := rule(true, false); res.Status != 200 {
			t.Fatalf("the rule = %d %s", res.Status, res.Body)
		}
		lacks := func(p *phone, want coord.SignInLack) {
			t.Helper()
			var in wire.SignedIn
			p.must(200, "GET", "/v1/auth/session", nil, &in)
			for _, org := range in.Orgs {
				if org.ID == o.ID && org.Lacks != want || org.ID != o.ID && org.Lacks != "" {
					t.Errorf("in %s they lack %q", org.Slug, org.Lacks)
				}
			}
		}
		w.Must(200, at(boss, o.Slug), nil)
		w.Must(200, at(moe, two.Slug), nil)
		if res := w.Must(403, at(moe, o.Slug), nil); !strings.Contains(string(res.Body), "sign_in_rules") {
			t.Errorf("without one: %s", res.Body)
		}
		lacks(moe, coord.LacksFactor)
		moe.enrol()
		lacks(moe, coord.LacksNothing)
		w.Must(200, at(moe, o.Slug), nil)
		// A session that has not shown it is asked for it.
		moe.cookie = w.Cookie(moe.user)
		w.Must(403, at(moe, o.Slug), nil)
		lacks(moe, coord.LacksProof)
		moe.must(204, "POST", "/v1/auth/prove", wire.Prove{Code: moe.code(1)}, nil)
		w.Must(200, at(moe, o.Slug), nil)
		// Tokens at hand go on working.
		w.Must(200, request{Method: "GET", Path: "/v1/intents", Token: o.Tokens[coord.Viewer]}, nil)

		// Without passwords nobody comes in by one.
		if res := rule(true, true); res.Status != 409 {
			t.Errorf("by an owner with a password = %d %s", res.Status, res.Body)
		}
		w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error {
			return tx.SetSignInRules(ctx, o.ID, coord.SignInRules{PasswordsOff: true})
		})
		moe.cookie = cookieOf(t, moe.show(moe.half(), moe.spare[0])).Value
		w.Must(403, at(moe, o.Slug), nil)
		lacks(moe, coord.LacksMethod)
		w.Must(200, at(moe, two.Slug), nil)
		w.Must(200, at(&phone{cookie: w.Cookie(moe.user)}, o.Slug), nil) // by another way
		var invite coord.Invite
		w.Must(201, request{Method: "POST", Path: "/v1/invites", Token: o.Owner(),
			Body: map[string]any{"role": "member", "email": "n@example.com"}}, &invite)
		_, code, _ := strings.Cut(*invite.URL, "#")
		w.Must(403, request{Method: "POST", Path: "/v1/auth/accept-invite",
			Body: map[string]any{"code": code, "name": "N", "password": password}}, nil)
	})
}
