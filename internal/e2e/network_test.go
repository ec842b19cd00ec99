package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/badline"
)

// A laptop goes through networks in which somebody else answers for its server,
// or nobody does. Each edit of what a teammate has claimed is refused, or its
// agent is told that nobody checked it; back in a good network the server is
// asked, and what was done meanwhile is recorded. So it is with the process that
// stays on the laptop, and without it.
func TestALaptopInStrangeNetworks(t *testing.T) {
	page := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Welcome. Please sign in.</html>") }
	to := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/", status)
		}
	}
	for _, edge := range []string{"on", "off"} {
		t.Run("edge "+edge, func(t *testing.T) {
			portal, byPortal := strange(t, page)
			redirect, byRedirect := strange(t, to(http.StatusFound))
			moved, byMoved := strange(t, to(http.StatusPermanentRedirect))
			somebody, _ := strange(t, page)
			bob := newFar(t, newServer(t, t.TempDir()), byPortal, byRedirect, byMoved)
			bob.env = append(bob.env, "SVC_EDGE="+edge, "SVC_PATIENCE=20") // a busy machine is no outage
			networks := []struct{ name, leads string }{
				{"a sign-in page that the company's proxy vouches for", portal},
				{"a redirect to one", redirect},
				{"a server that moved", moved},
				{"somebody else's certificate", somebody},
				{"nobody", "127.0.0.1:1"},
			}
			bob.hook("far", "SessionStart", "")
			bob.team.post("/v1/intents",
				`{"title":"Rewrite a.txt","repo":"github.com/acme/far","mode":"exclusive","scope":{"paths":["a.txt"]}}`, nil)
			refused := func() bool { return strings.Contains(bob.edit("PreToolUse", "a.txt"), `"deny"`) }
			await.True(t, "a claimed file is refused", refused)
			for i, network := range networks {
				bob.line.Lead(network.leads)
				await.True(t, "the agent hears that nobody checks: "+network.name, func() bool {
					out := bob.edit("PreToolUse", "a.txt")
					unchecked := strings.Contains(out, "svc could not check this edit")
					if !unchecked && !strings.Contains(out, `"deny"`) { // by the lease, which has not run out yet
						t.Errorf("%s: an edit of a claimed file is answered %q", network.name, out)
					}
					return unchecked
				})
				file := fmt.Sprintf("away%d.txt", i)
				bob.write(file, "away\n")
				bob.edit("PostToolUse", file)
				bob.line.Lead(bob.front)
				if edge == "off" { // no pause: the first edit asks
					if !refused() {
						t.Errorf("after %s the first edit was not refused", network.name)
					}
				}
				await.True(t, "refused again after "+network.name, refused)
				await.True(t, "recorded: "+file, func() bool {
					bob.hook("far", "Stop", "")
					return strings.Contains(bob.run("", "svc", "intents", "--json"), `"`+file+`"`)
				})
			}
		})
	}
}

// strange returns where somebody else answers for every server, over TLS, and
// the authority that vouches for them.
func strange(t *testing.T, answer http.HandlerFunc) (addr string, authority []byte) {
	t.Helper()
	portal := httptest.NewServer(answer)
	t.Cleanup(portal.Close)
	front, err := badline.NewFront(portal.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = front.Close() })
	return front.Addr, front.Authority
}
