// Package drill starts built svcd processes, and a PostgreSQL of their own, for
// programs that load them, break them and check what is left. It reaches svcd
// as everybody does, over HTTP.
package drill

import (
	"hash/fnv"
	"strconv"

	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A Server is one svcd.
type Server struct {
	Name string
	Addr string
	args []string
	svcd string
	cmd  *exec.Cmd
	gone chan struct{}
	log  complaints
}

// NewServer returns a svcd that listens on a free port. args say where its
// database is.
func NewServer(svcd, name string, args ...string) (*Server, error) {
	addr, err := FreeAddr()
	return &Server{Name: name, Addr: addr, svcd: svcd, args: args}, err
}

// FreeAddr returns an address of this machine at which nobody listens.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// SteadyAddr returns an address at which nobody listens that is the same each
// time, as far as it can be: Go takes a test's result from its cache only if
// what the test read of its environment is as it was.
func SteadyAddr(seed string) (string, error) {
	h := fnv.New32a()
	h.Write([]byte(seed))
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(20000+int(h.Sum32()%10000))) // below what systems give out themselves
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return FreeAddr()
	}
	return addr, l.Close()
}

// Launch starts the process and does not wait for it to be ready.
func (s *Server) Launch() error {
	s.cmd = exec.Command(s.svcd, append([]string{"serve", "--addr", s.Addr, "--log-level", "error"}, s.args...)...)
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	s.gone = gone
	go func(c *exec.Cmd) { c.Wait(); close(gone) }(s.cmd)
	return nil
}

// Start starts the process and waits until it is ready.
func (s *Server) Start() error {
	if err := s.Launch(); err != nil {
		return err
	}
	return s.AwaitReady(60 * time.Second)
}

// AwaitReady waits until the server is ready to serve.
func (s *Server) AwaitReady(most time.Duration) error {
	quick := &http.Client{Timeout: 2 * time.Second}
	last := "no answer"
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if r, err := quick.Get("http://" + s.Addr + "/readyz"); err == nil {
			text, _ := io.ReadAll(r.Body)
			r.Body.Close()
			if last = fmt.Sprintf("%d %s", r.StatusCode, text); r.StatusCode == http.StatusOK {
				return nil
			}
		}
		if s.Gone() {
			return fmt.Errorf("svcd %s ended by itself", s.Name)
		}
	}
	return fmt.Errorf("svcd %s was not ready within %s: %s", s.Name, most, last)
}

// Ready reports whether the server says that it is ready.
func (s *Server) Ready() bool {
	quick := &http.Client{Timeout: 2 * time.Second}
	r, err := quick.Get("http://" + s.Addr + "/readyz")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// Gone reports whether the process has ended.
func (s *Server) Gone() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// Signal sends a signal to the process.
func (s *Server) Signal(sig syscall.Signal) error { return s.cmd.Process.Signal(sig) }

// Kill ends the process without a warning.
func (s *Server) Kill() {
	if s.cmd != nil && !s.Gone() {
		s.cmd.Process.Kill()
		<-s.gone
	}
}

// Complaints are the errors that the server has logged and that are ours to
// mend: that a database does not serve is none.
func (s *Server) Complaints() []string { return s.log.lines() }

// complaints keep the lines of a log that say what is wrong with svcd itself.
type complaints struct {
	mu   sync.Mutex
	rest []byte
	kept []string
}

func (c *complaints) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = append(c.rest, b...)
	for {
		line, rest, ok := bytes.Cut(c.rest, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		c.rest = rest
		if len(c.kept) < 50 && !bytes.Contains(line, []byte("cannot serve this right now")) {
			c.kept = append(c.kept, string(line))
		}
	}
}

func (c *complaints) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.kept...)
}

// A Client calls one svcd as one person.
type Client struct {
	HTTP    *http.Client
	Token   string
	Session string // of the agent it acts as, if any
}

// NewClient returns a Client that gives up after a time.
func NewClient(token string, most time.Duration) *Client {
	return &Client{Token: token, HTTP: &http.Client{Timeout: most, Transport: &http.Transport{MaxIdleConnsPerHost: 64,
		IdleConnTimeout: time.Minute, // before the server does: what is sent meanwhile is lost
		DialContext:     (&net.Dialer{Timeout: most}).DialContext}}}
}

// An Answered is a refusal: it surely did nothing.
type Answered struct {
	Status     int
	RetryAfter string
	Body       string
}

func (a Answered) Error() string { return fmt.Sprintf("%d %.300s", a.Status, a.Body) }

// Call sends in to a server and reads its answer into out.
func (c *Client) Call(ctx context.Context, at *Server, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+at.Addr+path, &body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if c.Session != "" {
		req.Header.Set("X-Svc-Session", c.Session)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return Answered{res.StatusCode, res.Header.Get("Retry-After"), string(text)}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// All reads a whole list, by its cursors.
func All[T any](ctx context.Context, c *Client, at *Server, path string) (out []T, err error) {
	return Pages[T](ctx, c, at, path, "cursor")
}

// Pages reads a whole list whose pages are asked for by a parameter.
func Pages[T any](ctx context.Context, c *Client, at *Server, path, parameter string) (out []T, err error) {
	for cursor := ""; ; {
		var page struct {
			Items      []T
			NextCursor *string `json:"next_cursor"`
		}
		if err := c.Call(ctx, at, "GET", path+cursor, nil, &page); err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if page.NextCursor == nil {
			return out, nil
		}
		cursor = "&" + parameter + "=" + *page.NextCursor
	}
}

// Said reads what was said in the channels that a client sees.
func Said(ctx context.Context, c *Client, at *Server) (out []string, err error) {
	rooms, err := All[struct{ ID, Kind string }](ctx, c, at, "/v1/conversations?limit=100")
	for _, r := range rooms {
		if err != nil || r.Kind != "channel" {
			continue
		}
		var said []struct{ Body string }
		said, err = Pages[struct{ Body string }](ctx, c, at, "/v1/conversations/"+r.ID+"/messages?limit=100", "before")
		for _, m := range said {
			out = append(out, m.Body)
		}
	}
	return out, err
}

// Args say where the server's database is.
func (s *Server) Args() []string { return s.args }
