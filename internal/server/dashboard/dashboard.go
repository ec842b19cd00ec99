// Package dashboard serves the web pages, embedded in the binary. They speak
// only the public REST API.
//
// The pages are built from web/ into dist by "make build". A binary built
// without them serves one plain page that says so.
package dashboard

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed plain.html
var plain []byte

//go:embed all:dist
var embedded embed.FS

// Handler serves the dashboard, or one plain page that says how to build it.
func Handler() http.Handler {
	dist, err := fs.Sub(embedded, "dist")
	if err == nil {
		if h, err := newSite(dist); err == nil {
			return h
		}
	}
	return http.HandlerFunc(servePlain)
}

func servePlain(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(plain)
}

// noncePlaceholder stands in index.html where the nonce of the answer goes.
const noncePlaceholder = "__NONCE__"

// A site is the built dashboard.
type site struct {
	files fs.FS
	index []byte
	pages []string // first segments of the paths that are pages
}

// newSite returns the dashboard in dist, or an error if it was not built.
func newSite(dist fs.FS) (*site, error) {
	s := &site{files: dist}
	var err error
	if s.index, err = fs.ReadFile(dist, "index.html"); err != nil {
		return nil, err
	}
	list, err := fs.ReadFile(dist, "pages.json")
	if err != nil {
		return nil, err
	}
	return s, json.Unmarshal(list, &s.pages)
}

// ServeHTTP answers with a file of the build, or with the application for a
// path that is one of its pages. Every other path is not here: a mistyped API
// route must not look like a page.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the dashboard takes GET", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains(s.pages, first) {
		s.servePage(w, r)
		return
	}
	s.serveFile(w, r, name)
}

// servePage sends the application. The style nonce is new on each answer, so
// that a stylesheet somebody smuggled in does not apply; scripts come from
// files alone.
func (s *site) servePage(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self' 'nonce-" + nonce + "'",
		"img-src 'self' data:",
		"font-src 'self'",
		"connect-src 'self'",
		"manifest-src 'self'",
		"base-uri 'none'",
		"form-action 'self'",
		"frame-ancestors 'none'",
	}, "; "))
	page := bytes.ReplaceAll(s.index, []byte(noncePlaceholder), []byte(nonce))
	h.Set("Content-Length", strconv.Itoa(len(page)))
	if r.Method == http.MethodHead {
		return
	}
	w.Write(page)
}

// encodings are the forms a file is kept in beside itself, the smallest first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

func (s *site) serveFile(w http.ResponseWriter, r *http.Request, name string) {
	if !servable(name) {
		http.NotFound(w, r)
		return
	}
	body, err := fs.ReadFile(s.files, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	for _, e := range encodings {
		if small, err := fs.ReadFile(s.files, name+e.suffix); err == nil && accepts(r, e.name) {
			body = small
			h.Set("Content-Encoding", e.name)
			break
		}
	}
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	h.Set("Content-Length", strconv.Itoa(len(body)))
	// The names of assets carry a hash of their content; other files are few
	// and small.
	h.Set("Cache-Control", "public, max-age=3600")
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Method == http.MethodHead {
		return
	}
	w.Write(body)
}

// servable reports whether a file of the build is for browsers as it is.
func servable(name string) bool {
	switch path.Ext(name) {
	case ".js", ".css", ".svg", ".png", ".ico", ".woff2", ".webmanifest", ".txt":
		return fs.ValidPath(name)
	}
	return false
}

func accepts(r *http.Request, encoding string) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), encoding) {
			q := strings.TrimPrefix(strings.ReplaceAll(params, " ", ""), "q=")
			f, err := strconv.ParseFloat(q, 64)
			return q == "" || err != nil || f > 0
		}
	}
	return false
}
