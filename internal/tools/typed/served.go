package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// A language is one whose server finds what a name means, and whose checker
// judges a whole tree.
type language struct {
	id, ending string
	server     func(tools string) []string
	check      func(tools, dir string) *exec.Cmd
	fault      *regexp.Regexp // file and words of a line of the checker
	parameter  string         // one more
	member     string         // of an interface
}

// tsc prints what the compiler has to say of a project's files. The program of
// that name looks at none where types of a package are missing that a setting
// names.
const tsc = `const ts = require(process.argv[1])
const cfg = ts.getParsedCommandLineOfConfigFile("tsconfig.json", {noEmit: true, skipLibCheck: true, types: []},
  {...ts.sys, onUnRecoverableConfigFileDiagnostic() {}})
if (!cfg) process.exit(1)
const p = ts.createProgram(cfg.fileNames, cfg.options)
for (const d of [...p.getSyntacticDiagnostics(), ...p.getSemanticDiagnostics()]) if (d.file) {
  const at = d.file.getLineAndCharacterOfPosition(d.start)
  console.log(require("path").relative(".", d.file.fileName) + "(" + (at.line + 1) + ",1): error TS" + d.code + ": " +
    ts.flattenDiagnosticMessageText(d.messageText, " ").split("\n").join(" "))
}`

var languages = map[string]language{
	"typescript": {id: "typescript", ending: ".ts",
		server: func(tools string) []string {
			return []string{"node", filepath.Join(tools, "node_modules/typescript-language-server/lib/cli.mjs"), "--stdio"}
		},
		check: func(tools, _ string) *exec.Cmd {
			return exec.Command("node", "-e", tsc, filepath.Join(tools, "node_modules/typescript/lib/typescript.js"))
		},
		fault: regexp.MustCompile(`(?m)^(\S.*?)\(\d+,\d+\): (error .*)$`), parameter: "extra77: number", member: "extra77(): void\n"},
	"python": {id: "python", ending: ".py",
		server: func(tools string) []string {
			return []string{"node", filepath.Join(tools, "node_modules/pyright/langserver.index.js"), "--stdio"}
		},
		check: func(tools, dir string) *exec.Cmd {
			return exec.Command("node", filepath.Join(tools, "node_modules/pyright/index.js"), "-p", dir)
		},
		fault: regexp.MustCompile(`(?m)^\s*(\S.*?):\d+:\d+ - (error: .*)$`), parameter: "extra77: int"},
	"c": {id: "c", ending: ".c",
		server: func(string) []string { return []string{"clangd", "--log=error"} },
		check: func(_, dir string) *exec.Cmd {
			return exec.Command("sh", "-c",
				`for f in $(find . -name '*.c'); do cc -fsyntax-only -I. -Iinclude -Isrc "$f" 2>&1; done; true`)
		},
		fault: regexp.MustCompile(`(?m)^(\S.*?):\d+:\d+: ((?:fatal )?error: .*)$`), parameter: "int extra77"},
}

// A served draw judges by a language server and a checker.
type served struct {
	*draw
	language
	tools       string          // where the checker and the server are installed
	base, trees string          // folders: what the server sees, and what is checked
	there       map[string]tree // what the folders hold
	known       map[string]map[string]int
}

func newServed(d *draw, name, tools string) (*served, error) {
	l, ok := languages[name]
	if !ok {
		return nil, fmt.Errorf("no language %q", name)
	}
	tools, err := filepath.Abs(tools)
	s := &served{draw: d, language: l, tools: tools, base: filepath.Join(d.dir, "base"), trees: filepath.Join(d.dir, "tree"),
		there: map[string]tree{}, known: map[string]map[string]int{}}
	return s, errors.Join(err, os.MkdirAll(s.base, 0o700), os.MkdirAll(s.trees, 0o700))
}

// read tells the files that a checker may read.
func (s *served) read(name string) bool {
	switch path.Ext(name) {
	case ".ts", ".tsx", ".mts", ".cts", ".py", ".pyi", ".c", ".h", ".toml", ".cfg":
		return true
	}
	return strings.Contains(path.Base(name), "config") && path.Ext(name) == ".json" || path.Base(name) == "package.json"
}

// unpack makes a folder hold what is read of a tree.
func (s *served) unpack(dir, id string) error {
	files, err := s.some(id, s.read)
	if err != nil {
		return err
	}
	had := s.there[dir]
	for name := range had {
		if _, ok := files[name]; !ok {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
	s.there[dir] = files
	for name, text := range files {
		if old, ok := had[name]; ok && bytes.Equal(old, text) {
			continue
		}
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, text, 0o600)); err != nil {
			return err
		}
	}
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Lstat(modules); err != nil {
		return os.Symlink(filepath.Join(s.tools, "node_modules"), modules)
	}
	return nil
}

// faults are what the checker says of a tree, each with how often. Lines are
// left out: they move.
func (s *served) faults(tree string) (map[string]int, error) {
	if f, ok := s.known[tree]; ok {
		return f, nil
	}
	if err := s.unpack(s.trees, tree); err != nil {
		return nil, err
	}
	cmd := s.check(s.tools, s.trees)
	cmd.Dir = s.trees
	out, _ := cmd.Output() // it fails where it finds something
	found := map[string]int{}
	for _, m := range s.fault.FindAllStringSubmatch(string(out), -1) {
		found[strings.TrimPrefix(m[1], s.trees+"/")+": "+m[2]]++
	}
	s.known[tree] = found
	return found, nil
}

// news are the faults of a tree that none of others has so often.
func news(of map[string]int, others ...map[string]int) (out []string) {
	for f, n := range of {
		if !slices.ContainsFunc(others, func(o map[string]int) bool { return o[f] >= n }) {
			out = append(out, f)
		}
	}
	sort.Strings(out)
	return out
}

// beside draws changes for the parent of a commit, and judges them.
func (s *served) beside(b string) error {
	base, err := s.git("", "rev-parse", "--verify", "-q", b+"^")
	if err != nil {
		return nil // the first
	}
	words, err := s.added(base, b, "*"+s.ending)
	if err != nil || len(words) == 0 {
		return err
	}
	if err := s.unpack(s.base, base); err != nil {
		return err
	}
	server, err := startSession(s.base, s.server(s.tools))
	if err != nil {
		return err
	}
	defer server.close()
	drawn, err := s.definitions(server, base, words)
	if err != nil {
		return err
	}
	s.chance.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	for n := range drawn {
		if n == perCommit {
			break
		}
		if err := s.judge(server, base, b, &drawn[n]); err != nil {
			return err
		}
	}
	return nil
}

// maxLooked is how many words of a commit, and files that have one, are looked at.
const maxLooked = 12

// definitions are those of the base that go by one of the words.
func (s *served) definitions(server *session, base string, words map[string]bool) (out []symbol, err error) {
	var all []string
	for w := range words {
		if len(w) > 2 && (w[0] < '0' || w[0] > '9') {
			all = append(all, w)
		}
	}
	sort.Strings(all)
	s.chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	looked := map[string]bool{}
	for _, w := range all[:min(len(all), maxLooked)] {
		list, err := s.git("", "grep", "-lwF", "-e", w, base, "--", "*"+s.ending)
		if err != nil {
			continue // nobody has it
		}
		for i, line := range strings.Fields(list) {
			file := strings.TrimPrefix(line, base+":")
			if i == maxLooked || looked[file] || isTest(file) {
				continue
			}
			looked[file] = true
			if err := server.open(file, s.id); err != nil {
				return nil, err
			}
			syms, err := server.symbols(file)
			if err != nil {
				return nil, err
			}
			for _, sym := range syms {
				if words[sym.Name] && len(sym.Name) > 2 && sym.Kind != kindModule {
					out = append(out, sym)
				}
			}
		}
	}
	return out, nil
}

func isTest(file string) bool {
	return strings.Contains(file, "test") || strings.Contains(path.Base(file), "spec")
}

// judge makes a change of one definition and asks the checker.
func (s *served) judge(server *session, base, b string, sym *symbol) error {
	what, edits, err := s.change(server, sym)
	if err != nil || len(edits) == 0 {
		return nil // the server does not know how
	}
	files, err := s.apply(edits)
	if err != nil || len(files) == 0 {
		return nil // it reaches what is not of the repository
	}
	a, err := s.commit(base, files)
	if err != nil {
		return err
	}
	out, err := s.git("", "merge-tree", "--write-tree", a, b)
	if err != nil {
		return nil // git stops, and says more
	}
	var said [4]map[string]int
	for i, tree := range []string{base, a, b, strings.Fields(out)[0]} {
		if said[i], err = s.faults(tree); err != nil {
			return err
		}
		if i == 1 && len(news(said[1], said[0])) > 0 {
			return nil // not all uses could be adapted
		}
	}
	p := pair{base: base, a: a, b: b, what: what}
	if faults := news(said[3], said[1], said[2]); len(faults) > 0 {
		p.breaks, p.why = true, faults[0]
	}
	s.take(p)
	fmt.Fprintf(os.Stderr, "%s beside %.10s: breaks %v; %d and %d so far\n", what, b, p.breaks, s.have(true), s.have(false))
	return nil
}

// change is what A does to a definition.
func (s *served) change(server *session, sym *symbol) (string, []textEdit, error) {
	name := sym.file + "#" + sym.Name
	kind := s.chance.IntN(3)
	switch {
	case kind == 0 && sym.Kind == kindInterface && s.member != "":
		end := sym.Range.End
		end.Character--
		return "a member for " + name, []textEdit{{sym.file, span{end, end}, s.member}}, nil
	case kind < 2 && (sym.Kind == kindFunction || sym.Kind == kindMethod):
		edits, err := s.grow(server, sym)
		return "a parameter for " + name, edits, err
	}
	edits, err := server.rename(sym, sym.Name+"77")
	return "another name for " + name, edits, err
}

// grow gives a function one parameter more, and every call an argument.
func (s *served) grow(server *session, sym *symbol) (out []textEdit, err error) {
	mentions, err := server.mentions(sym)
	if err != nil {
		return nil, err
	}
	for _, m := range mentions {
		data, err := os.ReadFile(filepath.Join(s.base, m.file))
		if err != nil {
			return nil, nil // elsewhere
		}
		text := string(data)
		end := offset(text, m.at.End)
		if end < 0 {
			return nil, nil
		}
		more := "0"
		if definition.MatchString(text[strings.LastIndexByte(text[:end], '\n')+1:end]) || m.file == sym.file && m.at == sym.SelectionRange {
			more = s.parameter
		}
		at, some := closing(text, end)
		if at < 0 {
			continue // no call: the checker will say
		}
		if some {
			more = ", " + more
		}
		line := strings.Count(text[:at], "\n")
		place := position{line, len([]rune(text[strings.LastIndexByte(text[:at], '\n')+1 : at]))}
		out = append(out, textEdit{m.file, span{place, place}, more})
	}
	return out, nil
}

// definition is how a line begins that defines what stands at its end.
var definition = regexp.MustCompile(
	`^\s*(?:export |default |async |public |private |protected |static |abstract |declare )*(?:def|function\*?) \w+$|` +
		`^\s*(?:(?:public|private|protected|static|abstract|async|override) )+\w+$|^[\w\s*]+[\s*]\w+$`)

// closing is where the list of arguments ends that begins at from, after type
// arguments, and whether it has any; -1 if there is none.
func closing(text string, from int) (int, bool) {
	at := from
	if at < len(text) && text[at] == '<' {
		if n := strings.IndexAny(text[at:], ">\n"); n > 0 && text[at+n] == '>' {
			at += n + 1
		}
	}
	if at >= len(text) || text[at] != '(' {
		return -1, false
	}
	depth, quote, last := 0, byte(0), byte(0)
	for ; at < len(text); at++ {
		c := text[at]
		switch {
		case quote != 0:
			if c == quote && text[at-1] != '\\' {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth == 0 {
				return at, last != '(' && last != ','
			}
		}
		if c != ' ' && c != '\n' && c != '\t' {
			last = c
		}
	}
	return -1, false
}

// apply makes edits of the base, from the last to the first.
func (s *served) apply(edits []textEdit) (tree, error) {
	byFile := map[string][]textEdit{}
	for _, e := range edits {
		if strings.HasPrefix(e.file, "..") || strings.HasPrefix(e.file, "node_modules/") {
			return nil, errors.New("not of the repository")
		}
		byFile[e.file] = append(byFile[e.file], e)
	}
	out := tree{}
	for file, all := range byFile {
		data, err := os.ReadFile(filepath.Join(s.base, file))
		if err != nil {
			return nil, err
		}
		text := string(data)
		slices.SortFunc(all, func(a, b textEdit) int {
			return offset(text, b.at.Start) - offset(text, a.at.Start)
		})
		for _, e := range slices.Compact(all) {
			from, to := offset(string(data), e.at.Start), offset(string(data), e.at.End)
			if from < 0 || to < from {
				return nil, errors.New("no such place")
			}
			text = text[:from] + e.text + text[to:]
		}
		out[file] = []byte(text)
	}
	return out, nil
}
