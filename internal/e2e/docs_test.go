package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page is a Markdown file of the repository, without its code blocks.
type page struct {
	name   string
	prose  string
	blocks []block
	anchor map[string]bool
}

// A block is a fenced one; info is what follows the fence.
type block struct {
	line       int
	info, text string
}

func pages(t *testing.T) (all []page) {
	t.Helper()
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-co", "--exclude-standard", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if strings.Contains(name, "testdata/") || strings.HasPrefix(name, "web/node_modules/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) { // deleted in the working copy
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, readPage(name, string(text)))
	}
	return all
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)

func readPage(name, text string) page {
	p := page{name: name, anchor: map[string]bool{}}
	var prose strings.Builder
	var open *block
	n := 0
	for line := range strings.Lines(text) {
		n++
		fence := strings.TrimSpace(line)
		switch {
		case open == nil && strings.HasPrefix(fence, "```"):
			open = &block{line: n, info: strings.TrimPrefix(fence, "```")}
		case open != nil && fence == "```":
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.text += strings.TrimPrefix(line, "   ") // in a list
		default:
			prose.WriteString(line)
			if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
				slug := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
				p.anchor[strings.ReplaceAll(slug, " ", "-")] = true
			}
		}
	}
	p.prose = prose.String()
	return p
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksOfTheDocumentationLeadSomewhere(t *testing.T) {
	all := pages(t)
	byName := map[string]page{}
	for _, p := range all {
		byName[p.name] = p
	}
	seen := 0
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.prose, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			seen++
			file := filepath.ToSlash(filepath.Join(filepath.Dir(p.name), target))
			if target == "" {
				file = p.name
			}
			if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
				t.Errorf("%s links to %s, which is not there", p.name, m[1])
			} else if other, ok := byName[file]; ok && anchor != "" && !other.anchor[anchor] {
				t.Errorf("%s links to %s, which has no such heading", p.name, m[1])
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d links were found", seen)
	}
}

// words is what the programs know: commands with the text of their help.
func words(t *testing.T) map[string]string {
	t.Helper()
	known := map[string]string{}
	help := func(name string, args ...string) string {
		out, err := exec.Command(program(t, name), args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	command := regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}\S`)
	for _, name := range []string{"svc", "svcd"} {
		known[name] = help(name, "--help")
		for _, m := range command.FindAllStringSubmatch(known[name], -1) {
			full := name + " " + m[1]
			switch m[1] {
			case "help", "version", "openapi":
				known[full] = ""
			default:
				known[full] = help(name, m[1], "--help")
			}
		}
	}
	if len(known) < 25 {
		t.Fatalf("only %d commands were found", len(known))
	}
	return known
}

var (
	code     = regexp.MustCompile("`([^`\n]+)`")
	flagWord = regexp.MustCompile(`(?:^|[\s\[(])--([a-z][a-z-]+)`)
	variable = regexp.MustCompile(`\bSVC_[A-Z_]+[A-Z]\b`)
	ownPath  = regexp.MustCompile(`^(?:internal|cmd|docs|web|packaging|\.ci|\.github)/[\w./-]+$`)
	ownCall  = regexp.MustCompile(`(?:^|[\s(|;&])(?:bin/)?(svcd?) +(.*)`)
	target   = regexp.MustCompile(`^make ((?:[a-z-]+ ?)+)`)
)

// Whoever reads a command, flag, variable, target or file in the documentation
// must find it.
func TestTheDocumentationNamesWhatIsThere(t *testing.T) {
	known := words(t)
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	sources := allSources(t)
	for _, p := range pages(t) {
		wrong := func(format string, args ...any) { t.Errorf("%s: %s", p.name, fmt.Sprintf(format, args...)) }
		history := p.name == "docs/decisions.md" || p.name == "CHANGELOG.md"
		texts := []string{}
		for _, m := range code.FindAllStringSubmatch(p.prose, -1) {
			texts = append(texts, m[1])
		}
		for _, b := range p.blocks {
			if strings.HasPrefix(b.info, "sh") {
				texts = append(texts, strings.Split(strings.ReplaceAll(b.text, "\\\n", " "), "\n")...)
			}
		}
		for _, text := range texts {
			text, _, _ = strings.Cut(text, " #")
			checkCall(known, text, wrong)
			if m := target.FindStringSubmatch(text); m != nil && !history {
				for word := range strings.FieldsSeq(m[1]) {
					if !strings.Contains(string(makefile), "\n"+word+":") {
						wrong("there is no make %s", word)
					}
				}
			}
			others := strings.HasPrefix(p.name, "docs/lab/") || strings.HasPrefix(p.name, "docs/hosts/") // which name files of others
			if ownPath.MatchString(text) && !history && !others {
				if matches, _ := filepath.Glob(filepath.Join("../..", text)); len(matches) == 0 {
					wrong("there is no %s", text)
				}
			}
		}
		for _, v := range variable.FindAllString(p.prose+strings.Join(texts, "\n"), -1) {
			if !strings.Contains(sources, v) {
				wrong("nothing reads %s", v)
			}
		}
	}
}

// checkCall checks a line that calls svc or svcd.
func checkCall(known map[string]string, text string, wrong func(string, ...any)) {
	m := ownCall.FindStringSubmatch(text)
	if m == nil {
		return
	}
	rest := m[2]
	if i := strings.IndexAny(rest, "|;&<>"); i >= 0 {
		rest = rest[:i]
	}
	name, help := m[1], known[m[1]]
	if first, _, _ := strings.Cut(rest, " "); regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(first) {
		var ok bool
		if help, ok = known[name+" "+first]; !ok {
			wrong("there is no command %s %s (in %q)", name, first, text)
			return
		}
		name += " " + first
	}
	for _, f := range flagWord.FindAllStringSubmatch(rest, -1) {
		if f[1] != "help" && !strings.Contains(help, "--"+f[1]) && !strings.Contains(known["svc"], "--"+f[1]) {
			wrong("%s has no flag --%s (in %q)", name, f[1], text)
		}
	}
}

// allSources is the text of everything that may read a variable.
func allSources(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for name := range strings.FieldsSeq(string(out)) {
		readers := []string{".go", ".sh", ".js", ".mjs", ".ts", ".tsx", ".yaml", ""}
		if !slices.Contains(readers, filepath.Ext(name)) || strings.HasSuffix(name, "docs_test.go") {
			continue
		}
		if text, err := os.ReadFile(filepath.Join("../..", name)); err == nil {
			all.Write(text)
		}
	}
	return all.String()
}

// Blocks marked "sh runnable" run as they stand, in a clone of somebody who
// has svc and git and nothing else.
func TestRunnableBlocksRun(t *testing.T) {
	ran := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.info != "sh runnable" {
				continue
			}
			ran++
			t.Run(fmt.Sprintf("%s:%d", p.name, b.line), func(t *testing.T) {
				l := newLaptop(t)
				out, err := l.try("", "/bin/sh", "-euc", b.text)
				if err != nil {
					t.Errorf("%v\n%s\nsaid\n%s", err, b.text, out)
				}
			})
		}
	}
	if ran == 0 {
		t.Error("no block is marked sh runnable")
	}
}
