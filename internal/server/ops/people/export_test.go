package people_test

import (
	"context"
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

// Everybody gets what an org stores about them, an owner gets it of their people: without what is private, without what
// they sign in with, and without anything of another org.
func TestAPersonIsExported(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o, two := w.Org("Acme"), w.Org("Two")
		boss, moe := newPhone(t, w, o.Users[coord.Owner]), newPhone(t, w, o.Users[coord.Member])
		moe.enrol()
		w.Write(two.ID, func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertMember(ctx, two.ID, moe.user.ID, coord.Member)
		})
		say := func(token, to, body string) {
			t.Helper()
			w.Must(201, request{Method: "POST", Path: "/v1/messages", Token: token, Body: map[string]any{"to": to, "body": body}}, nil)
		}
		say(o.Tokens[coord.Member], "user:"+o.Users[coord.Admin].Email, "a word to one")
		say(o.Tokens[coord.Member], "channel:team", "a word to all")
		say(w.Token(two, &moe.user, coord.DeviceScopes()...), "channel:team", "a word elsewhere")

		mine, theirs := exported(w, moe, "/v1/me/export"), exported(w, boss, "/v1/members/"+moe.user.ID+"/export")
		for _, c := range []struct {
			text       string
			own, owner bool
		}{
			{moe.user.Email, true, true},
			{"a word to all", true, true},
			{"a word to one", true, false},
			{`"table":"totps"`, true, false},
			{`"table":"web_sessions"`, true, false},
			{"a word elsewhere", false, false},
			{two.ID, false, false},
			{moe.secret, false, false},
			{`hash":`, false, false},
		} {
			if got := strings.Contains(mine, c.text); got != c.own {
				t.Errorf("to themselves %q: %t", c.text, got)
			}
			if got := strings.Contains(theirs, c.text); got != c.owner {
				t.Errorf("to an owner %q: %t", c.text, got)
			}
		}
		var by []string
		for _, e := range w.Events(o.ID) {
			if e.Type == coord.EventMemberUpdated && e.Payload["account"] == "exported" && e.Subject.ID == moe.user.ID {
				by = append(by, e.Actor.ID)
			}
		}
		if len(by) != 2 || !slices.Contains(by, moe.user.ID) || !slices.Contains(by, boss.user.ID) {
			t.Errorf("the audit log tells of exports by %q", by)
		}
		notForOthers(t, w, o, two, boss, moe)
	})
}

// exported is the text of an export in the org Acme.
func exported(w *daemontest.World, by *phone, path string) string {
	by.t.Helper()
	return string(w.Must(200, request{Method: "POST", Path: path, Cookie: by.cookie, Org: "acme"}, &wire.PersonExport{}).Body)
}

func notForOthers(t *testing.T, w *daemontest.World, o, two *daemontest.Org, boss, moe *phone) {
	t.Helper()
	path := "/v1/members/" + moe.user.ID + "/export"
	for _, role := range []coord.Role{coord.Admin, coord.Member, coord.Viewer} {
		w.Must(403, request{Method: "POST", Path: path, Cookie: w.Cookie(o.Users[role]), Org: o.Slug}, nil)
	}
	w.Must(403, request{Method: "POST", Path: path, Token: o.Tokens[coord.Owner]}, nil) // a token proves nothing afresh
	w.Must(403, request{Method: "POST", Path: "/v1/me/export", Token: o.Tokens[coord.Owner]}, nil)
	stranger := "/v1/members/" + two.Users[coord.Viewer].ID + "/export"
	w.Must(404, request{Method: "POST", Path: stranger, Cookie: boss.cookie, Org: o.Slug}, nil)
	w.Must(403, request{Method: "POST", Path: stranger, Cookie: boss.cookie, Org: two.Slug}, nil)

	// Neither more than an answer holds, nor again and again, nor with an old proof.
	w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tokens SET name = $1 WHERE org_id = $2 AND user_id = $3`,
			strings.Repeat("n", 17<<20), o.ID, moe.user.ID)
		return err
	})
	tooMuch := w.Must(409, request{Method: "POST", Path: path, Cookie: boss.cookie, Org: o.Slug}, nil)
	if !strings.Contains(string(tooMuch.Body), "svcd user export") {
		t.Errorf("too much is told as %s", tooMuch.Body)
	}
	for res := tooMuch; res.Status != 429; {
		if res = w.Do(request{Method: "POST", Path: "/v1/me/export", Cookie: boss.cookie, Org: o.Slug}); res.Status != 200 && res.Status != 429 {
			t.Fatalf("again and again = %d %s", res.Status, res.Body)
		}
	}
	w.Advance(auth.FreshFor + time.Minute)
	res := w.Do(request{Method: "POST", Path: "/v1/me/export", Cookie: moe.cookie, Org: o.Slug})
	if res.Status != 403 || !strings.Contains(string(res.Body), "proof_needed") {
		t.Errorf("with an old proof = %d %s", res.Status, res.Body)
	}
}
