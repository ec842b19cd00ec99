// Package e2e plays stories of the whole product: the real server, the real
// client, real processes. It has no code of its own besides tests.
package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/cli"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/dashboard"
)

func TestMain(m *testing.M) {
	testscript.Main(cleaner{m}, map[string]func(){"agenthost": agentHost, "svc": func() {
		askNames()
		os.Exit(cli.Run(os.Args[1:]))
	}, "svcd": func() {
		askNames()
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(daemon.Main(ctx, daemon.Env{
			Program: os.Args[0],
			Args:    os.Args[1:],
			Environ: os.Environ(),
			Stdout:  os.Stdout,
			Stderr:  os.Stderr,
			Version: "0.0.0-test",
			Pages:   dashboard.Handler(),
		}))
	}})
}

// patient makes the limits of hooks so long that no test depends on how fast
// the machine is. What happens when they end is tested in client/hook.
const patient = patience.Variable + "=100"

// A cleaner removes the programs when the tests are done.
type cleaner struct{ *testing.M }

func (c cleaner) Run() int {
	defer func() {
		for _, dir := range append(leftovers, programs.dir) {
			os.RemoveAll(dir)
		}
	}()
	return c.M.Run()
}

// leftovers are folders of the tests' own that are removed at the end.
var leftovers []string

// sources looks at every file that programs are built of. Go runs a test again
// only if something changed that it read itself; what a compiler reads for it
// does not count. What other packages are tested with is in no program.
var sources = sync.OnceFunc(func() {
	dirs := []string{"../../cmd", "../../internal"}
	for _, script := range []string{"build-svc", "build-parser", "build-grammars", "grammars"} {
		dirs = append(dirs, "../../.ci/"+script)
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
			case e.IsDir() && (e.Name() == "testdata" || e.Name() == "hosttest"):
				return fs.SkipDir
			case !e.IsDir() && !strings.HasSuffix(path, "_test.go"):
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			panic(err)
		}
	}
})

// program builds svc or svcd, once for all tests, and returns where it is.
func program(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("make test builds the programs and tests with them")
	}
	sources()
	programs.mu.Lock()
	defer programs.mu.Unlock()
	if programs.dir == "" {
		dir, err := os.MkdirTemp("", "e2e")
		if err != nil {
			t.Fatal(err)
		}
		programs.dir = dir
	}
	file := filepath.Join(programs.dir, name)
	if _, err := os.Stat(file); err == nil {
		return file
	}
	if out, err := exec.Command("go", "build", "-o", file, "../../cmd/"+name).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return file
}

var programs struct {
	mu  sync.Mutex
	dir string
}

// The stories of the client are testdata/cli/*.txtar; each has a server of
// its own, with the org Acme and its owner Olga, who is signed in.
func TestCLIStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/cli",
		Setup: func(e *testscript.Env) error {
			s := newServer(e.T().(testing.TB), filepath.Join(e.WorkDir, "data"))
			e.Values["server"] = s
			e.Vars = append(e.Vars, "SVC_SERVER="+s.URL, "SVC_CONFIG_DIR="+e.WorkDir+"/config", "HOME="+e.WorkDir,
				"SVC_NO_UPDATE_CHECK=1", "SVC_NO_BROWSER=1", patient, "OLGA="+s.token("olga@example.com"),
				"OLGA_HERSELF="+s.own("olga@example.com"), "BOB="+s.token("bob@example.com"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": func(ts *testscript.TestScript, _ bool, args []string) { ts.Value("server").(*server).steer(ts, args) },
			"approve": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Value("server").(*server).decide(ts, "approve", args)
			},
			"deny": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Value("server").(*server).decide(ts, "deny", args)
			},
			"await":   awaitText,
			"declare": func(ts *testscript.TestScript, _ bool, args []string) { ts.Value("server").(*server).declare(ts, args) },
		},
	})
}

// A server is a daemon with a person in front of its dashboard.
type server struct {
	tb   testing.TB
	data string
	more []string // settings besides
	URL  string
	addr string
	d    *daemon.Daemon
	web  *http.Client
}

// A seed is the data of a server at which Acme was just set up. It is made
// once: tables and a password's hash take longer than most stories.
var seed struct {
	once    sync.Once
	dir     string
	cookies []*http.Cookie
}

func newServer(tb testing.TB, data string, more ...string) *server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("make test plays the whole product")
	}
	seed.once.Do(func() {
		dir, err := os.MkdirTemp("", "seed")
		if err != nil {
			tb.Fatal(err)
		}
		leftovers = append(leftovers, dir)
		s := continued(tb, dir, nil)
		code, err := s.d.Ops.People.NewSetupCode(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		s.post("/v1/auth/setup",
			fmt.Sprintf(`{"code":%q,"org":"Acme","email":"olga@example.com","name":"Olga Oak","password":"correct horse battery"}`, code), nil)
		s.post("/v1/members", `{"email":"bob@example.com","name":"Bob Birch"}`, nil)
		seed.cookies = s.cookies()
		s.stop()
		seed.dir = dir
	})
	if seed.dir == "" {
		tb.Fatal("there is no seed: its maker failed")
	}
	if err := copyFolder(data, seed.dir); err != nil {
		tb.Fatal(err)
	}
	return continued(tb, data, seed.cookies, more...)
}

// continued serves data that is there, with Olga signed in by her cookies.
func continued(tb testing.TB, data string, cookies []*http.Cookie, more ...string) *server {
	tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	s := &server{tb: tb, data: data, more: more, addr: "127.0.0.1:0", web: &http.Client{Jar: jar}}
	s.start()
	tb.Cleanup(func() { s.stop() })
	jar.SetCookies(s.base(), cookies)
	return s
}

// copyFolder copies a folder with its modes: keys are for their owner only.
func copyFolder(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), info.Mode().Perm())
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm())
	})
}

func (s *server) base() *url.URL {
	u, err := url.Parse(s.URL)
	if err != nil {
		s.tb.Fatal(err)
	}
	return u
}

func (s *server) cookies() []*http.Cookie { return s.web.Jar.Cookies(s.base()) }

// start begins to serve, at the same address as before a stop.
func (s *server) start() {
	cfg, err := daemon.ParseConfig("serve", append([]string{"--addr", s.addr, "--data", s.data}, s.more...), nil, io.Discard)
	if err != nil {
		s.tb.Fatal(err)
	}
	if s.d, err = daemon.Start(context.Background(), cfg, slog.New(slog.DiscardHandler)); err != nil {
		s.tb.Fatal(err)
	}
	s.d.Ops.Moments.Doubt = time.Minute // a check that comes late is still the one that is tested
	s.URL = s.d.URL
	s.addr = strings.TrimPrefix(s.URL, "http://")
}

func (s *server) stop() {
	if s.d != nil {
		if err := s.d.Stop(); err != nil {
			s.tb.Error(err)
		}
	}
	s.d = nil
}

// post sends what Olga's dashboard would.
func (s *server) post(path, body string, out any) {
	s.tb.Helper()
	s.send(http.MethodPost, path, body, out)
}

func (s *server) send(method, path, body string, out any) {
	s.tb.Helper()
	s.request(s.web, method, path, body, out, "X-Svc-CSRF", "1")
}

// as sends what a client with a token would.
func (s *server) as(token, method, path, body string) {
	s.tb.Helper()
	s.request(http.DefaultClient, method, path, body, nil, "Authorization", "Bearer "+token)
}

func (s *server) request(c *http.Client, method, path, body string, out any, header, value string) {
	s.tb.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(header, value)
	res, err := c.Do(req)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer res.Body.Close()
	reply, _ := io.ReadAll(res.Body)
	if res.StatusCode >= 300 {
		s.tb.Fatalf("%s %s: %s: %s", method, path, res.Status, reply)
	}
	if out != nil {
		if err := json.Unmarshal(reply, out); err != nil {
			s.tb.Fatal(err)
		}
	}
}

// token makes a personal token for a member.
func (s *server) token(email string) string {
	var out struct{ Token string }
	s.post("/v1/tokens", fmt.Sprintf(`{"name":"story","user_email":%q}`, email), &out)
	return out.Token
}

// own is a token for a person's own use: no agent can work with it, so it may do
// what takes a person's word.
func (s *server) own(email string) string {
	scopes, err := json.Marshal(coord.ServiceScopes())
	if err != nil {
		s.tb.Fatal(err)
	}
	var out struct{ Token string }
	s.post("/v1/tokens", fmt.Sprintf(`{"name":"own","user_email":%q,"scopes":%s}`, email, scopes), &out)
	return out.Token
}

func (s *server) steer(ts *testscript.TestScript, args []string) {
	switch args[0] {
	case "stop":
		s.stop()
	case "start":
		s.start()
	case "repo":
		s.post("/v1/repos", fmt.Sprintf(`{"full_name":%q}`, args[1]), nil)
	default:
		ts.Fatalf("server cannot %s", args[0])
	}
}

// declare announces work as an agent of a token's owner would: token, title,
// mode and path.
func (s *server) declare(ts *testscript.TestScript, args []string) {
	body := fmt.Sprintf(`{"title":%q,"mode":%q,"scope":{"paths":[%q]},"repo":"acme/shop","branch":%q}`,
		args[1], args[2], args[3], strings.ReplaceAll(args[1], " ", "-"))
	req, err := http.NewRequest(http.MethodPost, s.URL+"/v1/intents", strings.NewReader(body))
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+args[0])
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	if reply, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusCreated {
		ts.Fatalf("declare: %s: %s", res.Status, reply)
	}
}

// decide approves or denies the code that a running svc login printed into a
// file.
func (s *server) decide(ts *testscript.TestScript, verb string, args []string) {
	var code string
	awaitText(ts, false, []string{args[0], "Type   "})
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if c, ok := strings.CutPrefix(line, "Type   "); ok {
			code = strings.TrimSpace(c)
		}
	}
	s.post("/v1/auth/device/"+verb, fmt.Sprintf(`{"user_code":%q}`, code), nil)
}

// awaitText waits until a file holds a text.
func awaitText(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(await.Patience)
	for {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && strings.Contains(string(data), args[1]) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s never held %q, but %q", args[0], args[1], data)
		}
		time.Sleep(10 * time.Millisecond) // between two looks at a file that another process writes
	}
}
