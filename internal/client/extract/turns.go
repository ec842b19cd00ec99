package extract

import (
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A route that a loop makes is one for each item. What the loop calls the item
// stands in paths, prefixes and methods as a turn, until the key is whole.

// A turn is what a name of a loop stands for, item by item: turns of one loop go
// together.
type turn struct {
	loop  uint32 // where it begins
	name  string
	texts []string
}

// maxTurns bounds the routes that one place makes.
const maxTurns = 64

var turns = lazy.Regexp(`(?i)\{each:(\d+)\}`)

// each is a turn for a name that a loop around a place goes through, of the
// innermost loop that does.
func (e *extractor) each(name string, at uint32) []string {
	l := e.loopAt(name, at)
	if l == nil {
		return nil
	}
	known := slices.IndexFunc(e.turns, func(t turn) bool { return t.loop == l.Span.Start && t.name == name })
	if known < 0 {
		t := turn{loop: l.Span.Start, name: name}
		for _, v := range e.o.Each(l, name) {
			text := "{}"
			if texts := e.o.TextsOf(v); len(texts) > 0 {
				text = texts[0]
			}
			t.texts = append(t.texts, text)
		}
		if !slices.ContainsFunc(t.texts, func(s string) bool { return s != "{}" }) {
			return nil
		}
		known, e.turns = len(e.turns), append(e.turns, t)
	}
	return []string{"{each:" + strconv.Itoa(known) + "}"}
}

// loopAt is the innermost loop around a place that has a name for its items and
// whose items are known.
func (e *extractor) loopAt(name string, at uint32) (found *outline.Loop) {
	loops := e.o.Loops()
	for i := range loops {
		l := &loops[i]
		if l.Span.Holds(at) && (found == nil || l.Span.End-l.Span.Start < found.Span.End-found.Span.Start) && len(e.o.Each(l, name)) > 0 {
			found = l
		}
	}
	return found
}

// inTurn is a text once for each item of the loops in it.
func (e *extractor) inTurn(text string) []string {
	m := turns.Get().FindStringSubmatch(text)
	if m == nil {
		return []string{text}
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n >= len(e.turns) {
		return []string{text}
	}
	var out []string
	for i := range e.turns[n].texts {
		one := turns.Get().ReplaceAllStringFunc(text, func(hole string) string {
			k, _ := strconv.Atoi(turns.Get().FindStringSubmatch(hole)[1])
			if k >= len(e.turns) || e.turns[k].loop != e.turns[n].loop || i >= len(e.turns[k].texts) {
				return hole
			}
			return e.turns[k].texts[i]
		})
		out = append(out, e.inTurn(one)...)
		if len(out) >= maxTurns {
			return out[:maxTurns]
		}
	}
	return out
}

var keyHole = lazy.Regexp(`#\{\s*([\w.]+)\s*\}`)

// filledKey is a key of an object with what stands in its holes.
func (p *place) filledKey(key string) string {
	if !strings.Contains(key, "#{") {
		return key
	}
	return keyHole.Get().ReplaceAllStringFunc(key, func(hole string) string {
		if p.find != nil {
			if out := p.find(keyHole.Get().FindStringSubmatch(hole)[1]); len(out) == 1 {
				return out[0]
			}
		}
		return "{}"
	})
}
