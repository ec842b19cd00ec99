package hook

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/hook/spool"
)

// A person is told once that nobody checks their agent, and svc can say how
// often that was.
func TestAnOutageIsShownOnce(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	ask := func(id string) string {
		return w.run("claude_code", "PreToolUse", write(repo, filepath.Join(repo, "a.txt"), id)).stdout
	}
	w.status = http.StatusBadGateway
	shown := 0
	for i := range 4 {
		if out := ask(fmt.Sprint(i)); strings.Contains(out, `"systemMessage"`) {
			shown++
		} else if out != "" {
			t.Errorf("said %s", out)
		}
	}
	if count, last := spool.Missed(w.temp, w.server.URL); shown != 1 || count != 4 || last.IsZero() {
		t.Errorf("shown %d times, %d events missed, the last at %v", shown, count, last)
	}
}

// A command that has just reached the server ends the pause of the hooks; what
// they missed still counts until the service has been told.
func TestACommandThatReachesTheServerEndsThePause(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	ask := func(id string) { w.run("claude_code", "PreToolUse", write(repo, filepath.Join(repo, "a.txt"), id)) }
	w.status = http.StatusBadGateway
	for i := range 5 {
		ask(fmt.Sprint("away", i))
	}
	w.status = 0
	w.requests()
	ask("paused")
	if n := len(w.requests()); n != 0 {
		t.Fatalf("the service was asked %d times in the pause", n)
	}
	spool.Reached(w.temp, w.server.URL)
	if count, _ := spool.Missed(w.temp, w.server.URL); count != 6 {
		t.Errorf("%d events missed, not 6", count)
	}
	ask("again")
	if in := w.one(); in.FailOpens != 6 {
		t.Errorf("after the pause it is told of %d missed events, not 6", in.FailOpens)
	}
	if count, _ := spool.Missed(w.temp, w.server.URL); count != 0 {
		t.Errorf("%d events still count", count)
	}
}
