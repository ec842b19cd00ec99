// Package badline puts a bad line between two programs: far away, narrow,
// lossy, silent or cut. Tests and benchmarks see with it what a server on
// another continent does to those who ask it.
package badline

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Quality says what a line is like. The zero value is a good one.
type Quality struct {
	There time.Duration // how long what the client sends is on its way
	Back  time.Duration // the same for what the server sends
	Loss  float64       // the share of packets that are lost, and sent again
	Rate  int           // bytes a second, each way; 0 for no limit
}

// Away is a line with a round trip of so long.
func Away(trip time.Duration) Quality { return Quality{There: trip / 2, Back: trip - trip/2} }

const (
	packet  = 1460                   // bytes
	resend  = 200 * time.Millisecond // by which TCP waits longer than a round trip before it sends a packet again
	backlog = 256                    // pieces that are on their way in one direction
)

// A Line passes connections on to an address.
type Line struct {
	Addr string // where it listens, on this machine
	l    net.Listener

	counts atomic.Bool

	mu      sync.Mutex
	to      string
	quality Quality
	silent  bool
	change  *sync.Cond
	conns   map[net.Conn]bool
	ways    []Way
}

// New returns a good line to an address.
func New(to string) (*Line, error) { return NewAt("127.0.0.1:0", to) }

// NewAt is New for a line that begins at an address of this machine.
func NewAt(at, to string) (*Line, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	p := &Line{Addr: l.Addr().String(), to: to, l: l, conns: map[net.Conn]bool{}}
	p.change = sync.NewCond(&p.mu)
	go p.serve()
	return p, nil
}

func (p *Line) serve() {
	for {
		in, err := p.l.Accept()
		if err != nil {
			return
		}
		go p.pass(in)
	}
}

func (p *Line) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", p.end())
	if err != nil {
		return
	}
	defer out.Close()
	p.mu.Lock()
	p.conns[in], p.conns[out] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, in)
		delete(p.conns, out)
	}()
	var both sync.WaitGroup
	both.Go(func() { p.copy(out, in, func(q Quality) time.Duration { return q.There }, true) })
	both.Go(func() { p.copy(in, out, func(q Quality) time.Duration { return q.Back }, false) })
	both.Wait()
}

// A piece is on its way until it is due. One without data is the end.
type piece struct {
	data []byte
	due  time.Time
}

// copy carries what comes from one end to the other. The system accepts a
// connection before we hear of it, so the round trip by which a connection
// begins is made up for with the first piece that the client sends.
func (p *Line) copy(to, from net.Conn, delay func(Quality) time.Duration, opens bool) {
	pieces := make(chan piece, backlog)
	gone := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(gone)
		p.deliver(to, from, pieces)
	})
	defer wait.Wait()
	defer close(pieces)
	heard := func([]byte) {}
	if opens && p.counts.Load() {
		heard = (&counter{line: p, named: map[string]string{}}).read
	}
	var free, last time.Time // when the line can take more, and when the piece before is due
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		q, now := p.look(), time.Now()
		due := now
		if q.Rate > 0 {
			if free.Before(now) {
				free = now
			}
			free = free.Add(time.Duration(n) * time.Second / time.Duration(q.Rate))
			due = free
		}
		due = due.Add(delay(q))
		if opens {
			due, opens = due.Add(q.There+q.Back), false
		}
		for range (n + packet - 1) / packet {
			if q.Loss > 0 && rand.Float64() < q.Loss {
				due = due.Add(q.There + q.Back + resend)
			}
		}
		if due.Before(last) { // TCP keeps the order
			due = last
		}
		last = due
		next := piece{due: due}
		if n > 0 {
			heard(buf[:n])
			next.data = append([]byte(nil), buf[:n]...)
		}
		select {
		case pieces <- next:
		case <-gone:
			return
		}
		if err != nil {
			return
		}
	}
}

// deliver writes each piece when it is due.
func (p *Line) deliver(to, from net.Conn, pieces <-chan piece) {
	for next := range pieces {
		time.Sleep(time.Until(next.due))
		p.speak()
		if _, err := to.Write(next.data); err != nil {
			from.Close()
			return
		}
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

func (p *Line) look() Quality {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.quality
}

// end is where the line leads now.
func (p *Line) end() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.to
}

// speak waits while the line is silent.
func (p *Line) speak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.silent {
		p.change.Wait()
	}
}

// Set makes the line what q says, for all that is sent from now on.
func (p *Line) Set(q Quality) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quality = q
}

// Delay makes everything that passes take so much longer, each way.
func (p *Line) Delay(d time.Duration) { p.Set(Quality{There: d, Back: d}) }

// Silence keeps everything back until it is lifted. Nobody is told.
func (p *Line) Silence(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = on
	p.change.Broadcast()
}

// Lead makes the line end somewhere else, as in another network, and cuts what
// is open.
func (p *Line) Lead(to string) {
	p.mu.Lock()
	p.to = to
	p.mu.Unlock()
	p.Cut()
}

// Cut closes every connection.
func (p *Line) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// Close ends the line.
func (p *Line) Close() {
	p.l.Close()
	p.Silence(false)
	p.Cut()
}
