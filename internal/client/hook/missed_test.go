package hook

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
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
	if count, last := Missed(w.temp, w.server.URL); shown != 1 || count != 4 || last.IsZero() {
		t.Errorf("shown %d times, %d events missed, the last at %v", shown, count, last)
	}
}
