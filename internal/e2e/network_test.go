package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
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
			refused := bob.refused
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

// A laptop whose way to the server leads through a company's proxy, or to one
// that wants the person's own certificate: claimed files are refused, and when
// that way is shut, hangs or swallows everything, the agent hears that nobody
// checks. So it is with the process that stays on the laptop, and without it.
func TestALaptopBehindAProxy(t *testing.T) {
	for _, edge := range []string{"on", "off"} {
		t.Run("edge "+edge, func(t *testing.T) {
			team := newServer(t, t.TempDir())
			front, err := badline.NewFront(team.URL)
			if err != nil {
				t.Fatal(err)
			}
			proxy := newTunnel(t)
			bob := farBehind(t, team, front, func(addr string) string {
				proxy.lead(addr)
				return badline.Name // which nothing but the proxy can find
			}, []string{"HTTPS_PROXY=" + proxy.URL, "SVC_EDGE=" + edge, "SVC_PATIENCE=20"})
			bob.claimed()
			if proxy.opened.Load() == 0 {
				t.Error("nothing went through the proxy")
			}
			bob.troubles([]trouble{
				{"a proxy that wants a password", func() { proxy.answer(http.StatusProxyAuthRequired); bob.line.Cut() }, func() { proxy.answer(0) }},
				{"a proxy that cannot find the server", func() { proxy.answer(http.StatusBadGateway); bob.line.Cut() }, func() { proxy.answer(0) }},
				{"a proxy that says nothing", func() { proxy.answer(silence); bob.line.Cut() }, func() { proxy.answer(0) }},
				{"a black hole behind it", func() { bob.line.Silence(true) }, func() { bob.line.Silence(false) }},
			})
		})
	}
}

// A server that lets in only who shows a certificate.
func TestALaptopWithACertificateOfItsOwn(t *testing.T) {
	for _, edge := range []string{"on", "off"} {
		t.Run("edge "+edge, func(t *testing.T) {
			team := newServer(t, t.TempDir())
			front, own, err := badline.NewGuarded(team.URL)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "own.pem")
			put := func(text []byte) {
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put(own)
			bob := farBehind(t, team, front, func(addr string) string { return addr },
				[]string{"SVC_CLIENT_CERT=" + file, "SVC_EDGE=" + edge, "SVC_PATIENCE=20"})
			bob.claimed()
			elsewhere, another, err := badline.NewGuarded(team.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = elsewhere.Close() })
			bob.troubles([]trouble{
				{"a certificate that is gone", func() { os.Remove(file); bob.line.Cut() }, func() { put(own) }},
				{"a certificate of somebody else", func() { put(another); bob.line.Cut() }, func() { put(own) }},
			})
		})
	}
}

// claimed has a teammate claim a file, and waits until its edits are refused.
func (f *far) claimed() {
	f.t.Helper()
	f.hook("far", "SessionStart", "")
	f.team.post("/v1/intents", `{"title":"Rewrite a.txt","repo":"github.com/acme/far","mode":"exclusive","scope":{"paths":["a.txt"]}}`, nil)
	await.True(f.t, "a claimed file is refused", f.refused)
}

func (f *far) refused() bool { return strings.Contains(f.edit("PreToolUse", "a.txt"), `"deny"`) }

// A trouble comes between a laptop and its server, and goes.
type trouble struct {
	name        string
	begin, stop func()
}

// troubles plays each: a claimed file is refused by the lease, or the agent hears
// that nobody checks; afterwards it is refused again.
func (f *far) troubles(all []trouble) {
	f.t.Helper()
	for _, trouble := range all {
		trouble.begin()
		await.True(f.t, "the agent hears that nobody checks: "+trouble.name, func() bool {
			out := f.edit("PreToolUse", "a.txt")
			unchecked := strings.Contains(out, "svc could not check this edit")
			if !unchecked && !strings.Contains(out, `"deny"`) {
				f.t.Errorf("%s: an edit of a claimed file is answered %q", trouble.name, out)
			}
			return unchecked
		})
		trouble.stop()
		await.True(f.t, "refused again after "+trouble.name, f.refused)
	}
}

// A tunnel is a company's proxy: it passes connections on that ask for one
// server.
type tunnel struct {
	URL    string
	opened atomic.Int64
	to     atomic.Value // string
	status atomic.Int64 // what it answers instead; 0 for nothing
}

// silence is a status that is never sent.
const silence = 1

func (p *tunnel) lead(addr string)  { p.to.Store(addr) }
func (p *tunnel) answer(status int) { p.status.Store(int64(status)) }

func newTunnel(t *testing.T) *tunnel {
	p := &tunnel{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != badline.Name+":443" {
			http.Error(w, "only "+badline.Name, http.StatusForbidden)
			return
		}
		switch status := p.status.Load(); status {
		case 0:
		case silence:
			<-r.Context().Done()
			return
		default:
			w.WriteHeader(int(status))
			return
		}
		out, err := net.Dial("tcp", p.to.Load().(string))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer out.Close()
		in, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer in.Close()
		p.opened.Add(1)
		fmt.Fprint(in, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() { _, _ = io.Copy(out, in); out.Close() }()
		_, _ = io.Copy(in, out)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	p.URL = s.URL
	return p
}
