//go:build unix

package hosttest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The crowd: sessions of several hosts at work in one clone, turn by turn in an
// order that a seed draws. Each has a model that remembers what it last saw of a
// file and works from that, as models do: it writes whole files from memory,
// changes a far line first, runs scripts, and sometimes reads. After each turn
// the tree is compared with the one before.

const (
	crowdTurns = 20
	maxWords   = 300 // of ours in a session
)

// crowdFiles are few, so that sessions meet.
var crowdFiles = []string{"app.py", "store.py", "tools.py", "views.py"}

// crowdText is a file of functions, each line of which is there once.
func crowdText(file string) string {
	var b strings.Builder
	name := strings.TrimSuffix(file, ".py")
	for f := range 6 {
		fmt.Fprintf(&b, "def %s_%d():\n", name, f)
		for i := range 6 {
			fmt.Fprintf(&b, "    %s_%d_%d = \"start\"\n", name, f, i)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A heard is what svc said at one of a host's events.
type heard struct {
	event   string
	refused bool
	text    string
}

// A seat is a session of a host: it does what its model asks for.
type seat interface {
	host() row
	do(d deed) []heard
	ends() []heard
}

// A member is a session of the crowd with what the test knows of it.
type member struct {
	mind
	seat  seat
	words int
	spoke int            // turns with words of ours
	by    map[string]int // words by event
}

// A crowd is one run.
type crowd struct {
	t       *testing.T
	dir     string
	members []*member
	tree    map[string][]string
	author  map[string]string // of each line, who wrote it
	removed map[string]string // of each line that is gone, who took it away

	figures crowdFigures
}

// crowdFigures are what a run found.
type crowdFigures struct {
	Turns, Writes             int
	Lost, LostAfterRefusal    int // lines of others
	Refusals, NeedlessRefused int
	Warnings, NeedlessWarned  int
	Words                     []int // of each session
	Spoken                    int   // turns with words of ours
}

func (f crowdFigures) needless() float64 {
	if f.Refusals+f.Warnings == 0 {
		return 0
	}
	return float64(f.NeedlessRefused+f.NeedlessWarned) / float64(f.Refusals+f.Warnings)
}

func newCrowd(t *testing.T, dir string, seats []seat, seed uint64) *crowd {
	c := &crowd{t: t, dir: dir, author: map[string]string{}, removed: map[string]string{}}
	for i, s := range seats {
		c.members = append(c.members, &member{seat: s, by: map[string]int{}, mind: mind{
			name: fmt.Sprintf("s%d", i+1), rng: rand.New(rand.NewPCG(seed, uint64(i))), memory: map[string][]string{}, told: map[string]bool{},
		}})
	}
	return c
}

// play has every member take its turns, in the order that the seed draws.
func (c *crowd) play(seed uint64) crowdFigures {
	var order []*member
	for _, m := range c.members {
		for range crowdTurns {
			order = append(order, m)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 1000))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	c.tree = c.look()
	for _, m := range order {
		c.turn(m)
	}
	for _, m := range c.members {
		m.hears(m.seat.ends())
		c.t.Logf("%s (%s): words %v", m.name, m.seat.host().id, m.by)
		c.figures.Words = append(c.figures.Words, m.words)
		c.figures.Spoken += m.spoke
	}
	return c.figures
}

// look reads the files.
func (c *crowd) look() map[string][]string {
	out := map[string][]string{}
	for _, f := range crowdFiles {
		data, err := os.ReadFile(filepath.Join(c.dir, f))
		if err != nil {
			c.t.Errorf("%s is gone: %v", f, err)
		}
		out[f] = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	return out
}

// hears counts the words of ours that a session gets.
func (m *member) hears(all []heard) {
	n := 0
	for _, h := range all {
		n += len(strings.Fields(h.text))
		m.by[h.event] += len(strings.Fields(h.text))
	}
	m.words += n
	if n > 0 {
		m.spoke++
	}
}

// turn is one turn of a member: what it does, and what came of it.
func (c *crowd) turn(m *member) {
	c.figures.Turns++
	d := m.decide()
	before := c.tree[d.file]
	harm := c.harm(m, d, before)
	said := m.seat.do(d)
	m.hears(said)
	c.tree = c.look()
	after := c.tree[d.file]
	done := d.kind != reads && d.done(after)
	if done {
		c.figures.Writes++
	}
	refused := slices.ContainsFunc(said, func(h heard) bool { return h.refused })
	c.judge(m, d, said, harm, before)
	c.account(m, d, before, after)
	if refused {
		for _, l := range before {
			m.told[l] = true
		}
		for l := range c.removed {
			m.told[l] = true
		}
	}
	m.learn(d, after, done, refused)
}

// harm is what a deed would do to lines of others that its author has not
// seen: how many would be gone or back.
func (c *crowd) harm(m *member, d deed, before []string) (lines []string) {
	after, ok := d.apply(c.t, before)
	if !ok {
		return nil
	}
	return c.undone(m, d.file, before, after)
}

// undone are the lines of others that a change takes away or brings back
// without its author having seen what they did.
func (c *crowd) undone(m *member, file string, before, after []string) (lines []string) {
	for _, l := range before {
		if by := c.author[l]; by != "" && by != m.name && !slices.Contains(after, l) && !slices.Contains(m.memory[file], l) {
			lines = append(lines, l)
		}
	}
	for _, l := range after {
		if by := c.removed[l]; by != "" && by != m.name && !slices.Contains(before, l) {
			lines = append(lines, l)
		}
	}
	return lines
}

// judge counts what svc said and how much of it was needless.
func (c *crowd) judge(m *member, d deed, said []heard, harm, before []string) {
	for _, h := range said {
		if h.text == "" || h.event == "Stop" || h.event == "SessionStart" || h.event == "UserPromptSubmit" {
			continue
		}
		if after, ok := d.apply(c.t, before); ok && h.event == "PreToolUse" && !h.refused && !d.done(c.tree[d.file]) && d.done(after) {
			c.t.Errorf("%s showed a warning before it ran the tool: docs/hosts.md says otherwise", m.seat.host().name)
		}
		needed := len(harm) > 0 || !h.refused && c.meets(m, d, before)
		if h.refused {
			c.figures.Refusals++
		} else {
			c.figures.Warnings++
		}
		if !needed {
			if h.refused {
				c.figures.NeedlessRefused++
			} else {
				c.figures.NeedlessWarned++
			}
		}
		c.t.Logf("%s (%s) %s: needed %v: %s\n%s", m.name, m.seat.host().id, h.event, needed, d, h.text)
	}
}

// meets reports whether a deed changes a function in which others changed
// something that its author has not seen.
func (c *crowd) meets(m *member, d deed, before []string) bool {
	after, ok := d.apply(c.t, before)
	if !ok {
		return false
	}
	mine, theirs := functions(before, after), functions(m.memory[d.file], before)
	return slices.ContainsFunc(mine, func(f string) bool { return slices.Contains(theirs, f) })
}

// functions are those in which two versions of a file differ.
func functions(a, b []string) (names []string) {
	of := func(lines []string) map[string]string {
		out, name := map[string]string{}, ""
		for _, l := range lines {
			if strings.HasPrefix(l, "def ") {
				name = l
			}
			out[name] += l + "\n"
		}
		return out
	}
	x, y := of(a), of(b)
	for name, text := range x {
		if y[name] != text {
			names = append(names, name)
		}
	}
	return names
}

// account notes what a turn did to the tree, and counts the lines of others
// that it undid.
func (c *crowd) account(m *member, d deed, before, after []string) {
	for _, l := range c.undone(m, d.file, before, after) {
		if m.told[l] {
			c.figures.LostAfterRefusal++
			continue
		}
		c.figures.Lost++
		c.t.Logf("LOST by %s (%s): %s\n%q of %s", m.name, m.seat.host().id, d, l, c.author[l])
	}
	for _, l := range before {
		if !slices.Contains(after, l) {
			c.removed[l] = m.name
		}
	}
	for _, l := range after {
		if !slices.Contains(before, l) {
			c.author[l] = m.name
			delete(c.removed, l)
		}
	}
}
