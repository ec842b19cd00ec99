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

// What a type takes is known only as far as its words show.
func TestTypes(t *testing.T) {
	typed := &outline.Traits{Typed: true}
	for _, tc := range []struct {
		old, new string
		want     coord.Compatibility
	}{
		{"int", "string", coord.Breaking},
		{"string", "string | number", coord.Compatible},
		{"*testing.T", "testing.TB", coord.Compatible},
		{"testing.TB", "*testing.T", coord.Breaking},
		{"number | { line: number }", "number | Pos", coord.Unknown},
		{"Pos", "{ line: number }", coord.Unknown},
		{"{ line: number }", "{ line: string }", coord.Breaking},
		{"Creator<any> | null", "Creator<unknown> | null", coord.Unknown},
		{"Creator<T> | null", "Creator<unknown> | null", coord.Unknown},
		{"dict[str, Any]", "dict[str, int]", coord.Unknown},
		{"Creator<string>", "Creator<number>", coord.Breaking},
		{"Creator<any>", "Maker<any>", coord.Breaking},
		{"any", "string", coord.Breaking},
	} {
		if v := compareTypes("it", tc.old, tc.new, true, typed); v.Compat != tc.want {
			t.Errorf("%s: %s, want %s", v.Detail, v.Compat, tc.want)
		}
	}
}

// A parameter that comes between others moves those behind it. Who passes as
// many arguments as are taken now means the new ones.
func TestAParameterBetweenOthers(t *testing.T) {
	def := func(params ...outline.Param) *outline.Def {
		return &outline.Def{Params: params, HasCall: true, Parent: -1}
	}
	name, size := outline.Param{Name: "name", Typ: "string"}, outline.Param{Name: "size", Typ: "int"}
	maybe := outline.Param{Name: "size", Typ: "int", Optional: true}
	first, given := outline.Param{Name: "first", Typ: "int"}, outline.Param{Name: "given", Optional: true} // its default tells its type
	for _, tc := range []struct {
		old, new *outline.Def
		two      coord.Fit // of a call with two arguments
	}{
		{def(size), def(name, size), coord.Fits},
		{def(maybe), def(name, size), coord.Fits},
		{def(size, size), def(name, size), coord.Misfits},        // the type of the first is another one
		{def(size, maybe), def(name, size, size), coord.Misfits}, // too few
		{def(given, maybe), def(first, given, maybe), coord.Misfits},
		{def(given, maybe), def(given, maybe, given), coord.Fits},
	} {
		call := &coord.Call{Args: 2}
		if got := call.Fit([][]coord.Param{callerParams(tc.old, tc.new, &outline.GoTraits)}); got != tc.two {
			t.Errorf("%v to %v: two arguments are %v", tc.old.Params, tc.new.Params, got)
		}
	}
}
