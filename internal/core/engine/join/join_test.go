package join_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/scope"
)

// form is a path as a person writes it, hashed.
func form(path string) scope.Form {
	elems := strings.Split(strings.Trim(path, "/"), "/")
	for i, e := range elems {
		if strings.ContainsAny(e, "*{") {
			elems[i] = ""
		}
	}
	return scope.PathForm(elems)
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		route, text                    string
		ok                             bool
		words, filled, valued, missing int
		extra                          int
	}{
		{"/api/v1/accounts/{}/statuses", "accounts/*/statuses", true, 2, 0, 0, 0, 0},
		{"/accounts/{}/statuses", "/api/v1/accounts/*/statuses", true, 2, 0, 0, 0, 0},
		{"/control/filtering/status", "filtering/status", true, 2, 0, 0, 1, 0},
		{"/accounts/{}", "/shop/accounts/*", true, 1, 0, 0, 0, 1},
		{"/accounts/{}/mute", "accounts/*/*", true, 1, 1, 0, 0, 0},
		{"/users/{}", "users/me", true, 1, 0, 1, 0, 0},
		{"/accounts/{}", "accounts", false, 0, 0, 0, 0, 0},
		{"/accounts/{}", "posts/*", false, 0, 0, 0, 0, 0},
		{"/api/v1", "api/v1", false, 0, 0, 0, 0, 0},
		{"/{}/{}", "*/*", false, 0, 0, 0, 0, 0},
	} {
		f, ok := join.Fits(form(c.route), form(c.text))
		got := fmt.Sprint(ok, len(f.Words), f.Filled, f.Valued, f.Missing, f.Extra)
		if want := fmt.Sprint(c.ok, c.words, c.filled, c.valued, c.missing, c.extra); got != want {
			t.Errorf("%s and %s: %s, want %s", c.route, c.text, got, want)
		}
	}
}

func random(t *rapid.T) *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) }

func draw(r *rand.Rand) join.Evidence {
	return join.Evidence{
		Fit:    join.Fit{Filled: r.IntN(2), Valued: r.IntN(2), Missing: r.IntN(3), Extra: r.IntN(2)},
		Weight: float64(r.IntN(13)) / 4,
		Common: float64(r.IntN(13)) / 2,
		Votes:  r.IntN(12),
		Share:  float64(r.IntN(11)) / 10,
		Led:    r.IntN(3) > 0,
		Usual:  r.IntN(3) > 0,
		Main:   r.IntN(2) > 0,
		Said:   r.IntN(2) == 0,
		Method: join.Agreement(r.IntN(5)),
		Rivals: r.IntN(2) == 0,
	}
}

// TestMoreEvidenceIsNeverLess: whatever is known of a text, one thing more that
// speaks for it does not make it less sure.
func TestMoreEvidenceIsNeverLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(random(t))
		was := join.Judge(e)
		for name, more := range map[string]func(*join.Evidence){
			"a word in common":  func(e *join.Evidence) { e.Common++ },
			"a vote":            func(e *join.Evidence) { e.Votes, e.Share = e.Votes+1, min(1, e.Share+0.1) },
			"the lead":          func(e *join.Evidence) { e.Led = true },
			"the usual":         func(e *join.Evidence) { e.Usual = true },
			"the main":          func(e *join.Evidence) { e.Main = true },
			"a rarer word":      func(e *join.Evidence) { e.Weight += 0.25 },
			"a person's word":   func(e *join.Evidence) { e.Said = true },
			"its method":        func(e *join.Evidence) { e.Method = join.Stated },
			"no rival":          func(e *join.Evidence) { e.Rivals = false },
			"nothing filled in": func(e *join.Evidence) { e.Fit.Filled = 0 },
			"no value":          func(e *join.Evidence) { e.Fit.Valued = 0 },
			"a whole path":      func(e *join.Evidence) { e.Fit.Missing, e.Fit.Extra = 0, 0 },
		} {
			changed := e
			if more(&changed); join.Judge(changed) < was {
				t.Fatalf("%s makes %+v less sure: %d, was %d", name, e, join.Judge(changed), was)
			}
		}
		if e.Method == join.Contradicts && was != join.NotSaid {
			t.Fatalf("another method is written there: %+v is %d", e, was)
		}
		if e.Weight < 2 && e.Common == 0 && !e.Said && was != join.NotSaid {
			t.Fatalf("nothing but words that all have: %+v is %d", e, was)
		}
	})
}

var words = strings.Fields(`orders parcels carriers depots shelves invoices drivers routes stops vehicles manifests labels returns claims
	quotes tariffs zones users login health metrics items tags`)

func randomPath(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		if i%2 == 1 && r.IntN(3) > 0 {
			b.WriteString("/{}")
		} else {
			b.WriteString("/" + words[r.IntN(len(words))])
		}
	}
	return b.String()
}

// TestWhatIsSetAndTakenBackLeavesNothing: an org that was told of files and of
// their end answers as one that never was, and the order of files says nothing.
func TestWhatIsSetAndTakenBackLeavesNothing(t *testing.T) {
	methods := []string{"GET", "POST", ""}
	rapid.Check(t, func(t *rapid.T) {
		r := random(t)
		type file struct {
			repo, path string
			texts      []join.Text
			routes     []string
		}
		var files []file
		for i := range 12 {
			f := file{repo: string(rune('a' + i%4)), path: fmt.Sprint("f", i)}
			for range r.IntN(6) {
				f.texts = append(f.texts, join.Text{
					Path: f.path, Line: r.IntN(50) + 1, Form: form(randomPath(r)), Method: methods[r.IntN(3)], Via: scope.Word(r.IntN(3)),
				})
				f.routes = append(f.routes, "http:GET "+randomPath(r))
			}
			files = append(files, f)
		}
		plain, busy := join.NewOrg(), join.NewOrg()
		for _, f := range files {
			plain.SetTexts(f.repo, f.path, f.texts)
			plain.SetRoutes(f.repo, f.path, f.routes)
		}
		r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		for _, f := range files {
			busy.SetTexts(f.repo, f.path, []join.Text{{Path: f.path, Form: form(randomPath(r))}})
			busy.SetRoutes(f.repo, f.path, []string{"http:GET " + randomPath(r)})
			busy.Uses("a", "b", "http:GET "+randomPath(r), false)
			busy.SetTexts(f.repo, f.path, f.texts)
			busy.SetRoutes(f.repo, f.path, f.routes)
		}
		for range 40 {
			p, u, key := string(rune('a'+r.IntN(4))), string(rune('a'+r.IntN(4))), "http:GET "+randomPath(r)
			if a, b := said(plain.Uses(p, u, key, false)), said(busy.Uses(p, u, key, false)); !slices.Equal(a, b) {
				t.Fatalf("%s of %s in %s: %v and %v", key, p, u, a, b)
			}
		}
	})
}

func said(uses []join.Use) (out []string) {
	for _, u := range uses {
		out = append(out, fmt.Sprint(u.Path, ":", u.Line, " ", u.Method, u.Form, u.Certainty))
	}
	slices.Sort(out)
	return out
}

// TestOneWordIsNobodysOwn: a use that was read of a route of one word is not sure
// by itself to be meant for the one who has it, although nobody else does.
func TestOneWordIsNobodysOwn(t *testing.T) {
	o := join.NewOrg()
	o.SetRoutes("server", "api.go", []string{"http:PUT /depots/{}", "http:GET /depots/{}/manifests"})
	o.SetTexts("client", "uses of a.js", []join.Text{{Path: "a.js", Line: 1, Form: form("/depots/{}"), Method: "PUT", Known: true}})
	for key, want := range map[string]join.Certainty{
		"http:PUT /depots/{}":           join.Probably,
		"http:GET /depots/{}/manifests": join.Sure,
	} {
		if got := o.Read("server", "client", key, true, false); got != want {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
	}
	if got := o.Read("server", "client", "http:PUT /depots/{}", true, true); got != join.Sure {
		t.Errorf("one that something else ties: %d", got)
	}
}

// TestWhatWasReadSpeaksForItsLine: the text of a use that a rule read is not told
// as a use of another route.
func TestWhatWasReadSpeaksForItsLine(t *testing.T) {
	o := join.NewOrg()
	var keys []string
	var texts, uses []join.Text
	for i, w := range words[:12] {
		keys = append(keys, "http:GET /"+w, "http:GET /search/"+w)
		texts = append(texts, join.Text{Path: "a.kt", Line: i + 1, Form: form("{}/" + w), Method: "GET", Via: 7})
		uses = append(uses, join.Text{Path: "a.kt", Line: i + 1, Form: form("/search/" + w), Method: "GET", Known: true})
	}
	o.SetRoutes("server", "api.go", keys)
	o.SetTexts("client", "a.kt", texts)
	if len(o.Uses("server", "client", keys[0], false)) == 0 {
		t.Fatal("the text alone is not told")
	}
	o.SetTexts("client", "uses of a.kt", uses)
	if got := o.Uses("server", "client", keys[0], false); len(got) != 0 {
		t.Errorf("%s is told as used in line %d, which uses another", keys[0], got[0].Line)
	}
	o.SetTexts("client", "uses of a.kt", nil)
	if len(o.Uses("server", "client", keys[0], false)) == 0 {
		t.Error("what was read is gone, and still speaks for its line")
	}
}

// TestWhoWritesSaysSo: a text without a method is no write of a path that the
// same program writes to elsewhere, with its method beside it.
func TestWhoWritesSaysSo(t *testing.T) {
	o := join.NewOrg()
	var keys []string
	var texts []join.Text
	for i, w := range words[:12] {
		keys = append(keys, "http:GET /"+w+"/{}", "http:PUT /"+w+"/{}", "http:PATCH /"+w+"/{}")
		texts = append(texts, join.Text{Path: "page.cs", Line: i + 1, Form: form("/" + w + "/{}"), Via: 7})
	}
	o.SetRoutes("server", "api.go", keys)
	o.SetTexts("client", "page.cs", texts)
	told := func() (out []string) {
		for _, key := range keys[:3] {
			for _, u := range o.Uses("server", "client", key, false) {
				if u.Path == "page.cs" {
					out = append(out, key)
				}
			}
		}
		return out
	}
	if got := told(); !slices.Equal(got, keys[:3]) {
		t.Fatalf("a method that nobody says may be any: %q", got)
	}
	o.SetTexts("client", "api.cs", []join.Text{{Path: "api.cs", Line: 1, Form: form("/" + words[0] + "/{}"), Method: "PUT", Via: 9}})
	if got := told(); !slices.Equal(got, keys[:1]) {
		t.Errorf("the program says elsewhere where it writes: %q", got)
	}
}
