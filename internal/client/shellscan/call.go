package shellscan

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A call is one simple command with its words expanded.
type call struct {
	name string
	args []value
	in   input
}

// simple scans "NAME=value command word...".
func (s *scanner) simple(c *syntax.CallExpr, in input) {
	if len(c.Args) == 0 {
		s.assign(c.Assigns)
		return
	}
	for _, a := range c.Assigns {
		if a.Name != nil {
			s.sets(a.Name.Value)
			if a.Value != nil && programVariables.Has(a.Name.Value) {
				s.setsProgram(a.Name.Value, s.word(a.Value))
			}
		}
	}
	words := s.fields(c.Args)
	if len(words) == 0 || !words[0].ok {
		s.readOnly = false
		return
	}
	s.command(call{words[0].s, words[1:], in})
}

// command looks the command up and lets its rule say what it writes.
func (s *scanner) command(c call) {
	if s.steps++; s.steps > maxSteps || s.depth >= maxDepth {
		s.readOnly = false
		return
	}
	if body, ok := s.funcs[c.name]; ok {
		s.function(body, c)
		return
	}
	name := path.Base(strings.ReplaceAll(c.name, `\`, "/"))
	s.startsAgent(name, c.args)
	s.reading(name, c)
	if !writers.Get()[name] {
		s.uses(c.args...)
	}
	if rule, ok := s.rules[name]; ok {
		rule(s, c)
		return
	}
	if s.interpreter(name, c) {
		return
	}
	if rule, ok := cmdlets.Get()[strings.ToLower(name)]; ok {
		s.cmdlet(rule, c)
		return
	}
	if !readers.Has(name) {
		s.readOnly = false
		if strings.Contains(c.name, "/") {
			s.runsFile(value{s: c.name, ok: true})
		}
	}
}

// runsFile notes a script that a command runs.
func (s *scanner) runsFile(v value) {
	if p, ok := s.resolve(v); ok && !v.glob && len(s.scripts) < maxScripts {
		s.scripts = append(s.scripts, p)
	}
}

const maxScripts = 8

// writers name files that they write; the files that others name they may read.
var writers = lazy.Table[map[string]bool]{Make: func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq("mv cp tee install ln rm touch chmod chown git truncate mkdir rsync") {
		out[name] = true
	}
	return out
}}

// uses notes which files a command names.
func (s *scanner) uses(args ...value) {
	for _, v := range args {
		if p, ok := s.resolve(v); ok && !v.glob && len(s.operands) < maxWrites {
			s.operands = append(s.operands, p)
		}
	}
}

// function scans the body of a shell function with its arguments set.
func (s *scanner) function(body *syntax.Stmt, c call) {
	s.depth++
	defer func() { s.depth-- }()
	if s.depth >= maxDepth {
		return
	}
	old := s.vars
	s.vars = copyMap(old)
	s.positional(c.args)
	s.stmt(body, c.in)
	s.vars = old
}

func (s *scanner) positional(args []value) {
	for i, v := range args[:min(len(args), 9)] {
		s.vars[string(rune('1'+i))] = v
	}
	if len(args) == 1 {
		s.vars["@"], s.vars["*"] = args[0], args[0]
	}
}

// Options are the flags of a call; operands is what is left.
type options map[string]value

// has reports whether one of the flags was given.
func (o options) has(flags ...string) bool {
	for _, f := range flags {
		if _, ok := o[f]; ok {
			return true
		}
	}
	return false
}

// get returns the value of the first of the flags that was given.
func (o options) get(flags ...string) (value, bool) {
	for _, f := range flags {
		if v, ok := o[f]; ok {
			return v, true
		}
	}
	return value{}, false
}

// parse splits the arguments into flags and operands as getopt does. valued
// lists the flags that take a value, separated by blanks.
func (c call) parse(valued string) (options, []value) {
	takes := map[string]bool{}
	for f := range strings.FieldsSeq(valued) {
		takes[f] = true
	}
	opts := options{}
	var operands []value
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		next := func() value {
			if i+1 < len(c.args) {
				i++
				return c.args[i]
			}
			return value{}
		}
		switch {
		case a.s == "--":
			return opts, append(operands, c.args[i+1:]...)
		case strings.HasPrefix(a.s, "--"):
			name, v, ok := strings.Cut(a.s, "=")
			if ok {
				opts[name] = value{v, a.glob, a.ok}
			} else if takes[name] {
				opts[name] = next()
			} else {
				opts[name] = value{}
			}
		case len(a.s) > 1 && a.s[0] == '-' && a.ok:
			cluster(opts, takes, a, next)
		default:
			operands = append(operands, a)
		}
	}
	return opts, operands
}

// cluster reads short flags that share a dash; the first that takes a value
// gets the rest of the word, or the next one.
func cluster(opts options, takes map[string]bool, a value, next func() value) {
	if takes[a.s] { // also long flags with one dash, as -Path
		opts[a.s] = next()
		return
	}
	for j := 1; j < len(a.s); j++ {
		f := "-" + a.s[j:j+1]
		if !takes[f] {
			opts[f] = value{s: a.s[j+1:], ok: true}
			continue
		}
		if j+1 < len(a.s) {
			opts[f] = value{a.s[j+1:], a.glob, a.ok}
		} else {
			opts[f] = next()
		}
		return
	}
}

// writeAll notes that every operand is written.
func (s *scanner) writeAll(operands []value, kind Kind) {
	for _, v := range operands {
		s.write(v, Write{Kind: kind})
	}
}

// output returns what a command prints, as far as others can use it: text of
// echo and cat, or names of files.
func (s *scanner) output(st *syntax.Stmt) input {
	if st == nil {
		return input{}
	}
	var text string
	for _, r := range st.Redirs {
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
			text = s.word(r.Hdoc).s
		}
	}
	if b, ok := st.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.Pipe {
		if last, ok := b.Y.Cmd.(*syntax.CallExpr); ok && len(last.Args) > 0 && passThrough.Has(last.Args[0].Lit()) {
			return s.output(b.X)
		}
		return input{}
	}
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return input{}
	}
	words := s.fields(c.Args)
	args := words[1:]
	switch words[0].s {
	case "cat":
		if len(args) == 1 && text == "" {
			return input{file: args[0]}
		}
		return input{text: text}
	case "echo", "printf":
		return echoed(words[0].s, args)
	case "ls":
		_, names := call{args: args}.parse("")
		if len(names) == 0 || len(names) == 1 && names[0].ok && !names[0].glob && path.Ext(names[0].s) == "" {
			return input{names: []value{{"*", true, true}}} // what is in a folder, by names within it
		}
		return input{names: onlyKnown(names)}
	case "find":
		return input{names: findNames(args)}
	case "git":
		if len(args) > 1 && args[0].s == "archive" {
			return input{archive: archived(args[1:])}
		}
		if len(args) > 1 && args[0].s == "ls-files" {
			_, names := call{args: args[1:]}.parse("")
			return input{names: asGlobs(onlyKnown(names))}
		}
	}
	return input{}
}

// passThrough are filters that print some of the names they read; taking all
// of them errs on the safe side only for sort and the like.
var passThrough = lazy.Words("sort uniq")

func echoed(name string, args []value) input {
	var texts []string
	var names []value
	for _, a := range args {
		if strings.HasPrefix(a.s, "-") && len(a.s) == 2 {
			continue
		}
		texts = append(texts, a.s)
		if a.ok && !(name == "printf" && strings.Contains(a.s, "%")) {
			for f := range strings.FieldsSeq(strings.ReplaceAll(a.s, `\n`, "\n")) {
				names = append(names, value{f, a.glob, true})
			}
		}
	}
	return input{text: strings.Join(texts, " "), names: names}
}

func onlyKnown(vs []value) []value {
	var out []value
	for _, v := range vs {
		if v.ok {
			out = append(out, v)
		}
	}
	return out
}

// asGlobs marks quoted wildcards that the command itself expands, over folders
// too.
func asGlobs(vs []value) []value {
	for i, v := range vs {
		if strings.ContainsAny(v.s, "*?[") {
			if !strings.Contains(v.s, "/") {
				vs[i].s = "**/" + v.s
			}
			vs[i].glob = true
		}
	}
	return vs
}

// findNames returns the names that find prints, as wildcards: find src -name
// '*.go' is src/**/*.go.
func findNames(args []value) []value {
	var roots []value
	pattern := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !a.ok:
			return nil
		case strings.HasPrefix(a.s, "-"):
			switch a.s {
			case "-name", "-iname":
				if i++; i >= len(args) || !args[i].ok || pattern != "" {
					return nil
				}
				pattern = args[i].s
			case "-type", "-maxdepth", "-mindepth":
				i++
			case "-print", "-print0":
			default:
				return nil
			}
		case pattern == "":
			roots = append(roots, a)
		}
	}
	if pattern == "" {
		return nil
	}
	if len(roots) == 0 {
		roots = []value{literal(".")}
	}
	var out []value
	for _, r := range roots {
		out = append(out, value{path.Join(r.s, "**", pattern), true, true})
	}
	return out
}
