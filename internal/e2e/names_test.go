//go:build linux

package e2e

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/badline"
)

// A nameServer answers for the names of a test.
type nameServer struct {
	addr  string
	ip    atomic.Value // [4]byte, of every name under .example
	state atomic.Int32
}

const (
	namesKnown int32 = iota
	namesUnknown
	namesLate  // an answer comes, long after anybody waits for it
	namesNever // and none
)

func newNameServer(t *testing.T) *nameServer {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &nameServer{addr: conn.LocalAddr().String()}
	s.lead(127, 0, 0, 1)
	go func() {
		for {
			buf := make([]byte, 1500)
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			state := s.state.Load()
			if answer, ok := s.answer(buf[:n], state); ok && state != namesNever {
				wait := time.Duration(0)
				if state == namesLate {
					wait = 20 * time.Second
				}
				time.AfterFunc(wait, func() { _, _ = conn.WriteTo(answer, from) })
			}
		}
	}()
	return s
}

func (s *nameServer) lead(a, b, c, d byte) { s.ip.Store([4]byte{a, b, c, d}) }

// answer is what the server says to a question.
func (s *nameServer) answer(question []byte, state int32) ([]byte, bool) {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil, false
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	known := q.Name.String() == badline.Name+"." && state != namesUnknown
	switch {
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
			Body: &dnsmessage.AResource{A: s.ip.Load().([4]byte)}}}
	}
	out, err := m.Pack()
	return out, err == nil
}

// namesVariable tells the programs of a test whom to ask for names.
const namesVariable = "SVC_TEST_NAMES"

// askNames has a program of a test ask for names where the test says.
func askNames() {
	if at := os.Getenv(namesVariable); at != "" {
		net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", at)
		}}
	}
}

// A server that is known by a name: where the name is not found, is found late
// or never, a claimed file is refused by the lease or the agent hears that nobody
// checks, and no hook hangs; when the name leads elsewhere, the server is asked
// there. So it is with the process that stays on the laptop, and without it.
func TestALaptopThatAsksForNames(t *testing.T) {
	for _, edge := range []string{"on", "off"} {
		t.Run("edge "+edge, func(t *testing.T) {
			team := newServer(t, t.TempDir())
			front, err := badline.NewFront(team.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = front.Close() })
			line, err := badline.New(front.Addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(line.Close)
			names := newNameServer(t)
			bob := farOn(newLaptopOf(t, ownProgram(t)), team, front, line, inNames,
				[]string{namesVariable + "=" + names.addr, "SVC_EDGE=" + edge, "SVC_PATIENCE=5"})
			bob.claimed()
			say := func(state int32) func() {
				return func() { names.state.Store(state); bob.line.Cut() }
			}
			bob.troubles([]trouble{
				{"a name that is not known", say(namesUnknown), say(namesKnown)},
				{"a name that comes late", say(namesLate), say(namesKnown)},
				{"a name that never comes", say(namesNever), say(namesKnown)},
			})
			_, port, _ := net.SplitHostPort(line.Addr)
			moved, err := badline.NewAt("127.0.0.2:"+port, front.Addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(moved.Close)
			bob.troubles([]trouble{{"a name that leads to a new address, where the old one is dead",
				func() { bob.line.Close() }, func() { names.lead(127, 0, 0, 2) }}})
		})
	}
}

// inNames is an address by name.
func inNames(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return badline.Name + ":" + port
}

// ownProgram finds the programs that this test plays itself.
func ownProgram(t *testing.T) func(name string) string {
	return func(name string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// A server that moved for good: the person logs in at its new address, and their
// clones are checked there. Until then the agent hears that nobody checks.
func TestALoginWhereTheServerMovedTo(t *testing.T) {
	for _, edge := range []string{"on", "off"} {
		t.Run("edge "+edge, func(t *testing.T) {
			bob := newFar(t, newServer(t, t.TempDir()))
			bob.env = append(bob.env, "SVC_EDGE="+edge, "SVC_PATIENCE=20")
			bob.claimed()
			moved, err := badline.New(bob.front)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(moved.Close)
			bob.troubles([]trouble{{"a server that moved", bob.line.Close, func() {
				bob.run(bob.team.token("bob@example.com"), "svc", "login", "--server", "https://"+moved.Addr, "--token", "-")
				if out := bob.edit("PreToolUse", "a.txt"); !strings.Contains(out, `"deny"`) && !strings.Contains(out, "svc could not check this edit") {
					t.Errorf("the first edit after the login is answered %q", out)
				}
			}}})
			bob.write("b.txt", "b\n")
			bob.edit("PostToolUse", "b.txt")
			await.True(t, "recorded where the server is now", func() bool {
				bob.hook("far", "Stop", "")
				return strings.Contains(bob.run("", "svc", "intents", "--json"), `"b.txt"`)
			})
		})
	}
}
