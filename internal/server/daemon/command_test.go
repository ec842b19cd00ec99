package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A svcd is one run of the command.
type svcd struct {
	out, err daemontest.Log
	code     int
}

func (s *svcd) run(ctx context.Context, program string, environ []string, args ...string) *svcd {
	s.code = daemon.Main(ctx, daemon.Env{Program: program, Args: args, Environ: environ, Stdout: &s.out, Stderr: &s.err, Version: "1.2.3"})
	return s
}

func run(t *testing.T, environ []string, args ...string) *svcd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	return new(svcd).run(ctx, "svcd", append(environ, "HOME="+t.TempDir()), args...)
}

func TestMisuseIsSaidClearly(t *testing.T) {
	for _, tt := range []struct {
		name    string
		environ []string
		args    []string
		want    string // on stderr
	}{
		{"an unknown command", nil, []string{"frobnicate"}, `unknown command "frobnicate"`},
		{"an unknown flag", nil, []string{"serve", "--colour"}, "svcd serve --help lists the flags"},
		{"an argument", nil, []string{"serve", "now"}, `takes no argument "now"`},
		{"an unknown variable", []string{"SVC_COLOUR=red"}, []string{"serve"}, "unknown variable SVC_COLOUR"},
		{"a bad address", nil, []string{"serve", "--addr", "localhost"}, `--addr (SVC_ADDR): "localhost" is not host:port`},
		{"a bad port", []string{"SVC_ADDR=:99999"}, []string{"serve"}, "no port between 0 and 65535"},
		{"a bad database", nil, []string{"serve", "--database", "mysql://x"}, "cannot use a mysql database"},
		{"a bad public address", nil, []string{"serve", "--public-url", "example.com"}, "is not an http or https address"},
		{"a bad log level", []string{"SVC_LOG_LEVEL=loud"}, []string{"serve"}, `"loud" is not one of debug, info, warn, error`},
		{"a bad boolean", []string{"SVC_TRUST_PROXY=maybe"}, []string{"serve"}, `SVC_TRUST_PROXY="maybe" is not valid`},
		{"half an OpenID provider", []string{"SVC_OIDC_ISSUER=https://id.example.com"}, []string{"serve"}, "set both or neither"},
		{"half a Stripe account", []string{"SVC_STRIPE_KEY=sk_x", "SVC_STRIPE_PRICE_TEAM=price_x"}, []string{"serve"}, "set both keys or none"},
		{"a bad GitHub", []string{"SVC_GITHUB_URL=github.com"}, []string{"serve"}, "is not an http or https address"},
		{"a bad owner", nil, []string{"serve", "--owner", "me"}, `"me" is not an email address`},
		{"bootstrap without an org", nil, []string{"bootstrap", "--email", "a@example.com"}, "--org must be a name"},
		{"bootstrap without an address", nil, []string{"bootstrap", "--org", "Acme"}, "is not an email address"},
		{"migrate with an argument", nil, []string{"migrate", "up"}, `takes no argument "up"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := run(t, tt.environ, tt.args...)
			if s.code != 2 || !strings.Contains(s.err.String(), tt.want) {
				t.Errorf("exit %d, stderr %q; want 2 and %q", s.code, &s.err, tt.want)
			}
			if !strings.HasPrefix(tt.name, "an unknown command") && strings.Count(s.err.String(), "\n") != 1 {
				t.Errorf("the message is not one line: %q", &s.err)
			}
		})
	}
}

func TestHelpListsEverySetting(t *testing.T) {
	s := run(t, nil, "serve", "--help")
	if s.code != 0 {
		t.Fatalf("exit %d %s", s.code, &s.err)
	}
	for _, want := range []string{
		"--addr", "SVC_ADDR", "--database", "SVC_DATABASE_URL", "SVC_PUBLIC_URL", "SVC_LOG_FORMAT", "SVC_OTLP_ENDPOINT",
		"SVC_OIDC_ISSUER", "Example:",
	} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("help does not mention %s", want)
		}
	}
	for _, args := range [][]string{{"help"}, {}, {"--help"}, {"bootstrap", "--help"}, {"migrate", "--help"}} {
		if s := run(t, nil, args...); s.code != 0 || !strings.Contains(s.out.String(), "usage: svcd") {
			t.Errorf("svcd %v: exit %d, %s", args, s.code, &s.out)
		}
	}
	if s := run(t, nil, "version"); s.out.String() != "svcd 1.2.3\n" {
		t.Errorf("version = %q", &s.out)
	}
}

func TestVariablesOfTheClientPass(t *testing.T) {
	if s := run(t, []string{"SVC_TOKEN=svc_x", "SVC_SERVER=http://x", "SVC_DEBUG=1"}, "migrate"); s.code != 0 {
		t.Errorf("exit %d: %s", s.code, &s.err)
	}
}

func TestBootstrap(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		args := []string{"bootstrap", "--database", dsn, "--org", "Acme", "--email", "Ana@Example.com", "--json"}
		for _, running := range []bool{false, true} {
			if running { // a fresh database for the second round
				if strings.HasPrefix(dsn, "postgres") {
					dsn = storetest.Postgres(t)
				} else {
					dsn += "2"
				}
				args[2] = dsn
			}
			var w *daemontest.World
			if running {
				w = daemontest.Start(t, dsn)
			}
			s := run(t, nil, args...)
			if s.code != 0 {
				t.Fatalf("exit %d: %s", s.code, &s.err)
			}
			var made struct {
				Token string
				User  struct{ Email string }
			}
			if err := json.Unmarshal([]byte(s.out.String()), &made); err != nil || made.User.Email != "ana@example.com" {
				t.Fatalf("printed %s (%v)", &s.out, err)
			}
			again := run(t, nil, args...)
			if again.code != 1 || again.out.String() != "" || !strings.Contains(again.err.String(), "has an org already") {
				t.Errorf("a second time: exit %d, %q %q", again.code, &again.out, &again.err)
			}
			if w == nil {
				w = daemontest.Start(t, dsn)
			}
			w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/me", Token: made.Token}, nil)
		}
	})
}

var link = regexp.MustCompile(`http://[^\s]+`)

// serve runs svcd serve until stop is called; text is what it printed first.
func serve(t *testing.T, program, data string) (text string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &svcd{}
	var done sync.WaitGroup
	done.Go(func() {
		s.run(ctx, program, nil, "serve", "--addr", "127.0.0.1:0", "--data", data, "--owner", "owner@localhost", "--log-level", "error")
	})
	stop = sync.OnceValue(func() int { cancel(); done.Wait(); return s.code })
	t.Cleanup(func() { stop() })
	for end := time.Now().Add(await.Patience); !strings.Contains(s.out.String(), "login --server"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("svcd prints %q %q", &s.out, &s.err)
		}
	}
	return s.out.String(), stop
}

// What svcd prints at its first start works, and a second start has kept all.
func TestServePrintsALinkAndACommandThatWork(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	program := filepath.Join(dir, "svcd")
	if err := os.WriteFile(filepath.Join(dir, "svc"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	text, stop := serve(t, program, data)
	if want := filepath.Join(dir, "svc") + " login --server http://127.0.0.1:"; !strings.Contains(text, want) ||
		!strings.Contains(text, "< "+filepath.Join(data, "owner-token")) {
		t.Errorf("first start prints\n%s\nwant the command %s...", text, want)
	}
	token, err := os.ReadFile(filepath.Join(data, "owner-token"))
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(filepath.Join(data, "owner-token")); info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file has mode %v", info.Mode())
	}
	base := link.FindString(text)
	get(t, 200, "GET", base+"/v1/me", string(token), "")
	if body := get(t, 200, "GET", base+"/v1/attention", string(token), ""); !strings.Contains(body, `"total":0`) {
		t.Errorf("a new org already wants attention: %s", body)
	}
	get(t, 201, "POST", base+"/v1/repos", string(token), `{"full_name":"acme/kept"}`)
	if code := stop(); code != 0 {
		t.Errorf("stopping = exit %d", code)
	}

	text, stop = serve(t, program, data)
	base = link.FindString(text)
	if body := get(t, 200, "GET", base+"/v1/repos", string(token), ""); !strings.Contains(body, "acme/kept") {
		t.Errorf("after a restart: %s", body)
	}
	// Nobody has chosen a password yet, so there is a link again, and it works.
	_, code, ok := strings.Cut(text, "/invite#")
	code, _, _ = strings.Cut(code, " ")
	if !ok {
		t.Fatalf("second start prints\n%s", text)
	}
	get(t, 200, "POST", base+"/v1/auth/accept-invite", "", `{"code":"`+code+`","name":"Ana","password":"correct horse battery"}`)
	stop()

	text, stop = serve(t, program, data)
	if strings.Contains(text, "invite") || !strings.Contains(text, "Dashboard: http://127.0.0.1:") {
		t.Errorf("third start prints\n%s", text)
	}
	stop()
}

func get(t *testing.T, want int, method, url, token, body string) string {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	b.ReadFrom(res.Body)
	if res.StatusCode != want {
		t.Fatalf("%s %s = %d, want %d\n%s", method, url, res.StatusCode, want, &b)
	}
	return b.String()
}

func TestAnAddressForEveryInterfaceGivesALinkThatCanBeOpened(t *testing.T) {
	for addr, want := range map[string]string{
		":7780":          "http://localhost:7780",
		"0.0.0.0:80":     "http://localhost:80",
		"[::]:80":        "http://localhost:80",
		"127.0.0.1:7780": "http://127.0.0.1:7780",
		"svc.local:1":    "http://svc.local:1",
	} {
		c, err := daemon.ParseConfig("serve", []string{"--addr", addr}, []string{"HOME=/nowhere"}, nil)
		if err != nil || c.PublicURL != want {
			t.Errorf("--addr %s gives %s, %v; want %s", addr, c.PublicURL, err, want)
		}
	}
}

func TestMetricsTellOfRoutesNotOfPeople(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	w.Must(404, daemontest.Request{Method: "GET", Path: "/v1/projects/" + o.ID, Token: o.Owner()}, nil)
	text := w.Metrics()
	if !strings.Contains(text, `svc_http_requests_total{route="GET /v1/projects/{id}",status="404"} 1`) || strings.Contains(text, o.ID) {
		t.Errorf("metrics:\n%s", text)
	}
	res := w.Must(200, daemontest.Request{Method: "GET", Path: "/healthz", Header: map[string]string{"X-Request-Id": "from-the-proxy"}}, nil)
	if res.Header.Get("X-Request-Id") != "from-the-proxy" {
		t.Errorf("request id = %q", res.Header.Get("X-Request-Id"))
	}
	res = w.Must(200, daemontest.Request{Method: "GET", Path: "/readyz", Header: map[string]string{"X-Request-Id": "a b\tc"}}, nil)
	if len(res.Header.Get("X-Request-Id")) != 36 {
		t.Errorf("request id = %q", res.Header.Get("X-Request-Id"))
	}
}
