package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// marks fills two orgs with records of every kind and returns what only the
// first has: its ids, names and addresses.
func marks(t *testing.T, w *daemontest.World, theirs, ours *daemontest.Org) (out []string) {
	t.Helper()
	for _, route := range []string{"GET /v1/intents/{ref}", "GET /v1/conflicts/{ref}", "GET /v1/projects/{id}", "GET /v1/sessions/{id}",
		"POST /v1/invites/{id}/resend", "DELETE /v1/tokens/{id}", "GET /v1/repos/{repo}", "GET /v1/conversations/{id}",
		"POST /v1/questions/{id}/answers", "POST /v1/messages/{id}/ack", "DELETE /v1/github/app/{id}", "PATCH /v1/webhooks/{id}",
		"GET /scim/v2/Groups/{id}"} {
		for _, o := range []*daemontest.Org{theirs, ours} {
			if make := objects[route]; make != nil {
				make(t, w, o)
			}
		}
	}
	of := func(o *daemontest.Org) map[string]bool {
		found := map[string]bool{}
		ctx := context.Background()
		err := w.Store.Read(ctx, func(tx *store.Tx) error {
			return tx.ExportOrg(ctx, o.ID, func(row store.Exported) error {
				for _, v := range row.Row {
					text := fmt.Sprint(v)
					if shape.IsUUID(text) || strings.HasSuffix(text, "@example.com") || strings.HasPrefix(text, "acme/repo-") {
						found[text] = true
					}
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	own := of(ours)
	for mark := range of(theirs) {
		if !own[mark] {
			out = append(out, mark)
		}
	}
	if len(out) < 40 {
		t.Fatalf("only %d marks of another org: %q", len(out), out)
	}
	return out
}

// shows fails if an answer to somebody who acts in ours holds a mark of theirs.
func (x *walker) shows(what string, answer []byte) {
	x.Helper()
	if x.op.Door == api.SignedIn { // who somebody is, in all their orgs
		return
	}
	text := string(answer) + " "
	for _, mark := range x.foreigners {
		at := strings.Index(text, mark)
		if at >= 0 && !unicode.IsDigit(rune(text[at+len(mark)])) { // repo-1 is not repo-12
			x.Errorf("%s shows %s of another org: %s", what, mark, text[max(0, at-200):min(len(text), at+200)])
			return
		}
	}
}

// A token of a person who is in two orgs sees one: whatever a tool is asked
// about, and whatever a stream tells.
func TestToolsAndStreamsShowOneOrg(t *testing.T) {
	storetest.EachWalk(t, func(t *testing.T, dsn string) {
		w := daemontest.StartWith(t, daemon.Config{Database: dsn, SignUp: "invite"})
		x := walker{T: t, w: w, ours: w.SignedUp("Ours"), theirs: w.SignedUp("Theirs"), schemas: api.New(nil)}
		x.numberApart()
		both := w.Joins(x.theirs, w.Cookie(x.theirs.Users[coord.Owner]), "owner-ours", coord.Owner)
		stream := bufio.NewReader(w.Open(daemontest.Request{Method: "GET", Path: "/v1/stream", Token: x.ours.Owner()}))
		cookies := bufio.NewReader(w.Open(daemontest.Request{Method: "GET", Path: "/v1/stream", Cookie: w.Cookie(both), Org: x.ours.Slug}))
		x.foreigners = marks(t, w, x.theirs, x.ours)
		own := repo(w, x.ours)
		session := sessionIn(w, x.ours, own)
		declare(w, x.theirs, coord.Owner, repo(w, x.theirs))
		last, _ := declare(w, x.ours, coord.Owner, own)
		for _, s := range []*bufio.Reader{stream, cookies} {
			x.readsTo(s, fmt.Sprintf("%q", coord.IntentRef(last)))
		}
		tried, posted := 0, 0
		for _, op := range api.Table {
			x.op = op
			if op.Tool != "" && op.Tool != "wait_for" { // which answers when something happens: below
				tried += x.asks(session)
			}
			method, path, _ := strings.Cut(op.Route, " ")
			if method != "GET" && !strings.Contains(path, "{") && op.Door != api.Public && len(x.schemas.Inputs(op).Body.Properties) > 0 &&
				path != "/v1/work/follow" {
				posted += x.posts()
			}
		}
		alike := repo(w, x.ours) // which both have, and they claim
		create(w, x.theirs, "/v1/repos", map[string]any{"full_name": alike})
		declare(w, x.theirs, coord.Owner, alike)
		x.op = api.Op{}
		x.waits(sessionIn(w, x.ours, alike))
		x.follows(alike)
		if tried < 250 || posted < 500 {
			t.Errorf("only %d questions were asked of tools and %d of rows", tried, posted)
		}
	})
}

// waits waits for what is theirs: nobody waits for it, nor hears of it.
func (x *walker) waits(session string) {
	x.Helper()
	for _, about := range []map[string]any{{"intent": "INT-5001"}, {"conflict": "CF-5001"}, {"path": "a.go"},
		{"path": "a.go", "repo": x.theirRepos()[0]}, {"symbol": "res:port:*", "repo": x.theirRepos()[0]}} {
		about["timeout_seconds"] = 1
		answer := x.call(session, "wait_for", about)
		if strings.Contains(answer, "still_busy") || about["path"] != nil && about["repo"] == nil && !strings.Contains(answer, "free") {
			x.Errorf("wait_for %v: %s", about, answer)
		}
		x.shows(fmt.Sprint("wait_for ", about), []byte(strings.ReplaceAll(answer, x.theirRepos()[0], "")))
	}
}

// follows asks for the work in their repos, as an edge does: there are none such,
// and in the one that is called as one of ours is, there is none of theirs.
func (x *walker) follows(alike string) {
	x.Helper()
	ask := func(name string) daemontest.Response {
		return x.w.Do(daemontest.Request{Method: "POST", Path: "/v1/work/follow", Token: x.ours.Owner(), Body: map[string]any{
			"edge": "an edge of ours", "remote_fingerprints": []string{"github.com/" + name}, "no_wait": true}})
	}
	for _, name := range x.theirRepos() {
		theirs, none := ask(name), ask("acme/nowhere")
		if theirs.Status != 404 || string(theirs.Body) != string(none.Body) {
			x.Errorf("following %s: %d %s, of none %s", name, theirs.Status, theirs.Body, none.Body)
		}
	}
	declare(x.w, x.ours, coord.Member, alike)
	res := ask(alike)
	if x.shows("following "+alike, res.Body); res.Status != 200 || !strings.Contains(string(res.Body), x.ours.Users[coord.Member].Email) {
		x.Errorf("following one's own: %d %s", res.Status, res.Body)
	}
}

func (x *walker) theirRepos() (names []string) {
	for _, mark := range x.foreigners {
		if strings.HasPrefix(mark, "acme/repo-") {
			names = append(names, mark)
		}
	}
	return names
}

// readsTo reads a stream until it tells of something.
func (x *walker) readsTo(s *bufio.Reader, last string) {
	x.Helper()
	for {
		line, err := s.ReadString('\n')
		if err != nil {
			x.Fatal(err)
		}
		x.shows("a stream", []byte(line))
		if strings.Contains(line, last) {
			return
		}
	}
}

// asks calls a tool about records of theirs and returns how often.
func (x *walker) asks(session string) (tried int) {
	x.Helper()
	return x.about(x.schemas.Inputs(x.op).All, x.op.Tool, func(args map[string]any) string { return x.call(session, x.op.Tool, args) })
}

// call calls a tool and returns its answer.
func (x *walker) call(session, tool string, args map[string]any) string {
	x.Helper()
	body := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}}
	return string(x.w.Must(200, daemontest.Request{Method: "POST", Path: "/mcp", Token: x.ours.Owner(), Body: body,
		Header: map[string]string{"Accept": "application/json, text/event-stream", "X-Svc-Session": session}}, nil).Body)
}

// posts calls a row of the table with bodies about records of theirs.
func (x *walker) posts() (tried int) {
	x.Helper()
	method, path, _ := strings.Cut(x.op.Route, " ")
	return x.about(x.schemas.Inputs(x.op).Body, x.op.Route, func(body map[string]any) string {
		return string(x.w.Do(x.request(method, path, body)).Body)
	})
}

// about asks about records of theirs, one argument at a time, be it one text or
// a list of them.
func (x *walker) about(in *shape.Schema, what string, call func(map[string]any) string) (tried int) {
	x.Helper()
	base, _ := plain(x.schemas.Schemas.Example(in)).(map[string]any)
	x.shows(what, []byte(call(base)))
	for name, p := range in.Properties {
		value := func(mark string) any { return mark }
		if p = x.schemas.Schemas.Resolve(p); p.Type == "array" && p.Items != nil {
			p, value = x.schemas.Schemas.Resolve(p.Items), func(mark string) any { return []any{mark} }
		}
		if !strings.Contains(fmt.Sprint(p.Type), "string") || len(p.Enum) > 0 { // or null
			continue
		}
		for _, mark := range x.theirMarks() {
			args := maps.Clone(base)
			args[name] = value(mark)
			answer := call(args)
			for _, part := range []string{mark, strings.TrimPrefix(mark, "user:"), strings.TrimPrefix(mark, "intent:")} {
				answer = strings.ReplaceAll(answer, part, "") // what was asked may be said back
			}
			x.shows(fmt.Sprintf("%s with %s %q", what, name, mark), []byte(answer))
			tried++
		}
	}
	return tried
}

// theirMarks are a few of each kind, as tools take them.
func (x *walker) theirMarks() (out []string) {
	kinds := map[string]int{}
	slices.Sort(x.foreigners)
	for _, mark := range x.foreigners {
		kind := "name"
		switch {
		case shape.IsUUID(mark):
			kind = "id"
		case strings.Contains(mark, "@"):
			kind, mark = "person", "user:"+mark
		}
		if kinds[kind]++; kinds[kind] <= 6 || kind == "id" && kinds[kind]%10 == 0 {
			out = append(out, mark)
		}
	}
	return append(out, "intent:INT-5001", "INT-5001", "CON-5001")
}
