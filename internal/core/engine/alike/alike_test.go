package alike_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/engine/alike"
)

// tuning are the trackers on which weights and threshold were chosen; what
// is said of others is what they come to elsewhere.
var tuning = []string{"twbs/bootstrap", "ansible/ansible", "facebook/react", "django/django", "joomla/joomla-cms"}

// A pair is two pull requests: duplicates that maintainers marked, or a near
// miss, one that was opened about the same time and has the most alike title of
// all, or of all that touch the same file.
type pair struct {
	tracker, text string
	same          bool
	score         int
}

func pairs(t testing.TB) (all []pair) {
	t.Helper()
	text, err := os.ReadFile("testdata/pairs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 10 {
			t.Fatalf("%d fields: %q", len(f), line)
		}
		p := pair{f[0], f[0] + " " + f[1] + " " + f[2] + ": " + f[4] + " | " + f[7], f[3] == "same", 0}
		if g := ground(strings.Fields(f[6]), strings.Fields(f[9])); g.Less > 0 { // svc compares work that meets
			p.score = alike.Score(alike.Of(f[4], f[5]), alike.Of(f[7], f[8]), g)
		}
		all = append(all, p)
	}
	return all
}

// ground is what two lists of files have in common.
func ground(a, b []string) (g alike.Ground) {
	for _, p := range a {
		if slices.Contains(b, p) {
			g.Names = append(g.Names, p)
		}
	}
	if n := len(g.Names); n > 0 {
		g.Common, g.Less = n*1000/(len(a)+len(b)-n), n*1000/min(len(a), len(b))
	}
	return g
}

// figures counts what reaches a score.
func figures(all []pair, enough int) (recall, precision float64) {
	right, wrong, same := 0, 0, 0
	for _, p := range all {
		if p.same {
			same++
		}
		switch {
		case p.score < enough:
		case p.same:
			right++
		default:
			wrong++
		}
	}
	return float64(right) / float64(same), float64(right) / float64(max(1, right+wrong))
}

// recallAt is the greatest recall at a precision.
func recallAt(all []pair, precision float64) (best float64, enough int) {
	for _, p := range all {
		if r, pr := figures(all, p.score); pr >= precision && r > best {
			best, enough = r, p.score
		}
	}
	return best, enough
}

// The figures of docs/lab/tasks.md, on trackers that nothing was tuned on.
func TestDuplicatesOfOtherTrackers(t *testing.T) {
	var tuned, others []pair
	for _, p := range pairs(t) {
		if slices.Contains(tuning, p.tracker) {
			tuned = append(tuned, p)
		} else {
			others = append(others, p)
		}
	}
	for _, set := range []struct {
		name string
		all  []pair
	}{{"tuned", tuned}, {"others", others}} {
		same := 0
		for _, p := range set.all {
			if p.same {
				same++
			}
		}
		at90, from90 := recallAt(set.all, 0.90)
		at95, from95 := recallAt(set.all, 0.95)
		r, pr := figures(set.all, alike.Enough)
		t.Logf("%s: %d pairs, %d of one task; recall at 90 %%: %.3f (from %d), at 95 %%: %.3f (from %d); as told: recall %.3f, precision %.3f",
			set.name, len(set.all), same, at90, from90, at95, from95, r, pr)
	}
	slices.SortFunc(others, func(a, b pair) int { return cmp.Compare(b.score, a.score) })
	for _, p := range others {
		if !p.same && p.score >= alike.Enough {
			t.Logf("wrong: %d %s", p.score, p.text)
		}
	}
	if r, pr := figures(others, alike.Enough); len(others) < 200 || r < 0.30 || pr < 0.90 {
		t.Errorf("recall %.3f and precision %.3f of %d pairs", r, pr, len(others))
	}
}

// A task that was sent is the one that was meant.
func TestTasksAsText(t *testing.T) {
	for _, want := range []alike.Task{nil, alike.Of("[Form] Fix #12: naïve caching of 日本 tokens", "Drop the old_name, keep newName; see #7")} {
		text, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got alike.Task
		if err := got.UnmarshalText(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v became %v: %v", want, got, err)
		}
	}
	for _, bad := range []string{"9x", "2", "x"} {
		var got alike.Task
		if err := got.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}
