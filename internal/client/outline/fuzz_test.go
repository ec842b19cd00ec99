package outline

import (
	"strings"
	"testing"
)

func FuzzParams(f *testing.F) {
	for _, s := range []string{
		"(a: number, b = 2)", "(int a, const char *b)", "a, *rest, key:, opt: 2, &blk", "(x: &'a [i32], f: F)",
		"({ a, b }, ...c)", "(Map<String, List<Int>> m)",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, nameFirst bool) {
		ps := parseParams(s, &Traits{NameFirst: nameFirst})
		if len(ps) > strings.Count(s, ",")+1 {
			t.Errorf("%q has %d parameters", s, len(ps))
		}
		for _, p := range ps {
			if !strings.Contains(s, p.Name) || !strings.Contains(s, p.Typ) {
				t.Errorf("%q: %+v is not of it", s, p)
			}
		}
	})
}
