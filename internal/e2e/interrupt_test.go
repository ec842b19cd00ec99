package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// Ctrl-C ends svc and all that it started, whatever that is about: a checker
// that hangs with a process of its own, a git that hangs.
func TestInterruptedCommandsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	s := newServer(t, t.TempDir())
	token := s.token("olga@example.com")
	for _, tc := range []struct {
		name, program, when string
		hangs               string // and writes its process and those that it started
		args                []string
	}{
		{"check", "go", "build", "sleep 600 & echo $$ $! >PIDS.new; mv PIDS.new PIDS; wait", []string{"check", "--against", "other"}},
		{"backtest", "git", "merge-tree", "echo $$ >PIDS.new; mv PIDS.new PIDS; exec sleep 600", []string{"backtest", "--since", "all"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t, s, token)
			c.shop(t)
			gittest.Run(t, c.dir, "checkout", "-q", "-b", "other")
			c.commit(t, "shop/more.go", "package shop\n\nfunc More(s *Store) error { return s.Open(\"x\") }\n")
			gittest.Run(t, c.dir, "checkout", "-q", "-")
			c.commit(t, "shop/use.go", "package shop\n\nfunc Use() *Store { return nil }\n")
			if tc.name == "backtest" {
				gittest.Run(t, c.dir, "merge", "-q", "-m", "together", "other")
			}
			bin, pids := t.TempDir(), filepath.Join(t.TempDir(), "pids")
			real, err := exec.LookPath(tc.program)
			if err != nil {
				t.Fatal(err)
			}
			text := "#!/bin/sh\ncase \" $* \" in *' " + tc.when + " '*) " + strings.ReplaceAll(tc.hangs, "PIDS", pids) +
				";; esac\nexec '" + real + "' \"$@\"\n"
			if err := os.WriteFile(filepath.Join(bin, tc.program), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("svc", tc.args...)
			cmd.Dir = c.dir
			cmd.Env = append(c.env, "XDG_CACHE_HOME="+t.TempDir(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			await.True(t, tc.program+" hangs", func() bool { _, err := os.Stat(pids); return err == nil })
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("ended with %v: %s", err, out.String())
			}
			data, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range strings.Fields(string(data)) {
				pid, err := strconv.Atoi(word)
				if err != nil {
					t.Fatal(err)
				}
				await.True(t, tc.program+" ends", func() bool { return !runs(pid) })
			}
		})
	}
}

// runs reports whether a process is there that does something yet.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(data), ") Z ")
}

func (c *clone) commit(t *testing.T, path, text string) {
	t.Helper()
	gittest.Write(t, c.dir, path, text)
	gittest.Run(t, c.dir, "add", ".")
	gittest.Run(t, c.dir, "commit", "-qm", path)
}
