//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/gittest"
)

// A screen is what a program in a pseudo-terminal has written so far.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Ctrl-C at any question ends the command with 130 and nothing written or
// sent, whatever is typed after it.
func TestCtrlCAtEveryQuestion(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		seen []string // each question, and what is typed at it
		keys []string
	}{
		{"which hosts", []string{"init"}, []string{"Set up which?"}, []string{"\x03"}},
		{"which hosts, and Enter in haste", []string{"init"}, []string{"Set up which?"}, []string{"\x03\n"}},
		{"which hosts, with half a word", []string{"init"}, []string{"Set up which?"}, []string{"clau\x03"}},
		{"the home folder", []string{"init"}, []string{"Set up which?", "May svc also edit"}, []string{"windsurf\n", "\x03"}},
		{"to hand over", []string{"handoff", "bob@example.com", "--intent", "INT-1"}, []string{"Hand INT-1"}, []string{"\x03"}},
		{"the end of the input", []string{"init"}, []string{"Set up which?"}, []string{"\x04"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newContract(t)
			repo, home := gittest.Init(t), t.TempDir()
			cmd := exec.Command("svc", tt.args...)
			cmd.Dir = repo
			cmd.Env = append(os.Environ(), "HOME="+home, "SVC_SERVER="+c.URL, "SVC_TOKEN="+aliceToken,
				"SVC_CONFIG_DIR="+filepath.Join(home, "config"), "SVC_NO_UPDATE_CHECK=1", "GIT_CONFIG_GLOBAL=/dev/null")
			terminal, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer terminal.Close()
			var shown screen
			go func() {
				buf := make([]byte, 4096)
				for {
					n, err := terminal.Read(buf)
					shown.Write(buf[:n])
					if err != nil {
						return
					}
				}
			}()
			for i, question := range tt.seen {
				await.True(t, question, func() bool { return strings.Contains(shown.String(), question) })
				if _, err := terminal.WriteString(tt.keys[i]); err != nil {
					t.Fatal(err)
				}
			}
			err = cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != term.ExitCancelled {
				t.Errorf("%v, want exit %d\n%s", err, term.ExitCancelled, shown.String())
			}
			for _, dir := range []string{repo, home} {
				files, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range files {
					if f.Name() != ".git" && f.Name() != "config" {
						t.Errorf("%s was written", f.Name())
					}
				}
			}
			c.set(func() {
				for _, r := range c.requests {
					if strings.HasPrefix(r, "POST") {
						t.Errorf("%s was sent", r)
					}
				}
			})
		})
	}
}
