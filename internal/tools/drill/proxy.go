package drill

import (
	"io"
	"net"
	"sync"
	"time"
)

// A Proxy passes connections on, and can be made a bad line: slow, cut or
// silent.
type Proxy struct {
	Addr string
	to   string
	l    net.Listener

	mu     sync.Mutex
	delay  time.Duration
	silent bool
	change *sync.Cond
	conns  map[net.Conn]bool
}

// NewProxy returns a proxy to an address.
func NewProxy(to string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{Addr: l.Addr().String(), to: to, l: l, conns: map[net.Conn]bool{}}
	p.change = sync.NewCond(&p.mu)
	go p.serve()
	return p, nil
}

func (p *Proxy) serve() {
	for {
		in, err := p.l.Accept()
		if err != nil {
			return
		}
		go p.pass(in)
	}
}

func (p *Proxy) pass(in net.Conn) {
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		in.Close()
		return
	}
	p.mu.Lock()
	p.conns[in], p.conns[out] = true, true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.copy(out, in) })
	both.Go(func() { p.copy(in, out) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, in)
	delete(p.conns, out)
	p.mu.Unlock()
}

func (p *Proxy) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.wait()
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err == io.EOF || err != nil {
			return
		}
	}
}

// wait waits as long as the line makes what it carries wait.
func (p *Proxy) wait() {
	p.mu.Lock()
	for p.silent {
		p.change.Wait()
	}
	d := p.delay
	p.mu.Unlock()
	if d > 0 {
		time.Sleep(d)
	}
}

// Delay makes everything that passes take so much longer, each way.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Silence keeps everything back until it is lifted: nobody is told.
func (p *Proxy) Silence(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = on
	p.change.Broadcast()
}

// Cut closes every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// Close ends the proxy.
func (p *Proxy) Close() {
	p.l.Close()
	p.Silence(false)
	p.Cut()
}
