package record

import (
	"maps"
	"os"
	"strconv"
	"testing"

	_ "github.com/svc-hq/svc/internal/chance"
	"pgregory.net/rapid"
)

// A record is added to and made anew; whichever, it says what was told last and
// does not grow with the number of edits.
func TestARecordSaysWhatWasToldLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "record")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		file := In(dir, "https://svc.example.com", "/w")
		model := map[string]State{}
		for i := range rapid.IntRange(1, 400).Draw(t, "changes") {
			path := rapid.SampledFrom([]string{"a", "b/c", "d e"}).Draw(t, "path")
			if rapid.IntRange(0, 3).Draw(t, "undone") == 0 {
				delete(model, path)
			} else {
				model[path] = State{strconv.Itoa(i), "me"}
			}
			rec := Read(file)
			if rec.lines > 2*len(rec.Files)+slack+2 {
				t.Fatalf("%d lines for %d files", rec.lines, len(rec.Files))
			}
			rec.Base = "base"
			rec.Change(maps.Clone(model))
			if got := Read(file); !maps.Equal(got.Files, model) {
				t.Fatalf("is %v, want %v", got.Files, model)
			}
		}
	})
}
