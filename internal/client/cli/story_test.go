package cli_test

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svc-hq/svc/internal/client/cli"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"svc": func() {
		if v := os.Getenv("SVC_TEST_VERSION"); v != "" {
			version.Version = v
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		env := cli.OS()
		env.OpenBrowser = func(string) error { return os.WriteFile("browser-opened", nil, 0o600) }
		code := cli.Main(ctx, env, os.Args[1:])
		stop()
		os.Exit(code)
	}})
}

// The stories are testdata/*.txtar; each has a contract of its own.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			c := newContract(e.T().(testing.TB))
			e.Values["contract"] = c
			e.Vars = append(e.Vars, "SVC_SERVER="+c.URL, "SVC_CONFIG_DIR="+e.WorkDir+"/config", "HOME="+e.WorkDir,
				"ALICE="+aliceToken, "BOB="+bobToken, "THIN="+thinToken, "URL="+c.URL, "SVC_NO_UPDATE_CHECK=1", "GIT_CONFIG_GLOBAL=/dev/null",
				"GOCACHE="+goCache(t))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"server": steer, "mode": fileMode},
	})
}

// goCache is where Go keeps what it compiled: stories have homes of their own.
func goCache(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// steer changes how the contract behaves.
func steer(ts *testscript.TestScript, neg bool, args []string) {
	c := ts.Value("contract").(*contract)
	switch args[0] {
	case "break": // path status
		status, err := strconv.Atoi(args[2])
		ts.Check(err)
		c.set(func() { c.broken[args[1]] = status })
	case "mend":
		c.set(func() { clear(c.broken) })
	case "device":
		c.set(func() { c.device = args[1] })
	case "decide":
		c.set(func() { c.decision = wire.Decision(args[1]) })
	case "skew":
		d, err := time.ParseDuration(args[1])
		ts.Check(err)
		c.set(func() { c.skew = d })
	case "down":
		c.Close()
	case "serve": // path file
		data := []byte(ts.ReadFile(args[2]))
		c.set(func() { c.files[args[1]] = data })
	case "saw": // part of a request line
		c.set(func() {
			if seen := strings.Contains(strings.Join(c.requests, "\n"), args[1]); seen == neg {
				ts.Fatalf("requests:\n%s", strings.Join(c.requests, "\n"))
			}
		})
	default:
		ts.Fatalf("server cannot %s", args[0])
	}
}

// fileMode checks a file's permissions.
func fileMode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); (got == args[0]) == neg {
		ts.Fatalf("%s has mode %s", args[1], got)
	}
}
