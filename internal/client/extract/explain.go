package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// A Missed place looks like a route or like a call of one, but could not be
// read.
type Missed struct {
	Line int    `json:"line"`
	What string `json:"what"` // the call, as far as its name goes
	Role string `json:"role"` // provides, uses
	Rule string `json:"rule"` // the framework whose rule it set off
	Why  string `json:"why"`
}

// maxMissed bounds what is told of one file.
const maxMissed = 500

// miss notes a place that a rule is about but that gave nothing.
func (e *extractor) miss(p *place, why string) {
	if len(e.missed) >= maxMissed {
		return
	}
	m := Missed{Line: p.line, Role: p.rule.Role, Rule: p.rule.Place(), Why: why}
	switch {
	case p.call != nil:
		m.What = p.call.Name + "()"
	case p.mark != nil:
		m.What = "@" + p.mark.Name
	}
	e.missed = append(e.missed, m)
}

// Missed are the places of a file that look like routes or calls but could not
// be read.
func (v *Version) Missed() (out []Missed) {
	if v.extractor == nil {
		return nil
	}
	for _, m := range v.extractor.missed {
		read := false
		for _, c := range v.Contracts {
			read = read || c.Line == m.Line && string(c.Role) == m.Role && strings.HasPrefix(c.Key, "http:")
		}
		if !read && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// Words describes a request function: what it is called with, and what it makes
// of that.
func (q *Request) Words() string {
	name := q.Name
	if q.Owner != "" {
		name = q.Owner + "." + name
	}
	var params []string
	for _, p := range q.params {
		params = append(params, shortName(p))
	}
	show := func(text string) string {
		return marks.Get().ReplaceAllStringFunc(text, func(m string) string {
			at := marks.Get().FindStringSubmatch(m)
			if at[3] != "" {
				return "<" + at[3] + ">"
			}
			for i, p := range q.params {
				if at[2] == string(rune('0'+i)) {
					return "<" + shortName(p) + ">"
				}
			}
			return "<argument>"
		})
	}
	method := show(q.method)
	if method == "" {
		method = "any method"
	}
	return name + "(" + strings.Join(params, ", ") + "): " + method + " " + show(q.path)
}

func shortName(p outline.Param) string {
	if isPattern(p) {
		return "{...}"
	}
	return paramName(p)
}
