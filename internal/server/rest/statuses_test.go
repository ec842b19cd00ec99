package rest_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var fuzzed = flag.Int("requests", 1000, "how many requests are made to find statuses that the API's document does not list")

// Whatever is asked, and by whomever, the document lists the status of the answer
// for that operation: clients are made of it.
func TestTheDocumentListsEveryStatus(t *testing.T) {
	storetest.EachWalk(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		f := newStatusFuzzer(w)
		unlisted := f.run(*fuzzed)
		for _, pair := range slices.Sorted(maps.Keys(unlisted)) {
			t.Errorf("%s, which the document does not list: %s", pair, unlisted[pair])
		}
		t.Logf("%d requests met %d pairs of operation and status", *fuzzed, len(f.met))
		if len(f.met) < min(*fuzzed/10, 500) {
			t.Error("the fuzzer hardly met anything")
		}
	})
}

type statusFuzzer struct {
	w       *daemontest.World
	o       *daemontest.Org
	schemas *api.API
	chance  *rand.Rand
	known   []string                  // what takes the place of a path's parameters
	found   []string                  // ids and refs in the last answers, likewise
	listed  map[string]map[string]any // by route, what the document says of each status
	met     map[string]bool
}

func newStatusFuzzer(w *daemontest.World) *statusFuzzer {
	var document struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	w.Must(200, daemontest.Request{Method: "GET", Path: "/openapi.json"}, &document)
	f := &statusFuzzer{w: w, schemas: api.New(nil), chance: rand.New(rand.NewPCG(1, 2)), met: map[string]bool{}}
	f.listed = map[string]map[string]any{}
	for path, methods := range document.Paths {
		for method, op := range methods {
			f.listed[strings.ToUpper(method)+" "+path] = op.Responses
		}
	}
	f.begin()
	return f
}

// begin makes an org with records to ask about.
func (f *statusFuzzer) begin() {
	f.o = f.w.Org(fmt.Sprintf("Acme%d", f.chance.Uint32()))
	number, _ := declare(f.w, f.o, coord.Owner, repo(f.w, f.o))
	f.known = []string{fmt.Sprintf("INT-%d", number), "acme%2Fapi", "CF-1", project(f.w, f.o), "none", "%00", "a%ffb", "1", "0", "-1",
		strings.Repeat("x", 300), "00000000-0000-4000-8000-000000000000"}
}

// run makes requests and returns the pairs of operation and status that the
// document does not list, each with a request that met it.
func (f *statusFuzzer) run(requests int) (unlisted map[string]string) {
	var routes []api.Op
	for _, op := range api.Table {
		if op.Route != "" && op.Route != "GET /v1/stream" && !strings.Contains(op.Route, "/wait") { // which answer when something happens
			routes = append(routes, op)
		}
	}
	unlisted = map[string]string{}
	for range requests {
		op := routes[f.pick(len(routes))]
		r := f.request(op)
		res := f.w.Do(r)
		pair := fmt.Sprintf("%s answers %d", op.Route, res.Status)
		f.met[pair] = true
		if _, ok := f.listed[op.Route][fmt.Sprint(res.Status)]; !ok && unlisted[pair] == "" {
			unlisted[pair] = fmt.Sprintf("%s %.200s", r.Path, r.Body)
		}
		if res.Status == 401 && r.Token == f.o.Owner() && op.Door != api.CookieOnly && op.Door != api.SignedIn {
			f.begin() // one of the requests took that token back
		}
		for _, id := range anID.FindAllSubmatch(res.Body, 3) {
			f.found = append(f.found[max(0, len(f.found)-40):], url.PathEscape(string(id[1])))
		}
	}
	return unlisted
}

var anID = regexp.MustCompile(`"(?:id|ref|slug|full_name)": *"([^"]+)"`)

func (f *statusFuzzer) pick(n int) int { return f.chance.IntN(n) }

// any returns what a parameter may be: something known, or found in an answer.
func (f *statusFuzzer) any() string {
	if len(f.found) > 0 && f.pick(2) == 0 {
		return f.found[f.pick(len(f.found))]
	}
	return f.known[f.pick(len(f.known))]
}

var parameter = regexp.MustCompile(`\{[^}]+\}`)

func (f *statusFuzzer) request(op api.Op) daemontest.Request {
	method, path, _ := strings.Cut(op.Route, " ")
	path = parameter.ReplaceAllStringFunc(path, func(string) string { return f.any() })
	r := daemontest.Request{Method: method, Header: map[string]string{}}
	in := f.schemas.Inputs(op)
	if in.Query != nil && f.pick(3) > 0 {
		q := url.Values{}
		for name, s := range in.Query.Properties {
			if f.pick(3) == 0 {
				q.Set(name, f.value(f.schemas.Schemas.Example(s)))
			}
		}
		path += "?" + q.Encode()
	}
	r.Path = path
	switch f.pick(8) {
	case 0:
	case 1:
		r.Token = "svc_nonsense"
	case 2:
		r.Token = f.o.Tokens[coord.Member]
	case 3:
		r.Cookie, r.Org = f.w.Cookie(f.o.Users[coord.Owner]), f.o.Slug
	default:
		r.Token = f.o.Owner()
	}
	if method == "GET" || method == "DELETE" && f.pick(2) == 0 {
		return r
	}
	body, err := json.Marshal(f.schemas.Schemas.Example(in.Body))
	if err != nil {
		body = []byte("{}")
	}
	switch f.pick(12) {
	case 0:
		body = []byte("{")
	case 1:
		body = nil
	case 2:
		body = []byte(`{"unknown":1}`)
	case 3:
		body = []byte(`{"x":"` + strings.Repeat("x", 9<<20) + `"}`)
	case 4:
		r.Header["Content-Type"] = "text/plain"
	case 5:
		r.Header["If-Match"] = `"none"`
	case 6:
		r.Header["X-Svc-Session"] = "00000000-0000-4000-8000-000000000000"
	}
	r.Body = body
	return r
}

func (f *statusFuzzer) value(example any) string {
	switch f.pick(4) {
	case 0:
		return "\x00"
	case 1:
		return f.any()
	}
	return fmt.Sprint(example)
}
