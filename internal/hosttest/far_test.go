//go:build unix

package hosttest

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/badline"
)

// What is seen with a service that is far away.
const (
	farRefused behaviour = "a teammate's agent on another machine is refused"
	farTrip              = 150 * time.Millisecond
)

// TestHostsFarAway plays claims, overlaps and outages with the service 150 ms
// away behind TLS, as on loopback: in one person's home, and with two people
// on machines of their own.
func TestHostsFarAway(t *testing.T) {
	hosts := slices.DeleteFunc(wanted(t), func(h row) bool { return h.id != "claude_code" && h.id != "codex" })
	if len(hosts) == 0 {
		return
	}
	bin := buildClient(t)
	writer := filepath.Join(t.TempDir(), "writer")
	for to, from := range map[string]string{filepath.Join(bin, "svcd"): "../../cmd/svcd", writer: "./testdata/writer"} {
		if out, err := exec.Command("go", "build", "-o", to, from).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, h := range hosts {
		t.Run(h.id, func(t *testing.T) {
			path := append([]string{bin}, install(t, h)...)
			w := newWorld(t, path)
			w.goFar(h)
			r := w.play(h, nil)
			// What comes with an answer to a report is told with the next event.
			r[messaged] = strings.Contains(strings.Join(w.model.log, "\n"), greeting)
			farOutage(t, h, path, writer, r)
			twoMachines(t, h, path, r)
			h.judge(t, []behaviour{briefed, editDenied, reasonRead, shellDenied, messaged, released, serverDown, forewarned,
				caughtUp, farRefused}, r)
		})
	}
}

// goFar moves the service away, and sets the host up there.
func (w *world) goFar(h row) {
	w.t.Helper()
	to := w.team.URL
	if w.gate != nil {
		to = w.gate.url()
	}
	front, err := badline.NewFront(to)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = front.Close() })
	line, err := badline.New(front.Addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(line.Close)
	line.Set(badline.Away(farTrip))
	roots := filepath.Join(w.home, "roots.pem")
	w.write(roots, string(front.Authority))
	w.env = append(w.env, "SSL_CERT_FILE="+roots, "SVC_EDGE=on")
	w.server, w.think = "https://"+line.Addr, 3*farTrip // no model answers sooner
	w.setUp(h.id)
	w.must("svc", "edge", "start")
	w.t.Cleanup(func() { // when the test's own context has ended
		if out, err := w.runs(context.Background(), w.repo, w.env, lookPath(w.t, w.path(), "svc"), "down"); err != nil {
			w.t.Errorf("%v\n%s", err, out)
		}
	})
}

// farOutage is outage with the service far away.
func farOutage(t *testing.T, h row, path []string, writer string, seen result) {
	w := newWorld(t, path)
	w.gate = newGate(t, w.team.URL)
	w.goFar(h)
	w.interrupted(h, writer, seen)
}

// twoMachines has the host at work for Bob claim a file through its tools; the
// same host, at work for Ana in her own home and clone, then tries to edit it.
func twoMachines(t *testing.T, h row, path []string, seen result) {
	w := newWorld(t, path)
	w.anaReleases()
	w.goFar(h)
	other := w.beside(h)
	second := func(string) {
		held := filepath.Join(other.repo, claimed)
		var s script
		if h.read != nil {
			s.then(h.read(held), nil)
		}
		s.then(h.edit(held, "one", "two"), func(fresh string) {
			seen[farRefused] = other.reads(claimed) == "one\n" && strings.Contains(fresh, "Bob")
		})
		other.drive(h, s.ends("It is taken."), "")
	}
	var s script
	s.tool(h, "svc", "intent_declare",
		object{"title": "Keep the ledger", "mode": "exclusive", "scope": object{"paths": []string{claimed}}}, second)
	w.drive(h, s.ends("Claimed."), "")
}

// beside is another person's machine: a home, a clone and an edge of its own,
// and the same service.
func (w *world) beside(h row) *world {
	w.t.Helper()
	root := w.t.TempDir()
	o := &world{t: w.t, home: filepath.Join(root, "home"), repo: filepath.Join(root, "ledger"), team: w.team, bob: w.ana, ana: w.bob}
	for _, v := range w.env {
		o.env = append(o.env, strings.NewReplacer(w.home, o.home, filepath.Join(filepath.Dir(w.home), "tmp"), root).Replace(v))
	}
	o.write(filepath.Join(o.home, "README"), "Ana's\n")
	w.must("git", "clone", "-q", w.repo, o.repo)
	o.must("git", "remote", "set-url", "origin", remote)
	o.env = slices.DeleteFunc(o.env, func(v string) bool { return strings.HasPrefix(v, "SSL_CERT_FILE=") || v == "SVC_EDGE=on" })
	o.goFar(h)
	return o
}
