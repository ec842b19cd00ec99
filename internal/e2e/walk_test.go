//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/gittest"
)

// A bench is a folder to try commands in: a repository of Olga's on a running
// service in which INT-7 is hers, CF-3 is between her and Bob, and he asked her
// something.
type bench struct {
	dir, home string
	env       []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s := newServer(t, t.TempDir())
	b := &bench{dir: gittest.Init(t), home: t.TempDir()}
	for name, text := range map[string]string{"auth/login.go": "package auth\n", "src/parse.go": "package src\n", "src/api.ts": "export {}\n",
		"src/auth.go": "package src\n", "payload.json": "{}\n"} {
		file := filepath.Join(b.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	// Hundreds of runs: those of the test's own program, which looks for races, start ten times as slowly.
	path := "PATH=" + filepath.Dir(program(t, "svc")) + string(filepath.ListSeparator) + os.Getenv("PATH")
	b.env = append(os.Environ(), path,
		"HOME="+b.home, "TMPDIR="+t.TempDir(), "SVC_SERVER="+s.URL, "SVC_CONFIG_DIR="+filepath.Join(b.home, "config"),
		"SVC_NO_UPDATE_CHECK=1", "SVC_NO_BROWSER=1", "GIT_CONFIG_GLOBAL=/dev/null", "EDITOR=true", "VISUAL=", "TERM=xterm", "COLUMNS=80")
	for _, line := range []string{"git remote add origin https://github.com/acme/shop.git", "git add -A",
		"git -c user.name=o -c user.email=o@example.com commit -qm first"} {
		b.must(t, line)
	}
	for _, name := range []string{"acme/shop", "acme/shop-old", "acme/shop-fork"} {
		s.post("/v1/repos", `{"full_name":"`+name+`"}`, nil)
	}
	olga, bob := "SVC_TOKEN="+s.token("olga@example.com"), "SVC_TOKEN="+s.token("bob@example.com")
	b.env = append(b.env, olga)
	for i := range 7 {
		b.must(t, fmt.Sprintf("svc intents declare 'Part %d' 'part%d/**' --mode exclusive --branch part%d", i+1, i+1, i+1))
	}
	b.env = append(b.env, bob)
	b.must(t, "svc intents declare 'All of it' part1/a.go part2/a.go part3/a.go")
	b.must(t, "svc ask @olga 'Is the login API stable?'")
	b.env = append(b.env, olga)
	return b
}

// run runs a line in a shell and returns its exit code; what goes on for ever is
// stopped.
func (b *bench) run(t *testing.T, line string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.dir, b.env, time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		t.Fatalf("%s: %v", line, err)
	}
	return code, out.String(), errs.String()
}

func (b *bench) must(t *testing.T, line string) {
	t.Helper()
	if code, out, errs := b.run(t, line); code != 0 {
		t.Fatalf("%s: exit %d: %s%s", line, code, out, errs)
	}
}

// A helpPage is a command's help, read as a person would.
type helpPage struct {
	path     []string
	examples []string
	subs     []string
}

func readHelp(t *testing.T, path []string) helpPage {
	t.Helper()
	out, err := exec.Command(program(t, "svc"), append(slices.Clone(path), "--help")...).Output()
	if err != nil {
		t.Fatalf("svc %s --help: %v", strings.Join(path, " "), err)
	}
	p := helpPage{path: path}
	head := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		switch text := strings.TrimSpace(line); {
		case !strings.HasPrefix(line, " "):
			head = text
		case text == "":
		case head == "Examples:":
			p.examples = append(p.examples, text)
		case strings.HasSuffix(head, ":") && head != "Usage:" && !strings.HasSuffix(head, "lags:"):
			p.subs = append(p.subs, strings.Fields(text)[0])
		}
	}
	return p
}

func allPages(t *testing.T) []helpPage {
	pages := []helpPage{readHelp(t, nil)}
	for i := 0; i < len(pages); i++ {
		for _, sub := range pages[i].subs {
			pages = append(pages, readHelp(t, append(slices.Clone(pages[i].path), sub)))
		}
	}
	return pages
}

// elsewhere are commands whose examples start or change programs of the
// machine, or wait for a person: stories of their own play them.
var elsewhere = map[string]string{
	"up": "up_test.go", "down": "up_test.go", "demo": "up_test.go", "share": "up_test.go", "update": "update_test.go",
	"login": "testdata/cli", "logout": "testdata/cli", "backtest": "client/backtest", "mcp": "mcp_test.go",
}

// no are examples whose honest answer here is no: they name a record by an
// example of its id, want a scope that svc login never gives, or the example
// before them ended what they are about.
var no = []string{"svc repos apart", "svc messages ack", "svc tokens revoke", "svc webhooks delete", "svc webhooks test",
	"svc webhooks create", "svc webhooks edit", "svc webhooks pause", "svc webhooks resume", "svc webhooks rotate", "svc webhooks replay",
	"svc webhooks deliveries", "svc intents adopt",
	"svc doctor", "svc wait CF-3 --timeout 0s", "svc members invite", "svc tokens create", "svc policy set",
	"svc handoff bob@example.com --note",
	"svc check --against"}

// endless are commands that go on until they are stopped.
var endless = []string{"svc watch", "svc status --watch", "svc wait INT-7", "svc wait auth"}

// unspoken print for programs that are not ours to choose the form of.
var unspoken = []string{"completion", "man", "help", "hook", "auth-header"}

// Every command has examples that run, --json that parses, completion, a man
// page, and exit codes from the table.
func TestTheCommandTree(t *testing.T) {
	if testing.Short() {
		return
	}
	pages := allPages(t)
	if len(pages) < 60 {
		t.Fatalf("only %d pages", len(pages))
	}
	shared := newBench(t)
	for _, p := range pages {
		name := strings.Join(append([]string{"svc"}, p.path...), " ")
		if len(p.examples) == 0 {
			t.Errorf("%s has no example", name)
		}
		if code, out, _ := shared.run(t, "svc man "+strings.Join(p.path, " ")); code != 0 || !strings.Contains(out, ".SH EXAMPLES") {
			t.Errorf("%s has no manual page: exit %d", name, code)
		}
		code, out, errs := shared.run(t, "svc __complete "+strings.Join(p.path, " ")+" ''")
		if code != 0 || !strings.Contains(out, "\n:") && !strings.HasPrefix(out, ":") {
			t.Errorf("%s does not complete: exit %d: %s%s", name, code, out, errs)
		}
		if code, _, _ := shared.run(t, name+" --no-such-flag"); code != 2 && !slices.Contains(p.path, "hook") {
			t.Errorf("%s --no-such-flag exits %d, not 2", name, code)
		}
		if len(p.path) == 0 || elsewhere[p.path[0]] != "" {
			continue
		}
		b := shared
		if len(p.path) > 1 && slices.Contains([]string{"conflicts", "intents", "repos"}, p.path[0]) || p.path[0] == "handoff" {
			b = newBench(t) // what one example ends, another wants alive
		}
		for _, e := range p.examples {
			b.try(t, e)
		}
	}
}

// try runs one example, and once more for a program to read.
func (b *bench) try(t *testing.T, example string) {
	t.Helper()
	line, _, _ := strings.Cut(example, "  #")
	if slices.ContainsFunc(endless, func(s string) bool { return strings.HasPrefix(line, s) }) {
		return // the tests of each stop it
	}
	if strings.HasPrefix(line, "svc handoff") {
		line += " --yes"
	}
	line = strings.ReplaceAll(line, "EDITOR=vim", "EDITOR=true")
	line = strings.ReplaceAll(line, "http://127.0.0.1:7780", "$SVC_SERVER")
	if strings.Contains(line, "man -l") {
		line, _, _ = strings.Cut(line, " |")
	}
	line = strings.ReplaceAll(line, "> ~/", "> $HOME/x-")
	line = strings.ReplaceAll(line, "x-.local/share/bash-completion/completions/svc", "x-bash")
	line = strings.ReplaceAll(line, "x-.zfunc/_svc", "x-zsh")
	line = strings.ReplaceAll(line, "x-.config/fish/completions/svc.fish", "x-fish")
	mayRefuse := slices.ContainsFunc(no, func(s string) bool { return strings.HasPrefix(line, s) })
	code, out, errs := b.run(t, line)
	if code != 0 && !(mayRefuse && (code == 1 || strings.HasPrefix(line, "svc doctor") && code == 2)) {
		t.Errorf("%s: exit %d\n%s%s", example, code, out, errs)
	}
	words := strings.Fields(line)
	if strings.ContainsAny(line, "|>&<") || len(words) < 2 || slices.Contains(unspoken, words[1]) || strings.Contains(line, "--jq") ||
		strings.Contains(line, "--dry-run") {
		return
	}
	code, out, errs = b.run(t, line+" --json")
	if strings.TrimSpace(out) == "" && code == 0 || out != "" && !json.Valid([]byte(out)) {
		t.Errorf("%s --json: exit %d, not JSON: %s%s", line, code, out, errs)
	}
}
