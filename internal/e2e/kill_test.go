package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A process is a real svcd.
type process struct {
	cmd *exec.Cmd
	url string
}

func runServer(t testing.TB, bin, data, dsn string) *process {
	t.Helper()
	return runServerAt(t, "127.0.0.1:0", bin, data, dsn)
}

func runServerAt(t testing.TB, addr, bin, data, dsn string, more ...string) *process {
	t.Helper()
	cmd := exec.Command(bin, append([]string{"serve", "--addr", addr, "--data", data, "--database", dsn, "--outbound-allow", "127.0.0.1"},
		more...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			p.url = strings.TrimSpace(url)
			go io.Copy(io.Discard, out)
			return p
		}
	}
	t.Fatal("svcd ended before it listened")
	return nil
}

// kill ends the process as a power cut would: it gets no chance to tidy up.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// post sends a request that must succeed: its effect is committed then.
func (p *process) post(t *testing.T, token, path string, body, out any) {
	t.Helper()
	text, _ := json.Marshal(body)
	req, err := http.NewRequest(http.MethodPost, p.url+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	reply, _ := io.ReadAll(res.Body)
	if res.StatusCode >= 300 {
		t.Fatalf("POST %s: %s: %s", path, res.Status, reply)
	}
	if err := json.Unmarshal(reply, out); err != nil {
		t.Fatal(err)
	}
}

// An inbox verifies what it gets with the official library, and takes nothing
// while it is shut.
type inbox struct {
	open   atomic.Bool
	mu     sync.Mutex
	secret string
	got    map[string]string // event's subject by webhook-id
}

func (i *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if !i.open.Load() {
		<-r.Context().Done() // the delivery is under way when the server dies
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	var e coord.Event
	wh, err := standardwebhooks.NewWebhook(i.secret)
	if err == nil {
		err = wh.Verify(body, r.Header)
	}
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	i.got[r.Header.Get("webhook-id")] = e.Subject.ID
}

func (i *inbox) subjects() map[string]int {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := map[string]int{}
	for _, s := range i.got {
		out[s]++
	}
	return out
}

// What was committed is delivered although the server was killed with -9
// before it could be, at whatever point of the way.
func TestNothingIsLostWhenTheServerIsKilled(t *testing.T) {
	bin := program(t, "svcd")
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		data := t.TempDir()
		p := runServer(t, bin, data, dsn)
		out, err := exec.Command(bin, "bootstrap", "--org", "Acme", "--email", "ana@example.com", "--json", "--data", data, "--database",
			dsn).Output()
		if err != nil {
			t.Fatal(err)
		}
		var made struct{ Token string }
		if err := json.Unmarshal(out, &made); err != nil {
			t.Fatal(err)
		}
		box := &inbox{got: map[string]string{}}
		srv := httptest.NewServer(box)
		t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
		var hook struct{ Secret string }
		p.post(t, made.Token, "/v1/webhooks", map[string]any{"url": srv.URL, "event_types": []string{"project.created"}}, &hook)
		box.secret = hook.Secret
		want := map[string]int{}
		for round := range 4 {
			for n := range 5 {
				var project struct{ ID string }
				p.post(t, made.Token, "/v1/projects", map[string]any{"name": fmt.Sprintf("%d-%d", round, n)}, &project)
				want[project.ID] = 1
			}
			// Each round dies at another point: before the log is handed on,
			// while deliveries are written, while they are under way.
			time.Sleep(time.Duration(round*round) * 5 * time.Millisecond)
			p.kill()
			p = runServer(t, bin, data, dsn)
		}
		box.open.Store(true)
		deadline := time.Now().Add(await.Patience)
		for len(box.subjects()) < len(want) {
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d events arrived", len(box.subjects()), len(want))
			}
			time.Sleep(20 * time.Millisecond)
		}
		for id, n := range box.subjects() {
			if n != 1 || want[id] != 1 {
				t.Errorf("the event about %s has %d message ids, want 1 of ours", id, n)
			}
		}
	})
}
