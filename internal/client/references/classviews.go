package references

import (
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/bodies"
	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Django's routes name a class or a function, mostly of another file; which
// methods it answers, the class says by its own methods and by what it extends,
// the function by what it is marked with.

// An answered method of HTTP is that of a class by the name of its own that it
// calls.
type answered struct{ method, by string }

// genericViews are the methods that classes of frameworks answer.
var genericViews = lazy.Table[map[string][]answered]{Make: func() map[string][]answered {
	return map[string][]answered{
		"CreateAPIView":                {{"POST", "create"}},
		"ListAPIView":                  {{"GET", "list"}},
		"RetrieveAPIView":              {{"GET", "retrieve"}},
		"DestroyAPIView":               {{"DELETE", "destroy"}},
		"UpdateAPIView":                {{"PUT", "update"}, {"PATCH", "partial_update"}},
		"ListCreateAPIView":            {{"GET", "list"}, {"POST", "create"}},
		"RetrieveUpdateAPIView":        {{"GET", "retrieve"}, {"PUT", "update"}, {"PATCH", "partial_update"}},
		"RetrieveDestroyAPIView":       {{"GET", "retrieve"}, {"DELETE", "destroy"}},
		"RetrieveUpdateDestroyAPIView": {{"GET", "retrieve"}, {"PUT", "update"}, {"PATCH", "partial_update"}, {"DELETE", "destroy"}},
		"TemplateView":                 {{"GET", "get"}},
		"ListView":                     {{"GET", "get"}},
		"DetailView":                   {{"GET", "get"}},
		"FormView":                     {{"GET", "get"}, {"POST", "post"}},
		"CreateView":                   {{"GET", "get"}, {"POST", "post"}},
		"UpdateView":                   {{"GET", "get"}, {"POST", "post"}},
		"DeleteView":                   {{"GET", "get"}, {"POST", "post"}},
		"ObtainAuthToken":              {{"POST", "post"}},
		"TokenObtainPairView":          {{"POST", "post"}},
		"TokenRefreshView":             {{"POST", "post"}},
		"TokenVerifyView":              {{"POST", "post"}},
	}
}}

const maxLineage = 5 // classes from one to what a framework gives it

// classViews gives routes whose method is not known the methods that what
// answers them says.
func (r *Repo) classViews(v *extract.Version) {
	if r.files.Tree == nil || v.Outline == nil || v.Outline.Lang != "python" {
		return
	}
	var out []contract.Contract
	for _, c := range v.Contracts {
		route, open := strings.CutPrefix(c.Key, "http:"+scope.AnyMethod+" ")
		if c.Rule != "django" && c.Rule != "tornado" || c.Role != coord.Provides || !open || len(c.Answer.Names) != 1 {
			out = append(out, c)
			continue
		}
		methods := r.viewAnswers(v, &c)
		if len(methods) == 0 {
			out = append(out, c)
		}
		for _, m := range methods {
			if n, ok := contract.New("http:"+m.method+" "+route, c.Role, c.Line); ok {
				n.Rule, n.Of, n.Router, n.Answer = c.Rule, c.Of, c.Router, c.Answer
				if m.by != "" {
					n.Answer = contract.Answer{Names: []string{m.by}, At: c.Answer.At}
				}
				out = append(out, n)
			}
		}
	}
	v.Contracts = out
}

// viewAnswers are the methods that the one name of a route's answer takes.
func (r *Repo) viewAnswers(v *extract.Version, c *contract.Contract) (out []answered) {
	name := c.Answer.Names[0]
	class, is := strings.CutSuffix(name, ".as_view")
	if !is {
		for _, m := range r.markedMethods(world{r}.Find(v.Outline, name)) {
			out = append(out, answered{m, ""})
		}
		return out
	}
	c.Answer.Names = nil
	only := ""
	places := world{r}.Find(v.Outline, class)
	if len(places) == 0 {
		out = genericViews.Get()[owner(class)]
	} else {
		out = r.lineage(places[0], &only, 0)
	}
	var taken []answered
	for _, a := range out {
		if only == "" || strings.Contains(only, a.method) {
			taken = append(taken, answered{a.method, class + "." + a.by})
		}
	}
	return taken
}

// lineage are the methods that a class answers by itself or by what it extends.
func (r *Repo) lineage(p bodies.Place, only *string, depth int) (out []answered) {
	if depth > maxLineage || p.Def >= len(p.File.Defs) {
		return nil
	}
	add := func(a answered) {
		if !slices.ContainsFunc(out, func(x answered) bool { return x.method == a.method }) {
			out = append(out, a)
		}
	}
	d := &p.File.Defs[p.Def]
	if m := viewOnly.Get().FindStringSubmatch(string(p.File.Source[d.Span.Start:d.Span.End])); m != nil && *only == "" {
		*only = strings.ToUpper(m[1])
	}
	for i := range p.File.Defs {
		if m := &p.File.Defs[i]; m.Parent == p.Def && m.HasCall {
			name := owner(m.Name)
			if method := strings.ToUpper(name); strings.ToLower(name) == name && slices.Contains(scope.Methods(), method) {
				add(answered{method, name})
			}
		}
	}
	for _, b := range d.Bases {
		if known, ok := genericViews.Get()[owner(b)]; ok {
			for _, a := range known {
				add(a)
			}
			continue
		}
		if places := (world{r}).Find(p.File, b); len(places) > 0 && places[0] != p {
			for _, a := range r.lineage(places[0], only, depth+1) {
				add(a)
			}
		}
	}
	return out
}

var httpWord = lazy.Regexp(`GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS`)

// markedMethods are the methods that the marks of a function limit it to.
func (r *Repo) markedMethods(places []bodies.Place) []string {
	if len(places) != 1 || places[0].Def >= len(places[0].File.Defs) {
		return nil
	}
	o := places[0].File
	d := &o.Defs[places[0].Def]
	if !d.HasCall {
		return nil
	}
	marked := regexp.MustCompile(`@(?:\w+\.)*(api_view|require_http_methods|require_GET|require_POST|require_safe)\b[ \t]*(\([^)]*\))?\s*` +
		`(?:(?:@|#)[^\n]*\n\s*)*(?:async\s+)?def\s+` + regexp.QuoteMeta(owner(d.Name)) + `\s*\(`)
	m := marked.FindSubmatch(o.Source)
	if m == nil {
		return nil
	}
	out := httpWord.Get().FindAllString(string(m[1])+strings.ToUpper(string(m[2])), -1)
	if len(out) == 0 {
		return []string{"GET"}
	}
	return out
}
