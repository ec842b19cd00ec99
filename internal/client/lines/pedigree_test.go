package lines

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
)

// What is written down of former names is read as it was, whatever files are
// called; what was cut short counts for nothing.
func TestAPedigreeIsReadAsItWasKept(t *testing.T) {
	name := rapid.OneOf(rapid.StringMatching(`[a-z"\\\t\n/. -]{0,12}`), rapid.String(), rapid.Just("a\xff"))
	rapid.Check(t, func(t *rapid.T) {
		p := pedigree{Late: rapid.MapOfN(name, rapid.Int64(), 0, 4).Draw(t, "late")}
		if rapid.Bool().Draw(t, "looked") {
			p.Year, p.At = name.Draw(t, "year"), rapid.Int64().Draw(t, "at")
			p.Names = rapid.MapOfN(name, rapid.SliceOfN(name, 0, 3), 0, 6).Draw(t, "names")
		}
		text := string(p.text())
		if diff := cmp.Diff(p, parsePedigree(text), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("kept (-) and read (+) differ:\n%s\n%q", diff, text)
		}
		if got := parsePedigree(text); (got.Names == nil) != (p.Names == nil) {
			t.Fatalf("looked up: %v, want %v", got.Names != nil, p.Names != nil)
		}
		cut := text[:rapid.IntRange(0, max(0, len(text)-len("end\n"))).Draw(t, "cut")]
		if got := parsePedigree(cut); got.Names != nil || got.Late != nil {
			t.Fatalf("of a part is read %+v\n%q", got, cut)
		}
	})
}
