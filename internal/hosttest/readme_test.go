//go:build unix

package hosttest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/doctable"
	"github.com/svc-hq/svc/internal/server/api"
)

// beside is what svc may take of a newcomer's time, beside what the host takes.
const beside = 30 * time.Second

// readmeWalk follows README on a fresh account: its commands, two sessions that
// are warned of each other, every tool that svc names to them. The same two
// sessions before that, without svc, tell what the host takes by itself.
func readmeWalk(t *testing.T, h row, claude []string, files string) {
	h.files = nil // they are to stay as svc up leaves them
	w := newcomer(t, "ann", claude, files, "curl script")
	w.env[0] = "PATH=" + strings.Join(append(slices.Clone(claude), "/usr/local/bin", "/usr/bin", "/bin"), ":")
	w.write(filepath.Join(w.repo, planned), lines)
	w.must("git", "add", "-A")
	w.must("git", "commit", "-qm", "plan")
	w.publish(files)

	begun := time.Now()
	bare := newcomersDay{w: w, h: h}
	bare.play(false)
	own := time.Since(begun)
	if len(bare.warned) > 0 || w.reads(free) != "third\n" || w.reads(planned) == lines {
		t.Fatalf("without svc: %d warnings, %q", len(bare.warned), w.reads(free))
	}
	w.must("git", "checkout", "-q", "--", ".")

	begun = time.Now()
	w.pastes()
	pasted := time.Since(begun)
	t.Cleanup(func() { w.runs(context.Background(), w.repo, w.env, filepath.Join(w.home, ".local/bin/svc"), "down") })
	day := newcomersDay{w: w, h: h, called: map[string]int{}}
	day.play(true)
	whole := time.Since(begun) - day.calling
	if len(day.warned) != 2 || w.reads(free) != "second\n" || w.reads(planned) != lines {
		t.Errorf("%d sessions were warned; %s is %q, %s %q", len(day.warned), free, w.reads(free), planned, w.reads(planned))
	}
	for _, tool := range []string{"team_context", "intent_declare", "wait_for"} {
		if day.called[tool] != 2 {
			t.Errorf("%s was named to and called by %d sessions: %v", tool, day.called[tool], day.called)
		}
	}
	if whole-own > beside {
		t.Errorf("svc took %v beside the host's own %v", whole-own, own)
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
	table := "| README's commands | with two sessions of Claude Code, both warned | the same two sessions without svc | " +
		"svc's own part (at most 30 s) | tools named by svc and called | seen on |\n|---|---|---|---|---|---|\n| " +
		strings.Join([]string{seconds(pasted), seconds(whole), seconds(own), seconds(whole - own), strconv.Itoa(len(day.called)),
			time.Now().UTC().Format(time.DateOnly)}, " | ") + " |\n"
	t.Log("\n" + table)
	doctable.Read(t, "../../docs/hosts.md", "minute").Write(t, table)
}

// pastes runs the commands that README gives a newcomer, letter by letter, in a
// terminal where every question is answered with Return.
func (w *world) pastes() {
	w.t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		w.t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## For you, with several agents\n")
	_, rest, open := strings.Cut(rest, "\n```sh\n")
	commands, _, shut := strings.Cut(rest, "```")
	if !found || !open || !shut || !strings.Contains(commands, "install.sh") {
		w.t.Fatalf("README's commands for one person are not where they were: %q", commands)
	}
	said, err := w.runs(w.t.Context(), w.repo, w.env, "/bin/bash", "-c", `echo | script -qec "$0" /dev/null`, "set -e\n"+commands)
	if err != nil {
		w.t.Fatalf("%v\n%s\nsaid\n%s", err, commands, said)
	}
	w.t.Logf("%s\n%s", commands, said)
}

// publish puts a release where README says that it is, on this machine's own
// network: behind a proxy that knows no other address, with a certificate that
// the machine trusts.
func (w *world) publish(files string) {
	page := http.NewServeMux()
	page.HandleFunc("GET /svc-hq/svc/releases/latest/download/{file}", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "/svc-hq/svc/releases/download/latest/"+r.PathValue("file"), http.StatusFound)
	})
	page.HandleFunc("GET /svc-hq/svc/releases/download/{tag}/{file}", func(rw http.ResponseWriter, r *http.Request) {
		http.ServeFile(rw, r, filepath.Join(files, r.PathValue("file")))
	})
	const name = "github.com"
	github := httptest.NewUnstartedServer(page)
	cert, known := certificate(w.t, name)
	github.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	github.StartTLS()
	w.t.Cleanup(github.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != name+":443" {
			http.Error(rw, "nothing else is here", http.StatusForbidden)
			return
		}
		to, err := net.Dial("tcp", github.Listener.Addr().String())
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadGateway)
			return
		}
		from, _, err := http.NewResponseController(rw).Hijack()
		if err == nil {
			_, err = io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		}
		if err != nil {
			to.Close()
			return
		}
		go pass(from, to)
		go pass(to, from)
	}))
	w.t.Cleanup(proxy.Close)
	roots := filepath.Join(w.t.TempDir(), "roots.pem")
	w.write(roots, known)
	w.inside = append(w.inside, "--ro-bind", roots, "/etc/ssl/certs/ca-certificates.crt")
	w.env = append(w.env, "HTTPS_PROXY="+proxy.URL)
}

// certificate is one for a name, signed by itself.
func certificate(t *testing.T, name string) (cert tls.Certificate, known string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	known = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, known
}

// A newcomersDay is what two sessions in one clone live through: the first
// claims a file and has read another; the second tries the claimed one and
// changes the other; the first sets out to change that, too. Both then call
// every tool that svc has named to them.
type newcomersDay struct {
	w       *world
	h       row
	warned  []time.Time // when a model read of the other session instead of overwriting its work
	calling time.Duration
	called  map[string]int // how often, by tool
}

func (d *newcomersDay) play(withTools bool) {
	claim, open := filepath.Join(d.w.repo, planned), filepath.Join(d.w.repo, free)
	warned := func(sign string) func(string) {
		seen := false
		return func(fresh string) {
			if !seen && strings.Contains(fresh, sign) {
				seen = true
				d.warned = append(d.warned, time.Now())
			}
		}
	}
	var first script
	if withTools {
		first.tool(d.h, "svc", "intent_declare",
			object{"title": "Write the plan", "mode": "exclusive", "scope": object{"paths": []string{planned}}}, nil)
	}
	first.then(d.h.read(open), func(string) {
		var second script
		second.then(d.h.read(claim), nil)
		second.then(d.h.edit(claim, "two", "zwei"), warned("your other agent"))
		second.then(d.h.read(open), nil)
		second.then(d.h.edit(open, "first", "second"), nil)
		d.drive(&second, withTools)
	})
	told := warned("since you last saw it")
	first.then(d.h.edit(open, "first", "third"), told)
	first.then(d.h.shell("echo third > "+free), told)
	d.drive(&first, withTools)
}

// drive runs a session whose model ends with calls of the tools it knows of.
func (d *newcomersDay) drive(s *script, withTools bool) {
	turns := s.ends("Done.")
	if withTools {
		c := &caller{day: d, look: turns[len(turns)-1].look}
		turns = turns[:len(turns)-1]
		for range 2 * len(api.Table) {
			turns = append(turns, turn{next: c.next})
		}
	}
	d.w.drive(d.h, turns, "")
}

// A caller calls the tools that svc has named to one session.
type caller struct {
	day  *newcomersDay
	look func(fresh string) // at what the last call of the day brought
	todo []use
	now  use // whose result comes next

	intent string
	begun  time.Time
}

// A use is a call of a tool of ours, where $INT stands for the session's own
// intent, and what the tool may also answer.
type use struct {
	tool string
	args object
	or   string
}

// uses has every tool that svc names to a session of somebody alone.
var uses = []use{
	{tool: "team_context", args: object{}},
	{tool: "who_is_online", args: object{}},
	{tool: "conflict_respond", args: object{"conflict": "CF-1", "action": "will_rebase"}, or: "CF-1 is stale"},
	{tool: "intent_declare", args: object{"title": "Look around", "scope": object{"paths": []string{"elsewhere.txt"}}}},
	{tool: "intent_update", args: object{"intent": "$INT", "note": "Still looking"}},
	{tool: "scope_check", args: object{"paths": []string{planned}}},
	{tool: "wait_for", args: object{"path": "nowhere.txt", "timeout_seconds": 1}},
	{tool: "contract_lookup", args: object{"key": "GET /ledger"}},
	{tool: "history_search", args: object{"q": "plan"}},
	{tool: "message_send", args: object{"to": "channel:team", "body": "I am at the notes."}},
	{tool: "channel_read", args: object{"channel": "team"}},
	{tool: "inbox", args: object{}},
	{tool: "message_ack", args: object{"message": "00000000-0000-0000-0000-000000000000"}, or: "no such message to you"},
	{tool: "intent_close", args: object{"intent": "$INT", "outcome": "abandoned"}},
}

func (c *caller) next(fresh string) call {
	d := c.day
	full := func(tool string) string { return strings.NewReplacer("$S", "svc", "$T", tool).Replace(d.h.mcp) }
	if c.look != nil {
		c.look(fresh)
		c.look = nil
		c.begun = time.Now()
		c.todo = d.usesOf(d.w.model.heard)
		var all []string
		for _, u := range c.todo {
			all = append(all, full(u.tool))
		}
		return d.h.find(strings.Join(all, ","))
	}
	c.heard(fresh)
	if len(c.todo) == 0 {
		d.calling += time.Since(c.begun)
		return call{text: "Done."}
	}
	c.now, c.todo = c.todo[0], c.todo[1:]
	args := maps.Clone(c.now.args)
	if args["intent"] == "$INT" {
		args["intent"] = c.intent
	}
	return call{tool: full(c.now.tool), args: args, listed: true}
}

// heard looks at the result of the last call.
func (c *caller) heard(fresh string) {
	failed := regexp.MustCompile(c.now.tool + " failed|[Ee]rror: |I have no such tool")
	if c.now.tool == "" {
		return
	}
	if failed.MatchString(fresh) && (c.now.or == "" || !strings.Contains(fresh, c.now.or)) {
		c.day.w.t.Errorf("%s: %s", c.now.tool, fresh)
	}
	if strings.Contains(fresh, "you's") { // what somebody without an address in git is called
		c.day.w.t.Errorf("after %s: %s", c.now.tool, fresh)
	}
	if c.now.tool == "intent_declare" {
		c.intent = regexp.MustCompile(`\bINT-[0-9]+`).FindString(fresh)
	}
	c.day.called[c.now.tool]++
}

// usesOf are calls of the tools that texts name. Names that are also English
// words count where they are called or quoted.
func (d *newcomersDay) usesOf(texts map[string]int) (some []use) {
	for _, op := range api.Table {
		if op.Tool == "" {
			continue
		}
		said := regexp.MustCompile("(?:\\b[Cc]all |`)" + op.Tool + `\b`)
		if strings.Contains(op.Tool, "_") {
			said = regexp.MustCompile(`\b` + op.Tool + `\b`)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(texts)), said.MatchString) {
			continue
		}
		if i := slices.IndexFunc(uses, func(u use) bool { return u.tool == op.Tool }); i < 0 {
			d.w.t.Errorf("svc names %s: say in uses how it is called", op.Tool)
		} else {
			some = append(some, uses[i])
		}
	}
	slices.SortFunc(some, func(a, b use) int { return slices.IndexFunc(uses, a.is) - slices.IndexFunc(uses, b.is) })
	return some
}

func (u use) is(v use) bool { return u.tool == v.tool }
