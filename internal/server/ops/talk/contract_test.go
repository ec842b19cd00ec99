package talk_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

const orders = "http:GET /orders/{}"

// use is what code says of a contract that it uses, or used.
func use(change coord.Change, line int, fields ...string) map[string]any {
	var of []map[string]any
	for _, f := range fields {
		of = append(of, map[string]any{"name": f, "line": line})
	}
	return map[string]any{"key": orders, "role": "uses", "change": change, "compatibility": "compatible", "line": line, "fields": of}
}

func (x *team) index(repo, path string, contract map[string]any, author *person) {
	file := map[string]any{"path": path, "language": "typescript", "contracts": []any{contract}}
	if author != nil {
		file["authors"] = []any{map[string]any{"line": contract["line"], "author": coord.AuthorHash(author.User.Email)}}
	}
	x.W.Must(200, request{Method: "POST", Path: "/v1/repos/" + url.PathEscape(repo) + "/index", Token: x.Ada.Token,
		Body: map[string]any{"files": []any{file}}}, nil)
}

func (x *team) posts(a agent, path string, contract map[string]any) {
	x.Hook(a, wire.HookPostEdit, map[string]any{"paths": []string{path}, "analysis": map[string]any{"truncated": false, "files": []any{
		map[string]any{"path": path, "status": "modified", "language": "typescript", "parsed": true, "binary": false, "generated": false,
			"base_blob": "b1", "new_blob": "new", "hunks": []any{map[string]any{"start": 1, "count": 1, "lines_hash": "x"}},
			"symbols": []any{}, "contracts": []any{contract}, "references": []any{}}}}})
}

// usersOf returns the places that use orders as the lookup has them, and checks
// that the list of contracts has the same.
func (x *team) usersOf(t *testing.T, repo string) []string {
	t.Helper()
	words := func(users []wire.ContractUse) (out []string) {
		for _, u := range users {
			if u.Apart {
				continue
			}
			text := u.Path + " " + string(u.State)
			if u.Owner != nil {
				text += " " + u.Owner.Name
			}
			if u.By != nil {
				text += " by " + u.By.Name
			}
			out = append(out, text)
		}
		slices.Sort(out)
		return out
	}
	var picture wire.ContractPicture
	x.W.Must(200, request{Path: "/v1/contracts/lookup?" + url.Values{"key": {orders}, "repo": {repo}}.Encode(), Token: x.Ada.Token}, &picture)
	var list wire.Page[wire.ContractRecord]
	x.W.Must(200, request{Path: "/v1/contracts", Token: x.Ada.Token}, &list)
	if len(picture.Contracts) != 1 || len(list.Items) != 1 {
		t.Fatalf("one contract is %d in the lookup and %d in the list", len(picture.Contracts), len(list.Items))
	}
	looked := words(picture.Contracts[0].Users)
	if listed := words(list.Items[0].Users); !slices.Equal(looked, listed) {
		t.Errorf("the page says %q, the graph %q", looked, listed)
	}
	return looked
}

// merge closes what an agent is at as merged.
func (x *team) merge(a agent) {
	x.Helper()
	var mine wire.Page[coord.Intent]
	x.W.Must(200, request{Path: "/v1/intents?status=live&owner=" + a.User.Email, Token: a.Token}, &mine)
	for _, i := range mine.Items {
		x.W.Must(200, request{Method: "POST", Path: "/v1/intents/" + i.Ref + "/close", Token: a.Token,
			Header: map[string]string{"X-Svc-Session": a.Session}, Body: map[string]any{"outcome": "merged"}}, nil)
	}
}

// What a break hits is one answer on the contract's page, in the graph, in a
// conflict and for the letter that goes to all; who has moved on is told apart.
func TestTheImpactOfAContract(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		ada, cyd := x.Agent(x.Ada, apiRepo), x.Agent(x.Cyd, webRepo)
		x.index(apiRepo, "orders.go", map[string]any{"key": orders, "role": "provides", "change": "unchanged", "compatibility": "compatible",
			"line": 9}, nil)
		x.index(webRepo, "list.ts", use(coord.Same, 7, "items"), &x.Bob)
		x.index(webRepo, "cart.ts", use(coord.Same, 3, "total"), &x.Cyd)
		x.index(webRepo, "total.ts", use(coord.Same, 4, "items"), &x.Bob)
		x.index(webRepo, "old.ts", use(coord.Same, 5, "items"), nil)
		if got := x.usersOf(t, apiRepo); len(got) != 0 {
			t.Errorf("no project links them, and users are %q", got)
		}
		x.W.Must(201, request{Method: "POST", Path: "/v1/projects", Token: x.Ada.Token,
			Body: map[string]any{"name": "Shop", "repos": []string{apiRepo, webRepo}}}, nil)
		want := func(places ...string) {
			t.Helper()
			for _, from := range []string{apiRepo, webRepo} {
				if got := x.usersOf(t, from); !slices.Equal(got, places) {
					t.Errorf("seen from %s users are %q, want %q", from, got, places)
				}
			}
		}
		bob1, cyd1 := x.Bob.User.Name, x.Cyd.User.Name
		want("cart.ts uses "+cyd1, "list.ts uses "+bob1, "old.ts uses", "total.ts uses "+bob1)

		x.posts(ada, "orders.go", map[string]any{"key": orders, "role": "provides", "change": "signature", "compatibility": "breaking",
			"line": 9, "detail": "items was removed", "fields": []any{map[string]any{"name": "items"}}})
		want("cart.ts may_fail "+cyd1, "list.ts fails "+bob1, "old.ts fails", "total.ts fails "+bob1)
		var conflicts wire.Page[coord.Conflict]
		x.W.Must(200, request{Path: "/v1/conflicts", Token: x.Ada.Token}, &conflicts)
		var named []string
		for _, c := range conflicts.Items {
			for _, e := range c.Evidence {
				if e.Party == coord.Holder && e.Path != nil {
					named = append(named, *e.Path)
				}
			}
		}
		if slices.Sort(named); !slices.Equal(named, []string{"cart.ts", "list.ts", "old.ts", "total.ts"}) {
			t.Errorf("conflicts name %q, which is not what the page says: %+v", named, conflicts.Items)
		}

		all := "contract:" + apiRepo + "#GET /orders/{id}"
		x.Send(x.Ada, all, "items goes on Friday.")
		for _, p := range []person{x.Bob, x.Cyd} {
			if got := x.Inbox(p, ""); len(got.Items) != 1 || got.Items[0].About == nil || got.Items[0].About.Ref != apiRepo+"#"+orders {
				t.Errorf("%s got %+v", p.User.Name, got.Items)
			}
		}
		if got := x.Inbox(x.Ada, ""); len(got.Items) != 0 {
			t.Errorf("who wrote it got it, too: %+v", got.Items)
		}

		x.posts(cyd, "cart.ts", use(coord.Removed, 3))
		want("cart.ts moving "+cyd1+" by "+cyd1, "list.ts fails "+bob1, "old.ts fails", "total.ts fails "+bob1)
		x.posts(cyd, "total.ts", use(coord.Signature, 4, "sum"))
		want("cart.ts moving "+cyd1+" by "+cyd1, "list.ts fails "+bob1, "old.ts fails",
			"total.ts moving "+cyd1+" by "+cyd1)
		x.merge(cyd)
		want("cart.ts moved "+cyd1+" by "+cyd1, "list.ts fails "+bob1, "old.ts fails", "total.ts may_fail "+cyd1)
		x.merge(ada)
		want("cart.ts moved "+cyd1+" by "+cyd1, "list.ts may_fail "+bob1, "old.ts may_fail", "total.ts may_fail "+cyd1)

		for to, status := range map[string]int{
			"contract:" + apiRepo:                          400,
			"contract:acme/none#" + orders:                 http.StatusNotFound,
			"contract:" + apiRepo + "#no key":              400,
			"contract:" + apiRepo + "#http:GET /elsewhere": http.StatusConflict,
		} {
			x.W.Must(status, request{Method: "POST", Path: "/v1/messages", Token: x.Ada.Token, Body: map[string]any{"to": to, "body": "x"}}, nil)
		}
	})
}
