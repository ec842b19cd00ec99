package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// findings plays the story of words and returns a finding of every kind.
func findings(t *testing.T) (out []engine.Finding) {
	text, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := story{t: t, ix: engine.New(), changes: map[string]*engine.Change{}, copies: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		f := fields(line)
		if len(f) == 0 || !commands[f[0]] {
			continue
		}
		s.do(f)
		for _, id := range s.ix.Workers(repoName("shop").ID) {
			for _, found := range engine.Detect(s.ix, id) {
				if !slices.ContainsFunc(out, func(o engine.Finding) bool { return o.Kind == found.Kind }) {
					out = append(out, found)
				}
			}
		}
	}
	if len(out) != len(coord.ConflictKinds()) {
		t.Fatalf("the story tells of %d kinds", len(out))
	}
	return out
}

// Nobody reads that they should message themselves or wait for their own work,
// whichever side they are; a third party is told to do nothing.
func TestWordsFitTheReader(t *testing.T) {
	says := func(f engine.Finding, viewer string) string {
		text, step := engine.Explain(f, viewer, 0)
		return text + " " + step.Text
	}
	for _, f := range findings(t) {
		holder, challenger := *f.Holder, *f.Challenger
		for _, side := range []struct {
			name string
			w    engine.Worker
		}{{"holder", holder}, {"challenger", challenger}} {
			if !side.w.Live() {
				continue // merged work reads nothing
			}
			said := says(f, side.w.ID)
			for _, own := range []string{"essage " + side.w.User.Name, "ait for " + side.w.Ref(), side.w.Ref() + " ("} {
				if strings.Contains(said, own) {
					t.Errorf("%s: the %s reads %q: %s", f.Kind, side.name, own, said)
				}
			}
		}
		if said := says(f, "a third party"); strings.Contains(strings.ToLower(said), "you ") && !strings.Contains(said, "for you to do") ||
			strings.Contains(said, "essage ") {
			t.Errorf("%s: a third party reads %s", f.Kind, said)
		}
		// One person on both sides.
		if both := f; holder.Live() && challenger.Live() {
			one := challenger
			one.User = holder.User
			both.Challenger = &one
			for _, viewer := range []string{holder.ID, one.ID, ""} {
				if said := says(both, viewer); strings.Contains(said, "essage ") {
					t.Errorf("%s: who is both sides is to message themselves: %s", f.Kind, said)
				}
			}
		}
		// Who handed the work over reads to whom.
		handed := f
		from := holder
		from.From = challenger.User
		handed.Holder = &from
		if said := says(handed, challenger.ID); holder.Ref() != "" && strings.Contains(said, holder.Ref()+" (") && !strings.Contains(said,
			"to whom you handed it") {
			t.Errorf("%s: who handed it over reads %s", f.Kind, said)
		}
	}
}
