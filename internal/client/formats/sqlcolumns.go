package formats

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// valueSigns stand before a value in SQL, where something filled in is no
// column.
var valueSigns = []string{
	"=", "<", ">", "(", ",", "like", "ilike", "in", "limit", "offset", "between", "and", "values", "returning", "+", "-",
}

// sqlWords are those of the language that nearly every statement has.
var sqlWords = lazy.Words("select distinct from where join left right inner outer cross on as and or not null is in like " +
	"between exists order group by having limit offset asc desc " +
	"insert into values returning update set delete case when then else end union all with count sum min max avg coalesce")

// columnsIn are the names in a statement, of which columns are some; nil if it
// may name others: all of them, or what is filled in.
func columnsIn(toks []sqlToken, line int) []coord.ContractField {
	out := []coord.ContractField{}
	seen := map[string]bool{}
	from := slices.IndexFunc(toks, func(t sqlToken) bool { return strings.EqualFold(t.text, "from") })
	for i, t := range toks {
		before := ""
		if i > 0 {
			before = strings.ToLower(toks[i-1].text)
		}
		name := strings.ToLower(t.text)
		switch {
		case t.text == "*" && before != "(", strings.HasPrefix(t.text, "{") && (i < from || !slices.Contains(valueSigns, before)):
			return nil
		case name == "into" && i+2 < len(toks) && !slices.ContainsFunc(toks[i+1:min(len(toks), i+5)], func(t sqlToken) bool {
			return t.text == "("
		}):
			return nil // an insert into all columns
		case t.word && !seen[name] && outline.IsWord(name) && name[0] > '9' && !sqlWords.Has(name):
			seen[name] = true
			out = append(out, coord.ContractField{Name: name, Line: line + t.line + 1})
		}
	}
	return out
}
