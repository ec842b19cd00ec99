package setup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/setup"
)

const hostsPage = "../../../docs/hosts.md"

// Every host has a page, docs/hosts/ID.md, made of the rows that we work by, of
// what docs/hosts.md says about it, and of what was seen with the real one.
func TestEveryHostHasItsPage(t *testing.T) {
	data, err := os.ReadFile(hostsPage)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(hostsPage), "hosts")
	want := map[string]bool{}
	for _, h := range host.All() {
		text := hostPage(t, h, string(data))
		file := filepath.Join(dir, h.ID+".md")
		want[filepath.Base(file)] = true
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("docs/hosts/%s.md is not up to date (%v): go test ./internal/client/setup -run Page -update", h.ID, err)
		}
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if !want[f.Name()] {
			t.Errorf("docs/hosts/%s is about no host of ours", f.Name())
		}
	}
}

// written lists what svc init writes for a host.
func written(t *testing.T, h *host.Host, user bool) (names []string) {
	t.Helper()
	root := t.TempDir()
	o := setup.Options{Root: root, Hosts: []string{h.ID}, Plugin: host.Plugin, User: user}
	if user {
		o.Home = root
	}
	c, err := setup.Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Files {
		names = append(names, "`"+strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(f.Path, root)), "/")+"`")
	}
	return names
}

func hostPage(t *testing.T, h *host.Host, all string) string {
	t.Helper()
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	say("# %s\n\n<!-- written by go test ./internal/client/setup -run Page -update -->\n\n", h.Name)
	say("## Set up\n\n```sh\nsvc init --tools %s\n```\n\n"+
		"writes %s into the repository, beside what is there; `svc init --remove` takes it out.\n",
		h.ID, strings.Join(written(t, h, false), ", "))
	if note := setup.Notes(h.ID, false); !strings.HasSuffix(note, ": ") {
		_, note, _ = strings.Cut(note, ": ")
		say("Then: %s.\n", strings.TrimSuffix(note, "."))
	}
	if slices.Contains(setup.UserHosts(), h.ID) {
		say("\n`svc up`, or `svc init --user --tools %s`, writes %s in your home folder instead, for every folder that it is started in.\n",
			h.ID, strings.Join(written(t, h, true), ", "))
		if _, note, ok := strings.Cut(setup.UserNotes(h.ID), ": "); ok {
			say("Then: %s.\n", strings.TrimSuffix(note, "."))
		}
	} else {
		say("\nIt has no hooks that hold for every folder, so `svc up` writes none: run `svc init` in each repository.\n")
	}
	if home := setup.HomeFiles([]string{h.ID}); len(home) > 0 {
		say("With `svc init --home` also `%s`, where it keeps its tool servers.\n", strings.Join(home, "`, `"))
	}
	moments := map[host.Moment]bool{}
	for name, e := range h.Events {
		moments[e.At] = moments[e.At] || !slices.Contains(h.Apart, name)
	}
	say("\n## What works\n\n| | |\n|---|---|\n")
	row := func(what string, yes bool, no string) {
		if yes {
			no = "yes"
		}
		say("| %s | %s |\n", what, no)
	}
	row("a session is known from its start", moments[host.SessionStart], "from its first event")
	row("its end is known", moments[host.SessionEnd], "no: it ends when it is idle")
	row("an edit is checked before it happens", moments[host.BeforeTool], "no")
	row("a shell command is read before it runs", moments[host.BeforeTool] && len(h.Shells) > 0, "no")
	row("what was edited is told afterwards", moments[host.AfterTool], "no")
	row("warnings with the edit", slices.Contains(h.Takes, host.BeforeTool) || slices.Contains(h.Takes, host.AfterTool),
		"at another moment, or through the tools only")
	row("messages of teammates without asking", len(h.Takes) > 0, "no: through the tools only")
	say("\nIt shows the model what svc says at: %s.\n", shown(h))
	if about := paragraph(all, h.Name); about != "" {
		say("\n## What to know\n\n%s\n", about)
	}
	say("\n## Seen\n\n%s", seen(all, h.Name))
	say("\n[All hosts](../hosts.md)\n")
	return b.String()
}

func shown(h *host.Host) string {
	if len(h.Takes) == 0 {
		return "no moment"
	}
	var list []string
	for _, m := range h.Takes {
		list = append(list, string(m))
	}
	return strings.Join(list, ", ")
}

// paragraph is what docs/hosts.md says about a host.
func paragraph(all, name string) string {
	for p := range strings.SplitSeq(all, "\n\n") {
		if who, text, ok := strings.Cut(strings.TrimPrefix(p, "**"), ".** "); ok && strings.HasPrefix(p, "**") &&
			slices.Contains(strings.Split(who, ", "), name) {
			return text
		}
	}
	return ""
}

// seen are a host's rows of what make test-hosts wrote down.
func seen(all, name string) string {
	var b strings.Builder
	for _, table := range []string{"seen", "scenes", "words"} {
		_, rest, _ := strings.Cut(all, "<!-- "+table+":begin")
		rest, _, _ = strings.Cut(rest, "<!-- "+table+":end")
		lines := strings.Split(rest, "\n")
		for _, l := range lines {
			if strings.HasPrefix(l, "| "+name+" |") {
				heads, cells := strings.Split(lines[1], "|"), strings.Split(l, "|")
				for i := 2; i < len(cells)-1 && i < len(heads); i++ {
					row := fmt.Sprintf("| %s | %s |\n", strings.TrimSpace(heads[i]), strings.TrimSpace(cells[i]))
					if !strings.Contains(b.String(), row) { // its version is in each
						b.WriteString(row)
					}
				}
			}
		}
	}
	if b.Len() == 0 {
		return "Tested with payloads captured from it; `make test-hosts` does not run it, see [the matrix](../hosts.md#seen-with-real-hosts).\n"
	}
	return "With the real host, a scripted model and a real service (`make test-hosts`):\n\n| | |\n|---|---|\n" + b.String()
}
