package verdict

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/coord"
)

func TestTheGravestWins(t *testing.T) {
	v := Worst([]Verdict{
		{coord.Compatible, "fine"}, {coord.Breaking, "gone"}, {coord.Unknown, "who knows"}, {coord.Breaking, "gone"}, {coord.Breaking, "moved"},
	})
	if v.Compat != coord.Breaking || v.Detail != "gone; moved" {
		t.Errorf("%+v", v)
	}
	if v := Worst(nil); v.Compat != coord.Compatible || v.Detail != "" {
		t.Errorf("nothing: %+v", v)
	}
}

// What is told fits the wire and stays text, wherever it is cut.
func TestTextsFit(t *testing.T) {
	for n := range 8 {
		s := strings.Repeat("x", n) + strings.Repeat("ä€", 4000)
		if d := Detail(s); len(*d) > maxDetail || !utf8.ValidString(*d) {
			t.Errorf("a detail of %d bytes", len(*d))
		}
		var text, hash *string
		SetSignatures(&text, &hash, s)
		if len(*text) > maxSignature || !utf8.ValidString(*text) || len(*hash) != 32 {
			t.Errorf("a signature of %d bytes, hash %s", len(*text), *hash)
		}
	}
}
