package outline

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// Some languages write a definition on a line of its own that nothing else looks
// like. Those need no grammar: where each definition stands, and what it is
// called, is all that is known of them.

// A lined language has its definitions by line.
type lined struct {
	forms []lineForm
	ends  func(line string) bool // a line, without its indent, that ends what stands as deep
	seen  func(name, line string) bool
}

// A lineForm is a line that begins a definition: its kind, and a pattern with
// the indent and the name.
type lineForm struct {
	kind    string
	line    *lazy.Expr
	contain bool
	end     string // what alone ends it, if not everything does
}

func beginsWith(words ...string) func(string) bool {
	return func(line string) bool {
		for _, w := range words {
			if strings.HasPrefix(line, w) {
				return true
			}
		}
		return false
	}
}

func all(string, string) bool { return true }

var linedLanguages = lazy.Table[map[string]*lined]{Make: func() map[string]*lined {
	return map[string]*lined{
		"lua": {
			forms: []lineForm{
				{"function", lazy.Regexp(`^([ \t]*)(?:local[ \t]+)?function[ \t]+([\w.:]+)[ \t]*\(`), false, ""},
				{"function", lazy.Regexp(`^([ \t]*)(?:local[ \t]+)?([\w.]+)[ \t]*=[ \t]*function[ \t]*\(`), false, ""},
			},
			ends: beginsWith("end"),
			seen: func(_, line string) bool { return !strings.HasPrefix(strings.TrimSpace(line), "local ") },
		},
		"shell": {
			forms: []lineForm{
				{"function", lazy.Regexp(`^([ \t]*)(?:function[ \t]+)?([\w-]+)[ \t]*\([ \t]*\)`), false, ""},
				{"function", lazy.Regexp(`^([ \t]*)function[ \t]+([\w-]+)`), false, ""},
			},
			ends: beginsWith("}", "end", ")"),
			seen: all,
		},
		"dart": {
			forms: []lineForm{
				{"class", lazy.Regexp(`^([ \t]*)(?:(?:abstract|sealed|final|base|interface)[ \t]+)*` +
					`(?:class|mixin|enum|extension)[ \t]+(\w+)`), true, ""},
				{"function", lazy.Regexp(`^([ \t]*)(?:(?:static|external|Future|Stream|void|final|const|factory)\b[<\w>?,\[\] ]*[ \t]+` +
					`|[A-Za-z_][\w<>?,.\[\]]*[ \t]+)?(?:get[ \t]+)?([A-Za-z_]\w*)(?:\([^;]*|[ \t]+(?:=>|\{).*)$`), false, ""},
			},
			ends: beginsWith("}"),
			seen: func(name, _ string) bool { return !strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "_") },
		},
		"objectivec": {
			forms: []lineForm{
				{"class", lazy.Regexp(`^()@(?:interface|implementation|protocol)[ \t]+(\w+)`), true, "@end"},
				{"method", lazy.Regexp(`^()[-+][ \t]*\([^)]*\)[ \t]*([\w]+:?)`), false, ""},
				{"function", lazy.Regexp(`^()(?:static[ \t]+|extern[ \t]+|inline[ \t]+)*[A-Za-z_][\w*]*[ \t*]+(\w+)[ \t]*\([^;]*\)` +
					`[ \t]*\{?[ \t]*$`), false, ""},
			},
			ends: beginsWith("}", "@end"),
			seen: all,
		},
	}
}}

// notNames are words that look like definitions where they stand.
var notNames = lazy.Words(`if for while switch return else case do try catch elseif until repeat then function end new await assert throw`)

var linedTraits Traits

// ByLines tells whether a language is read by its lines.
func ByLines(lang string) bool { return linedLanguages.Get()[lang] != nil }

// OfLines makes an outline of a file by its lines.
func OfLines(source []byte, path, lang string) *File {
	l := linedLanguages.Get()[lang]
	o := &File{Lang: lang, Path: path, Source: source, Traits: &linedTraits, consts: map[string]Value{}}
	var lines []string
	var starts []int
	at := 0
	for line := range bytes.Lines(source) {
		lines, starts = append(lines, string(bytes.TrimRight(line, "\r\n"))), append(starts, at)
		at += len(line)
	}
	type open struct{ def, end int }
	var around []open
	for row, line := range lines {
		for len(around) > 0 && row > around[len(around)-1].end {
			around = around[:len(around)-1]
		}
		parent := -1
		if len(around) > 0 {
			parent = around[len(around)-1].def
		}
		if parent >= 0 && !o.Defs[parent].Contain {
			continue
		}
		form, name, indent, ok := l.begins(line)
		if !ok {
			continue
		}
		end := l.end(lines, row, indent, form)
		d := Def{
			Name:    strings.ReplaceAll(strings.TrimSuffix(name, ":"), ":", "."),
			Kind:    form.kind,
			Parent:  parent,
			Contain: form.contain,
			HasCall: !form.contain,
			Head:    oneLine(strings.TrimRight(strings.TrimSpace(line), "{ ")),
			nameAt:  uint32(starts[row] + strings.Index(line, name)),
		}
		if parent >= 0 {
			d.Name = o.Defs[parent].Name + "." + d.Name
		}
		d.Span = Span{Start: uint32(starts[row]), End: uint32(starts[end] + len(lines[end])), Row: uint32(row), Last: uint32(end)}
		d.Exported = l.seen(d.Name, line)
		d.Own = string(source[d.Span.Start:d.Span.End])
		if d.Contain {
			d.Own = d.Head
		}
		o.Defs = append(o.Defs, d)
		around = append(around, open{len(o.Defs) - 1, end})
	}
	return o
}

// begins tells whether a line begins a definition.
func (l *lined) begins(line string) (form lineForm, name, indent string, ok bool) {
	for _, f := range l.forms {
		m := f.line.Get().FindStringSubmatch(line)
		if m == nil || notNames.Has(m[2]) {
			continue
		}
		if first := strings.Fields(line)[0]; first == "function" || !notNames.Has(first) {
			return f, m[2], m[1], true
		}
	}
	return lineForm{}, "", "", false
}

// end is the line on which what begins at a line ends: the next that stands as
// deep and ends something, or the line itself if that does already.
func (l *lined) end(lines []string, row int, indent string, form lineForm) int {
	if t := strings.TrimSpace(lines[row]); strings.HasSuffix(t, "end") || strings.HasSuffix(t, "}") || strings.HasSuffix(t, ";") {
		return row
	}
	for i := row + 1; i < len(lines); i++ {
		rest, ok := strings.CutPrefix(lines[i], indent)
		if !ok || rest == "" || rest[0] == ' ' || rest[0] == '\t' {
			continue
		}
		if form.end != "" && !strings.HasPrefix(rest, form.end) {
			continue
		}
		if l.ends(rest) {
			return i
		}
		if _, _, _, begins := l.begins(lines[i]); begins {
			return i - 1
		}
	}
	return len(lines) - 1
}
