// Package shellscan tells which files a shell command visibly writes, before
// it runs. It parses the command and follows what can be known without
// running anything: redirects, the operands of common tools, folders entered
// with cd, variables with literal values, loops, pipes into xargs, and
// scripts given inline to other interpreters. It reads no files. What it
// cannot know it leaves out: the working tree tells afterwards.
package shellscan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Kind tells how much a Write covers.
type Kind string

const (
	File  Kind = "file"  // that very file
	Tree  Kind = "tree"  // every file under it
	Under Kind = "under" // some files under it, nobody can say which
	Dirty Kind = "dirty" // every uncommitted change at or under it is discarded
	Patch Kind = "patch" // the files that the patch stored there names
)

// A Write is something that a command changes, creates or removes.
type Write struct {
	Path  string // relative to the folder the command starts in, or absolute; after :/ from the top of a working copy
	In    string // of such a path: a folder in that working copy
	Kind  Kind
	Glob  bool   // Path holds wildcards that the shell would expand
	Base  string // the name it gets if Path turns out to be a folder
	From  string // for a Tree: the folder whose files are copied there
	Strip int    // for a Patch: leading folders to drop, -1 for git's a/ and b/
}

// A Result is what a command does to files.
type Result struct {
	Writes   []Write
	Edits    []Edit   // what it does to the contents, where that can be read
	Reads    []Read   // what it shows of files
	Operands []string // files that it names without writing them: what it makes may come from there
	Sweeps   []Sweep  // git commands that take hold of all uncommitted work
	Detaches []Detach // commands that would take a working copy from svc's sight
	Scripts  []string // files that it runs
	// Worktrees are folders that it makes into working copies of the repository.
	Worktrees []string
	ReadOnly  bool // every part of it is known to write nothing
}

// Limits against commands made to be expensive.
const (
	maxSteps  = 3000
	maxDepth  = 10
	maxWrites = 500
	maxLength = 1 << 18
)

// Scan returns what command writes. vars are variables with known values,
// such as HOME.
func Scan(command string, vars map[string]string) Result {
	s := newScanner(vars)
	s.script(command)
	return s.result()
}

// ScanPowerShell is Scan for a PowerShell command.
func ScanPowerShell(command string, vars map[string]string) Result {
	s := newScanner(vars)
	s.powershell(command)
	return s.result()
}

// A state is what a running shell knows; subshells get a copy.
type state struct {
	cwd   string // "" is the folder the command starts in
	lost  bool   // a cd led to nobody knows where
	moved bool   // programs find their files and the network elsewhere
	vars  map[string]value
	lists map[string][]value // arrays
	funcs map[string]*syntax.Stmt
}

type scanner struct {
	state
	rules        map[string]rule
	interpreters map[string]interpreter

	links map[string]string // made by the command itself: where they lead
	// worktrees are the folders that the command makes into working copies, and
	// where it does.
	worktrees map[string]string
	depth     int
	steps     int
	writes    []Write
	edits     []Edit
	sweeps    []Sweep
	away      []Detach
	scripts   []string
	reads     []Read
	operands  []string
	hidden    int // what is printed now goes elsewhere
	readOnly  bool
}

func newScanner(vars map[string]string) *scanner {
	s := &scanner{
		state:        state{vars: map[string]value{}, lists: map[string][]value{}, funcs: map[string]*syntax.Stmt{}},
		links:        map[string]string{},
		worktrees:    map[string]string{},
		readOnly:     true,
		rules:        ruleTable(),
		interpreters: interpreterTable(),
	}
	for k, v := range vars {
		s.vars[k] = value{s: v, ok: true}
	}
	return s
}

func (s *scanner) result() Result {
	return Result{Writes: s.writes, Edits: s.edits, Sweeps: s.sweeps, Reads: s.reads, Operands: s.operands,
		Detaches: s.away, Scripts: s.scripts, Worktrees: slices.Sorted(maps.Keys(s.worktrees)),
		ReadOnly: s.readOnly && len(s.writes) == 0}
}

// script scans a text in shell syntax. A text that does not parse is scanned
// as far as it does.
func (s *scanner) script(text string) {
	if s.depth >= maxDepth || len(text) > maxLength {
		s.readOnly = false
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	f, err := syntax.NewParser(syntax.RecoverErrors(20)).Parse(strings.NewReader(text), "")
	if err != nil {
		// Hosts run commands by the person's shell, which is zsh on macOS.
		if z, e := syntax.NewParser(syntax.Variant(syntax.LangZsh)).Parse(strings.NewReader(text), ""); e == nil {
			f, err = z, nil
		}
	}
	if err != nil {
		s.readOnly = false
	}
	if f == nil {
		return
	}
	s.stmts(f.Stmts, input{})
}

// An input is what a command reads: text given in the script, the file it
// comes from, or file names that the command before it in a pipe prints.
type input struct {
	text  string
	whole bool // text is all of it, as it is
	file  value
	names []value
	// archive are the paths that an archive of the repository holds.
	archive []value
}

func (s *scanner) stmts(list []*syntax.Stmt, in input) {
	for _, st := range list {
		s.stmt(st, in)
	}
}

func (s *scanner) stmt(st *syntax.Stmt, in input) {
	if s.steps++; s.steps > maxSteps || st == nil || len(s.writes) >= maxWrites {
		s.readOnly = false
		return
	}
	for _, r := range st.Redirs {
		s.redirect(r, &in)
	}
	if len(st.Redirs) > 0 {
		s.redirected(st, in)
	}
	if printsElsewhere(st.Redirs) {
		s.hidden++
		defer func() { s.hidden-- }()
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		s.simple(c, in)
	case *syntax.BinaryCmd:
		s.binary(c, in)
	case *syntax.Subshell:
		s.sub(func() { s.stmts(c.Stmts, in) })
	case *syntax.Block:
		s.stmts(c.Stmts, in)
	case *syntax.IfClause:
		for i := c; i != nil; i = i.Else {
			s.stmts(i.Cond, in)
			s.stmts(i.Then, in)
		}
	case *syntax.WhileClause:
		s.while(c, in)
	case *syntax.ForClause:
		s.forLoop(c, in)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			s.stmts(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		if c.Name == nil { // zsh runs a function without a name at once
			s.stmt(c.Body, in)
		} else {
			s.funcs[c.Name.Value] = c.Body
		}
	case *syntax.DeclClause:
		s.assign(c.Args)
	case *syntax.TimeClause:
		s.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		s.stmt(c.Stmt, in)
	}
}

// sub runs f as a subshell does: what it sets is forgotten afterwards.
func (s *scanner) sub(f func()) {
	old := s.state
	s.vars = copyMap(old.vars)
	s.lists = copyMap(old.lists)
	s.funcs = copyMap(old.funcs)
	f()
	s.state = old
}

func copyMap[V any](m map[string]V) map[string]V {
	out := make(map[string]V, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func (s *scanner) binary(c *syntax.BinaryCmd, in input) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		s.stmt(c.X, in)
		s.stmt(c.Y, in)
		return
	}
	var out input
	s.piped(c, func() {
		s.sub(func() {
			s.stmt(c.X, in)
			out = s.output(c.X)
		})
	})
	s.sub(func() { s.stmt(c.Y, out) })
}

func (s *scanner) forLoop(c *syntax.ForClause, in input) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		s.stmts(c.Do, in)
		return
	}
	items := s.fields(iter.Items)
	if len(items) == 0 {
		items = []value{{}}
	}
	for _, v := range items[:min(len(items), 200)] {
		if iter.Name != nil { // recovered from what is no loop
			s.vars[iter.Name.Value] = v
		}
		s.stmts(c.Do, in)
	}
}

// while handles "producer | while read name", the only loop whose variable
// can be known.
func (s *scanner) while(c *syntax.WhileClause, in input) {
	s.stmts(c.Cond, in)
	name := readVariable(c.Cond)
	if len(in.names) == 0 && in.whole && len(in.text) < 1<<16 {
		for line := range strings.Lines(in.text) {
			in.names = append(in.names, literal(strings.TrimSpace(line)))
		}
	}
	if name == "" || len(in.names) == 0 {
		s.stmts(c.Do, in)
		return
	}
	for _, v := range in.names {
		s.vars[name] = v
		s.stmts(c.Do, input{})
	}
}

// readVariable returns the variable of a condition such as "IFS= read -r f".
func readVariable(cond []*syntax.Stmt) string {
	if len(cond) != 1 {
		return ""
	}
	call, ok := cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "read" {
		return ""
	}
	return call.Args[len(call.Args)-1].Lit()
}

func (s *scanner) assign(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name == nil || a.Naked || a.Index != nil {
			continue
		}
		name := a.Name.Value
		s.sets(name)
		switch {
		case a.Array != nil:
			delete(s.vars, name)
			s.list(name, a)
		case a.Value == nil:
			s.vars[name] = value{ok: true}
		case a.Append:
			old, v := s.vars[name], s.word(a.Value)
			s.vars[name] = value{old.s + v.s, old.glob || v.glob, old.ok && v.ok}
		default:
			s.vars[name] = s.word(a.Value)
			s.setsProgram(name, s.vars[name])
		}
	}
}

// list notes the values of an array.
func (s *scanner) list(name string, a *syntax.Assign) {
	var words []*syntax.Word
	for _, e := range a.Array.Elems {
		if e.Index != nil || e.Value == nil {
			delete(s.lists, name)
			return
		}
		words = append(words, e.Value)
	}
	values := s.fields(words)
	if a.Append {
		values = append(slices.Clone(s.lists[name]), values...)
	}
	s.lists[name] = values
}

// redirect notes the file a redirect writes, or the text it feeds.
func (s *scanner) redirect(r *syntax.Redirect, in *input) {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.AppClob,
		syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
		s.write(s.word(r.Word), Write{Kind: File})
	case syntax.DplOut:
		if v := s.word(r.Word); strings.Trim(v.s, "0123456789-") != "" {
			s.write(v, Write{Kind: File})
		}
	case syntax.Hdoc, syntax.DashHdoc:
		v := s.word(r.Hdoc)
		in.text, in.whole = v.s, v.ok && r.Op == syntax.Hdoc
	case syntax.WordHdoc:
		v := s.word(r.Word)
		in.text, in.whole = v.s+"\n", v.ok
	case syntax.RdrIn:
		*in = input{file: s.word(r.Word)}
		s.uses(in.file)
	}
}

// write notes that w is done to the file v names.
func (s *scanner) write(v value, w Write) {
	p, ok := s.resolve(v)
	if !ok || len(s.writes) >= maxWrites {
		s.readOnly = false
		return
	}
	if to, linked := s.links[p]; linked && w.Kind == File && !v.glob {
		p = to
	}
	if p = s.beyondProc(p); isDevice(p) || strings.HasPrefix(p, "/proc/") || p == "-" {
		return
	}
	for dir, of := range s.worktrees {
		if rest, inside := strings.CutPrefix(p, dir+"/"); inside {
			s.note(Write{Path: ":/" + rest, In: of, Kind: w.Kind, Glob: v.glob})
		}
	}
	w.Path, w.Glob = p, v.glob
	s.note(w)
}

// isDevice tells devices, such as /dev/null, from the files in memory beside them.
func isDevice(p string) bool {
	return strings.HasPrefix(p, "/dev/") && !strings.HasPrefix(p, "/dev/shm/")
}

func (s *scanner) note(w Write) {
	if !slices.Contains(s.writes, w) {
		s.writes = append(s.writes, w)
	}
}

// beyondProc returns what a path through the links of a process leads to: the
// folder a command runs in, and the root.
func (s *scanner) beyondProc(p string) string {
	parts := strings.SplitN(strings.TrimPrefix(p, "/proc/"), "/", 3)
	if !strings.HasPrefix(p, "/proc/") || len(parts) < 3 {
		return p
	}
	switch parts[1] {
	case "cwd":
		return path.Join(s.cwd, parts[2])
	case "root":
		return "/" + parts[2]
	}
	return p
}

// resolve returns where v lies, seen from the folder the command starts in.
func (s *scanner) resolve(v value) (string, bool) {
	if !v.ok || v.s == "" {
		return "", false
	}
	p := v.s
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
		home := s.vars["HOME"]
		if !home.ok {
			return "", false
		}
		p = home.s + rest
	}
	if isAbsolute(p) {
		return path.Clean(p), true
	}
	if s.lost {
		return "", false
	}
	return path.Join(s.cwd, p), true
}

func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\')
}

// chdir enters the folder v names.
func (s *scanner) chdir(v value) {
	p, ok := s.resolve(v)
	if !ok || v.glob {
		s.lost = true
		return
	}
	s.cwd, s.lost = p, false
}

// in runs f in the folder v names, as git -C and the like do.
func (s *scanner) in(v value, f func()) {
	cwd, lost := s.cwd, s.lost
	s.chdir(v)
	f()
	s.cwd, s.lost = cwd, lost
}
