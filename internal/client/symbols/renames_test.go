package symbols_test

import (
	"testing"

	"github.com/svc-hq/svc/internal/client/symbols"
	"github.com/svc-hq/svc/internal/core/coord"
)

// A field whose type goes by another name is what it was to who takes something
// from it; one of another type is not.
func TestATypesNewNameBreaksOnlyWhoNamesIt(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, tc := range []struct {
		was, is string
		want    coord.Compatibility
	}{
		{"Segments *text.Segments", "Segments *text.Parts", coord.Compatible},
		{"Add(s *Segments, n int) error", "Add(s *Parts, n int) error", coord.Compatible},
		{"Segments *text.Segments", "Segments []*text.Parts", coord.Breaking},
		{"Segments *text.Segments", "Segments *text.Other", coord.Breaking},
	} {
		files := []coord.FileFacts{{Symbols: []coord.SymbolFacts{
			{Key: "sym:go:a.go#Segments", Kind: "struct", Change: coord.Removed, Compatibility: coord.Breaking},
			{Key: "sym:go:a.go#Parts", Kind: "struct", Change: coord.Added, Compatibility: coord.Compatible},
			{Key: "sym:go:b.go#Node.Segments", Kind: "field", Change: coord.Signature, Compatibility: coord.Breaking,
				PreviousSignature: text(tc.was), Signature: text(tc.is)},
		}}}
		symbols.SettleRenames(files)
		if got := files[0].Symbols[2].Compatibility; got != tc.want {
			t.Errorf("%q, now %q, is %s, want %s", tc.was, tc.is, got, tc.want)
		}
	}
}
