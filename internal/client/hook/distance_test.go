package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/badline"
)

// BenchmarkDirectDistance counts how many of eight edits of a file that somebody
// else holds are refused by a hook that asks the server itself, over TLS, at each
// distance. Three round trips have to fit into 400 ms: beyond 130 ms none is, and
// that is what the edge is for. Whatever is not refused must say that nobody
// checked it.
func BenchmarkDirectDistance(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "hookproc")
	if text, err := exec.Command("go", "build", "-o", program, "./testdata/hookproc").CombinedOutput(); err != nil {
		b.Fatalf("build hookproc: %v\n%s", err, text)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"decision":"block","reason":"Ann is editing it"}`)
	}))
	b.Cleanup(server.Close)
	front, err := badline.NewFront(server.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = front.Close() })
	line, err := badline.New(front.Addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(line.Close)
	roots := filepath.Join(dir, "roots.pem")
	if err := os.WriteFile(roots, front.Authority, 0o600); err != nil {
		b.Fatal(err)
	}
	repo := newRepo(b, filepath.Join(dir, "app"))
	ask := func(n int) string {
		payload, err := json.Marshal(write(repo, filepath.Join(repo, "a.txt"), fmt.Sprint(n)))
		if err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command(program, "--tool", "claude_code", "--event", "PreToolUse")
		cmd.Dir, cmd.Stdin = repo, bytes.NewReader(payload)
		cmd.Env = append(os.Environ(), "SVC_SERVER=https://"+line.Addr, "SVC_TOKEN=svc_"+strings.Repeat("A", 43), "HOME="+dir,
			"SVC_CONFIG_DIR="+filepath.Join(dir, "config"), "TMPDIR="+dir, "SSL_CERT_FILE="+roots)
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		return string(out)
	}
	ask(0) // remembers the authority
	calls := 0
	measure := func(ms int) {
		line.Set(badline.Away(time.Duration(ms) * time.Millisecond))
		refused := 0
		for range 8 {
			calls++
			out := ask(calls)
			if strings.Contains(out, `"deny"`) {
				refused++
			} else if !strings.Contains(out, "svc could not check this edit") {
				b.Errorf("at %d ms an edit went on, and nobody was told: %q", ms, out)
			}
		}
		b.ReportMetric(float64(refused), fmt.Sprintf("refused-of-8-at-%dms", ms))
	}
	for b.Loop() {
		for _, ms := range []int{0, 80, 100, 120, 150, 200} {
			measure(ms)
		}
	}
}
