package reader

import (
	"testing"

	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
)

// The lean svc answers by itself for languages in which there is nothing to
// read. If one gets a reader, its line in languages.txt must say so.
func TestWhatIsReadIsMarkedSo(t *testing.T) {
	names, err := rules.Lines("languages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range names {
		file := l.Words[2]
		if file[0] == '.' {
			file = "a" + file
		}
		lang := rules.LanguageOf(file)
		if can := outline.CanRead(lang) || formats.Has(lang); can != lang.Read {
			t.Errorf("%s (%s): read is %v, marked %v", l.Words[0], file, can, lang.Read)
		}
	}
}
