//go:build unix

package hosttest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The kinds of what a model does in a turn.
const (
	reads  = "read"  // with the host's tool, or cat
	edits  = "edit"  // with the host's tool: a text takes the place of another
	writes = "write" // the whole file, with the host's tool
	runs   = "run"   // a command
)

// A deed is what a model sets out to do in a turn.
type deed struct {
	kind     string
	file     string
	old, new string   // of an edit
	text     string   // of a write
	command  string   // of a command
	mark     string   // is in the file when it was done; or, if it begins with !, is not
	wanted   []string // what its author knows of the file afterwards
	again    func()   // plans the same once more, from what is known then
}

func (d deed) String() string {
	switch d.kind {
	case edits:
		return fmt.Sprintf("edit %s: %q to %q", d.file, d.old, d.new)
	case runs:
		return fmt.Sprintf("run %.160q", d.command)
	}
	return d.kind + " " + d.file + " " + d.mark
}

func (d deed) done(lines []string) bool {
	if gone, ok := strings.CutPrefix(d.mark, "!"); ok {
		return !slices.Contains(lines, gone)
	}
	return slices.Contains(lines, d.mark)
}

// apply is what the deed does to a file, whoever may be against it. It is false
// where it does nothing.
func (d deed) apply(t *testing.T, lines []string) (after []string, ok bool) {
	text := strings.Join(lines, "\n") + "\n"
	switch d.kind {
	case reads:
		return nil, false
	case edits:
		if strings.Count(text, d.old) != 1 {
			return nil, false
		}
		text = strings.Replace(text, d.old, d.new, 1)
	case writes:
		text = d.text
	case runs:
		dir := t.TempDir()
		name := filepath.Join(dir, d.file)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", d.command)
		cmd.Dir = dir
		if err := cmd.Run(); err != nil {
			return nil, false
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), true
}

// A mind is a model's: what it remembers of files, and what it is about to do.
type mind struct {
	name   string
	rng    *rand.Rand
	memory map[string][]string // files as it knows them
	told   map[string]bool     // lines that were there, or gone, when svc refused an edit
	plan   []func() deed
	turns  int
}

// decide says what the session does next.
func (m *mind) decide() deed {
	m.turns++
	if len(m.plan) > 0 {
		next := m.plan[0]
		m.plan = m.plan[1:]
		return next()
	}
	file := crowdFiles[m.rng.IntN(len(crowdFiles))]
	if m.memory[file] == nil || m.rng.IntN(100) < 30 {
		return deed{kind: reads, file: file}
	}
	way := ways[m.rng.IntN(len(ways))]
	if way == nil { // a far line first, then all of the file
		m.plan = append(m.plan, func() deed { return m.by(file, wholeWrite) })
		return m.by(file, toolEdit)
	}
	return m.by(file, way)
}

// A way makes a deed that changes what the model knows of a file as it wants to.
type way func(file string, known, wanted []string, at int) deed

// ways are drawn from with the same chance each; nil is the far edit first.
var ways = []way{toolEdit, toolEdit, toolEdit, wholeWrite, wholeWrite, heredoc, pythonWhole, pythonTriple, pythonReplace, sedPattern,
	sedLine, copyOver, nil, nil}

// by makes a change by one of the ways.
func (m *mind) by(file string, w way) deed {
	known := m.memory[file]
	if known == nil {
		return deed{kind: reads, file: file}
	}
	var at []int
	for i, l := range known {
		if strings.Contains(l, " = ") {
			at = append(at, i)
		}
	}
	i := at[m.rng.IntN(len(at))]
	token := fmt.Sprintf("%s-%02d-%d", m.name, m.turns, m.rng.IntN(1000))
	name, _, _ := strings.Cut(known[i], " = ")
	wanted, mark := slices.Clone(known), fmt.Sprintf("%s = %q", name, token)
	switch n := m.rng.IntN(100); {
	case n < 75:
		wanted[i] = mark
	case n < 93 || len(at) < 12:
		mark = fmt.Sprintf("    more_%s = %q", strings.ReplaceAll(token, "-", "_"), token)
		wanted = slices.Insert(wanted, i+1, mark)
	default:
		mark = "!" + known[i]
		wanted = slices.Delete(wanted, i, i+1)
	}
	d := w(file, known, wanted, i)
	d.file, d.mark, d.wanted = file, mark, wanted
	d.again = func() { m.plan = append(m.plan, func() deed { return m.by(file, w) }) }
	return d
}

func joined(lines []string) string { return strings.Join(lines, "\n") + "\n" }

// place is the lines around a change, before and after it: what an edit quotes.
func place(known, wanted []string, at int) (old, new string) {
	switch len(wanted) - len(known) {
	case 0:
		return known[at], wanted[at]
	case 1:
		return known[at], known[at] + "\n" + wanted[at+1]
	}
	return known[at] + "\n", ""
}

func toolEdit(_ string, known, wanted []string, at int) deed {
	old, new := place(known, wanted, at)
	return deed{kind: edits, old: old, new: new}
}

func wholeWrite(_ string, _, wanted []string, _ int) deed {
	return deed{kind: writes, text: joined(wanted)}
}

func heredoc(file string, _, wanted []string, _ int) deed {
	return deed{kind: runs, command: "cat > " + file + " <<'EOF'\n" + joined(wanted) + "EOF"}
}

func pythonWhole(file string, _, wanted []string, _ int) deed {
	text := strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(joined(wanted))
	return deed{kind: runs, command: `python3 -c 'open("` + file + `","w").write("` + text + `")'`}
}

func pythonTriple(file string, _, wanted []string, _ int) deed {
	return deed{kind: runs, command: "python3 - <<'EOF'\nfrom pathlib import Path\ntext = '''" + joined(wanted) +
		"'''\nPath('" + file + "').write_text(text)\nEOF"}
}

func pythonReplace(file string, known, wanted []string, at int) deed {
	old, new := place(known, wanted, at)
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "\n", `\n`) + "'" }
	return deed{kind: runs, command: `python3 - <<'EOF'
p = '` + file + `'
s = open(p).read()
s = s.replace(` + quote(old) + ", " + quote(new) + `)
open(p, 'w').write(s)
EOF`}
}

// sedPattern changes a line by its name, whatever its value is by now.
func sedPattern(file string, known, wanted []string, at int) deed {
	name, _, _ := strings.Cut(strings.TrimSpace(known[at]), " = ")
	switch len(wanted) - len(known) {
	case 0:
		return deed{kind: runs, command: "sed -i 's/" + name + " = .*/" + strings.TrimSpace(wanted[at]) + "/' " + file}
	case 1:
		return deed{kind: runs, command: "sed -i '/" + name + " = /a\\" + wanted[at+1] + "' " + file}
	}
	return deed{kind: runs, command: "sed -i '/" + name + " = /d' " + file}
}

// sedLine changes a line by its number, whatever it is by now.
func sedLine(file string, known, wanted []string, at int) deed {
	switch len(wanted) - len(known) {
	case 0:
		return deed{kind: runs, command: fmt.Sprintf("sed -i '%ds/.*/%s/' %s", at+1, wanted[at], file)}
	case 1:
		return deed{kind: runs, command: fmt.Sprintf("sed -i '%da\\%s' %s", at+1, wanted[at+1], file)}
	}
	return deed{kind: runs, command: fmt.Sprintf("sed -i '%dd' %s", at+1, file)}
}

// copyOver writes the file beside it first, as a careful script does.
func copyOver(file string, _, wanted []string, _ int) deed {
	return deed{kind: runs, command: "cat > " + file + ".new <<'EOF'\n" + joined(wanted) + "EOF\nmv " + file + ".new " + file}
}

// learn is what the model makes of a turn: it knows what it read or wrote, and
// nothing of what else changed.
func (m *mind) learn(d deed, after []string, done, refused bool) {
	read := func() deed { return deed{kind: reads, file: d.file} }
	switch {
	case d.kind == reads:
		m.memory[d.file] = slices.Clone(after)
	case done:
		m.memory[d.file] = d.wanted
	case refused && m.rng.IntN(100) < 15: // it will not listen
		m.plan = slices.Insert(m.plan, 0, func() deed { return d })
	default: // refused, or its text is not there any more: it looks, and tries again
		rest := m.plan
		m.plan = []func() deed{read}
		if d.again != nil {
			d.again()
		}
		m.plan = append(m.plan, rest...)
	}
}
