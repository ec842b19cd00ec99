package pathlike_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/pathlike"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// form is the form of a path as a person writes it.
func form(path string) string {
	elems := strings.Split(strings.Trim(path, "/"), "/")
	for i, e := range elems {
		if e == "*" {
			elems[i] = ""
		}
	}
	return scope.PathForm(elems).String()
}

// TestPathsAreFoundInEveryIdiom reads ways of writing requests that no rule
// knows: each line says what is to be found, with the method if it is written.
func TestPathsAreFoundInEveryIdiom(t *testing.T) {
	for _, c := range []struct{ lang, source, want string }{
		{"go", `r, err := c.doAPI(ctx, http.MethodGet, fmt.Sprintf("/api/v1/accounts/%s/x", id), nil)`, "GET api/v1/accounts/*/x"},
		{"go", `return c.request.Get(ctx, "/v1/x")`, "GET v1/x"},
		{"go", `u := url.URL{Path: path.Join("accounts", id, "statuses")}`, "accounts/*/statuses"},
		{"go", "const base = \"/accounts\"\nfunc (c *C) Del(id string) { c.do(\"DELETE\", base+\"/\"+id) }", "accounts, DELETE accounts/*"},
		{"go", "func f() {\n\tpath := fmt.Sprintf(\"/lists/%d\", id)\n\treturn c.newRequest(ctx, http.MethodPut, path, body)\n}", "PUT lists/*"},
		{"python", `return await self._request("accounts/" + str(id) + "/mute", method="POST")`, "POST accounts/*/mute"},
		{"python", `self.session.get(f"{self.base}/bookmarks/{id}/")`, "GET bookmarks/*"},
		{"python", `self.call("DELETE", "/tags/%s/names" % tag)`, "DELETE tags/*/names"},
		{"python", `requests.get(url="{}/entries/{}".format(base, 1))`, "GET entries/*"},
		{"swift", `case .mute(let id): return "accounts/\(id)/mute"`, "accounts/*/mute"},
		{"swift", `let u = base.appendingPathComponent("api").appendingPathComponent(id).appendingPathComponent("art")`, "api/*/art"},
		{"typescript", "const getMute = (id) => doFetch(`${base()}/accounts/${id}/mute?x=${y}`, {method: 'post'})", "POST accounts/*/mute"},
		{"javascript", `ajax({ url: '/accounts/' + id, type: 'DELETE' })`, "DELETE accounts/*"},
		{"javascript", `fetch(["accounts", id, "mute"].join("/"))`, "accounts/*/mute"},
		{"kotlin", `client.get("${base}/accounts/$id/mute") { }`, "GET accounts/*/mute"},
		{"java", `Request r = new Request.Builder().url(HOST + "/accounts/" + id).delete().build();`, "DELETE accounts/*"},
		{"java", `client.post().uri("/accounts/{id}/mute", id).retrieve()`, "POST accounts/*/mute"},
		{"php", `$this->http->request('PUT', '/accounts/' . $id . '/mute');`, "PUT accounts/*/mute"},
		{"ruby", `perform_request(:post, "/accounts/#{id}/mute")`, "POST accounts/*/mute"},
		{"rust", `self.client.delete(format!("{}/accounts/{}", self.base, id))`, "DELETE accounts/*"},
		{"csharp", `await _http.PostAsync($"accounts/{id}/mute", null);`, "POST accounts/*/mute"},
		{"elixir", `Req.get!(client, url: "/accounts/" <> id <> "/mute")`, "GET accounts/*/mute"},
		{"swift", "enum Endpoint: String { case createList = \"lists/new\" }", "lists/new"},
		{"swift", "struct Mark: Request {\n var path: String { \"me/item/\\(id)/mark\" }\n let httpMethod = \"POST\"\n}", "POST me/item/*/mark"},
		{"go", `return c.Patch(ctx, apiPath("me", "item").Seg(id).Lit("bookmark").Query(q).String(), body)`, "PATCH me/item/*/bookmark"},
		{"go", "func userPath(id string, rest ...string) string { return apiPath(\"users\").Seg(id).Lit(rest...).String() }\n" +
			"func f() { c.Get(ctx, userPath(id, \"stats\"), &v); c.Delete(ctx, userPath(id), nil) }", "GET users/*/stats, DELETE users/*"},
		{"typescript", "const u = this.buildEndpoint('users', id, 'posts')", "users/*/posts"},
		{"python", `r = self.get(self._url("/users/{}", id, x))`, "GET users/*"},
		{"python", "user_id = '/users/{user_id}'\nuser_mute = '/users/{user_id}/mute'", "users/*, users/*/mute"},
		{"python", "class Db(Api):\n    prefix = '/rest/db/'\n    def tree(self):\n        return self.get('browse', x=1)\n" +
			"class Other(Api):\n    def a(self):\n        return self.get('state')", "rest/db, GET rest/db/browse, GET state"},
		{"typescript", "class Db extends Api {\n  private basePath = '/rest/db'\n  tree(id) { return this.post(`file/${id}`, os.get('x')) }\n" +
			"  other() { return this.put('/whole', this.log('word')) }\n}", "rest/db, POST rest/db/file/*, PUT whole"},
		{"javascript", `import x from "lib/accounts"; const t = "application/json"; const f = './a/b.js'; // "/not/this"`, ""},
		{"python", "ask(endpoint='application/nodes')\nask(endpoint='a/b')\nask(endpoint=endpoint, mode='DELETE')", "application/nodes, a/b"},
		{"go", "import (\n\t\"github.com/a/b\"\n)\nvar x = \"text and/or more\"", ""},
		{"python", `os.environ.get("HOME"); path = os.path.join("a", "b")`, ""},
		{"go", "switch p {\ncase \"/a/b\":\n\treturn\n}", "a/b"},
		{"dart", "return client.put(\n  url: '/projects/$id/tasks',\n  body: x,\n);", "PUT projects/*/tasks"},
		{"python", "def add(self, id: int) -> dict:\n    url = f\"{self._url}/tasks/{id}/labels\"\n    return self._post_json(url, x=1)",
			"POST tasks/*/labels"},
		{"typescript", `router.get("/mine", () => { fetch("/theirs/path") })`, "GET mine, theirs/path"},
	} {
		var got []string
		for _, f := range pathlike.Find(c.lang, []byte(c.source)) {
			got = append(got, strings.TrimSpace(f.Method+" "+f.Form))
		}
		var want []string
		for w := range strings.SplitSeq(c.want, ", ") {
			if method, path, ok := strings.Cut(w, " "); ok {
				want = append(want, method+" "+form(path))
			} else if w != "" {
				want = append(want, form(w))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s\n got %v\nwant %v (%s)", c.lang, c.source, got, want, c.want)
		}
	}
}

// TestANameMakesAMethodLikely: what a function is called says nothing for sure.
func TestANameMakesAMethodLikely(t *testing.T) {
	for _, c := range []struct{ lang, source, guess string }{
		{"python", "def delete_bookmark(self, id):\n    return self._call(f\"bookmarks/{id}/\")", "DELETE"},
		{"swift", "case createList = \"lists/new\"", "POST"},
		{"typescript", "async updateThing(id) { return this.call(`/things/${id}`) }", "PUT"},
		{"typescript", "async thing(id) { return this.call(`/things/${id}`) }", ""},
	} {
		got := pathlike.Find(c.lang, []byte(c.source))
		if len(got) != 1 || got[0].Guess != c.guess || got[0].Method != "" {
			t.Errorf("%s: %+v, want the guess %q", c.source, got, c.guess)
		}
	}
}

// FuzzFind: whatever a file holds, what is found has a place in it and a form.
func FuzzFind(f *testing.F) {
	f.Add("go", "x(\"/a/%s\" + b, `c`)")
	f.Add("swift", `"\(a("/b"))/c"`)
	f.Add("rust", `fn f<'a>(x: &'a str) { get("/a/{}") }`)
	f.Add("javascript", "`${a}/b${`c/${d}`}` /x'/ + '/d'")
	f.Fuzz(func(t *testing.T, lang, source string) {
		lines := strings.Count(source, "\n") + 1
		for _, c := range pathlike.Find(lang, []byte(source)) {
			if _, ok := scope.ParseForm(c.Form); !ok || c.Line < 1 || c.Line > lines || len(c.Form) > 150 {
				t.Fatalf("%+v in %q", c, source)
			}
		}
		fields := pathlike.Read(lang, []byte(source)).Fields()
		for _, f := range fields {
			if f.Name == "" || f.Line < 1 || f.Line > lines {
				t.Fatalf("%+v in %q", f, source)
			}
		}
		if lost, came := pathlike.Lost(fields, fields); len(lost)+len(came) > 0 || len(pathlike.Names(fields, false)) > coord.MaxNames {
			t.Fatalf("lost %v and got %v of itself: %q", lost, came, source)
		}
	})
}

// TestWhatGoesOneWayIsToldApart: texts that are handed to one function have one
// hash, whatever their method, and those of another function another.
func TestWhatGoesOneWayIsToldApart(t *testing.T) {
	for _, c := range []struct{ lang, source, want string }{
		{"javascript", "api.get('/a/x'); api.post(`/b/${id}`); navigate('/c/x'); navigate('/d/x')", "1 1 2 2"},
		{"javascript", "fetch(encodeURI('/a/x')); const u = '/b/x'; fetch(u, {method: 'PUT'}); router.push('/c/x')", "1 1 2"},
		{"typescript", "<Link to=\"/a/x\"/>; <Link to=\"/b/x\"/>; load({ path: '/c/x' })", "1 1 2"},
		{"go", "c.do(ctx, fmt.Sprintf(\"/a/%s\", id))\nc.do(ctx, \"/b/x\")\nos.Open(\"/c/x\")", "1 1 2"},
		{"go", "func (a *A) x() { a.ask(\"/a/x\"); a.ask(\"/b/x\") }\nfunc (c *C) x() { c.ask(\"/c/x\") }", "1 1 2"},
		{"python", "self.ask(endpoint='/a/x')\nself.ask('/b/x')\nself.other(endpoint)", "1 1"},
		{"typescript", "return (<A><Link to=\"/a/x\"/><Pick endpoint=\"/b/x\"/></A>); get(endpoint)", "1 2"},
		{"csharp", "var u = $\"{b}/a/{id}\"; Out.MarkupLine($\"see {Esc(u)}\"); OpenInBrowser(p => $\"{b}/c/x\"); Get(\"/b/x\")", "1"},
		{"python", "url = f'/a/{i}'\nlog.debug(url)\nask(url)\nask('/b/x')\nif p.startswith('/c/x'): print('/d/x')", "1 1"},
		{"python", "get('https://one.example/a/x'); get('https://two.example/a/x'); get(BASE + '/a/x')", "1 2 3"},
		{"swift", "var path: String { switch self { case .a: return \"a/x\"; case .b: return \"b/x\" } }", "1 1"},
	} {
		seen, got := map[string]int{}, []string{}
		for _, f := range pathlike.Find(c.lang, []byte(c.source)) {
			if seen[f.Via] == 0 {
				seen[f.Via] = len(seen) + 1
			}
			got = append(got, strconv.Itoa(seen[f.Via]))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.source, s, c.want)
		}
	}
}
