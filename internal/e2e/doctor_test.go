//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// A machine is one on which everything is set up, until a row breaks it: svc on
// the PATH, Claude Code with its hooks, tools and consent, a login, and a clone
// with a remote.
type machine struct {
	t                              *testing.T
	s                              *server
	bin, hosts, home, config, repo string
	dir                            string   // in which svc runs
	env                            []string // which comes last, and so wins
	token                          string
	path                           []string
	full                           bool         // there is no room for a file
	down                           atomic.Bool  // the service does not answer
	skew                           atomic.Int64 // of its clock, in nanoseconds
	instead                        sync.Map     // answers to paths, in place of the service's
	front                          *httptest.Server
}

func newMachine(t *testing.T, s *server) *machine {
	t.Helper()
	top := t.TempDir()
	m := &machine{t: t, s: s, bin: filepath.Join(top, "bin"), hosts: filepath.Join(top, "hosts"), home: filepath.Join(top, "home"),
		config: filepath.Join(top, "config"), repo: gittest.Init(t)}
	m.dir, m.path = m.repo, []string{m.bin, m.hosts, "/usr/local/bin", "/usr/bin", "/bin"}
	for _, dir := range []string{m.bin, m.hosts, m.home, m.config, filepath.Join(top, "tmp")} {
		m.check(os.MkdirAll(dir, 0o700))
	}
	m.env = []string{"TMPDIR=" + filepath.Join(top, "tmp")}
	m.check(os.Symlink(program(t, "svc"), filepath.Join(m.bin, "svc")))
	m.script(filepath.Join(m.hosts, "claude"), "exit 0")
	m.front = httptest.NewServer(m.relay())
	t.Cleanup(m.front.Close)
	m.token = s.token("olga@example.com")
	m.git("remote", "add", "origin", "https://github.com/acme/shop.git")
	m.git("commit", "-q", "--allow-empty", "-m", "first")
	m.svc("login", "--server", m.front.URL, "--token", m.token)
	m.svc("init", "--tools", "claude_code", "--yes")
	real, err := filepath.EvalSymlinks(m.repo)
	m.check(err)
	m.write(filepath.Join(m.home, ".claude.json"), fmt.Sprintf(`{"projects": {%q: {"hasTrustDialogAccepted": true}}}`, real))
	return m
}

// relay passes requests on to the service, unless the row has it otherwise.
func (m *machine) relay() http.Handler {
	to, err := url.Parse(m.s.URL)
	m.check(err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		r.Header.Set("Date", time.Now().Add(time.Duration(m.skew.Load())).UTC().Format(http.TimeFormat))
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.down.Load() {
			panic(http.ErrAbortHandler)
		}
		if text, ok := m.instead.Load(r.URL.Path); ok {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, text.(string))
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

func (m *machine) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) write(file, text string) {
	m.t.Helper()
	m.check(errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
}

func (m *machine) script(file, body string) {
	m.t.Helper()
	m.write(file, "#!/bin/sh\n"+body+"\n")
	m.check(os.Chmod(file, 0o755))
}

// edit changes a file of the repository.
func (m *machine) edit(name string, change func(string) string) {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.repo, name))
	m.check(err)
	next := change(string(data))
	if next == string(data) {
		m.t.Fatalf("nothing changed in %s", name)
	}
	m.write(filepath.Join(m.repo, name), next)
}

func (m *machine) git(args ...string) string { return gittest.Run(m.t, m.repo, args...) }

func (m *machine) run(args ...string) (code int, out string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), await.Patience)
	defer cancel()
	svc := filepath.Join(m.bin, "svc")
	if _, err := os.Stat(svc); err != nil {
		svc = program(m.t, "svc")
	}
	if m.full { // no file takes a byte, as on a full disk
		svc, args = "/bin/sh", append([]string{"-c", `ulimit -f 0; exec "$0" "$@"`, svc}, args...)
	}
	cmd := exec.CommandContext(ctx, svc, args...)
	cmd.Dir, cmd.WaitDelay = m.dir, 10*time.Second
	cmd.Env = m.environ()
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		m.t.Fatal(err)
	}
	return code, text.String()
}

func (m *machine) environ() []string {
	return append([]string{"PATH=" + strings.Join(m.path, ":"), "HOME=" + m.home, "SVC_CONFIG_DIR=" + m.config, "SVC_NO_UPDATE_CHECK=1",
		patient, "GIT_CONFIG_GLOBAL=/dev/null", "XDG_CACHE_HOME=" + filepath.Join(m.home, "cache")}, m.env...)
}

func (m *machine) svc(args ...string) {
	m.t.Helper()
	if code, out := m.run(args...); code != 0 {
		m.t.Fatalf("svc %v: exit %d\n%s", args, code, out)
	}
}

// login logs in with a token that Olga's dashboard makes, and returns its id.
func (m *machine) login(body string) string {
	var made struct{ ID, Token string }
	m.s.post("/v1/tokens", body, &made)
	m.svc("login", "--server", m.front.URL, "--token", made.Token)
	return made.ID
}

// A setUp is broken in one way.
type setUp struct {
	name   string
	breaks func(*machine)
	says   string // what doctor must say of it, a pattern
	mended bool   // doctor --fix repairs it, and all is well then
}

func TestDoctorFindsBrokenSetUps(t *testing.T) {
	if testing.Short() {
		return
	}
	s := newServer(t, t.TempDir())
	all := slices.Concat(brokenPrograms(), brokenLogins(), brokenRepos(), brokenHosts(), brokenEverywhere())
	t.Run("nothing is", func(t *testing.T) {
		if code, out := newMachine(t, s).run("doctor"); code != 0 {
			t.Fatalf("exit %d\n%s", code, out)
		}
	})
	for _, row := range all {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, s)
			row.breaks(m)
			says := regexp.MustCompile(row.says)
			code, out := m.run("doctor")
			if code != 1 && code != 2 || !says.MatchString(out) {
				t.Errorf("exit %d, and it does not say %q:\n%s", code, row.says, out)
			}
			if n := causes(out); n != 1 {
				t.Errorf("%d rows for one cause:\n%s", n, out)
			}
			for line := range strings.Lines(out) {
				if says.MatchString(line) && strings.HasPrefix(line, "ok ") {
					t.Errorf("it takes that for well: %s", line)
				}
			}
			code, out = m.run("doctor", "--fix")
			switch {
			case row.mended && code != 0:
				t.Errorf("--fix does not repair it: exit %d\n%s", code, out)
			case !row.mended && code == 0:
				t.Errorf("--fix says that all is well:\n%s", out)
			case !row.mended && !says.MatchString(out):
				t.Errorf("--fix hides it:\n%s", out)
			}
			if code, out := m.run("doctor", "--json"); !json.Valid([]byte(out)) || row.mended != (code == 0) {
				t.Errorf("--json: exit %d\n%s", code, out)
			}
		})
	}
}

// causes counts the findings of doctor that are not well. What it could not
// look at because of another finding is none.
func causes(out string) (n int) {
	for line := range strings.Lines(out) {
		if (strings.HasPrefix(line, "warn ") || strings.HasPrefix(line, "FAIL ")) && !strings.Contains(line, " not checked: ") {
			n++
		}
	}
	return n
}
