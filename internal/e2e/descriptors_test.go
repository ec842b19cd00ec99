//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/store/storetest"
	"github.com/svc-hq/svc/internal/tools/drill"
)

// Where the system lets svcd have few files, it takes as many as it may, and
// streams leave room for whoever asks before an edit: however many are asked for,
// and with connections that nobody ends.
func TestStreamsLeaveRoomForDecisions(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		const people, each, most, first = 40, 5, 200, 64 // which is too few for as many streams
		tokens, err := drill.People(t.Context(), dsn, people)
		if err != nil {
			t.Fatal(err)
		}
		addr := freeAddr(t)
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && ulimit -Sn %d && exec svcd "$@"`, most, first), "svcd",
			"serve", "--addr", addr, "--data", t.TempDir(), "--database", dsn, "--metrics-addr", "off",
			"--secret-key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
		log := &buffer{}
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		at := &drill.Server{Name: "svcd", Addr: addr}
		await.True(t, "the service to start", func() bool { return at.Ready() })
		open, refused := 0, 0
		for i := range people * each {
			ctx, end := context.WithCancel(t.Context())
			t.Cleanup(end)
			req, err := http.NewRequestWithContext(ctx, "GET", "http://"+addr+"/v1/stream", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+tokens[i/each])
			res, err := (&http.Client{Transport: &http.Transport{}}).Do(req) // a connection of its own, which it keeps
			if err != nil {
				t.Fatalf("stream %d: %v\n%s", i, err, log.String())
			}
			if res.StatusCode == http.StatusOK {
				open++
				t.Cleanup(func() { res.Body.Close() })
				continue
			}
			text, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
				t.Fatalf("stream %d = %s: %s", i, res.Status, text)
			}
			refused++
		}
		if open < 40 || refused == 0 {
			t.Errorf("%d streams are open and %d were refused", open, refused)
		}
		for i, token := range tokens { // each from a machine of its own
			body := fmt.Sprintf(`{"event":"pre_edit","session":{"tool":"codex","external_id":"s%d"},"paths":["a.go"],
				"repo":{"remote_fingerprints":["github.com/acme/api"],"branch":"work"}}`, i)
			req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+addr+"/v1/hooks/evaluate", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			res, err := (&http.Client{Transport: &http.Transport{}, Timeout: await.Patience}).Do(req)
			if err != nil {
				t.Fatalf("decision %d: %v\n%s", i, err, log.String())
			}
			var reply struct{ Decision string }
			err = json.NewDecoder(res.Body).Decode(&reply)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK || reply.Decision != "allow" {
				t.Fatalf("decision %d = %s %+v %v", i, res.Status, reply, err)
			}
		}
		if strings.Contains(log.String(), "too many open files") {
			t.Errorf("it ran out of files:\n%s", log.String())
		}
	})
}
