// Command chaos kills svcd with -9 while agents write, again and again, and
// then checks against its own model that nothing acknowledged is lost, nothing
// happened twice, and the event log has no gap and no disorder. It needs a
// built svcd and leaves nothing behind.
//
// The mix: each agent declares intents (three of four writes) and sends
// messages (the fourth), one after the other, each with a name of its own.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

func main() {
	svcd := flag.String("svcd", "bin/svcd", "the program to kill")
	kills := flag.Int("kills", 100, "how often")
	agents := flag.Int("agents", 8, "how many write at once")
	control := flag.Bool("control", false, "forget one acknowledged write behind the service's back: the check must fail")
	flag.Parse()
	if err := run(*svcd, *kills, *agents, *control); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(svcd string, kills, agents int, control bool) error {
	dir, err := os.MkdirTemp("", "svc-chaos")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	port, err := freePort()
	if err != nil {
		return err
	}
	c := &chaos{svcd: svcd, data: filepath.Join(dir, "data"), addr: "127.0.0.1:" + port, http: &http.Client{Timeout: 5 * time.Second}}
	if err := c.bootstrap(); err != nil {
		return err
	}
	if err := c.start(); err != nil {
		return err
	}
	defer func() { c.server.Process.Kill(); c.server.Wait() }()
	if err := c.call("POST", "/v1/repos", map[string]any{"full_name": "acme/api", "provider": "github"}, nil); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for i := range agents {
		work.Go(func() { c.agent(ctx, i) })
	}
	for range kills {
		time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
		if err := c.restart(); err != nil {
			stop()
			return err
		}
	}
	stop()
	work.Wait()
	if control {
		c.model[0].name += " that was never sent"
	}
	return c.check(kills)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// chaos is a service that is killed, and what it acknowledged.
type chaos struct {
	svcd, data, addr, token, email string
	server                         *exec.Cmd
	http                           *http.Client

	mu    sync.Mutex
	model []write
	lost  int // requests that were never answered: they may have happened or not
}

// A write is something that was acknowledged.
type write struct{ kind, name string }

func (c *chaos) bootstrap() error {
	c.email = "chaos@example.com"
	out, err := exec.Command(c.svcd, "bootstrap", "--org", "Acme", "--email", c.email, "--json", "--data", c.data).Output()
	if err != nil {
		return fmt.Errorf("svcd bootstrap: %w (make build first)", err)
	}
	var made struct{ Token string }
	err = json.Unmarshal(out, &made)
	c.token = made.Token
	return err
}

func (c *chaos) start() error {
	c.server = exec.Command(c.svcd, "serve", "--addr", c.addr, "--data", c.data, "--log-level", "error")
	c.server.Stderr = os.Stderr
	if err := c.server.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if r, err := c.http.Get("http://" + c.addr + "/readyz"); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return errors.New("svcd did not come up within 30 seconds")
}

// restart kills the service without a warning and starts it again.
func (c *chaos) restart() error {
	if err := c.server.Process.Kill(); err != nil {
		return err
	}
	c.server.Wait() // which says that it was killed
	return c.start()
}

// agent writes until it is stopped, and notes what was acknowledged.
func (c *chaos) agent(ctx context.Context, who int) {
	for n := 0; ctx.Err() == nil; n++ {
		w := write{"intent", fmt.Sprintf("task %d of agent %d", n, who)}
		path, body := "/v1/intents", map[string]any{"title": w.name, "repo": "acme/api", "branch": fmt.Sprintf("a%d-%d", who, n),
			"scope": map[string]any{"paths": []string{fmt.Sprintf("src/a%d/f%d.go", who, n)}}}
		if n%4 == 3 {
			w.kind, path, body = "message", "/v1/messages", map[string]any{"to": "channel:acme/api", "body": w.name}
		}
		err := c.call("POST", path, body, nil)
		c.mu.Lock()
		switch {
		case err == nil:
			c.model = append(c.model, w)
		case errors.As(err, new(answered)): // refused: too many messages, or not ready yet
		default:
			c.lost++
		}
		c.mu.Unlock()
		if err != nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// answered is a refusal: it surely did nothing.
type answered struct {
	status int
	body   string
}

func (a answered) Error() string { return fmt.Sprintf("%d %.300s", a.status, a.body) }

func (c *chaos) call(method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	req, err := http.NewRequest(method, "http://"+c.addr+path, &body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return answered{res.StatusCode, string(text)}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// pages reads a whole list.
func pages[T any](c *chaos, path string) (out []T, err error) {
	for cursor := ""; ; {
		var page struct {
			Items      []T
			NextCursor *string `json:"next_cursor"`
		}
		if err := c.call("GET", path+cursor, nil, &page); err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if page.NextCursor == nil {
			return out, nil
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// A message is what the check needs of one.
type message struct{ Body string }

// messages reads what was said in the repository's channel.
func (c *chaos) messages() (out []message, err error) {
	rooms, err := pages[struct{ ID, Kind string }](c, "/v1/conversations?limit=100")
	for _, r := range rooms {
		if err == nil && r.Kind == "channel" {
			var said []message
			said, err = pages[message](c, "/v1/conversations/"+r.ID+"/messages?limit=100")
			out = append(out, said...)
		}
	}
	return out, err
}

// check compares what the service has with what it acknowledged.
func (c *chaos) check(kills int) error {
	intents, err := pages[struct{ Title, ID string }](c, "/v1/intents?limit=100")
	if err != nil {
		return err
	}
	events, err := pages[struct {
		ID, Type string
		Subject  struct{ ID string }
	}](c, "/v1/events?limit=100")
	if err != nil {
		return err
	}
	messages, err := c.messages()
	if err != nil {
		return err
	}
	seen := map[write]int{}
	declared := map[string]int{}
	for _, i := range intents {
		seen[write{"intent", i.Title}]++
	}
	for _, m := range messages {
		seen[write{"message", m.Body}]++
	}
	var wrong []error
	for i, e := range events { // newest first
		if id, err := strconv.Atoi(e.ID); err != nil || id != len(events)-i {
			wrong = append(wrong, fmt.Errorf("event %s stands where %d should", e.ID, len(events)-i))
			break
		}
		if e.Type == "intent.declared" {
			declared[e.Subject.ID]++
		}
	}
	for _, i := range intents {
		if declared[i.ID] != 1 {
			wrong = append(wrong, fmt.Errorf("%q was declared by %d events", i.Title, declared[i.ID]))
		}
	}
	if len(declared) != len(intents) {
		wrong = append(wrong, fmt.Errorf("%d intents, but events of %d", len(intents), len(declared)))
	}
	kinds := map[string]int{}
	for _, w := range c.model {
		kinds[w.kind]++
		if seen[w] == 0 {
			wrong = append(wrong, fmt.Errorf("%s %q was acknowledged and is lost", w.kind, w.name))
		}
	}
	for w, n := range seen {
		if n > 1 {
			wrong = append(wrong, fmt.Errorf("%s %q is there %d times", w.kind, w.name, n))
		}
	}
	fmt.Printf("%d kills: %d intents and %d messages acknowledged, %d requests without an answer, %d events without a gap: %d things wrong\n",
		kills, kinds["intent"], kinds["message"], c.lost, len(events), len(wrong))
	return errors.Join(wrong...)
}
