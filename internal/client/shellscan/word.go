package shellscan

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A value is what a word stands for, as far as it is known.
type value struct {
	s    string
	glob bool // s holds wildcards that the shell expands
	ok   bool // s is all of it
}

func literal(s string) value { return value{s: s, ok: true} }

// fields returns the values of words, with braces expanded and with the file
// names that a command substitution is known to print.
func (s *scanner) fields(words []*syntax.Word) []value {
	var out []value
	for _, w := range words {
		for _, b := range braces(w) {
			if names := s.substituted(b); names != nil {
				out = append(out, names...)
				continue
			}
			if list, ok := s.elements(b); ok {
				out = append(out, list...)
				continue
			}
			out = append(out, s.word(b))
		}
		if len(out) > maxWrites {
			return out[:maxWrites]
		}
	}
	return out
}

// word returns the value of one word.
func (s *scanner) word(w *syntax.Word) value {
	if w == nil {
		return value{}
	}
	v := value{ok: true}
	for _, p := range w.Parts {
		v = v.join(s.part(p, false))
	}
	return v
}

func (v value) join(w value) value {
	return value{v.s + w.s, v.glob || w.glob, v.ok && w.ok}
}

func (s *scanner) part(p syntax.WordPart, quoted bool) value {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			return literal(unescapeQuoted(p.Value))
		}
		return unescape(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar {
			return literal(strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\'`, "'", `\\`, `\`).Replace(p.Value))
		}
		return literal(p.Value)
	case *syntax.DblQuoted:
		v := value{ok: true}
		for _, q := range p.Parts {
			v = v.join(s.part(q, true))
		}
		return v
	case *syntax.ParamExp:
		return s.param(p)
	case *syntax.CmdSubst:
		return s.cmdSubst(p)
	case *syntax.ProcSubst:
		s.sub(func() { s.stmts(p.Stmts, input{}) })
		return value{}
	case *syntax.ExtGlob:
		return value{s: "*", glob: true, ok: true}
	}
	return value{}
}

// param returns the value of $x, ${x}, ${x:-default}, ${x%suffix} and
// ${x#prefix}.
func (s *scanner) param(p *syntax.ParamExp) value {
	if p.Param == nil || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Excl || p.Flags != nil || p.IsSet {
		return value{}
	}
	v := s.vars[p.Param.Value]
	if p.Param.Value == "PWD" {
		v = value{s: orDot(s.cwd), ok: !s.lost}
	}
	if p.Exp == nil {
		return v
	}
	arg := s.word(p.Exp.Word)
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !v.ok || v.s == "" {
			return arg
		}
		return v
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return cutAffix(v, arg, strings.CutSuffix)
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return cutAffix(v, arg, strings.CutPrefix)
	}
	return value{}
}

func cutAffix(v, arg value, cut func(string, string) (string, bool)) value {
	if !arg.ok || arg.glob || !v.ok {
		return value{}
	}
	v.s, _ = cut(v.s, arg.s)
	return v
}

// cmdSubst knows the few commands whose output follows from their text.
func (s *scanner) cmdSubst(c *syntax.CmdSubst) value {
	s.unseen(func() {
		s.sub(func() { s.stmts(c.Stmts, input{}) })
	})
	if len(c.Stmts) != 1 {
		return value{}
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return value{}
	}
	args := s.fields(call.Args)
	switch {
	case args[0].s == "pwd":
		return value{s: orDot(s.cwd), ok: !s.lost}
	case args[0].s == "git" && len(args) == 3 && args[1].s == "rev-parse" && args[2].s == "--show-toplevel":
		return s.vars["GIT_ROOT"]
	case args[0].s == "dirname" && len(args) == 2 && args[1].ok:
		return value{s: path.Dir(args[1].s), glob: args[1].glob, ok: true}
	case args[0].s == "basename" && len(args) >= 2 && args[1].ok:
		name := path.Base(args[1].s)
		if len(args) == 3 {
			name = strings.TrimSuffix(name, args[2].s)
		}
		return value{s: name, glob: args[1].glob, ok: true}
	case args[0].s == "echo" && len(args) == 2:
		return args[1]
	}
	return value{}
}

// substituted returns the names that a word prints when it is nothing but a
// command substitution such as $(find src -name '*.go').
func (s *scanner) substituted(w *syntax.Word) []value {
	if len(w.Parts) != 1 {
		return nil
	}
	c, ok := w.Parts[0].(*syntax.CmdSubst)
	if !ok || len(c.Stmts) != 1 {
		return nil
	}
	return s.output(c.Stmts[0]).names
}

// elements returns the values of a word that is nothing but "${list[@]}".
func (s *scanner) elements(w *syntax.Word) ([]value, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Index == nil || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl {
		return nil, false
	}
	index, ok := p.Index.(*syntax.Word)
	if !ok || index.Lit() != "@" && index.Lit() != "*" {
		return nil, false
	}
	list, ok := s.lists[p.Param.Value]
	return list, ok
}

func orDot(p string) string {
	if p == "" {
		return "."
	}
	return p
}

// unescape undoes backslashes of an unquoted literal and finds wildcards.
func unescape(s string) value {
	v := value{ok: true}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case '*', '?', '[':
			v.glob = true
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	v.s = b.String()
	return v
}

// unescapeQuoted undoes the few backslashes that count between double quotes.
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`", "\\\n", "").Replace(s)
}

// hasBraces reports whether w was split before: SplitBraces changes the word.
func hasBraces(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		_, ok := p.(*syntax.BraceExp)
		return ok
	})
}

// braces expands {a,b} and leaves everything else alone.
func braces(w *syntax.Word) []*syntax.Word {
	if !syntax.SplitBraces(w) && !hasBraces(w) {
		return []*syntax.Word{w}
	}
	out := []*syntax.Word{{}}
	for _, p := range w.Parts {
		alternatives := []*syntax.Word{{Parts: []syntax.WordPart{p}}}
		if b, ok := p.(*syntax.BraceExp); ok {
			if b.Sequence {
				return []*syntax.Word{w}
			}
			alternatives = nil
			for _, e := range b.Elems {
				alternatives = append(alternatives, braces(e)...)
			}
		}
		var next []*syntax.Word
		for _, left := range out {
			for _, right := range alternatives {
				parts := append(append([]syntax.WordPart{}, left.Parts...), right.Parts...)
				next = append(next, &syntax.Word{Parts: parts})
				if len(next) > 200 {
					return next
				}
			}
		}
		out = next
	}
	return out
}
