package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Rule says what is a contract. rules/README.md describes the options.
type Rule struct {
	Framework string
	Line      int    // in its file
	own       bool   // people wrote it for their framework
	Role      string // provides, uses; or scope, group, mount, shape: what helps others
	Contract  string // http, db, event, config
	Calls     []string
	Marks     []string
	reads     []string
	Bases     []string
	Exports   []string
	Sets      []string   // what is assigned to
	Fields    [][]string // an object has one of each
	Match     *lazy.Expr //  of the text: a method and a path
	Then      *lazy.Expr // after it: a method
	Under     *lazy.Expr // before it: a prefix
	File      *lazy.Expr
	within    string // what all paths have that File matches; of svc's own rules
	Needs     []string
	Options   Options
}

// A Matcher holds the rules of a language, by what sets them off.
type Matcher struct {
	Rules []*Rule
	Calls Triggers // by the last part of the name
	Marks Triggers
	Reads Triggers

	objects []*Rule // that an object sets off
}

// Triggers are names that set rules off, in their order. A rule of nil stands
// for a name that is worth keeping and sets nothing off.
type Triggers []trigger

type trigger struct {
	name  string
	rules []*Rule
}

// Of are the rules that a name sets off.
func (t Triggers) Of(name string) []*Rule {
	if i, ok := t.find(name); ok {
		return t[i].rules
	}
	return nil
}

func (t Triggers) find(name string) (int, bool) {
	return slices.BinarySearchFunc(t, name, func(one trigger, name string) int { return strings.Compare(one.name, name) })
}

func (t Triggers) has(name string) bool {
	_, ok := t.find(name)
	return ok
}

// A triggering collects what is to be Triggers.
type triggering map[string][]*Rule

func (t triggering) add(name string, r *Rule) { t[name] = append(t[name], r) }

func (t triggering) sorted() Triggers {
	out := make(Triggers, 0, len(t))
	for name, rules := range t {
		out = append(out, trigger{name, rules})
	}
	slices.SortFunc(out, func(a, b trigger) int { return strings.Compare(a.name, b.name) })
	return out
}

// Matching makes a matcher of rules.
func Matching(rules []*Rule) *Matcher {
	m := &Matcher{Rules: rules}
	calls, marks, reads := triggering{}, triggering{}, triggering{}
	for _, r := range rules {
		for _, c := range r.Calls {
			calls.add(lastPart(c), r)
		}
		for _, k := range r.Marks {
			marks.add(lastPart(k), r)
		}
		for _, o := range r.reads {
			reads.add(o, r)
		}
		if len(r.Fields) > 0 {
			m.objects = append(m.objects, r)
		}
		for _, k := range r.alsoMarks() {
			marks.add(k, nil)
		}
	}
	m.Calls, m.Marks, m.Reads = calls.sorted(), marks.sorted(), reads.sorted()
	return m
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

var (
	matcherMu sync.Mutex
	matchers  = map[string]*Matcher{}
)

// Load returns the rules of a language, but its syntax, read once.
func Load(lang string) (*Matcher, error) {
	matcherMu.Lock()
	defer matcherMu.Unlock()
	folder := Folder(lang)
	if m := matchers[folder]; m != nil {
		return m, nil
	}
	if u, ok := unpack(packed, folder); ok {
		matchers[folder] = u.matcher()
		return matchers[folder], nil
	}
	m, err := read(folder)
	if err == nil {
		matchers[folder] = m
	}
	return m, err
}

// read reads the rules of a folder from their text.
func read(folder string) (*Matcher, error) {
	files, err := frameworkFiles(folder)
	if err != nil {
		return nil, err
	}
	var rules []*Rule
	for _, file := range files {
		lines, err := Lines(file)
		if err != nil {
			return nil, err
		}
		some, err := parse(file, lines, false) // a test holds them to it
		if err != nil {
			return nil, err
		}
		for _, r := range some {
			r.within = beginning(r.Options.Get("file"))
		}
		rules = append(rules, some...)
	}
	return Matching(rules), nil
}

// parse reads the rules of a framework. If they are checked, what nobody would
// look at is an error: a misspelt option would be ignored in silence.
func parse(file string, lines []Line, check bool) (out []*Rule, _ error) {
	name := strings.TrimSuffix(path.Base(file), ".rules")
	var needs []string
	for _, l := range lines {
		if len(l.Words) > 0 && l.Words[0] == "needs" && len(l.Options) == 0 {
			needs = l.Words[1:]
			continue
		}
		if check {
			if err := checkRule(l); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, l.Number, err)
			}
		}
		out = append(out, parseRule(name, needs, l))
	}
	return out, nil
}

// options are what a rule may say. README.md tells what each means.
var options = []string{
	"call", "mark", "read", "base", "export", "set", "fields", "match", "then", "under", "file", // triggers
	"on", "min", "not-in", "has", "not-arg", "arg", "all", "class", // conditions
	"path", "method", "strip", "prefix", "name", "like", "whole", "var", "table", "column", "columns", "to", "op", "out", "in", "shape",
	"handler", "rest", "path-optional", "slash", "calls", "relative", "block", "invoke", "view", "of", "version", "up", "item", "mounted",
	"open", "wrapped", "given", "paired", "case", "strip-braces",
}

var roles = []string{"provides", "uses", "scope", "group", "mount", "prefix", "client", "shape"}
var contracts = []string{"http", "db", "event", "config", "gql"}

// checkRule finds what is wrong with a line.
func checkRule(l Line) error {
	if len(l.Words) != 2 || !slices.Contains(roles, l.Words[0]) || !slices.Contains(contracts, l.Words[1]) {
		return fmt.Errorf("want <role> <contract> and options, not %q", strings.Join(l.Words, " "))
	}
	for i, o := range l.Options {
		switch {
		case !slices.Contains(options, o.Key):
			return fmt.Errorf("nobody knows the option %s=", o.Key)
		case o.Value == "":
			return fmt.Errorf("the option %s= says nothing", o.Key)
		case l.Options[:i].Get(o.Key) != "":
			return fmt.Errorf("the option %s= is there twice", o.Key)
		}
	}
	if !slices.ContainsFunc(triggers, func(key string) bool { return l.Options.Get(key) != "" }) {
		return fmt.Errorf("nothing sets it off: say call=, mark=, read=, base=, export=, set=, fields= or match=")
	}
	return nil
}

// triggers are the options that set a rule off.
var triggers = []string{"call", "mark", "read", "base", "export", "set", "fields", "match"}

func parseRule(framework string, needs []string, l Line) *Rule {
	r := &Rule{Framework: framework, Line: l.Number, Role: l.Words[0], Contract: l.Words[1], Needs: needs, Options: l.Options}
	list := func(key string) []string {
		if v := l.Options.Get(key); v != "" {
			return strings.Split(v, ",")
		}
		return nil
	}
	r.Calls, r.Marks, r.reads, r.Bases, r.Exports = list("call"), list("mark"), list("read"), list("base"), list("export")
	r.expressions()
	r.Sets = list("set")
	for _, names := range list("fields") {
		r.Fields = append(r.Fields, strings.Split(names, "|"))
	}
	return r
}

// Covers tells whether a rule is about a file of such a path. To compile the
// expressions of all rules costs more than to read a small file, and few files
// lie in the folders that they name.
func (r *Rule) Covers(file string) bool {
	return r.File == nil || strings.Contains(file, r.within) && r.File.Get().MatchString(file)
}

// beginning is the plain text that an expression for paths begins with. It is
// for svc's own, which have no alternatives but in brackets: a test holds that.
func beginning(expr string) string {
	expr = strings.TrimPrefix(strings.TrimPrefix(expr, "(?:^|/)"), "(^|/)")
	end := strings.IndexFunc(expr, func(c rune) bool { return c != '/' && (c < 'a' || c > 'z') })
	if end < 0 || strings.IndexByte("?*{", expr[end]) >= 0 {
		return ""
	}
	return expr[:end]
}

// alsoMarks are marks that do not set a rule off and that it asks for.
func (r *Rule) alsoMarks() (out []string) {
	if c := r.Options.Get("columns"); len(r.Marks) > 0 && (c == "fields" || strings.HasPrefix(c, "@")) {
		out = append(out, columnMarks...)
	}
	for word := range strings.SplitSeq(r.Options.Get("class"), ",") {
		if word != "" {
			out = append(out, word)
		}
	}
	for _, key := range []string{"path", "prefix", "version", "table", "method", "columns"} {
		for _, word := range strings.FieldsFunc(r.Options.Get(key), func(c rune) bool { return c == '|' || c == '.' || c == ',' || c == ':' }) {
			if at := strings.IndexByte(word, '@'); at >= 0 {
				out = append(out, word[at+1:])
			}
		}
	}
	return out
}

// columnMarks say something of a model's column in every framework.
var columnMarks = []string{"Column", "JoinColumn", "Transient", "OneToMany", "ManyToMany"}

func (m *Matcher) WantsCall(last string) bool {
	if m == nil || last == "" {
		return false
	}
	return last == "require" || m.Calls.has(last)
}

func (m *Matcher) WantsMark(name string) bool {
	return m != nil && m.Marks.has(lastPart(name))
}

func (m *Matcher) WantsRead(object string) bool {
	return m != nil && m.Reads.has(object)
}

// WantsObjects tells whether any rule is about objects.
func (m *Matcher) WantsObjects() bool { return m != nil && len(m.objects) > 0 }

// WantsObject tells whether a rule is about objects with such fields.
func (m *Matcher) WantsObject(names []string) bool {
	return m != nil && slices.ContainsFunc(m.objects, func(r *Rule) bool { return r.HasFields(names) })
}

// HasFields tells whether an object with such fields sets a rule off.
func (r *Rule) HasFields(names []string) bool {
	for _, one := range r.Fields {
		if !slices.ContainsFunc(one, func(n string) bool { return slices.Contains(names, n) }) {
			return false
		}
	}
	return len(r.Fields) > 0
}

// MatchName tells whether a dotted name is what a pattern means. * as the
// first part stands for anything, also for nothing in front of a dot.
func MatchName(pattern, name string) bool {
	if rest, ok := strings.CutPrefix(pattern, "*."); ok {
		if head, tail, ok := strings.Cut(rest, "*"); ok {
			before, found := strings.CutSuffix(name, tail)
			return found && strings.Contains(before, "."+head)
		}
		return strings.HasSuffix(name, "."+rest)
	}
	if rest, ok := strings.CutPrefix(pattern, "?."); ok {
		return name == rest || strings.HasSuffix(name, "."+rest)
	}
	if head, tail, ok := strings.Cut(pattern, "*"); ok {
		return len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)
	}
	return pattern == name
}
