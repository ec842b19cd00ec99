package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
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
	check      func(files []string) *exec.Cmd // nil if the server judges
	whole      bool                           // it judges all files, rather than those that have the name
	fault      *regexp.Regexp                 // file and words of a line of the checker
	parameter  string                         // one more
	member     string                         // of an interface
}

//go:embed typescript.cjs
var typescriptServer string

var languages = map[string]language{
	"typescript": {id: "typescript", ending: ".ts", whole: true,
		server: func(tools string) []string {
			return []string{"node", "-e", typescriptServer, filepath.Join(tools, "node_modules/typescript/lib/typescript.js")}
		},
		parameter: "extra77: number", member: "extra77(): void\n"},
	"python": {id: "python", ending: ".py",
		server: func(tools string) []string {
			return []string{"node", filepath.Join(tools, "node_modules/pyright/langserver.index.js"), "--stdio"}
		},
		parameter: "extra77: int"},
	"c": {id: "c", ending: ".c",
		server: func(string) []string { return []string{"clangd", "--log=error"} },
		check: func(files []string) *exec.Cmd {
			if slices.ContainsFunc(files, func(f string) bool { return path.Ext(f) != ".c" }) { // a header may reach any
				return exec.Command("sh", "-c", `find . -name '*.c' -exec `+cc+` {} ';' 2>&1; true`)
			}
			return exec.Command("sh", append([]string{"-c",
				`for f; do [ -f "$f" ] && ` + cc + ` "./$f" 2>&1; done; true`, "sh"}, files...)...)
		},
		fault: regexp.MustCompile(`(?m)^(\S.*?):\d+:\d+: ((?:fatal )?error: .*)$`), parameter: "int extra77"},
}

// cc is how a C file is looked at.
const cc = `cc -fsyntax-only -Werror=implicit-function-declaration -I. -Iinclude -Isrc`

// A served draw judges by a language server and a checker.
type served struct {
	*draw
	language
	tools       string          // where the checker and the server are installed
	base, trees string          // folders: what the server sees, and what is checked
	there       map[string]tree // what the folders hold
	known       map[string]map[string]int
	// Where the server judges, it stays: of the base, and of the trees.
	looking, judging *session
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

// unpack makes a folder hold what is read of a tree, and tells a server that
// looks at it.
func (s *served) unpack(dir, id string, looking *session) error {
	files, err := s.some(id, s.read)
	if err != nil {
		return err
	}
	had := s.there[dir]
	var events []any
	for name := range had {
		if _, ok := files[name]; !ok {
			_ = os.Remove(filepath.Join(dir, name))
			events = append(events, event(dir, name, 3))
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
		events = append(events, event(dir, name, 1+count(had[name] != nil)))
	}
	if looking != nil {
		err := looking.send(map[string]any{"jsonrpc": "2.0", "method": "workspace/didChangeWatchedFiles",
			"params": map[string]any{"changes": events}})
		if err != nil {
			return err
		}
	}
	if s.id == "c" {
		flags := strings.Join(strings.Fields(cc)[1:], "\n")
		if err := os.WriteFile(filepath.Join(dir, "compile_flags.txt"), []byte(flags), 0o600); err != nil {
			return err
		}
	}
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Lstat(modules); err != nil {
		return os.Symlink(filepath.Join(s.tools, "node_modules"), modules)
	}
	return nil
}

// event is what became of a file: created, changed, deleted.
func event(dir, name string, kind int) map[string]any {
	return map[string]any{"uri": "file://" + filepath.ToSlash(filepath.Join(dir, name)), "type": kind}
}

// faults are what the checker says of a tree, or a server of some files of it,
// each with how often. Lines are left out: they move.
func (s *served) faults(tree string, files []string) (map[string]int, error) {
	if s.whole {
		files = nil
	}
	key := tree + " " + strings.Join(files, " ")
	if f, ok := s.known[key]; ok {
		return f, nil
	}
	if s.check == nil {
		found, err := s.pulled(tree, files)
		s.known[key] = found
		return found, err
	}
	if err := s.unpack(s.trees, tree, nil); err != nil {
		return nil, err
	}
	cmd := s.check(files)
	cmd.Dir = s.trees
	out, _ := cmd.Output() // it fails where it finds something
	found := map[string]int{}
	for _, m := range s.fault.FindAllStringSubmatch(string(out), -1) {
		found[strings.TrimPrefix(strings.TrimPrefix(m[1], s.trees+"/"), "./")+": "+sameWords(m[2])]++
	}
	s.known[key] = found
	return found, nil
}

// sameWords are a checker's without the new name of what A renamed: what was
// wrong before is told with it, too.
func sameWords(words string) string { return strings.ReplaceAll(words, "77", "") }

// pulled are the faults that a server finds in some files, which stays for all
// trees: it takes long to begin.
func (s *served) pulled(tree string, files []string) (found map[string]int, err error) {
	if err := s.unpack(s.trees, tree, s.judging); err != nil {
		return nil, err
	}
	if s.judging == nil {
		if s.judging, err = startSession(s.trees, s.server(s.tools)); err != nil {
			return nil, err
		}
	}
	found = map[string]int{}
	if s.whole {
		files = slices.Sorted(maps.Keys(s.there[s.trees]))
	}
	for _, file := range files {
		if _, ok := s.there[s.trees][file]; !ok || path.Ext(file) != s.ending {
			continue
		}
		said, err := s.judging.faults(file, s.id)
		if err != nil {
			return nil, err
		}
		for _, words := range said {
			found[file+": "+sameWords(words)]++
		}
	}
	return found, nil
}

// concerned are the files of which the checker could say something else of the
// merged tree: those that a side changed, and those that have the name.
func (s *served) concerned(base, a, b, merged, name string) (out []string, err error) {
	for _, head := range []string{a, b} {
		list, err := s.git("", "diff", "--name-only", "--no-renames", base, head)
		if err != nil {
			return nil, err
		}
		out = append(out, strings.Split(list, "\n")...)
	}
	list, _ := s.git("", "grep", "-lwF", "-e", name, merged, "--", "*"+s.ending, "*.h") // it fails where nobody has it
	for line := range strings.Lines(list) {
		out = append(out, strings.TrimPrefix(strings.TrimSpace(line), merged+":"))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
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
	server, done, err := s.serve(base)
	if err != nil {
		return err
	}
	defer done()
	drawn, err := s.definitions(server, base, words)
	if err != nil {
		return err
	}
	s.chance.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	if s.have(false) < s.fits {
		s.nearFirst(server, base, b, drawn, perCommit/2)
	} else { // only breaks are wanted still
		drawn = drawn[:s.nearFirst(server, base, b, drawn, perCommit)]
	}
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

// serve has a server look at a tree: the same for all where it is the judge,
// too, and takes long to begin.
func (s *served) serve(base string) (server *session, done func(), err error) {
	if err := s.unpack(s.base, base, s.looking); err != nil {
		return nil, nil, err
	}
	if s.looking != nil {
		s.looking.opened = map[string]bool{}
		return s.looking, func() {}, nil
	}
	if server, err = startSession(s.base, s.server(s.tools)); err != nil {
		return nil, nil, err
	}
	if s.check == nil {
		s.looking = server
		return server, func() {}, nil
	}
	return server, server.close, nil
}

// nearFirst puts some definitions first that are used in a file which B changes,
// by a word that B has more often than its parent: most others cannot break, and
// every look is dear. It returns how many those are.
func (s *served) nearFirst(server *session, base, b string, drawn []symbol, most int) (first int) {
	list, err := s.git("", "diff", "--name-only", "--no-renames", base, b)
	if err != nil {
		return 0
	}
	gained, err := s.gained(base, b)
	if err != nil {
		return 0
	}
	changed := strings.Split(list, "\n")
	for i := 0; i < len(drawn) && first < most; i++ {
		if gained[drawn[i].Name] <= 0 {
			continue
		}
		used, err := server.mentions(&drawn[i])
		if err != nil || !slices.ContainsFunc(used, func(u textEdit) bool { return slices.Contains(changed, u.file) }) {
			continue
		}
		drawn[first], drawn[i] = drawn[i], drawn[first]
		first++
	}
	return first
}

// gained is how much more often a commit has each word of what it changes.
func (s *served) gained(base, b string) (map[string]int, error) {
	diff, err := s.git("", "diff", "-U0", base, b, "--", "*"+s.ending)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for l := range strings.Lines(diff) {
		more, ok := map[byte]int{'+': 1, '-': -1}[l[0]]
		if !ok || strings.HasPrefix(l, "+++") || strings.HasPrefix(l, "---") {
			continue
		}
		for _, w := range word.FindAllString(l, -1) {
			out[w] += more
		}
	}
	return out, nil
}

var word = regexp.MustCompile(`\w+`)

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
	merged := strings.Fields(out)[0]
	looked, err := s.concerned(base, a, b, merged, sym.Name)
	if err != nil {
		return err
	}
	if s.check != nil {
		looked = slices.DeleteFunc(looked, func(f string) bool { return !s.read(f) })
	}
	var said [4]map[string]int // of the base, A, the merged tree and B, which only matters if something is new
	p := pair{base: base, a: a, b: b, what: what}
	for i, tree := range []string{base, a, merged, b} {
		if said[i], err = s.faults(tree, looked); err != nil {
			return err
		}
		if i == 1 && len(news(said[1], said[0])) > 0 {
			fmt.Fprintf(os.Stderr, "%s: not adapted: %s\n", what, news(said[1], said[0])[0])
			return nil
		}
		if i == 2 && len(news(said[2], said[1])) == 0 {
			return s.take(p)
		}
	}
	if faults := news(said[2], said[1], said[3]); len(faults) > 0 {
		p.breaks, p.why = true, faults[0]
	}
	return s.take(p)
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

// grow gives a function one parameter more, as the first (the last may be
// optional), and every call an argument.
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
		at := opening.FindStringIndex(text[end:])
		if at == nil {
			continue // no call: the checker will say
		}
		from := end + at[1]
		if own := receiver.FindString(text[from:]); more != "0" && own != "" {
			from, more = from+len(own), ", "+more
		} else if !strings.HasPrefix(strings.TrimSpace(text[from:]), ")") {
			more += ", "
		}
		line := strings.Count(text[:from], "\n")
		place := position{line, len([]rune(text[strings.LastIndexByte(text[:from], '\n')+1 : from]))}
		out = append(out, textEdit{m.file, span{place, place}, more})
	}
	return out, nil
}

// definition is how a line begins that defines what stands at its end.
var definition = regexp.MustCompile(
	`^\s*(?:export |default |async |public |private |protected |static |abstract |declare )*(?:def|function\*?) \w+$|` +
		`^\s*(?:(?:public|private|protected|static|abstract|async|override) )+\w+$|^\w[\w\s*]*[\s*]\w+$`)

var (
	// opening is how a list of arguments begins, after type arguments.
	opening = regexp.MustCompile(`^(?:<[^>\n]*>)? ?\(`)
	// receiver is the first parameter of a method, where it is written.
	receiver = regexp.MustCompile(`^\s*(?:self|cls)\b`)
)

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
