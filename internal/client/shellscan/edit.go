package shellscan

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An Edit is what a command does to the content of one file, where its text
// tells that. What is not sure is no edit: then only the file is known.
type Edit struct {
	Path    string // relative to the folder the command starts in, or absolute
	Delete  bool
	Whole   bool        // Text becomes all of it
	Append  bool        // Text goes to its end
	Text    string      //
	From    string      // all of it becomes what this file holds
	Sed     []string    // commands of sed
	Regexps bool        // of which patterns are extended regular expressions
	Replace [][2]string // texts that are replaced, wherever they are
	Blind   bool        // all of it becomes something that the command does not tell
}

// edit notes what is done to the file v names.
func (s *scanner) edit(v value, e Edit) {
	p, ok := s.resolve(v)
	if !ok || v.glob || len(s.edits) >= maxWrites {
		return
	}
	e.Path = p
	s.edits = append(s.edits, e)
}

// Apply returns the content of a file after the edits, in their order. read
// returns what another file holds. It is false where that cannot be told.
func Apply(content string, edits []Edit, read func(path string) (string, bool)) (out string, deleted, ok bool) {
	for _, e := range edits {
		deleted, ok = e.Delete, !e.Blind
		switch {
		case e.Blind:
		case e.Delete:
			content = ""
		case e.Whole:
			content = e.Text
		case e.Append:
			content += e.Text
		case e.From != "":
			content, ok = read(e.From)
		case len(e.Sed) > 0:
			content, ok = runSed(e.Sed, e.Regexps, content)
		default:
			for _, r := range e.Replace {
				content = strings.ReplaceAll(content, r[0], r[1])
			}
		}
		if !ok {
			return "", false, false
		}
	}
	return content, deleted, ok
}

// redirected notes the text that a command with a redirect writes to a file:
// cat with a text of its own, echo and printf.
func (s *scanner) redirected(st *syntax.Stmt, in input) {
	var to *syntax.Redirect
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.AppClob:
			if to != nil || r.N != nil && r.N.Value != "1" {
				return
			}
			to = r
		}
	}
	if to == nil {
		return
	}
	appends := to.Op == syntax.AppOut || to.Op == syntax.AppClob
	if c, ok := st.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
		words := s.fields(c.Args)
		if text, ok := printed(words[0].s, words[1:], in); ok {
			s.edit(s.word(to.Word), Edit{Whole: !appends, Append: appends, Text: text})
			return
		}
	}
	if !appends {
		s.edit(s.word(to.Word), Edit{Blind: true})
	}
}

// printed returns what a command prints, where its own text tells.
func printed(name string, args []value, in input) (string, bool) {
	var texts []string
	for _, a := range args {
		if !a.ok {
			return "", false
		}
		texts = append(texts, a.s)
	}
	switch {
	case name == "cat" && (len(texts) == 0 || len(texts) == 1 && texts[0] == "-"):
		return in.text, in.whole
	case name == "true" || name == ":":
		return "", true
	case name == "echo":
		end := "\n"
		if len(texts) > 0 && texts[0] == "-n" {
			end, texts = "", texts[1:]
		}
		if len(texts) > 0 && strings.HasPrefix(texts[0], "-") {
			return "", false
		}
		return strings.Join(texts, " ") + end, true
	case name == "printf" && len(texts) > 0:
		return formatted(texts[0], texts[1:])
	}
	return "", false
}

// formatted is printf, as far as it is made of texts.
func formatted(format string, args []string) (string, bool) {
	var b strings.Builder
	for {
		used := 0
		for i := 0; i < len(format); i++ {
			switch c := format[i]; {
			case c == '%' && i+1 < len(format):
				i++
				if format[i] == '%' {
					b.WriteByte('%')
					continue
				}
				if format[i] != 's' {
					return "", false
				}
				if used < len(args) {
					b.WriteString(args[used])
				}
				used++
			case c == '\\' && i+1 < len(format):
				i++
				plain, ok := map[byte]string{'n': "\n", 't': "\t", '\\': `\`, '"': `"`, '\'': "'"}[format[i]]
				if !ok {
					return "", false
				}
				b.WriteString(plain)
			default:
				b.WriteByte(c)
			}
		}
		if args = args[min(used, len(args)):]; used == 0 || len(args) == 0 {
			return b.String(), true
		}
	}
}
