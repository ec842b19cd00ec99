//go:build unix

package hosttest

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// A gate stands before the service at an address that stays: shut, it refuses
// connections as a service does that is being started anew.
type gate struct {
	t        *testing.T
	addr, to string
	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

func newGate(t *testing.T, url string) *gate {
	t.Helper()
	g := &gate{t: t, addr: "127.0.0.1:0", to: strings.TrimPrefix(url, "http://")}
	g.opens()
	t.Cleanup(g.shuts)
	return g
}

func (g *gate) url() string { return "http://" + g.addr }

func (g *gate) opens() {
	l, err := net.Listen("tcp", g.addr)
	if err != nil {
		g.t.Errorf("the gate does not open: %v", err)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addr, g.listener = l.Addr().String(), l
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", g.to)
			if err != nil {
				from.Close()
				continue
			}
			g.mu.Lock()
			g.open = append(g.open, from, to)
			g.mu.Unlock()
			go pass(from, to)
			go pass(to, from)
		}
	}()
}

func (g *gate) shuts() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener.Close()
	for _, c := range g.open {
		c.Close()
	}
	g.open = nil
}

// pass carries what one side says to the other until one of them ends.
func pass(a, b net.Conn) {
	io.Copy(a, b)
	a.Close()
	b.Close()
}
