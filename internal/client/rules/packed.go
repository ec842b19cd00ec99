package rules

import (
	_ "embed"
	"encoding/binary"
	"io/fs"
	"slices"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// packed holds all rules in a form that is read in a tenth of the time that
// their text takes, which was a twelfth of what svc did after an edit. In the
// repository it is empty, and the text is read: .ci/build-svc puts in its place
// what Pack returns. It is one text, of which the rules' are parts, and no data
// of Go's with pointers, which every start of svc would pay for.
//
//go:embed packed.bin
var packed string

// Pack returns the rules of all folders, and the lines of the files that are no
// framework's.
func Pack() ([]byte, error) {
	var out packer
	for _, folder := range Folders() {
		m, err := read(folder)
		if err != nil {
			return nil, err
		}
		out.section(folder, func(p *packer) { p.matcher(m) })
	}
	files, err := fs.Glob(rulesFS, "*.txt")
	if err != nil {
		return nil, err
	}
	syntaxes, err := fs.Glob(rulesFS, "*/syntax.rules")
	if err != nil {
		return nil, err
	}
	for _, file := range append(files, syntaxes...) {
		text, err := rulesFS.ReadFile(file)
		if err != nil {
			return nil, err
		}
		out.section(file, func(p *packer) { p.lines(linesOf(text)) })
	}
	return out.data, nil
}

// A packer writes numbers, texts with their length before them, and lists with
// their count. Before a section stands how many texts and options its lists have
// in all, so that whoever reads it makes room once.
type packer struct {
	data           []byte
	texts, options int
}

func (p *packer) section(name string, write func(*packer)) {
	var inner packer
	write(&inner)
	p.text(name)
	p.number(inner.texts)
	p.number(inner.options)
	p.text(string(inner.data))
}

func (p *packer) number(n int) { p.data = binary.AppendUvarint(p.data, uint64(n)) }

func (p *packer) text(s string) {
	p.number(len(s))
	p.data = append(p.data, s...)
}

func (p *packer) list(all []string) {
	p.texts += len(all)
	p.number(len(all))
	for _, s := range all {
		p.text(s)
	}
}

func (p *packer) settings(all Options) {
	p.options += len(all)
	p.number(len(all))
	for _, o := range all {
		p.text(o.Key)
		p.text(o.Value)
	}
}

func (p *packer) lines(all []Line) {
	p.number(len(all))
	for _, l := range all {
		p.number(l.Number)
		p.list(l.Words)
		p.settings(l.Options)
	}
}

func (p *packer) matcher(m *Matcher) {
	p.number(len(m.Rules))
	var needs []string
	for _, r := range m.Rules {
		if slices.Equal(r.Needs, needs) {
			p.number(0)
		} else {
			p.number(1)
			p.list(r.Needs)
		}
		needs = r.Needs
		p.text(r.Framework)
		p.number(r.Line)
		p.text(r.Role)
		p.text(r.Contract)
		for _, list := range r.lists() {
			p.list(*list)
		}
		p.number(len(r.Fields))
		for _, names := range r.Fields {
			p.list(names)
		}
		p.text(r.within)
		p.settings(r.Options)
	}
	for _, t := range []Triggers{m.Calls, m.Marks, m.Reads} {
		p.number(len(t))
		for _, one := range t {
			p.text(one.name)
			p.references(m, one.rules)
		}
	}
	p.references(m, m.objects)
}

// references writes which of its rules are meant, 0 for none.
func (p *packer) references(m *Matcher, all []*Rule) {
	p.number(len(all))
	for _, r := range all {
		p.number(slices.Index(m.Rules, r) + 1)
	}
}

// lists are the lists that a rule consists of.
func (r *Rule) lists() []*[]string {
	return []*[]string{&r.Calls, &r.Marks, &r.reads, &r.Bases, &r.Exports, &r.Sets}
}

// An unpacker reads what a packer wrote.
type unpacker struct {
	left    string
	texts   []string
	options Options
}

// unpack finds a section.
func unpack(all, name string) (unpacker, bool) {
	for u := (unpacker{left: all}); u.left != ""; {
		found := u.text()
		texts, options := u.number(), u.number()
		if inner := u.text(); found == name {
			return unpacker{inner, make([]string, 0, texts), make(Options, 0, options)}, true
		}
	}
	return unpacker{}, false
}

func (u *unpacker) number() int {
	for n, i := 0, 0; ; i++ {
		c := u.left[i]
		n |= int(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.left = u.left[i+1:]
			return n
		}
	}
}

func (u *unpacker) text() string {
	n := u.number()
	s := u.left[:n]
	u.left = u.left[n:]
	return s
}

func (u *unpacker) list() []string {
	n, from := u.number(), len(u.texts)
	if n == 0 {
		return nil
	}
	for range n {
		u.texts = append(u.texts, u.text())
	}
	return u.texts[from:len(u.texts):len(u.texts)]
}

func (u *unpacker) settings() Options {
	n, from := u.number(), len(u.options)
	for range n {
		u.options = append(u.options, Option{u.text(), u.text()})
	}
	return u.options[from:len(u.options):len(u.options)]
}

func (u *unpacker) lines() []Line {
	out := make([]Line, u.number())
	for i := range out {
		out[i] = Line{u.number(), u.list(), u.settings()}
	}
	return out
}

func (u *unpacker) matcher() *Matcher {
	rules := make([]Rule, u.number())
	m := &Matcher{Rules: make([]*Rule, len(rules))}
	var needs []string
	for i := range rules {
		r := &rules[i]
		m.Rules[i] = r
		if u.number() == 1 {
			needs = u.list()
		}
		r.Needs, r.Framework, r.Line, r.Role, r.Contract = needs, u.text(), u.number(), u.text(), u.text()
		for _, list := range r.lists() {
			*list = u.list()
		}
		for range u.number() {
			r.Fields = append(r.Fields, u.list())
		}
		r.within, r.Options = u.text(), u.settings()
		r.expressions()
	}
	for _, t := range []*Triggers{&m.Calls, &m.Marks, &m.Reads} {
		*t = make(Triggers, u.number())
		for i := range *t {
			(*t)[i] = trigger{u.text(), u.references(m)}
		}
	}
	m.objects = u.references(m)
	return m
}

func (u *unpacker) references(m *Matcher) []*Rule {
	n := u.number()
	if n == 0 {
		return nil
	}
	out := make([]*Rule, n)
	for i := range out {
		if at := u.number(); at > 0 {
			out[i] = m.Rules[at-1]
		}
	}
	return out
}

// expressions takes a rule's expressions from its options.
func (r *Rule) expressions() {
	for _, o := range r.Options {
		if o.Value == "" {
			continue
		}
		switch o.Key {
		case "file":
			r.File = lazy.Regexp(o.Value)
		case "match":
			r.Match = lazy.Regexp(o.Value)
		case "then":
			r.Then = lazy.Regexp(o.Value)
		case "under":
			r.Under = lazy.Regexp(o.Value)
		}
	}
}
