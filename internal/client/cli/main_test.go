package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/svc-hq/svc/internal/client/cli"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/peertext/corpus"
)

// A run is one call of the client in a world of its own.
type run struct {
	env    map[string]string
	stdin  string
	term   term.Terminal
	dir    string
	keys   selfupdate.Keys
	now    time.Time
	opened []string
}

func (r *run) svc(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	if r.env["SVC_CONFIG_DIR"] == "" {
		if r.env == nil {
			r.env = map[string]string{}
		}
		r.env["SVC_CONFIG_DIR"] = t.TempDir()
	}
	if r.dir == "" {
		r.dir = t.TempDir()
	}
	if r.now.IsZero() {
		r.now = time.Now()
	}
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), &cli.Env{
		Screen: term.Screen{
			Stdin: strings.NewReader(r.stdin), Stdout: &out, Stderr: &errs, Getenv: func(k string) string { return r.env[k] },
			Now: func() time.Time { return r.now }, Terminal: r.term,
		},
		ReleaseKeys: r.keys, Dir: r.dir, Hostname: "test",
		OpenBrowser: func(a string) error { r.opened = append(r.opened, a); return nil },
	}, args)
	return code, out.String(), errs.String()
}

func TestExitCodes(t *testing.T) {
	c := newContract(t)
	server := map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken}
	nobody := map[string]string{"SVC_SERVER": "http://127.0.0.1:1"}
	for _, tt := range []struct {
		name string
		env  map[string]string
		args string
		want int
	}{
		{"success", server, "whoami", term.ExitOK},
		{"help", nobody, "help", term.ExitOK},
		{"version", nobody, "--version", term.ExitOK},
		{"not logged in", nobody, "whoami", term.ExitNotLoggedIn},
		{"no server", map[string]string{"SVC_SERVER": "http://127.0.0.1:1", "SVC_TOKEN": aliceToken}, "whoami", term.ExitUnreachable},
		{
			"a token that is not taken",
			map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": "svc_" + strings.Repeat("x", 43)},
			"whoami",
			term.ExitNotLoggedIn,
		},
		{"a status that is none", server, "intents --status sideways", term.ExitUsage},
		{"status of nobody", nobody, "status", term.ExitNotLoggedIn},
		{"unknown command", server, "frobnicate", term.ExitUsage},
		{"unknown flag", server, "whoami --frob", term.ExitUsage},
		{"unknown help topic", server, "help frobnicate", term.ExitUsage},
		{"too many arguments", server, "whoami x", term.ExitUsage},
		{"too few arguments", server, "handoff", term.ExitUsage},
		{"a bad ref", server, "conflicts show x", term.ExitUsage},
		{"an unknown subcommand", server, "conflicts shwo", term.ExitUsage},
		{"doctor with failures", nobody, "doctor", 2},
		{"doctor with warnings", server, "doctor", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run{env: map[string]string{}}
			for k, v := range tt.env {
				r.env[k] = v
			}
			if code, out, errs := r.svc(t, strings.Fields(tt.args)...); code != tt.want {
				t.Errorf("exit %d, want %d\n%s%s", code, tt.want, out, errs)
			}
		})
	}
}

func TestHowLongAgo(t *testing.T) {
	c := newContract(t)
	for after, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", time.Minute: "1m ago", 59*time.Minute + 59*time.Second: "59m ago",
		time.Hour: "1h ago", 47 * time.Hour: "47h ago", 48 * time.Hour: "2d ago",
	} {
		r := run{env: map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken}, now: daysAgo.Std().Add(after)}
		if _, out, errs := r.svc(t, "intents"); !strings.Contains(out, " "+want+" ") {
			t.Errorf("%s later it does not say %q:\n%s%s", after, want, out, errs)
		}
	}
}

// Every page fits a terminal of 80 columns and shows an example.
func TestHelpPages(t *testing.T) {
	var r run
	pages := [][]string{{}}
	for i := 0; i < len(pages); i++ {
		code, out, errs := r.svc(t, append(append([]string{}, pages[i]...), "--help")...)
		if code != 0 {
			t.Fatalf("%v --help: exit %d: %s", pages[i], code, errs)
		}
		if !strings.Contains(out, "\nExamples:\n") || !strings.Contains(out, "\nUsage:\n  svc") {
			t.Errorf("svc %s has no example or usage:\n%s", strings.Join(pages[i], " "), out)
		}
		for line := range strings.Lines(out) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("svc %s: %d columns: %s", strings.Join(pages[i], " "), n, line)
			}
		}
		for _, sub := range subcommands(out) {
			pages = append(pages, append(append([]string{}, pages[i]...), sub))
		}
	}
	if len(pages) < 20 {
		t.Errorf("only %d pages found", len(pages))
	}
}

// subcommands reads the names of a page's commands.
func subcommands(page string) (names []string) {
	listing := false
	for line := range strings.Lines(page) {
		switch {
		case !strings.HasPrefix(line, " "):
			head := strings.TrimSpace(line)
			listing = strings.HasSuffix(head, ":") && head != "Usage:" && head != "Examples:" && !strings.HasSuffix(head, "lags:")
		case listing:
			names = append(names, strings.Fields(line)[0])
		}
	}
	return names
}

func TestAHandoffIsConfirmedInATerminal(t *testing.T) {
	c := newContract(t)
	for _, tt := range []struct {
		name, answer string
		args         []string
		want         int
	}{
		{"yes", "y\n", nil, term.ExitOK},
		{"no", "n\n", nil, term.ExitCancelled},
		{"just return", "\n", nil, term.ExitCancelled},
		{"the input ends", "", nil, term.ExitCancelled},
		{"--yes asks nothing", "", []string{"--yes"}, term.ExitOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run{
				env:   map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken},
				stdin: tt.answer,
				term:  term.Terminal{In: true, Err: true},
			}
			code, _, errs := r.svc(t, append([]string{"handoff", "bob@example.com", "--intent", "INT-1"}, tt.args...)...)
			if code != tt.want {
				t.Errorf("exit %d: %s", code, errs)
			}
			if asked := strings.Contains(errs, "Hand INT-1 (Rework login) to bob@example.com? [y/N]"); asked != (tt.args == nil) {
				t.Errorf("stderr = %s", errs)
			}
		})
	}
}

func TestTerminalsGetColourUnlessTheyDoNotWantIt(t *testing.T) {
	c := newContract(t)
	for _, tt := range []struct {
		name string
		term term.Terminal
		env  [2]string
		want bool
	}{
		{"a terminal", term.Terminal{Out: true}, [2]string{}, true},
		{"a pipe", term.Terminal{}, [2]string{}, false},
		{"NO_COLOR", term.Terminal{Out: true}, [2]string{"NO_COLOR", "1"}, false},
		{"a dumb terminal", term.Terminal{Out: true}, [2]string{"TERM", "dumb"}, false},
	} {
		r := run{env: map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, tt.env[0]: tt.env[1]}, term: tt.term}
		if _, out, _ := r.svc(t, "status"); strings.Contains(out, "\x1b[") != tt.want {
			t.Errorf("%s: %q", tt.name, out)
		}
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	c := newContract(t)
	r := run{
		env:  map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, "NO_COLOR": "1"},
		term: term.Terminal{Out: true, Columns: 40},
	}
	_, out, _ := r.svc(t, "conflicts")
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimSpace(line))); n > 40 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestAWideTerminalShowsAQRCode(t *testing.T) {
	c := newContract(t)
	c.set(func() { c.device = "approved" })
	for columns, want := range map[int]bool{80: false, 120: true} {
		r := run{env: map[string]string{"SVC_SERVER": c.URL, "NO_COLOR": "1"}, term: term.Terminal{Out: true, Err: true, Columns: columns}}
		_, _, errs := r.svc(t, "login")
		if strings.Contains(errs, "▀") != want {
			t.Errorf("%d columns: %s", columns, errs)
		}
		if len(r.opened) != 1 || r.opened[0] != c.URL+"/device" {
			t.Errorf("opened %v", r.opened)
		}
	}
}

// On a terminal the status is drawn over itself, with what just happened.
func TestStatusFollowsOnATerminal(t *testing.T) {
	c := newContract(t)
	r := run{
		env:  map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, "NO_COLOR": "1"},
		term: term.Terminal{Out: true, Columns: 100},
	}
	_, out, errs := r.svc(t, "status", "--watch")
	frames := strings.Split(out, "\x1b[H")
	if len(frames) < 3 || frames[0] != "" {
		t.Fatalf("%d frames in %q, %s", len(frames)-1, out, errs)
	}
	for _, f := range frames[1:] {
		if !strings.Contains(f, "Alice Ash at Acme") || !strings.HasSuffix(f, "\x1b[J") {
			t.Errorf("a frame is %q", f)
		}
		if strings.Count(f, "\n") != strings.Count(f, "\x1b[K\n") {
			t.Errorf("a line does not clear what was there: %q", f)
		}
	}
	if f := frames[len(frames)-1]; !strings.Contains(f, "Just now") || !strings.Contains(f, "CF-3") {
		t.Errorf("the last frame tells no news: %q", f)
	}
	if strings.Contains(frames[1], "Just now") {
		t.Error("the first frame tells news already")
	}
}

// Whatever a teammate wrote, and wherever, it can neither steer the terminal
// nor pass for our own lines.
func TestHostileTextIsTamedInTheTerminal(t *testing.T) {
	if testing.Short() {
		return // make test shows every hostile text
	}
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	c := newContract(t)
	for _, tt := range cases {
		c.hostile = append(c.hostile, tt.Text)
	}
	r := run{env: map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken}}
	for _, args := range []string{"intents", "messages", "conflicts show CF-3", "status", "messages --json", "intents --json"} {
		code, out, errs := r.svc(t, strings.Fields(args)...)
		if code != 0 {
			t.Fatalf("svc %s: exit %d: %s", args, code, errs)
		}
		if err := corpus.Hidden(out); err != nil {
			t.Fatalf("svc %s prints it: %v", args, err)
		}
		if args != "messages" {
			continue
		}
		ours := 0
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "  │ ") {
				ours++
			}
		}
		if ours != len(cases) {
			t.Errorf("%d lines pass for ours, want one for each of %d messages", ours, len(cases))
		}
	}
}

func TestInitAsksWhichHosts(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		args         []string
		want         int
		file         string // that is there afterwards
	}{
		{"by name", "cursor\n", nil, term.ExitOK, ".cursor/hooks.json"},
		{"by number", "1\n", nil, term.ExitOK, ".claude/settings.json"},
		{"stopped", "q\n", nil, term.ExitCancelled, ""},
		{"the input ends", "", nil, term.ExitCancelled, ""},
		{"what was found", "\n", nil, term.ExitOK, ".gemini/settings.json"},
		{"a host that is not there", "emacs\n", nil, term.ExitUsage, ""},
		{"--yes asks nothing", "", []string{"--yes"}, term.ExitOK, ".claude/settings.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, repo := t.TempDir(), t.TempDir()
			t.Setenv("PATH", t.TempDir()) // hosts of this machine do not count
			if err := os.CopyFS(home, fstest.MapFS{".gemini/settings.json": {Data: []byte("{}")}}); err != nil {
				t.Fatal(err)
			}
			r := run{env: map[string]string{"HOME": home}, dir: repo, stdin: tt.answer, term: term.Terminal{In: true, Err: true}}
			code, out, errs := r.svc(t, append([]string{"init"}, tt.args...)...)
			if code != tt.want {
				t.Fatalf("exit %d: %s%s", code, out, errs)
			}
			if asked := strings.Contains(errs, "[x] gemini"); asked != (tt.args == nil) {
				t.Errorf("stderr = %s", errs)
			}
			files, _ := os.ReadDir(repo)
			if tt.file == "" && len(files) > 0 {
				t.Errorf("files were written: %v", files)
			}
			if _, err := os.Stat(filepath.Join(repo, tt.file)); tt.file != "" && err != nil {
				t.Error(err)
			}
		})
	}
}
