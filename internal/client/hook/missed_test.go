package hook

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/hook/spool"
)

// A person is told once that nobody checks their agent, its agent at every edit,
// and svc can say how often that was.
func TestAnOutageIsShownOnce(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	ask := func(id string) string {
		return w.run("claude_code", "PreToolUse", write(repo, filepath.Join(repo, "a.txt"), id)).stdout
	}
	w.status = http.StatusBadGateway
	shown := 0
	for i := range 4 {
		out := ask(fmt.Sprint(i))
		if strings.Contains(out, `"systemMessage"`) {
			shown++
		}
		if !strings.Contains(out, `"additionalContext":"svc could not check this edit: `+w.server.URL+" does not answer.") {
			t.Errorf("edit %d says %s", i, out)
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

// What the answer to an event told is lost with it, and the service does not
// know: the next event that has room for it asks for it again.
func TestAnAnswerThatDidNotArriveIsAskedForAgain(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	ask := func(event, id string) []string {
		in := write(repo, filepath.Join(repo, "a.txt"), id)
		in["hook_event_name"] = event
		w.run("claude_code", event, in)
		return w.one().Unheard
	}
	w.status = http.StatusGatewayTimeout
	in := write(repo, filepath.Join(repo, "a.txt"), "late")
	in["hook_event_name"] = "PostToolUse"
	w.run("claude_code", "PostToolUse", in)
	lost := w.one().DedupeKey
	if again := ask("PostToolUse", "late too"); len(again) != 1 || again[0] != lost {
		t.Errorf("asked for %q, not for %s", again, lost)
	}
	w.status = 0
	if again := ask("PreToolUse", "before"); again != nil {
		t.Errorf("asked for %q where an edit may be refused", again)
	}
	if again := ask("PostToolUse", "then"); len(again) != 2 || again[0] != lost {
		t.Errorf("asked for %q, not for two with %s", again, lost)
	}
	if again := ask("PostToolUse", "last"); again != nil {
		t.Errorf("asked for %q once more", again)
	}
}

// instead has something else answer in the place of the service.
func (w *world) instead(kind string, status int, text string) {
	w.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", kind)
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(text))
	})
}
