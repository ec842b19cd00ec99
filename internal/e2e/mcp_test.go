package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A bridge is svc mcp as a host runs it.
type bridge struct {
	cmd    *exec.Cmd
	stderr *buffer
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newBridge(t *testing.T, env ...string) *bridge {
	t.Helper()
	dir := t.TempDir()
	b := &bridge{exec.Command("svc", "mcp"), &buffer{}}
	b.cmd.Env = append(b.cmd.Environ(), append([]string{"SVC_TOKEN=", "SVC_CONFIG_DIR=" + dir, "HOME=" + dir}, env...)...)
	b.cmd.Stderr = b.stderr
	return b
}

// connect joins the official client to a bridge.
func (b *bridge) connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: b.cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.stderr)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func textOf(t *testing.T, res *mcp.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*mcp.TextContent).Text
}

func TestAHostTalksThroughTheBridge(t *testing.T) {
	s := newServer(t, t.TempDir())
	b := newBridge(t, "SVC_SERVER="+s.URL, "SVC_TOKEN="+s.token("olga@example.com"))
	session := b.connect(t)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) < 19 || list.Tools[0].Name != "team_context" {
		t.Fatalf("%d tools, %q first", len(list.Tools), list.Tools[0].Name)
	}
	call := func(tool string, in any) string {
		t.Helper()
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in})
		return textOf(t, res, err)
	}
	if got := call("who_is_online", nil); !strings.Contains(got, "No teammate") {
		t.Errorf("who_is_online: %s", got)
	}
	if got := call("intent_adopt", map[string]any{"ref": "INT-9"}); !strings.Contains(got, "failed") {
		t.Errorf("a failure: %s", got)
	}

	// A cancelled call ends on the server.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "inbox", Arguments: map[string]any{"wait_seconds": 50}})
		done <- err
	}()
	await.True(t, "the wait to be open", func() bool { return s.d.Ops.Moments.OpenWaits() == 1 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call: %v", err)
	}
	await.True(t, "the wait to end", func() bool { return s.d.Ops.Moments.OpenWaits() == 0 })

	// A restart of the server is not felt.
	s.stop()
	s.start()
	if got := call("channels", nil); !strings.Contains(got, "channel:team") {
		t.Errorf("after the restart: %s", got)
	}
}

// Hosts of either protocol get JSON and event streams alike, and nothing but
// messages on standard output.
func TestTheBridgeSpeaksPlainJSONRPC(t *testing.T) {
	s := newServer(t, t.TempDir())
	token := s.token("olga@example.com")
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	b := newBridge(t, "SVC_SERVER="+s.URL, "SVC_TOKEN="+token, "SVC_DEBUG=1")
	in, lines := b.pipe(t)
	for _, tt := range []struct{ send, want string }{
		{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
				`"clientInfo":{"name":"h","version":"1"}}}`,
			`"instructions":"svc coordinates`,
		},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"channels"}}`, `"structuredContent"`},
		{`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{` + meta + `}}`, `"2026-07-28"`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"channels",` + meta + `}}`, `"resultType":"complete"`},
		{`{"jsonrpc":"2.0","id":6,"method":"no/such"}`, `-32601`},
		{
			`{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`,
			`"method":"notifications/subscriptions/acknowledged"`,
		},
	} {
		fmt.Fprintln(in, tt.send)
		line := <-lines
		if !json.Valid([]byte(line)) || !strings.Contains(line, tt.want) {
			t.Errorf("%s\nanswered %.600s\nwant %s", tt.send, line, tt.want)
		}
	}
	if log := b.stderr.String(); strings.Contains(log, token) || !strings.Contains(log, "tools/call") {
		t.Errorf("the log has the token or not the messages: %.300s", log)
	}
}

func TestTheBridgeWithoutALogin(t *testing.T) {
	s := newServer(t, t.TempDir())
	in, lines := newBridge(t, "SVC_SERVER="+s.URL).pipe(t)
	for id := range 2 { // it keeps running
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{}}`+"\n", id)
		if line := <-lines; !strings.Contains(line, "svc login") || !strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) {
			t.Errorf("answered %s", line)
		}
	}
}

// pipe runs a bridge and returns its input and the lines of its output.
func (b *bridge) pipe(t *testing.T) (io.Writer, <-chan string) {
	t.Helper()
	in, err := b.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	b.cmd.Stdout = w
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		b.cmd.Process.Kill()
		r.Close()
		b.cmd.Wait()
	})
	lines := make(chan string)
	go func() {
		d := json.NewDecoder(r)
		for {
			var m json.RawMessage
			if d.Decode(&m) != nil {
				return
			}
			lines <- string(m)
		}
	}()
	return in, lines
}

// Calls go to whichever replica is there: none knows of sessions, so none is
// missed when it is killed.
func TestCallsSpreadOverReplicas(t *testing.T) {
	dsn := storetest.Postgres(t)
	total := 10_000
	if testing.Short() {
		total = 1000
	}
	var urls []string
	var procs []*exec.Cmd
	var token string
	for i := range 3 {
		addr, dir := freeAddr(t), t.TempDir()
		cmd := exec.Command("svcd", "serve", "--addr", addr, "--data", dir, "--database", dsn, "--secret-key",
			"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
		if i == 0 {
			cmd.Args = append(cmd.Args, "--owner", "olga@example.com")
		}
		log := &buffer{}
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		url := "http://" + addr
		await.True(t, "the replica to start", func() bool {
			res, err := http.Get(url + "/readyz")
			if err == nil {
				res.Body.Close()
			}
			return err == nil && res.StatusCode == 200
		})
		if i == 0 {
			await.True(t, "the replica to start", func() bool { token = read(filepath.Join(dir, "owner-token")); return token != "" })
		}
		urls, procs = append(urls, url), append(procs, cmd)
	}
	var done, refused, next atomic.Int64
	var killed atomic.Bool
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	for range 8 {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(total); n = next.Add(1) {
				if n == int64(total)/2 {
					killed.Store(true)
					procs[1].Process.Kill()
				}
				for k := n; ; k++ { // a replica that is gone: the next one
					err := callOnce(client, urls[k%3], token, n)
					if err == nil {
						done.Add(1)
						break
					}
					if k%3 != 1 || !killed.Load() {
						t.Errorf("call %d at replica %d: %v", n, k%3, err)
						break
					}
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if done.Load() != int64(total) || refused.Load() == 0 {
		t.Errorf("%d of %d calls were answered; %d found the killed replica", done.Load(), total, refused.Load())
	}
}

func callOnce(client *http.Client, url, token string, n int64) error {
	req, err := http.NewRequest(http.MethodPost, url+"/mcp",
		strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"who_is_online"}}`, n)))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Session-Id", "of-another-replica")
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.Header.Get("Mcp-Session-Id") != "":
		return errors.New("a session id")
	case res.StatusCode != 200 || !strings.Contains(string(body), fmt.Sprintf(`"id":%d,`, n)) || strings.Contains(string(body), "isError"):
		return fmt.Errorf("%s: %s", res.Status, body)
	}
	return nil
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// read returns the text of a file, "" while there is none.
func read(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}
