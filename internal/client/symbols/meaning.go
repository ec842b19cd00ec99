package symbols

import (
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Some changes leave every user working, and wrong: a constant has another
// value, a parameter another default. Who newly uses it had the old one in mind.

// maxMeant is how long a value may be to be told.
const maxMeant = 60

// plainValue is one that stands for itself: numbers with units and signs, texts,
// truth. What calls or looks something up may give the same in other words.
var plainValue = lazy.Regexp(`^(?:[-+]?[\w.]+(?:\s*[*/+<-]+\s*[\w.]+)*|"[^"]*"|'[^']*')$`)

// meant tells of a definition that is used as before whether it means something
// else now.
func meant(f *coord.SymbolFacts, old, new *group, tr *outline.Traits) {
	if len(old.defs) != 1 || len(new.defs) != 1 || f.Compatibility != coord.Compatible {
		return
	}
	a, b := old.defs[0].Full(), new.defs[0].Full()
	if a.HasCall && b.HasCall {
		defaults(f, a, b, tr)
		return
	}
	if a.Kind != b.Kind || a.Kind != "constant" && a.Kind != "variable" && a.Kind != "value" {
		return
	}
	was, is := valueText(a), valueText(b)
	if was == is || !plainValue.Get().MatchString(was) || !plainValue.Get().MatchString(is) || len(was)+len(is) > 2*maxMeant {
		return
	}
	f.Meaning, f.Detail = true, verdict.Detail(fmt.Sprintf("its value was %s, is %s", was, is))
	verdict.SetSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, a.Head+" = "+was)
	verdict.SetSignatures(&f.Signature, &f.SignatureHash, b.Head+" = "+is)
}

// valueText is what a variable is set to.
func valueText(d *outline.Def) string {
	text := d.Own[min(len(d.Own), max(0, strings.Index(d.Own, d.Name[strings.LastIndexByte(d.Name, '.')+1:]))):]
	parts := outline.SplitTop(text, '=')
	if len(parts) != 2 {
		return ""
	}
	value := parts[1]
	for _, remark := range []string{"//", " #"} {
		value, _, _ = strings.Cut(value, remark)
	}
	return strings.TrimRight(strings.TrimSpace(value), ";,")
}

// defaults tells of a parameter with another default: whoever leaves it out gets
// something else.
func defaults(f *coord.SymbolFacts, a, b *outline.Def, tr *outline.Traits) {
	was, is := defaultsIn(a), defaultsIn(b)
	takes := callerParams(nil, b, tr)
	own := ownParams(b)
	for i, p := range own {
		x, had := was[p.Name]
		y, has := is[p.Name]
		if !had || !has || x == y || !plainValue.Get().MatchString(x) || !plainValue.Get().MatchString(y) || i >= len(takes) {
			continue
		}
		// A call that gives it does not fit this list: it goes on as before.
		takes[i].Changed = true
		if !f.Meaning {
			f.Meaning, f.Detail = true, verdict.Detail(fmt.Sprintf("the default of %s was %s, is %s", p.Name, x, y))
		}
	}
	if f.Meaning {
		f.Takes = [][]coord.Param{takes}
	}
}

// defaultsIn are the defaults of a function's parameters, by name.
func defaultsIn(d *outline.Def) map[string]string {
	out := map[string]string{}
	open := strings.IndexByte(d.Head, '(')
	if open < 0 {
		return out
	}
	for _, part := range outline.SplitTop(strings.TrimSuffix(d.Head[open+1:], ")"), ',') {
		halves := outline.SplitTop(part, '=')
		if len(halves) != 2 {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(halves[0]), ":")
		words := strings.Fields(name)
		if len(words) > 0 {
			value := strings.TrimSpace(halves[1])
			if i := strings.IndexByte(value, ')'); i >= 0 {
				value = strings.TrimSpace(value[:i])
			}
			out[words[len(words)-1]] = value
		}
	}
	return out
}
