package extract

import (
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// named adds contracts whose key is a name: events and configuration.
func (e *extractor) named(p *place) {
	for _, whole := range e.names(p) {
		n := strings.TrimSpace(whole)
		if p.rule.Options.Get("strip-braces") != "" { // Spring's ${NAME:default}
			n = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(n, "\\"), "${"), "}")
			n, _, _ = strings.Cut(n, ":")
		}
		if n == "" || strings.Contains(n, "{}") || marks.Get().MatchString(n) {
			continue
		}
		if like := p.rule.Options.Get("like"); like != "" {
			if ok, err := regexp.MatchString(like, n); err != nil || !ok {
				continue
			}
		}
		s := contract.Shape{}
		if v, ok := p.value(p.rule.Options.Get("shape")); ok && p.rule.Options.Get("shape") != "" {
			s.Out = fieldsOf(v)
		}
		if p.rule.Contract == "event" { // an address of a queue or topic ends in its name
			n = n[strings.LastIndexAny(n, "/:")+1:]
			if p.rule.Options.Get("whole") != "" {
				n = strings.TrimSpace(whole)
			}
		}
		e.add(p.rule.Contract+":"+n, coord.ContractRole(p.rule.Role), p.line, s)
	}
}

// matchedEvent adds an event that goes by the name of a class (the group name),
// or by a literal or a constant (the group text).
func (e *extractor) matchedEvent(r *rules.Rule, m []int) {
	for i, group := range r.Match.Get().SubexpNames() {
		if group == "" || m[2*i] < 0 {
			continue
		}
		name := string(e.o.Source[m[2*i]:m[2*i+1]])
		if group == "text" {
			known, ok := e.o.Const(name)
			if text := strings.Trim(name, `"'`); text != name {
				known, ok = text, true
			}
			if !ok {
				continue
			}
			name = known
		}
		line := 1 + strings.Count(string(e.o.Source[:m[0]]), "\n")
		e.add("event:"+name, coord.ContractRole(r.Role), line, contract.Shape{})
	}
}

// names are the names that a rule takes for events or settings: literals,
// constants of the file, and for topics what variables and other files say.
func (e *extractor) names(p *place) []string {
	selector := p.rule.Options.Get("name")
	out := p.texts(selector)
	if len(out) > 0 || p.call == nil || p.rule.Contract != "event" {
		return out
	}
	if out = e.spellings(p, selector); len(out) == 0 {
		if v, ok := e.argument(p, strings.SplitN(selector, "|", 2)[0]); ok {
			for _, i := range v.Items {
				out = append(out, e.o.Spell(i, e.lookup(p.call))...)
			}
		}
	}
	return out
}
