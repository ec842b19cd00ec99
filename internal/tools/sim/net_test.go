package sim

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// A network is a listener of the service, while it runs, and lines to it. Its
// connections are pipes in memory: a clock that stands still while anything
// works cannot wait for a real one.
type network struct {
	mu     sync.Mutex
	server *listener
	lines  int
}

// serve has a new service reached from now on.
func (n *network) serve() *listener {
	l := &listener{conns: make(chan net.Conn), gone: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.server = l
	return l
}

func (n *network) reached() *listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.server
}

// down has nobody reach the service.
func (n *network) down() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.server = nil
}

type listener struct {
	conns chan net.Conn
	gone  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.gone:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.gone) })
	return nil
}

func (l *listener) Addr() net.Addr { return address }

var address = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7780}

// end is one end of a connection.
type end struct{ net.Conn }

func (end) LocalAddr() net.Addr  { return address }
func (end) RemoteAddr() net.Addr { return address }

// A line is somebody's way to the service.
type line struct {
	net  *network
	good time.Duration // how long it takes

	mu     sync.Mutex
	delay  time.Duration // how much longer it takes now
	cut    bool
	silent bool
	change chan struct{} // closed when one of them changes
	conns  []net.Conn    // in the order in which they were made
}

// line is a good one. No two take the same time: who comes first is not left to
// the scheduler.
func (n *network) line() *line {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines++
	return &line{net: n, good: time.Millisecond + time.Duration(n.lines)*17*time.Microsecond, change: make(chan struct{})}
}

// set changes what a line is like.
func (l *line) set(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	close(l.change)
	l.change = make(chan struct{})
}

// breakOff ends all connections.
func (l *line) breakOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}

var errUnreachable = &net.OpError{Op: "dial", Net: "tcp", Addr: address, Err: errors.New("connection refused")}

func (l *line) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if !l.pass(ctx) {
		return nil, errUnreachable
	}
	server := l.net.reached()
	if server == nil {
		return nil, errUnreachable
	}
	here, near := net.Pipe()
	far, there := net.Pipe()
	select {
	case server.conns <- end{there}:
	case <-server.gone:
		return nil, errUnreachable
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	l.conns = append(l.conns, near, far)
	l.mu.Unlock()
	go l.carry(near, far, server)
	go l.carry(far, near, server)
	return end{here}, nil
}

// pass waits for as long as the line takes. It reports whether something came
// through.
func (l *line) pass(ctx context.Context) bool {
	for {
		l.mu.Lock()
		delay, cut, silent, change := l.delay, l.cut, l.silent, l.change
		l.mu.Unlock()
		switch {
		case cut:
			return false
		case !silent:
			time.Sleep(l.good + delay)
			return true
		}
		select {
		case <-change:
		case <-ctx.Done():
			return false
		}
	}
}

// carry brings what is sent from one end to the other.
func (l *line) carry(from, to net.Conn, server *listener) {
	defer func() {
		from.Close()
		to.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conns = slices.DeleteFunc(l.conns, func(c net.Conn) bool { return c == from || c == to })
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || !l.pass(context.Background()) || l.net.reached() != server {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
