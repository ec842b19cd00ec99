package references

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/bodies"
	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Django's routers register a class under a path; which routes it has, the class
// says, mostly in another file: by what it extends, by its methods, and by those
// that are marked as actions.

// viewBases are the actions that a class has by what it extends.
var viewBases = lazy.Table[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"ModelViewSet":         {"list", "create", "retrieve", "update", "partial_update", "destroy"},
		"ReadOnlyModelViewSet": {"list", "retrieve"},
		"ListModelMixin":       {"list"},
		"CreateModelMixin":     {"create"},
		"RetrieveModelMixin":   {"retrieve"},
		"UpdateModelMixin":     {"update", "partial_update"},
		"DestroyModelMixin":    {"destroy"},
		"GenericViewSet":       nil,
		"ViewSet":              nil,
	}
}}

var (
	viewAction  = lazy.Regexp(`@(?:\w+\.)?action\(([^)]*)\)[\s\S]{0,800}?\bdef\s+(\w+)`)
	viewDetail  = lazy.Regexp(`detail\s*=\s*True`)
	viewMethods = lazy.Regexp(`methods\s*=\s*[\[(]([^\])]*)`)
	viewPath    = lazy.Regexp(`url_path\s*=\s*[rf]?["']([^"']*)["']`)
	viewOnly    = lazy.Regexp(`http_method_names\s*=\s*[\[(]([^\])]*)`)
	viewParam   = lazy.Regexp(`\(\?P<\w+>[^)]*\)`)
)

// viewSets gives registered classes the routes that they say they have.
func (r *Repo) viewSets(v *extract.Version) {
	if r.files.Tree == nil || v.Outline == nil || v.Outline.Lang != "python" {
		return
	}
	var out []contract.Contract
	done := map[string]bool{}
	for _, c := range v.Contracts {
		class, action, ok := registered(c)
		if !ok {
			out = append(out, c)
			continue
		}
		places := world{r}.Find(v.Outline, class)
		if len(places) == 0 || places[0].Def >= len(places[0].File.Defs) {
			out = append(out, c)
			continue
		}
		set := r.viewSetAt(places[0], 0)
		method, route, _ := strings.Cut(strings.TrimPrefix(c.Key, "http:"), " ")
		if set.has(action) && set.takes(method) {
			out = append(out, c)
		}
		base := strings.TrimSuffix(route, "/{}")
		if action == "list" && !done[class+base] {
			done[class+base] = true
			out = append(out, set.actions(c, class, base)...)
		}
	}
	v.Contracts = out
}

// registered reads which class and action a route of a router is of.
func registered(c contract.Contract) (class, action string, ok bool) {
	if c.Rule != "django" || !isProvidedRoute(c) || len(c.Answer.Names) != 1 || c.Answer.To != 0 {
		return "", "", false
	}
	at := strings.LastIndexByte(c.Answer.Names[0], '.')
	if at < 0 || !slices.Contains(viewBases.Get()["ModelViewSet"], c.Answer.Names[0][at+1:]) {
		return "", "", false
	}
	return c.Answer.Names[0][:at], c.Answer.Names[0][at+1:], true
}

// maxViewBases is how far up a class is followed.
const maxViewBases = 4

// A viewSet is what a class says of its routes.
type viewSet struct {
	text  string
	above string   // that of what it extends
	names []string // actions that it is known to have
	all   bool     // it extends something that is not known
	only  string   // the methods that it is limited to
}

func (r *Repo) viewSetAt(p bodies.Place, depth int) viewSet {
	d := &p.File.Defs[p.Def]
	s := viewSet{text: string(p.File.Source[d.Span.Start:d.Span.End]), all: len(d.Bases) == 0}
	for _, b := range d.Bases {
		b, _, _ = strings.Cut(b, "[")
		last := b[strings.LastIndexByte(b, '.')+1:]
		names, known := viewBases.Get()[last]
		s.names = append(s.names, names...)
		if known {
			continue
		}
		if up := (world{r}).Find(p.File, b); depth < maxViewBases && len(up) > 0 && up[0].Def < len(up[0].File.Defs) {
			above := r.viewSetAt(up[0], depth+1)
			s.names, s.above = append(s.names, above.names...), s.above+above.text+above.above
			s.all = s.all || above.all && !strings.HasSuffix(last, "Mixin")
			continue
		}
		s.all = s.all || !strings.HasSuffix(last, "Mixin")
	}
	for i := range p.File.Defs {
		if m := &p.File.Defs[i]; m.Parent == p.Def && m.HasCall {
			s.names = append(s.names, m.Name[strings.LastIndexByte(m.Name, '.')+1:])
		}
	}
	if m := viewOnly.Get().FindStringSubmatch(s.text); m != nil {
		s.only = strings.ToUpper(m[1])
	}
	return s
}

func (s *viewSet) has(action string) bool { return s.all || slices.Contains(s.names, action) }

func (s *viewSet) takes(method string) bool { return s.only == "" || strings.Contains(s.only, method) }

// actions are the routes of the methods that are marked as such.
func (s *viewSet) actions(c contract.Contract, class, base string) (out []contract.Contract) {
	for _, m := range viewAction.Get().FindAllStringSubmatch(s.text+s.above, -1) {
		args, name := m[1], m[2]
		route := name
		if p := viewPath.Get().FindStringSubmatch(args); p != nil {
			route = viewParam.Get().ReplaceAllString(p[1], "{}")
		}
		if viewDetail.Get().MatchString(args) {
			route = "{}/" + route
		}
		methods := []string{"GET"}
		if p := viewMethods.Get().FindStringSubmatch(args); p != nil {
			methods = strings.FieldsFunc(strings.ToUpper(p[1]), func(c rune) bool { return !outline.IsNameByte(byte(c)) })
		}
		for _, method := range methods {
			if n, ok := contract.New("http:"+method+" "+contract.JoinRoute(base, route), coord.Provides, c.Line); ok {
				n.Rule, n.Answer = c.Rule, contract.Answer{Names: []string{class + "." + name}}
				out = append(out, n)
			}
		}
	}
	return out
}
