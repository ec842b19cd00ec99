package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference anew")

// The pages in docs/reference say what the programs say of themselves.
func TestTheReferenceIsCurrent(t *testing.T) {
	for name, text := range map[string]string{
		"commands.md": commandPages(t),
		"settings.md": settingsPage(t),
	} {
		isCurrent(t, name, text)
	}
}

func isCurrent(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("../../docs/reference", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != text {
		t.Errorf("docs/reference/%s is not up to date (%v): go test ./internal/e2e -run Reference -update", name, err)
	}
}

const generated = "<!-- written by go test ./internal/e2e -run Reference -update -->\n\n"

// helpOf is what a program says about itself or a command.
func helpOf(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program(t, name), append(args, "--help")...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "COLUMNS=80"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v --help: %v\n%s", name, args, err, out)
	}
	return string(out)
}

var (
	subcommand  = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}\S`)
	globalFlags = regexp.MustCompile(`(?s)\n\nGlobal flags:\n.*`)
	inherits    = regexp.MustCompile(`(?s)\n\nRun 'svc.*`)
)

// commandPages is every command's own page of help, in the order of svc --help.
func commandPages(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Every command\n\n" + generated +
		"[commands.md](../commands.md) says which one to take. Flags that every command has are told first.\n")
	page := func(title, text string) {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n", title, strings.TrimSpace(text))
	}
	top := helpOf(t, "svc")
	page("svc", top)
	var walk func(path []string)
	walk = func(path []string) {
		text := helpOf(t, "svc", path...)
		page("svc "+strings.Join(path, " "), inherits.ReplaceAllString(globalFlags.ReplaceAllString(text, ""), ""))
		_, list, ok := strings.Cut(text, "\nCommands:\n")
		if !ok {
			return
		}
		list, _, _ = strings.Cut(list, "\n\n")
		for _, m := range subcommand.FindAllStringSubmatch(list, -1) {
			walk(append(append([]string{}, path...), m[1]))
		}
	}
	n := 0
	for _, m := range subcommand.FindAllStringSubmatch(top, -1) {
		walk([]string{m[1]})
		n++
	}
	if n < 30 {
		t.Errorf("only %d commands were found", n)
	}
	page("svcd", helpOf(t, "svcd"))
	return b.String()
}

var setting = regexp.MustCompile(`(?m)^  (--[a-z-]+) +(SVC_[A-Z_]+)\n +(.*)$`)

// settingsPage is what svcd serve can be told.
func settingsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Settings of the server\n\n" + generated + "What `svcd serve` takes, as a flag or as a variable; the flag wins. " +
		"[self-hosting.md](../self-hosting.md) says what they are for.\n\n| Flag | Variable | What it is |\n|---|---|---|\n")
	found := setting.FindAllStringSubmatch(helpOf(t, "svcd", "serve"), -1)
	for _, m := range found {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", m[1], m[2], strings.ReplaceAll(m[3], "|", `\|`))
	}
	if len(found) < 25 {
		t.Errorf("only %d settings were found", len(found))
	}
	return b.String()
}
