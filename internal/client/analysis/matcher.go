package analysis

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A rule says what is a contract. rules/README.md describes the options.
type rule struct {
	framework string
	role      string // provides, uses; or scope, group, mount, shape: what helps others
	contract  string // http, db, event, config
	calls     []string
	marks     []string
	reads     []string
	bases     []string
	exports   []string
	file      *regexp.Regexp
	needs     []string
	options   map[string]string
}

// A matcher holds the rules of a language, by what sets them off.
type matcher struct {
	rules []*rule
	calls map[string][]*rule // by the last part of the name
	marks map[string][]*rule
	reads map[string][]*rule
	want  map[string]bool // further calls to keep
}

func newMatcher() *matcher {
	return &matcher{calls: map[string][]*rule{}, marks: map[string][]*rule{}, reads: map[string][]*rule{}, want: map[string]bool{"require": true}}
}

var (
	matcherMu sync.Mutex
	matchers  = map[string]*matcher{}
)

// loadMatcher reads all rule files of a language but its syntax, once.
func loadMatcher(lang string) (*matcher, error) {
	matcherMu.Lock()
	defer matcherMu.Unlock()
	folder := ruleFolder(lang)
	if m := matchers[folder]; m != nil {
		return m, nil
	}
	files, err := frameworkFiles(lang)
	if err != nil {
		return nil, err
	}
	m := newMatcher()
	for _, file := range files {
		lines, err := ruleLines(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(path.Base(file), ".rules")
		var needs []string
		for _, l := range lines {
			if len(l.words) > 0 && l.words[0] == "needs" {
				needs = l.words[1:]
				continue
			}
			r, err := parseRule(name, needs, l)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, l.number, err)
			}
			m.add(r)
		}
	}
	matchers[folder] = m
	return m, nil
}

var roles = []string{"provides", "uses", "scope", "group", "mount", "client", "shape"}
var contracts = []string{"http", "db", "event", "config", "gql"}

func parseRule(framework string, needs []string, l ruleLine) (*rule, error) {
	if len(l.words) != 2 || !slices.Contains(roles, l.words[0]) || !slices.Contains(contracts, l.words[1]) {
		return nil, fmt.Errorf("want <role> <contract> and options, not %q", strings.Join(l.words, " "))
	}
	r := &rule{framework: framework, role: l.words[0], contract: l.words[1], needs: needs, options: l.options}
	list := func(key string) []string {
		if v := l.options[key]; v != "" {
			return strings.Split(v, ",")
		}
		return nil
	}
	r.calls, r.marks, r.reads, r.bases, r.exports = list("call"), list("mark"), list("read"), list("base"), list("export")
	if f := l.options["file"]; f != "" {
		re, err := regexp.Compile(f)
		if err != nil {
			return nil, fmt.Errorf("file: %w", err)
		}
		r.file = re
	}
	if len(r.calls)+len(r.marks)+len(r.reads)+len(r.bases)+len(r.exports) == 0 {
		return nil, fmt.Errorf("nothing sets it off: say call=, mark=, read=, base= or export=")
	}
	return r, nil
}

func (m *matcher) add(r *rule) {
	m.rules = append(m.rules, r)
	for _, c := range r.calls {
		last := c[strings.LastIndexByte(c, '.')+1:]
		m.calls[last] = append(m.calls[last], r)
	}
	for _, k := range r.marks {
		last := k[strings.LastIndexByte(k, '.')+1:]
		m.marks[last] = append(m.marks[last], r)
	}
	for _, o := range r.reads {
		m.reads[o] = append(m.reads[o], r)
	}
	if c := r.options["columns"]; len(r.marks) > 0 && (c == "fields" || strings.HasPrefix(c, "@")) {
		for _, k := range columnMarks {
			m.marks[k] = append(m.marks[k], nil)
		}
	}
	for _, key := range []string{"path", "prefix", "table", "method", "columns"} {
		for _, word := range strings.FieldsFunc(r.options[key], func(c rune) bool { return c == '|' || c == '.' || c == ',' || c == ':' }) {
			if at := strings.IndexByte(word, '@'); at >= 0 {
				m.marks[word[at+1:]] = append(m.marks[word[at+1:]], nil)
			}
		}
	}
}

// columnMarks say something of a model's column in every framework.
var columnMarks = []string{"Column", "JoinColumn", "Transient", "OneToMany", "ManyToMany"}

func (m *matcher) wantsCall(last string) bool {
	if m == nil || last == "" {
		return false
	}
	_, ok := m.calls[last]
	return ok || m.want[last]
}

func (m *matcher) wantsMark(name string) bool {
	if m == nil {
		return false
	}
	_, ok := m.marks[name[strings.LastIndexByte(name, '.')+1:]]
	return ok
}

func (m *matcher) wantsRead(object string) bool {
	if m == nil {
		return false
	}
	_, ok := m.reads[object]
	return ok
}

// matchName tells whether a dotted name is what a pattern means. * as the
// first part stands for anything, also for nothing in front of a dot.
func matchName(pattern, name string) bool {
	if rest, ok := strings.CutPrefix(pattern, "*."); ok {
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

// applies tells whether the file has what the rule needs: one of the words
// among its imports, or in its text when the language has no such imports.
func (r *rule) applies(o *outline) bool {
	if r.file != nil && !r.file.MatchString(o.path) {
		return false
	}
	if len(r.needs) == 0 {
		return true
	}
	for _, im := range o.imports {
		for _, n := range r.needs {
			if strings.Contains(im.module+"."+im.name, n) {
				return true
			}
		}
	}
	for _, n := range r.needs {
		if text, ok := strings.CutPrefix(n, "text:"); ok && strings.Contains(string(o.source), text) {
			return true
		}
	}
	return false
}
