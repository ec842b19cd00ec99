// Package dashboard serves the web pages, embedded in the binary. They speak
// only the public REST API.
package dashboard

import (
	_ "embed"
	"net/http"
)

//go:embed plain.html
var plain []byte

// Handler serves the dashboard, or one plain page that says how to build it.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(plain)
	})
}
