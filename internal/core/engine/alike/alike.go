// Package alike tells whether two pieces of work are one task in other words:
// by the words of their titles and plans, of which rare ones count most, and by
// how much of what they are about is the same. It knows no language but that of
// software work, asks nobody, and counts in whole numbers.
package alike

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/textsearch"
)

// A Word is a meaning in a title or plan, and what it weighs.
type Word struct {
	Means  string
	Weight int
	In     Part
}

// A Part is where a word stands; in several, the greatest counts.
type Part uint8

const (
	InPlan Part = iota
	InArea      // before the colon, or in brackets: what a tracker calls a part of the project
	InTitle
)

// A Task is what a piece of work says of itself, by meaning.
type Task []Word

// maxPlan is how many words of a plan count.
const maxPlan = 60

// rarest is what a word weighs that work hardly ever speaks of.
const rarest = 20

//go:embed common.txt
var commonText string

// common are the words that commits of many projects speak of, and what they
// weigh: the fewer commits, the more.
var common = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(commonText) {
		fields := strings.Fields(line)
		weight, err := strconv.Atoi(fields[0])
		if err != nil {
			panic(err)
		}
		for _, w := range fields[1:] {
			out[w] = weight
		}
	}
	return out
})

// Of reads a title and a plan.
func Of(title, plan string) Task {
	at := map[string]Word{}
	note := func(text string, in Part) {
		for _, m := range meanings(text) {
			if _, ok := at[m]; !ok || in > InPlan {
				at[m] = wordOf(m, in)
			}
		}
	}
	area, rest := cutArea(title)
	note(excerpt(plan), InPlan)
	note(area, InArea)
	note(rest, InTitle)
	out := make(Task, 0, len(at))
	for _, w := range at {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b Word) int { return strings.Compare(a.Means, b.Means) })
	return out
}

// wordOf weighs a meaning by how rare it is, and by where it stands.
func wordOf(means string, in Part) Word {
	weight, known := common()[means]
	switch {
	case means[0] == '#':
		weight = rarest + 6
	case !known:
		weight = rarest
	}
	return Word{means, weight * [...]int{InPlan: 5, InArea: 4, InTitle: 10}[in], in}
}

// MarshalText writes a task in as few words as tell it: copies of live work have
// one of every intent.
func (t Task) MarshalText() ([]byte, error) {
	var out []byte
	for _, w := range t {
		out = append(append(out, byte('0'+w.In)), w.Means+" "...)
	}
	return out, nil
}

// UnmarshalText reads what MarshalText wrote.
func (t *Task) UnmarshalText(text []byte) error {
	*t = nil
	for f := range strings.FieldsSeq(string(text)) {
		in := Part(f[0] - '0')
		if in > InTitle || len(f) < 2 {
			return fmt.Errorf("no word of a task: %q", f)
		}
		*t = append(*t, wordOf(f[1:], in))
	}
	return nil
}

// excerpt is as much of a plan as is read.
func excerpt(plan string) string {
	n := 0
	for i, r := range plan {
		if r == ' ' || r == '\n' {
			if n++; n > maxPlan {
				return plan[:i]
			}
		}
	}
	return plan
}

// cutArea cuts what names a part of the project from a title: "[Form] ",
// "fix(parser): ", "provider/aws: ".
func cutArea(title string) (area, rest string) {
	rest = strings.TrimSpace(title)
	for strings.HasPrefix(rest, "[") && strings.Contains(rest, "]") {
		at := strings.Index(rest, "]") + 1
		area, rest = area+rest[:at]+" ", strings.TrimSpace(rest[at:])
	}
	first, _, _ := strings.Cut(rest, " ")
	if strings.HasSuffix(first, ":") && len(first) > 1 {
		return area + first, rest[len(first):]
	}
	return area, rest
}

// meanings are the words of a text by meaning, and the numbers of tickets.
func meanings(text string) (out []string) {
	for i := 0; i < len(text); i++ {
		end := i + 1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if text[i] == '#' && end > i+1 {
			out = append(out, text[i:end])
		}
	}
	for _, w := range textsearch.Words(text) {
		if (len(w) > 1 || isNumber(w)) && !textsearch.Common(w) {
			out = append(out, textsearch.Meaning(w))
		}
	}
	return out
}

// A Ground is how much of what two pieces of work are about is the same, in
// thousandths.
type Ground struct {
	Common int // of all that either is about
	Less   int // of what the one is about that is about less
	Names  []string
}

// Enough is the score from which two tasks are told to be one. It was chosen on
// trackers of which docs/lab/tasks.md tells, as were the weights.
const Enough = 3670

// Score tells how much speaks for one task: words that both have, how much of
// the shorter title that is, and the common ground. Words that stand in the
// names of files that both work on say little more than the files do.
func Score(a, b Task, g Ground) int {
	var known []string
	for _, name := range g.Names {
		known = append(known, meanings(name)...)
	}
	shared, ticket := 0, 0
	for i, k := 0, 0; i < len(a) && k < len(b); {
		x, y := &a[i], &b[k]
		if x.Means != y.Means { // both are in order
			if x.Means < y.Means {
				i++
			} else {
				k++
			}
			continue
		}
		i, k = i+1, k+1
		weight := min(x.Weight, y.Weight)
		if x.In == InTitle || y.In == InTitle {
			weight = max(weight, max(x.Weight, y.Weight)/2)
		}
		if slices.Contains(known, x.Means) {
			weight /= 2
		}
		if x.Means[0] == '#' {
			ticket = 1000
		}
		shared += weight
	}
	need := min(a.title(), b.title())
	if need == 0 || a.numbered(b) && b.numbered(a) {
		return 0
	}
	share := min(1000, shared*1000/need)
	return 2*share + 2*min(1000, shared) + g.Less + ticket + 2*share*g.Common/1000
}

// numbered reports whether a title has a number that the other does not speak
// of: release 3 and release 4 are two tasks.
func (t Task) numbered(other Task) bool {
	return slices.ContainsFunc(t, func(w Word) bool {
		return w.In == InTitle && isNumber(w.Means) && !slices.ContainsFunc(other, func(o Word) bool { return o.Means == w.Means })
	})
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// title is what the words of a title weigh.
func (t Task) title() (sum int) {
	for _, w := range t {
		if w.In != InPlan {
			sum += w.Weight
		}
	}
	return sum
}
