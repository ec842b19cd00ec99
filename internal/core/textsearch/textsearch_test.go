package textsearch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/textsearch"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Refresh the tokens":       "refresh the token",
		"refreshToken":             "refreshtoken refresh token",
		"user_id":                  "user_id user id",
		"HTTPServer":               "httpserver",
		"src/auth/token.go":        "src auth token go",
		"INT-7":                    "int 7",
		"José's Straße":            "jose s straße",
		"日本語 text":                 "日 本 語 text",
		"status class bus address": "status class bus address",
		"__init__":                 "init",
		"":                         "",
		"…—!":                      "",
	} {
		if got := strings.Join(textsearch.Words(text), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}

const now = int64(100 * 24 * 3600 * 1000)

func find(ix *textsearch.Index, text string, limit int) []textsearch.Hit {
	return ix.Find(textsearch.Query{Text: text, Now: now, Limit: limit, Keep: func(*textsearch.Doc) bool { return true }})
}

func ids(hits []textsearch.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

func TestRanking(t *testing.T) {
	ix := textsearch.New(100)
	day := int64(24 * 3600 * 1000)
	for i, d := range []textsearch.Doc{
		{ID: "title", Title: "Token refresh", Body: "nothing else", At: now - 30*day},
		{ID: "body", Title: "Other", Body: "we refresh each token twice; token", At: now - 30*day},
		{ID: "old", Title: "Other", Body: "we refresh each token twice; token", At: now - 80*day},
		{ID: "half", Title: "Token store", Body: "", At: now},
		{ID: "prefix", Title: "Other", Body: "refreshing tokenizer", At: now - 30*day},
		{ID: "none", Title: "Cake", Body: "recipe", At: now},
	} {
		d.Kind, d.Order = "x", int64(i)
		ix.Put(d)
	}
	for _, tt := range []struct{ name, query, want string }{
		{"title before body before parts of words, new before old", "token refresh", "title body old prefix"},
		{"common words do not count", "the token of a refresh", "title body old prefix"},
		{"a word that is not there", "token zebra", "half title body old prefix"},
		{"plurals meet", "tokens", "half title body old prefix"},
		{"nothing", "zebra", ""},
		{"no words", "?!", ""},
		{"only common words", "the", ""},
	} {
		if got := ids(find(ix, tt.query, 10)); got != tt.want {
			t.Errorf("%s: %q finds %q, want %q", tt.name, tt.query, got, tt.want)
		}
	}
	if got := ids(find(ix, "token", 2)); got != "half title" {
		t.Errorf("limited to 2: %q", got)
	}
}

// What was written in other words of software work is found, after what has the
// very words.
func TestSynonyms(t *testing.T) {
	ix := textsearch.New(100)
	for i, title := range []string{
		"Authentication fails behind a proxy", "Delete unused settings", "Speed up the invoice export", "Crash when the database is empty",
		"Throttle the public endpoints", "Moved the picture folder", "Sign the release",
	} {
		ix.Put(textsearch.Doc{Kind: "x", ID: fmt.Sprint(i), Order: int64(i), Title: title})
	}
	for query, want := range map[string]string{
		"login broken":              "0",
		"remove obsolete options":   "1",
		"invoice performance":       "2",
		"panic with empty db":       "3",
		"rate limiting of endpoint": "4",
		"rename image directory":    "5",
		"signed releases":           "6",
	} {
		if got := ids(find(ix, query, 10)); !strings.HasPrefix(got+" ", want+" ") {
			t.Errorf("%q finds %q, want %s", query, got, want)
		}
	}
	ix.Put(textsearch.Doc{Kind: "x", ID: "exact", Order: -1, Title: "Login with a key"})
	if got := ids(find(ix, "login", 10)); got != "exact 0" {
		t.Errorf("the word itself comes first: %q", got)
	}
}

func TestSnippets(t *testing.T) {
	ix := textsearch.New(10)
	long := strings.Repeat("lorem ipsum ", 50) + "the needle is here " + strings.Repeat("dolor sit ", 50)
	ix.Put(textsearch.Doc{Kind: "x", ID: "long", Body: long})
	ix.Put(textsearch.Doc{Kind: "x", ID: "short", Body: "a\n needle \t alone"})
	for _, h := range find(ix, "needle", 10) {
		switch {
		case h.ID == "short" && h.Snippet != "a needle alone":
			t.Errorf("short snippet = %q", h.Snippet)
		case h.ID == "long" && (!strings.Contains(h.Snippet, "needle is here") || !strings.HasPrefix(h.Snippet, "…") ||
			!strings.HasSuffix(h.Snippet, "…") || len(h.Snippet) > 220):
			t.Errorf("long snippet = %q", h.Snippet)
		}
	}
}

func TestOnlyTheNewestAreKept(t *testing.T) {
	ix := textsearch.New(3)
	for i := range 5 {
		gone := ix.Put(textsearch.Doc{Kind: "x", ID: fmt.Sprint(i), Order: int64(i), Body: "word"})
		if want := i - 3; (gone == nil) != (want < 0) || gone != nil && gone.ID != fmt.Sprint(want) {
			t.Errorf("putting %d, %v had to go", i, gone)
		}
	}
	if gone := ix.Put(textsearch.Doc{Kind: "x", ID: "older", Order: -1, Body: "word"}); gone == nil || gone.ID != "older" {
		t.Errorf("an old text drove out %v", gone)
	}
	if got := find(ix, "word", 10); len(got) != 3 || ix.Len() != 3 {
		t.Errorf("kept %q", ids(got))
	}
	ix.Put(textsearch.Doc{Kind: "y", ID: "0", Body: "word"})
	if got := find(ix, "word", 10); len(got) != 4 {
		t.Errorf("kinds share their room: %q", ids(got))
	}
}

// However an index came to hold its texts, it finds the same.
func TestHistoryDoesNotMatter(t *testing.T) {
	word := rapid.SampledFrom([]string{"token", "refresh", "user", "cache", "login", "Users", "tokenStore", "日本", "the"})
	doc := rapid.Custom(func(t *rapid.T) textsearch.Doc {
		return textsearch.Doc{
			Kind:  rapid.SampledFrom([]string{"a", "b"}).Draw(t, "kind"),
			ID:    fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "id")),
			At:    int64(rapid.IntRange(0, 100).Draw(t, "at")) * 24 * 3600 * 1000,
			Title: strings.Join(rapid.SliceOfN(word, 0, 3).Draw(t, "title"), " "),
			Body:  strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "body"), " "),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		grown, final := textsearch.New(1000), map[string]textsearch.Doc{}
		for _, d := range rapid.SliceOfN(doc, 0, 60).Draw(t, "docs") {
			d.Order = d.At
			if rapid.IntRange(0, 4).Draw(t, "remove") == 0 {
				grown.Remove(d.Kind, d.ID)
				delete(final, d.Kind+d.ID)
				continue
			}
			grown.Put(d)
			final[d.Kind+d.ID] = d
		}
		fresh := textsearch.New(1000)
		for _, d := range final {
			fresh.Put(d)
		}
		query := strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "query"), " ")
		a, b := find(grown, query, 10), find(fresh, query, 10)
		same := slices.EqualFunc(a, b, func(x, y textsearch.Hit) bool {
			return x.Kind == y.Kind && x.ID == y.ID && x.Score == y.Score && x.Snippet == y.Snippet
		})
		if !same || grown.Len() != fresh.Len() {
			t.Fatalf("%q: grown finds %q, fresh %q", query, ids(a), ids(b))
		}
	})
}

func FuzzFind(f *testing.F) {
	f.Add("token refresh", "we refresh the token")
	f.Add("日本", "日本語\xff")
	f.Add("a_b", "__A_b")
	f.Fuzz(func(t *testing.T, query, text string) {
		ix := textsearch.New(10)
		ix.Put(textsearch.Doc{Kind: "x", ID: "1", Title: text, Body: text})
		for _, h := range find(ix, query, 10) {
			if utf8.ValidString(text) && !utf8.ValidString(h.Snippet) {
				t.Errorf("the snippet %q is cut within a character", h.Snippet)
			}
		}
		if words := textsearch.Words(text); len(words) > 0 && len(find(ix, words[0], 10)) != 1 {
			t.Errorf("a text is not found by its word %q", words[0])
		}
	})
}
