package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var counter atomic.Int32

func unique(name string) string { return fmt.Sprintf("%s-%d", name, counter.Add(1)) }

// A walker calls every row of the table in every wrong way.
type walker struct {
	*testing.T
	w       *daemontest.World
	ours    *daemontest.Org
	theirs  *daemontest.Org
	cookie  string // of our owner
	old     string // of another one, who proved long ago who they are
	doc     *document
	schemas *api.API
	op      api.Op
	// what only they have: ids, names, addresses
	foreigners []string
	violated   int
	succeeded  int
}

// Every row of the table is proved here, so that a new one is covered the day
// it is added.
func TestEveryRow(t *testing.T) {
	storetest.EachWalk(t, func(t *testing.T, dsn string) {
		w := daemontest.StartWith(t, daemon.Config{Database: dsn, SignUp: "invite"})
		x := walker{T: t, w: w, ours: w.SignedUp("Ours"), theirs: w.SignedUp("Theirs"), schemas: api.New(nil), doc: fetchDocument(t, w)}
		// Whoever looks is an owner of both orgs, and sees no more for it.
		w.Joins(x.theirs, w.Cookie(x.theirs.Users[coord.Owner]), "owner-ours", coord.Owner)
		x.numberApart()
		x.cookie = w.Cookie(x.ours.Users[coord.Owner])
		second := w.Member(x.ours, coord.Owner)
		w.Password(second, "a password to prove it with")
		x.old = w.Cookie(second)
		w.Write("signin", func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE web_sessions SET proved_at = 0 WHERE user_id = $1`, second.ID)
			return err
		})
		x.foreigners = marks(t, w, x.theirs, x.ours)
		for _, op := range api.Table {
			if op.Route == "" {
				continue
			}
			x.op = op
			t.Run(op.Route, func(t *testing.T) {
				x.T = t
				x.walk()
			})
		}
		if x.violated < 100 || x.succeeded < 15 {
			t.Errorf("only %d violations and %d successes were tried: the walk has lost its way", x.violated, x.succeeded)
		}
	})
}

// numberApart makes their numbers none of ours: they count per org.
func (x *walker) numberApart() {
	x.w.Write(x.theirs.ID, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE orgs SET intent_seq = 5000, conflict_seq = 5000 WHERE id = $1`, x.theirs.ID)
		return err
	})
}

func (x *walker) walk() {
	method, path, _ := strings.Cut(x.op.Route, " ")
	own := object{path: path, body: good[x.op.Route]}
	if strings.Contains(path, "{") {
		make, ok := objects[x.op.Route]
		if !ok {
			x.Fatalf("objects_test.go makes no record for %s", x.op.Route)
		}
		own = make(x.T, x.w, x.ours)
		x.foreign(method, make(x.T, x.w, x.theirs))
	}
	x.strangers(method, own.path)
	x.stale(method, own.path)
	x.limits(method, own)
	x.success(method, own)
}

// request returns a call that an owner of ours may make.
func (x *walker) request(method, path string, body any) daemontest.Request {
	r := daemontest.Request{Method: method, Path: path, Body: body}
	switch {
	case x.op.Door == api.Public:
	case x.op.Door == api.CookieOnly, x.op.Door == api.SignedIn, x.op.Agent == api.PersonOnly:
		r.Cookie, r.Org = x.cookie, x.ours.Slug
	default:
		r.Token = x.ours.Owner()
	}
	return r
}

func (x *walker) body() any {
	in := x.schemas.Inputs(x.op).Body
	if len(in.Properties) == 0 {
		return nil
	}
	return plain(x.schemas.Schemas.Example(in))
}

// strangers proves that whoever may not call is refused before the input is
// looked at.
func (x *walker) strangers(method, path string) {
	refused := func(who string, status int, kind problem.Kind, r daemontest.Request) {
		x.Helper()
		r.Method, r.Path, r.Body = method, path, x.body()
		res := x.w.Do(r)
		x.isProblem(who, res, status, kind)
		if status == http.StatusUnauthorized && res.Header.Get("WWW-Authenticate") != `Bearer realm="svc"` {
			x.Errorf("%s: WWW-Authenticate = %q", who, res.Header.Get("WWW-Authenticate"))
		}
	}
	if x.op.Door == api.Public {
		if res := x.w.Do(daemontest.Request{Method: method, Path: path}); res.Status == 401 && res.Header.Get("WWW-Authenticate") != "" {
			x.Errorf("a public route wants a token")
		}
		return
	}
	refused("no token", 401, problem.Unauthorized, daemontest.Request{})
	refused("an unknown token", 401, problem.Unauthorized, daemontest.Request{Token: "svc_" + strings.Repeat("A", 43)})
	if x.op.Door == api.CookieOnly || x.op.Door == api.SignedIn {
		refused("a token where a person must be", 403, problem.Forbidden, daemontest.Request{Token: x.ours.Owner()})
		return
	}
	if x.op.Door == api.BearerOnly {
		refused("a cookie where an agent must be", 403, problem.Forbidden, daemontest.Request{Cookie: x.cookie, Org: x.ours.Slug})
	}
	if len(x.op.Scopes) > 0 {
		others := slices.DeleteFunc(coord.Scopes(), func(s coord.Scope) bool { return slices.Contains(x.op.Scopes, s) })
		owner := x.ours.Users[coord.Owner]
		refused("a token without the scope", 403, problem.Forbidden, daemontest.Request{Token: x.w.Token(x.ours, &owner, others...)})
	}
	if len(x.op.Roles) > 0 {
		for _, role := range coord.Roles() {
			if !slices.Contains(x.op.Roles, role) {
				refused("the role "+string(role), 403, problem.Forbidden, daemontest.Request{Token: x.ours.Tokens[role]})
				refused("the role "+string(role)+" by cookie", 403, problem.Forbidden,
					daemontest.Request{Cookie: x.w.Cookie(x.ours.Users[role]), Org: x.ours.Slug})
			}
		}
	}
	if x.op.Personal {
		refused("a service token", 403, problem.Forbidden, daemontest.Request{Token: x.ours.Service})
	}
}

// stale proves that what takes a fresh proof is refused to an owner whose proof is
// old, in the dashboard.
func (x *walker) stale(method, path string) {
	if x.op.Fresh == nil {
		return
	}
	body, ok := wide[x.op.Route]
	if !ok {
		body = x.body()
	}
	res := x.w.Do(daemontest.Request{Method: method, Path: path, Body: body, Cookie: x.old, Org: x.ours.Slug})
	x.isProblem("a proof that is old", res, 403, problem.ProofNeeded)
}

// wide are bodies that take a fresh proof, where it depends on that.
var wide = map[string]any{
	"POST /v1/tokens":  map[string]any{"name": "wide", "scopes": []string{"tokens:write"}},
	"POST /v1/members": map[string]any{"email": "x@example.com", "role": "admin"},
	"POST /v1/invites": map[string]any{"role": "owner"},
}

// foreign proves that another org's record looks as if it did not exist.
func (x *walker) foreign(method string, theirs object) {
	absent := uuid.NewString()
	if !shape.IsUUID(theirs.id) {
		absent = "987654"
	}
	body := theirs.body
	if body == nil {
		body = x.body()
	}
	get := func(path, id string) daemontest.Response {
		res := x.w.Do(x.request(method, path, body))
		name, _ := url.PathUnescape(id)
		res.Body = []byte(strings.ReplaceAll(string(res.Body), name, "ID"))
		return res
	}
	seen := get(theirs.path, theirs.id)
	none := get(strings.ReplaceAll(theirs.path, theirs.id, absent), absent)
	x.isProblem("another org's record", seen, 404, problem.NotFound)
	if seen.Status != none.Status || string(seen.Body) != string(none.Body) {
		x.Errorf("another org's record can be told from none:\n%s%s", seen.Body, none.Body)
	}
	// Not a 404 for any other reason: its own org succeeds.
	r := x.request(method, theirs.path, theirs.body)
	if r.Cookie != "" {
		r.Cookie, r.Org = x.w.Cookie(x.theirs.Users[coord.Owner]), x.theirs.Slug
	} else {
		r.Token = x.theirs.Owner()
	}
	if res := x.w.Do(r); res.Status != x.op.Success {
		x.Errorf("its own org gets %d, want %d\n%s", res.Status, x.op.Success, res.Body)
	}
}

// limits proves that every declared limit is kept and names its field.
func (x *walker) limits(method string, own object) {
	in := x.schemas.Inputs(x.op)
	if base := x.body(); base != nil {
		if bad := x.schemas.Schemas.Validate(in.Body, base, shape.Strict); len(bad) > 0 {
			x.Fatalf("the example is not valid itself: %v", bad)
		}
		for _, v := range violations(x.schemas.Schemas, in.Body, base, "") {
			if v.what == "an unknown field" && x.op.Lenient || v.field == "" {
				continue
			}
			x.violates(v, x.request(method, own.path, v.value))
		}
		for what, body := range map[string]string{"no object": `[]`, "text": `"x"`, "nothing": `null`} {
			res := x.w.Do(x.request(method, own.path, []byte(body)))
			x.isProblem("a body that is "+what, res, 400, problem.BadRequest)
		}
	}
	for name, p := range in.Query.Properties {
		for _, v := range violations(x.schemas.Schemas, p, nil, name) {
			if v.what == "a number for text" || v.what == "text for a list" {
				continue // in a query a number is text, and text a list of one
			}
			if text, ok := queryText(v.value); ok {
				q := x.query()
				q.Set(name, text)
				x.violates(v, x.request(method, own.path+"?"+q.Encode(), x.body()))
			}
		}
	}
	if !x.op.AnyQuery() {
		q := x.query()
		q.Set("colour", "blue")
		x.violates(violation{"an unknown parameter", "colour", nil}, x.request(method, own.path+"?"+q.Encode(), x.body()))
	}
	for _, name := range in.Query.Required {
		q := x.query()
		q.Del(name)
		x.violates(violation{"a missing parameter", name, nil}, x.request(method, own.path+"?"+q.Encode(), x.body()))
	}
}

// query returns what the row's query cannot do without.
func (x *walker) query() url.Values {
	q := url.Values{}
	in := x.schemas.Inputs(x.op).Query
	for _, name := range in.Required {
		q.Set(name, fmt.Sprint(x.schemas.Schemas.Example(in.Properties[name])))
	}
	return q
}

// queryText returns a violation as a query could carry it. A query knows no
// types, so a number is as good as its text, and nothing means left out.
func queryText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case int:
		return fmt.Sprint(v), true
	case float64:
		return fmt.Sprint(v), true
	case []any:
		var parts []string
		for _, item := range v {
			s, ok := item.(string)
			if !ok || s == "" {
				return "", false
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, ","), len(parts) > 0
	}
	return "", false
}

func (x *walker) violates(v violation, r daemontest.Request) {
	x.Helper()
	x.violated++
	res := x.w.Do(r)
	what := v.what + " in " + v.field
	if !x.isProblem(what, res, 400, problem.Validation) || x.op.ForDirectory() {
		return
	}
	var b problem.Body
	res.JSON(x, &b)
	if len(b.Errors) != 1 || b.Errors[0].Path != v.field || b.Errors[0].Message == "" {
		x.Errorf("%s: errors = %+v, want one that names %s", what, b.Errors, v.field)
	}
}

// success proves that the row works and answers as the document says.
func (x *walker) success(method string, own object) {
	_, listed := good[x.op.Route]
	if method != "GET" && !listed && own.id == "" || x.op.Route == "GET /v1/stream" || x.op.Success == 302 {
		return
	}
	q := x.query()
	if more, ok := queries[x.op.Route]; ok {
		q = more(x.w, x.ours)
	}
	res := x.w.Do(x.request(method, own.path+"?"+q.Encode(), own.body))
	x.shows(x.op.Route, res.Body)
	if res.Status != x.op.Success {
		x.Fatalf("an owner gets %d, want %d\n%s", res.Status, x.op.Success, res.Body)
	}
	x.succeeded++
	if x.op.Success == http.StatusNoContent {
		if len(res.Body) > 0 {
			x.Errorf("204 with a body: %s", res.Body)
		}
		return
	}
	x.doc.matches(x.T, x.op, res.Body)
}

// isProblem checks that an answer is a problem of the kind.
func (x *walker) isProblem(what string, res daemontest.Response, status int, kind problem.Kind) bool {
	x.Helper()
	if x.op.ForDirectory() { // which has a form of its own
		var e wire.SCIMError
		if err := json.Unmarshal(res.Body, &e); err != nil || res.Header.Get("Content-Type") != "application/scim+json" ||
			res.Status != status || e.Status != fmt.Sprint(status) || e.Detail == "" {
			x.Errorf("%s: got %d, want %d\n%s", what, res.Status, status, res.Body)
			return false
		}
		return true
	}
	var b problem.Body
	if err := json.Unmarshal(res.Body, &b); err != nil || res.Header.Get("Content-Type") != "application/problem+json" {
		x.Errorf("%s: %d is not a problem: %s", what, res.Status, res.Body)
		return false
	}
	if res.Status != status || b.Status != status || b.Type != kind.Type() || b.Title == "" || b.Detail == "" {
		x.Errorf("%s: got %d %s, want %d %s\n%s", what, res.Status, b.Type, status, kind.Type(), res.Body)
		return false
	}
	return true
}
