package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
)

// A simple model of what a session has seen: every line of the file has a text
// that is there once, and the model keeps, for each, whether the session knows
// of it. Files whose lines may be alike are a matter of luck, and left to the
// scenes of package hook.
type modelled struct {
	n     int             // texts so far
	now   []string        // the file
	file  File            // what the session is said to know
	knows map[string]bool // texts that the session has seen there
	gone  map[string]bool // texts that it knew and somebody else took out, unseen by it
	wrote map[string]bool // texts that it wrote itself
}

func (m *modelled) fresh() string {
	m.n++
	return fmt.Sprintf("text %d", m.n)
}

func (m *modelled) lines() []Line { return Lines([]byte(strings.Join(m.now, "\n") + "\n")) }

// change draws a change of the file: some lines replaced, put in or taken out.
func (m *modelled) change(t *rapid.T) (after []string) {
	at := rapid.IntRange(0, len(m.now)).Draw(t, "at")
	out := rapid.IntRange(0, min(3, len(m.now)-at)).Draw(t, "out")
	in := rapid.IntRange(0, 3).Draw(t, "in")
	var put []string
	for range in {
		put = append(put, m.fresh())
	}
	return slices.Concat(m.now[:at], put, m.now[at+out:])
}

// others is a change by somebody else.
func (m *modelled) others(t *rapid.T) {
	after := m.change(t)
	for _, l := range m.now {
		if !slices.Contains(after, l) && m.knows[l] {
			m.gone[l] = true
		}
	}
	m.now = after
}

// reads is the session reading all of the file.
func (m *modelled) reads() {
	m.file.Read(m.lines(), 1, len(m.now))
	m.knows, m.gone = map[string]bool{}, map[string]bool{}
	for _, l := range m.now {
		m.knows[l] = true
	}
}

// writes is an edit of the session's own, of a place.
func (m *modelled) writes(t *rapid.T) {
	was, before := m.lines(), m.now
	m.now = m.change(t)
	m.file.Wrote(was, m.lines())
	for _, l := range m.now {
		if !slices.Contains(before, l) {
			m.knows[l], m.wrote[l] = true, true
		}
	}
}

// farEdit is an edit of a line that the session knows, while others have changed
// lines elsewhere: what it remembers of the file changes by that line alone.
func (m *modelled) farEdit(t *rapid.T, seen []string) {
	var both []string
	for _, l := range m.now {
		if slices.Contains(seen, l) {
			both = append(both, l)
		}
	}
	if len(both) == 0 {
		return
	}
	was, old, text := m.lines(), rapid.SampledFrom(both).Draw(t, "line"), m.fresh()
	m.now = slices.Clone(m.now)
	m.now[slices.Index(m.now, old)] = text
	seen[slices.Index(seen, old)] = text
	m.knows[text], m.wrote[text] = true, true
	m.file.Wrote(was, m.lines())
}

// undone are the texts of others that the session has not seen and that an edit
// takes away, or that it brings back.
func (m *modelled) undone(after []string) (lost, back []string) {
	for _, l := range m.now {
		if !m.knows[l] && !slices.Contains(after, l) {
			lost = append(lost, l)
		}
	}
	for _, l := range after {
		if m.gone[l] && !slices.Contains(m.now, l) {
			back = append(back, l)
		}
	}
	return lost, back
}

// remembered is the file as the session knows it, written whole with a line of
// its own in it.
func (m *modelled) remembered(t *rapid.T, seen []string) []string {
	after := slices.Clone(seen)
	return slices.Insert(after, rapid.IntRange(0, len(after)).Draw(t, "own line"), m.fresh())
}

// Whatever sessions do, an edit is said to undo lines exactly when it takes
// away what its author has not seen, or brings back what somebody took out.
func TestViewsAgreeWithASimpleModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &modelled{knows: map[string]bool{}, gone: map[string]bool{}, wrote: map[string]bool{}}
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			m.now = append(m.now, m.fresh())
		}
		m.file.Lines = []Line{}
		m.reads()
		seen := slices.Clone(m.now)
		t.Repeat(map[string]func(*rapid.T){
			"others": m.others,
			"reads": func(*rapid.T) {
				m.reads()
				seen = slices.Clone(m.now)
			},
			"writes": func(t *rapid.T) {
				if len(m.file.Unseen(m.lines())) == 0 {
					m.writes(t)
					seen = slices.Clone(m.now)
				}
			},
			"far edit": func(t *rapid.T) { m.farEdit(t, seen) },
			"": func(t *rapid.T) {
				m.check(t, m.remembered(t, seen))
				m.check(t, m.now)
			},
		})
	})
}

func (m *modelled) check(t *rapid.T, after []string) {
	lost, back := m.undone(after)
	spans := m.file.Lost(m.lines(), Lines([]byte(strings.Join(after, "\n")+"\n")))
	if (len(lost)+len(back) > 0) != (len(spans) > 0) {
		t.Fatalf("now %q\nafter %q\nlost %q, back %q, but said %+v", m.now, after, lost, back, spans)
	}
	for _, s := range spans {
		for _, l := range m.now[s.Start-1 : s.Start-1+s.Count] {
			if m.wrote[l] && m.knows[l] {
				t.Fatalf("%q is the session's own, and said to be lost: %+v", l, spans)
			}
		}
	}
}
