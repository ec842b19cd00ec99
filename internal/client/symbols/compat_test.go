package symbols

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
)

func anyParams() *rapid.Generator[[]outline.Param] {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) outline.Param {
		return outline.Param{
			Name:     rapid.SampledFrom([]string{"", "a", "b", "c", "{ a }"}).Draw(t, "name"),
			Typ:      rapid.SampledFrom([]string{"", "int", "string", "int | string"}).Draw(t, "type"),
			Optional: rapid.Bool().Draw(t, "optional"),
			Rest:     rapid.Bool().Draw(t, "rest"),
			Keyword:  rapid.Bool().Draw(t, "keyword"),
		}
	}), 0, 4, func(p outline.Param) string { return p.Name })
}

// Parameters never break against themselves, and one that must be given more
// always does, whatever the language lets callers do.
func TestParameters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := &outline.Traits{
			NamesMatter: rapid.Bool().Draw(t, "names"), Defaults: rapid.Bool().Draw(t, "defaults"), Typed: rapid.Bool().Draw(t, "typed"),
		}
		ps := anyParams().Draw(t, "params")
		if v := verdict.Worst(compareParams(ps, ps, tr)); v.Compat == coord.Breaking {
			t.Errorf("%+v breaks against itself: %s", ps, v.Detail)
		}
		more := append(ps[:len(ps):len(ps)], outline.Param{Name: "further", Typ: "int"})
		if v := verdict.Worst(compareParams(ps, more, tr)); v.Compat != coord.Breaking {
			t.Errorf("%+v and one more that must be given: %s", ps, v.Compat)
		}
	})
}
