package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// onDatabase runs svcd on a database beside the server that serves it.
func onDatabase(t *testing.T, dsn string, args ...string) *svcd {
	t.Helper()
	return run(t, nil, append(args, "--database", dsn, "--data", t.TempDir())...)
}

// must is onDatabase for what has to work.
func must(t *testing.T, dsn string, args ...string) string {
	t.Helper()
	s := onDatabase(t, dsn, args...)
	if s.code != 0 {
		t.Fatalf("svcd %s: exit %d: %s", strings.Join(args, " "), s.code, &s.err)
	}
	return s.out.String()
}

// zelda is somebody who has left traces everywhere: her name and address, and
// words of hers, which all hold "xyzzy".
func zelda(t *testing.T, x *teamtest.Team) teamtest.Person {
	t.Helper()
	const name, email = "Zelda O'Quixote", "zelda.q@example.com"
	x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/members", Token: x.Ada.Token,
		Body: map[string]any{"email": email, "name": name, "role": "admin"}}, nil)
	var list wire.Page[coord.Membership]
	x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/members", Token: x.Ada.Token}, &list)
	var z teamtest.Person
	for _, m := range list.Items {
		if m.Email == email {
			z.User = m.User
		}
	}
	x.W.Password(z.User, "a long xyzzy password")
	x.W.Must(200, daemontest.Request{Method: "POST", Path: "/v1/auth/sign-in", Header: map[string]string{"User-Agent": "xyzzy browser"},
		Body: map[string]any{"email": email, "password": "a long xyzzy password"}}, nil)
	x.W.Do(daemontest.Request{Method: "POST", Path: "/v1/auth/sign-in", Body: map[string]any{"email": email, "password": "wrong"}})
	z.Token = x.W.Token(x.O, &z.User, coord.Scopes()...)
	x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/tokens", Token: z.Token, Body: map[string]any{"name": "xyzzy laptop"}}, nil)

	a, b := x.Agent(z, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
	client := map[string]any{"client": map[string]any{"cli_version": "1.0-xyzzy"}, "prompt_excerpt": "Rework xyzzy"}
	x.Hook(a, wire.HookPrompt, client)
	var declared wire.Declared
	x.Must(a.Token, "intent_declare", map[string]any{"title": "Rework xyzzy", "summary": "The xyzzy plan", "plan_md": "# xyzzy",
		"mode": "exclusive", "session_id": a.Session, "scope": map[string]any{"paths": []string{"auth.go"}}}, &declared)
	blocked := x.Hook(b, wire.HookPreEdit, map[string]any{"paths": []string{"auth.go"}})
	if blocked.Decision != wire.Block || !strings.Contains(blocked.Reason, "Zelda") {
		t.Fatalf("the edit of a claimed file: %+v", blocked)
	}
	conflict := blocked.Conflicts[0].Ref
	x.W.Must(200, daemontest.Request{Method: "POST", Path: "/v1/conflicts/" + conflict + "/actions", Token: z.Token,
		Body: map[string]any{"action": "ack", "note": "I see, xyzzy"}}, nil)
	x.Send(z, "user:"+x.Bob.Email, "About xyzzy: see mine")
	x.Send(x.Bob, "user:"+z.Email, "Thanks, Zelda O'Quixote (Zelda.Q@example.com), I wait")
	x.Must(b.Token, "ask", map[string]any{"to": "user:" + z.Email, "question": "When is Zelda O'Quixote done?", "session_id": b.Session}, nil)
	x.Hook(a, wire.HookStop, map[string]any{"status": map[string]any{"excerpt": "I did the xyzzy part"}})
	return z
}

// Erasing a person leaves nothing of their name, their address or what they
// wrote: not in the database's files, in what it answers, in exports, nor in the
// log. What they did still counts, as that of a former member.
func TestErasingLeavesNoTrace(t *testing.T) {
	for _, way := range []string{"the operator", "an owner"} {
		t.Run(way, func(t *testing.T) {
			storetest.EachDSN(t, func(t *testing.T, dsn string) {
				x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
				z := zelda(t, x)
				var before, after struct{ Items []json.RawMessage }
				x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/intents", Token: x.Ada.Token}, &before)
				export := must(t, dsn, "user", "export", z.Email)
				for _, want := range []string{z.Email, "Rework xyzzy", "The xyzzy plan", "About xyzzy", "I see, xyzzy", "xyzzy laptop",
					"xyzzy browser", `"table":"events"`} {
					if !strings.Contains(export, want) {
						t.Errorf("the export of the person has no %q", want)
					}
				}
				if strings.Contains(export, "password_hash") || strings.Contains(export, `"hash"`) {
					t.Error("the export has secrets")
				}
				x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/search?q=xyzzy", Token: x.Ada.Token}, nil)
				if err := x.W.D.Ops.Outgoing.Seal(t.Context()); err != nil { // with her in it
					t.Fatal(err)
				}
				if way == "an owner" {
					x.W.Must(200, daemontest.Request{Method: "POST", Path: "/v1/members/" + z.ID + "/erase", Token: x.Own(x.Ada)}, nil)
				} else {
					if s := onDatabase(t, dsn, "user", "erase", z.Email); s.code != 2 || !strings.Contains(s.err.String(), "cannot be undone") {
						t.Errorf("without --yes: exit %d %s", s.code, &s.err)
					}
					if said := must(t, dsn, "user", "erase", z.Email, "--yes"); !strings.Contains(said, `"former member 1"`) {
						t.Errorf("said %s", said)
					}
				}
				await.True(t, "that her token is refused", func() bool {
					return x.W.Do(daemontest.Request{Method: "GET", Path: "/v1/me", Token: z.Token}).Status == http.StatusUnauthorized
				})
				await.True(t, "that what is in memory is of now", func() bool { // it is told by the way, if not by this process
					return !bytes.Contains(x.W.Do(daemontest.Request{Method: "GET", Path: "/v1/live?repo=acme/api&path=auth.go",
						Token: x.Bob.Token}).Body, []byte(z.Email))
				})
				x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/intents", Token: x.Ada.Token}, &after)
				if len(before.Items) == 0 || len(after.Items) != len(before.Items) {
					t.Errorf("%d intents before, %d after", len(before.Items), len(after.Items))
				}
				holdsNothing(t, x, dsn)
				headOf(t, dsn)
				said, text := must(t, dsn, "audit", "verify"), must(t, dsn, "audit", "--chain")
				if _, err := checkedElsewhere(text); err != nil || !regexp.MustCompile(`erased out of [1-9]`).MatchString(said) {
					t.Errorf("the chain after erasing: %v, %s", err, said)
				}
			})
		})
	}
}

// holdsNothing looks for Zelda wherever something of her could be.
func holdsNothing(t *testing.T, x *teamtest.Team, dsn string) {
	t.Helper()
	gone := func(where string, text []byte) {
		lower := bytes.ToLower(text)
		for _, word := range []string{"zelda", "quixote", "xyzzy"} {
			if at := bytes.Index(lower, []byte(word)); at >= 0 {
				t.Errorf("%s has %q: …%s…", where, word, printable(lower[max(0, at-120):min(len(lower), at+80)]))
			}
		}
	}
	for _, path := range []string{"/v1/intents", "/v1/conflicts", "/v1/events", "/v1/members", "/v1/sessions", "/v1/feed", "/v1/presence",
		"/v1/messages", "/v1/conversations", "/v1/contracts", "/v1/stats",
		"/v1/territory", "/v1/attention", "/v1/live?repo=acme/api&path=auth.go"} {
		gone(path, x.W.Do(daemontest.Request{Method: "GET", Path: path, Token: x.Bob.Token}).Body)
	}
	gone("the export of the org", []byte(must(t, dsn, "org", "export")))
	log := must(t, dsn, "audit")
	gone("the audit log", []byte(log))
	for line := range strings.Lines(log) { // the others sign in with tokens
		if strings.Contains(line, `"signin.`) && !strings.Contains(line, `"address":"erased"`) {
			t.Errorf("where she signed in from: %s", line)
		}
	}
	gone("the list of users", []byte(must(t, dsn, "user", "list")))
	x.W.Stop()
	gone("the log", []byte(x.W.Log.String()))
	backup := filepath.Join(t.TempDir(), "backup")
	must(t, dsn, "backup", backup) // all rows of PostgreSQL, too
	files := []string{backup}
	if !strings.HasPrefix(dsn, "postgres") {
		own, err := filepath.Glob(dsn + "*")
		if err != nil || len(own) == 0 {
			t.Fatal("no database files", err)
		}
		files = append(files, own...)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		gone(filepath.Base(f), text)
	}
}

func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xFFFD {
			return '.'
		}
		return r
	}, string(text))
}

// Whoever has the machine can add people, close and open accounts, reset and end
// sign-ins and make owners, beside a running server; and it shows in the log.
func TestWhatTheOperatorCanDoForPeople(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
		w, email := x.W, "eve@example.com"
		me := func(token string) daemontest.Request {
			return daemontest.Request{Method: "GET", Path: "/v1/me", Token: token}
		}
		becomes := func(what string, status int, r daemontest.Request) {
			t.Helper()
			await.True(t, what, func() bool { return w.Do(r).Status == status })
		}
		choose := func(said, password string) {
			t.Helper()
			_, code, ok := strings.Cut(strings.TrimSpace(said), "/invite#")
			if !ok {
				t.Fatalf("no link in %q", said)
			}
			w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/auth/accept-invite",
				Body: map[string]any{"code": code, "name": "Eve", "password": password}}, nil)
		}
		signIn := func(password string) daemontest.Request {
			return daemontest.Request{Method: "POST", Path: "/v1/auth/sign-in", Body: map[string]any{"email": email, "password": password}}
		}

		choose(must(t, dsn, "user", "add", email, "--name", "Eve", "--role", "admin"), "first long password")
		w.Must(200, signIn("first long password"), nil)
		eve := coord.User{Email: email}
		var list wire.Page[coord.Membership]
		w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/members", Token: x.Ada.Token}, &list)
		for _, m := range list.Items {
			if m.Email == email && m.Role == coord.Admin {
				eve = m.User
			}
		}
		a := x.Agent(teamtest.Person{User: eve}, teamtest.APIRepo)
		x.Must(a.Token, "intent_declare", map[string]any{"title": "Mine", "mode": "exclusive", "session_id": a.Session,
			"scope": map[string]any{"paths": []string{"auth.go"}}}, nil)

		must(t, dsn, "user", "disable", email)
		becomes("that the token is refused", 401, me(a.Token))
		w.Must(403, signIn("first long password"), nil)
		b := x.Agent(x.Bob, teamtest.APIRepo)
		await.True(t, "that the claim is free", func() bool {
			return x.Hook(b, wire.HookPreEdit, map[string]any{"paths": []string{"auth.go"}}).Decision != wire.Block
		})
		if said := must(t, dsn, "user", "list"); !regexp.MustCompile(`eve@example.com +Eve +acme \(admin\) +disabled`).MatchString(said) {
			t.Errorf("the list:\n%s", said)
		}
		must(t, dsn, "user", "enable", email)
		becomes("that the token works again", 200, me(a.Token))

		if said := must(t, dsn, "user", "sign-out", email); !strings.Contains(said, "1 tokens ended") {
			t.Errorf("said %s", said)
		}
		becomes("that the token has ended", 401, me(a.Token))
		w.Must(200, signIn("first long password"), nil)
		said := must(t, dsn, "user", "reset", email)
		w.Must(401, signIn("first long password"), nil)
		choose(said, "second long password")
		w.Must(200, signIn("second long password"), nil)

		if said := must(t, dsn, "user", "reset-factor", email); !strings.Contains(said, "has no second factor\n") {
			t.Errorf("said %s", said)
		}
		w.Write("signin", func(ctx context.Context, tx *store.Tx) error {
			a, err := tx.AccountByEmail(ctx, email)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO totps (user_id, secret, created_at, confirmed_at) VALUES ($1, 'x', 1, 1)`, a.ID)
			return err
		})
		half := w.Must(200, signIn("second long password"), nil)
		must(t, dsn, "user", "reset-factor", email)
		w.Write("signin", func(ctx context.Context, tx *store.Tx) error {
			a, err := tx.AccountByEmail(ctx, email)
			if err != nil {
				return err
			}
			return tx.InsertPasskey(ctx, store.Passkey{ID: "key", UserID: a.ID, Credential: "c", PublicKey: "p", Name: "laptop"})
		})
		if res := w.Must(200, signIn("second long password"), nil); !strings.Contains(string(res.Body), `"passkeys":true`) {
			t.Errorf("with a passkey: %s", res.Body)
		}
		if said := must(t, dsn, "user", "export", email); !strings.Contains(said, `"laptop"`) {
			t.Errorf("the export leaves passkeys out:\n%s", said)
		}
		must(t, dsn, "user", "reset-factor", email)
		whole := w.Must(200, signIn("second long password"), nil)
		if len(half.Header.Values("Set-Cookie")) != 0 || len(whole.Header.Values("Set-Cookie")) != 1 {
			t.Errorf("before %s, after %s", half.Body, whole.Body)
		}

		must(t, dsn, "user", "owner", email)
		if s := onDatabase(t, dsn, "user", "disable", x.Ada.Email); s.code != 0 {
			t.Errorf("one of two owners: %s", &s.err)
		}
		if s := onDatabase(t, dsn, "user", "disable", email); s.code != 1 || !strings.Contains(s.err.String(), "last owner") {
			t.Errorf("the last owner: exit %d %s", s.code, &s.err)
		}
		for _, act := range []string{`"account":"disabled"`, `"account":"enabled"`, `"account":"reset"`, `"account":"signed_out"`,
			`"by":"operator"`, `"change":"reset"`} {
			if log := must(t, dsn, "audit"); !strings.Contains(log, act) {
				t.Errorf("the audit log has no %s", act)
			}
		}
		if said := must(t, dsn, "org", "list"); !strings.Contains(said, "acme") {
			t.Errorf("orgs:\n%s", said)
		}
		if said := must(t, dsn, "org", "export", "acme"); !strings.Contains(said, `"title":"Mine"`) || strings.Contains(said, "code_hash") {
			t.Errorf("the export:\n%.2000s", said)
		}
		for _, misuse := range [][]string{{"user", "frob", email}, {"user", "disable"}, {"user", "add", email, "--role", "king"},
			{"org", "frob"}} {
			if s := onDatabase(t, dsn, misuse...); s.code != 2 {
				t.Errorf("%v: exit %d %s", misuse, s.code, &s.err)
			}
		}
		for _, wrong := range [][]string{{"user", "disable", "nobody@example.com"}, {"org", "export", "nothing"}} {
			if s := onDatabase(t, dsn, wrong...); s.code != 1 || strings.Count(s.err.String(), "\n") != 1 {
				t.Errorf("%v: exit %d %s", wrong, s.code, &s.err)
			}
		}
	})
}

// Whoever has the machine makes orgs, and invites people to make theirs.
func TestTheOperatorMakesOrgs(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.StartWith(t, daemon.Config{Database: dsn, SignUp: "invite"})
		code := regexp.MustCompile(`#(\S+)`)
		made := must(t, dsn, "org", "add", "Acme", "--owner", "ana@example.com", "--name", "Ana")
		if !strings.Contains(made, `Made the org "Acme" (acme) with the owner ana@example.com.`) {
			t.Error(made)
		}
		w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/auth/accept-invite",
			Body: wire.AcceptInvite{Code: code.FindStringSubmatch(made)[1], Name: "Ana", Password: daemontest.Password}}, nil)
		if more := must(t, dsn, "org", "add", "Acme", "--owner", "ana@example.com"); !strings.Contains(more, "(acme-2)") ||
			!strings.Contains(more, "signs in as before") {
			t.Errorf("another org of hers: %s", more)
		}
		link := must(t, dsn, "org", "invite", "bob@example.com")
		w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/auth/sign-up/finish", Body: wire.FinishSignUp{
			Code: code.FindStringSubmatch(link)[1], Org: "Bob & Sons", Name: "Bob", Password: daemontest.Password}}, nil)
		list := must(t, dsn, "org", "list") + must(t, dsn, "user", "list")
		for _, want := range []string{"acme-2 ", "bob-sons ", "acme (owner), acme-2 (owner)", "bob-sons (owner)"} {
			if !strings.Contains(list, want) {
				t.Errorf("the lists lack %q:\n%s", want, list)
			}
		}
		for _, args := range [][]string{{"org", "add", "Acme"}, {"org", "add", "--owner", "a@example.com"}, {"org", "invite", "nobody"}} {
			if s := onDatabase(t, dsn, args...); s.code != 2 {
				t.Errorf("svcd %v: exit %d, %s", args, s.code, &s.err)
			}
		}
		if s := onDatabase(t, dsn, "org", "add", "Ac\u200bme", "--owner", "a@example.com"); s.code != 1 {
			t.Errorf("a name that cannot be seen: exit %d", s.code)
		}
	})
}
