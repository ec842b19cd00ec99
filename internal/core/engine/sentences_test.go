package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// A walk through random worlds reads every sentence that the engine says to
// somebody, and holds it to the record: who is named, whose work it is called,
// what they wrote and when.
func TestSentencesStateWhatTheRecordHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 34))
	seen := map[string]int{}
	for n := 0; n < rounds(4000) || len(seen) < len(kindsOfSentences) && n < 100_000; n++ { // until every kind is met
		ix := newWorldIndex()
		w := world{map[string]*engine.Worker{}, map[string]*engine.Change{}, map[string][]engine.Use{}}
		for range 6 + r.IntN(24) {
			w.step(r, ix)
		}
		w.age(r, ix)
		for n := 1; n <= 6; n++ {
			self := ix.Worker(fmt.Sprint("w", n))
			if self == nil {
				continue
			}
			v := reading{t, &w, self, fmt.Sprint("copy", n%4), seen}
			for _, f := range engine.Detect(ix, self.ID) {
				text, step := engine.Explain(f, self.ID, walkNow)
				v.holds(text + " " + step.Text)
			}
			edit := engine.Edit{Worker: self, Session: self.ID, Copy: v.copy, Paths: somePaths, Now: walkNow}
			v.holds(engine.Decide(ix, edit).Reason)
			sweep := engine.Sweep{Verb: pick(r, []string{"stash", "reset", "add", "commit", "switch"}),
				Effect: pick(r, []engine.SweepEffect{engine.Discards, engine.Sweeps, engine.Moves})}
			for _, p := range somePaths {
				if r.IntN(2) == 0 {
					sweep.Files = append(sweep.Files, engine.SweptFile{Path: p, Committed: coord.Time(r.IntN(3)) * aMinute})
				}
			}
			v.guards(sweep, engine.Guard(ix, edit, []engine.Sweep{sweep}).Reason)
		}
	}
	for _, what := range kindsOfSentences {
		if seen[what] == 0 {
			t.Errorf("the walk met no sentence of the kind %q: %v", what, seen)
		}
	}
}

var kindsOfSentences = []string{"your other", "somebody else's", "same copy", "guard", "none of yours", "some of yours", "claimed"}

const aMinute = coord.Time(60_000)

// walkNow is when the sentences are said.
const walkNow = 200 * aMinute

// age gives every touch a time of its own, minutes apart, and workers hosts.
func (w *world) age(r *rand.Rand, ix *engine.Index) {
	for _, id := range slices.Sorted(maps.Keys(w.workers)) { // else one seed is many walks
		x := w.workers[id]
		x.Session, x.Tool, x.Branch, x.Since = x.ID, pick(r, []string{"codex", "claude_code", ""}), pick(r, []string{"main", ""}), aMinute
		ix.PutWorker(x)
	}
	for _, key := range slices.Sorted(maps.Keys(w.changes)) {
		c := w.changes[key]
		for i := range c.By {
			c.By[i].At = coord.Time(r.IntN(190)) * aMinute
			c.By[i].Session = c.By[i].Worker
		}
		ix.PutChange(c)
	}
}

// A reading is what somebody reads, with the record that it must agree with.
type reading struct {
	t    *testing.T
	w    *world
	self *engine.Worker
	copy string
	seen map[string]int
}

var (
	untrue     = regexp.MustCompile(`UTC|\(you[,)]|last wrote`)
	namedWork  = regexp.MustCompile("INT-(\\d+) \\(([^`)][^)]*)\\)")
	namedAgent = regexp.MustCompile(`(Ana|Bob)'s session`)
	sameCopyIs = regexp.MustCompile(`^(.*) changed (\S+) in the same working copy (.*?);`)
	claimedIs  = regexp.MustCompile(`INT-(\d+) \([^)]*\) claimed \S+ exclusively`)
)

// holds checks who is named in sentences, and what they are said to have done.
func (v *reading) holds(text string) {
	v.t.Helper()
	if untrue.MatchString(text) {
		v.t.Fatalf("to %s of %s: %s", v.self.ID, v.self.User.Name, text)
	}
	for _, m := range namedWork.FindAllStringSubmatch(text, -1) {
		who := v.w.workers["w"+m[1]]
		if who == nil {
			v.t.Fatalf("to %s: there is no INT-%s: %s", v.self.ID, m[1], text)
		}
		own := who.User.ID == v.self.User.ID
		if own != strings.Contains(m[2], "your other") || own == strings.Contains(m[2], who.User.Name) {
			v.t.Fatalf("to %s of %s, about %s's INT-%s: %s", v.self.ID, v.self.User.Name, who.User.Name, m[1], text)
		}
		if own {
			v.seen["your other"]++
		} else {
			v.seen["somebody else's"]++
		}
	}
	for _, m := range namedAgent.FindAllStringSubmatch(text, -1) {
		if m[1] == v.self.User.Name {
			v.t.Fatalf("to %s of %s: %s", v.self.ID, v.self.User.Name, text)
		}
	}
	for _, m := range claimedIs.FindAllStringSubmatch(text, -1) {
		v.seen["claimed"]++
		if !slices.ContainsFunc(v.w.workers["w"+m[1]].Claims, func(c coord.Claim) bool { return c.Mode == coord.Exclusive }) {
			v.t.Fatalf("INT-%s claims nothing exclusively: %s", m[1], text)
		}
	}
	for line := range strings.Lines(text) {
		if m := sameCopyIs.FindStringSubmatch(line); m != nil {
			v.seen["same copy"]++
			c := v.w.changes[v.self.Repo.ID+" "+v.copy+" "+m[2]]
			if c == nil || !slices.ContainsFunc(c.By, func(t engine.Touch) bool { return t.Worker != v.self.ID && agoWords(t.At) == m[3] }) {
				v.t.Fatalf("to %s: nobody else wrote %s then: %s\n%+v", v.self.ID, m[2], line, c)
			}
		}
	}
}

// guards checks what is said about a git command.
func (v *reading) guards(s engine.Sweep, text string) {
	v.t.Helper()
	if text == "" {
		return
	}
	v.seen["guard"]++
	v.holds(text)
	mine, last := false, coord.Time(0)
	for _, f := range s.Files {
		c := v.w.changes[v.self.Repo.ID+" "+v.copy+" "+f.Path]
		if c == nil {
			continue
		}
		theirs, own := coord.Time(0), false
		for _, t := range c.By {
			by := v.w.workers[t.Worker]
			switch {
			case t.At <= f.Committed:
			case t.Worker == v.self.ID || by != nil && kin(by, v.self):
				own = true
			case by != nil:
				theirs = max(theirs, t.At)
			}
		}
		if last = max(last, theirs); theirs > 0 {
			mine = mine || own
		}
	}
	if !strings.Contains(text, "written "+agoWords(last)) {
		v.t.Fatalf("to %s: the last was written %s: %s", v.self.ID, agoWords(last), text)
	}
	if strings.Contains(text, "None of your own changes") {
		v.seen["none of yours"]++
		if mine {
			v.t.Fatalf("to %s, who wrote in those files: %s", v.self.ID, text)
		}
	}
	if strings.Contains(text, "Changes of yours") {
		v.seen["some of yours"]++
		if !mine {
			v.t.Fatalf("to %s, who wrote in none of them: %s", v.self.ID, text)
		}
	}
}

// kin reports whether two workers are of one lineage: an agent and its sub-agents.
func kin(a, b *engine.Worker) bool {
	return slices.ContainsFunc(a.Lineages, func(l string) bool { return slices.Contains(b.Lineages, l) })
}

// agoWords is how long ago a moment is, in the engine's words.
func agoWords(at coord.Time) string {
	numbers := strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")
	n, unit := int(walkNow.Sub(at)/time.Minute), "minute"
	if n >= 120 {
		n, unit = n/60, "hour"
	}
	switch {
	case n < 1:
		return "just now"
	case n == 1:
		return "one " + unit + " ago"
	case n < len(numbers):
		return numbers[n] + " " + unit + "s ago"
	}
	return fmt.Sprintf("about %d %ss ago", n, unit)
}
