package dashboard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func built(t *testing.T) *site {
	t.Helper()
	s, err := newSite(fstest.MapFS{
		"index.html":             {Data: []byte(`<meta name="csp-nonce" content="__NONCE__">app`)},
		"pages.json":             {Data: []byte(`["", "intents", "settings"]`)},
		"icon.svg":               {Data: []byte("<svg/>")},
		"assets/app-abc.js":      {Data: []byte("raw")},
		"assets/app-abc.js.br":   {Data: []byte("brotli")},
		"assets/app-abc.js.gz":   {Data: []byte("gzip")},
		"assets/other-abc.js":    {Data: []byte("raw")},
		"assets/other-abc.js.gz": {Data: []byte("gzip")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(h http.Handler, path, encodings string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Accept-Encoding", encodings)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPathsThatArePagesGetTheApplication(t *testing.T) {
	for path, want := range map[string]int{
		"/":                        200,
		"/intents":                 200,
		"/intents/INT-7":           200,
		"/settings/members":        200,
		"/nowhere":                 404,
		"/v1/intents":              404,
		"/mcp":                     404,
		"/.well-known/x":           404,
		"/intents/../v1/intents":   404,
		"/assets/app-abc.js":       200,
		"/assets/app-abc.js.br":    404,
		"/index.html":              404,
		"/pages.json":              404,
		"/assets/missing.js":       404,
		"/assets":                  404,
		"/assets/../../plain.html": 404,
	} {
		if w := get(built(t), path, ""); w.Code != want {
			t.Errorf("GET %s = %d, want %d", path, w.Code, want)
		}
	}
}

func TestAFileIsSentInTheSmallestFormTheBrowserTakes(t *testing.T) {
	for _, tt := range []struct{ name, file, accept, body, encoding string }{
		{"brotli is preferred", "app", "gzip, deflate, br", "brotli", "br"},
		{"gzip is taken without brotli", "app", "gzip", "gzip", "gzip"},
		{"a refused encoding is not sent", "app", "br;q=0, gzip", "gzip", "gzip"},
		{"nothing asked for sends the file as it is", "app", "", "raw", ""},
		{"a file without a brotli form is sent as gzip", "other", "br, gzip", "gzip", "gzip"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := get(built(t), "/assets/"+tt.file+"-abc.js", tt.accept)
			if w.Body.String() != tt.body || w.Header().Get("Content-Encoding") != tt.encoding {
				t.Errorf("got %q as %q, want %q as %q", w.Body, w.Header().Get("Content-Encoding"), tt.body, tt.encoding)
			}
			if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/javascript") {
				t.Errorf("Content-Type = %q", got)
			}
		})
	}
}

func TestOnlyHashedFilesAreKeptForever(t *testing.T) {
	if got := get(built(t), "/assets/app-abc.js", "").Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("asset: Cache-Control = %q", got)
	}
	if got := get(built(t), "/icon.svg", "").Header().Get("Cache-Control"); strings.Contains(got, "immutable") {
		t.Errorf("icon: Cache-Control = %q", got)
	}
	if got := get(built(t), "/", "").Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("page: Cache-Control = %q", got)
	}
}

func TestThePolicyAllowsNoInlineScript(t *testing.T) {
	first, second := get(built(t), "/", ""), get(built(t), "/", "")
	policy := first.Header().Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "script-src 'self';") {
		t.Errorf("policy %q lets inline code in", policy)
	}
	_, nonce, _ := strings.Cut(policy, "'nonce-")
	nonce, _, _ = strings.Cut(nonce, "'")
	if nonce == "" || !strings.Contains(first.Body.String(), nonce) {
		t.Errorf("the page %q does not carry the nonce of its policy %q", first.Body, policy)
	}
	if second.Header().Get("Content-Security-Policy") == policy {
		t.Error("two answers share a nonce")
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	w := httptest.NewRecorder()
	built(t).ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST / = %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestWithoutABuildOnePlainPageSaysHowToMakeIt(t *testing.T) {
	if _, err := newSite(fstest.MapFS{}); err == nil {
		t.Fatal("an empty build was taken for a dashboard")
	}
	w := httptest.NewRecorder()
	servePlain(w, httptest.NewRequest("GET", "/", nil))
	if !strings.Contains(w.Body.String(), "make build") {
		t.Errorf("the plain page says %q", w.Body)
	}
}
