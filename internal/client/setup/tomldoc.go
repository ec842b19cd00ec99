package setup

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A tomlTable is a table of ours in a TOML file. go-toml's parser only says
// where things are; the edits are made in the text.
type tomlTable struct {
	path  []string
	lines []field // key and value, as TOML text
	soft  []string
	ours  func(any) bool
}

// A tomlSpan is one expression: [table] or key = value.
type tomlSpan struct {
	path       []string // full path, with that of the table it stands in
	header     bool
	start, end int // without the indentation before and the comment after it
	valStart   int // of a key's value
}

func parseTOML(text []byte) ([]tomlSpan, map[string]any, error) {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		var de *toml.DecodeError
		if errors.As(err, &de) {
			line, _ := de.Position()
			return nil, nil, atLine(line, "not valid TOML: %s", strings.TrimPrefix(de.Error(), "toml: "))
		}
		return nil, nil, err
	}
	var p unstable.Parser
	p.Reset(text)
	var spans []tomlSpan
	var table []string
	for p.NextExpression() {
		n := p.Expression()
		var key []string
		var first, last unstable.Range
		for it := n.Key(); it.Next(); {
			if key == nil {
				first = it.Node().Raw
			}
			last = it.Node().Raw
			key = append(key, string(it.Node().Data))
		}
		s := tomlSpan{start: int(first.Offset), end: int(last.Offset + last.Length)}
		if n.Kind == unstable.KeyValue {
			s.path = append(slices.Clone(table), key...)
			s.end = int(n.Raw.Offset + n.Raw.Length)
			s.valStart = skipEquals(text, int(last.Offset+last.Length))
		} else {
			table, s.path, s.header = key, key, true
		}
		spans = append(spans, s)
	}
	return spans, all, p.Error()
}

func skipEquals(text []byte, at int) int {
	at += bytes.IndexByte(text[at:], '=') + 1
	return at + len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t"))
}

// apply makes the table ours and current.
func (t *tomlTable) apply(text []byte, fresh bool) ([]byte, error) {
	spans, all, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	have := lookup(all, t.path)
	if have == nil {
		if fresh {
			text = nil
		}
		out := appendBlock(text, fresh, t.block())
		if _, _, err := parseTOML(out); err != nil {
			return nil, atLine(t.line(text, spans), "%s cannot be extended; make each of its entries a table of its own", t.path[0])
		}
		return out, nil
	}
	if !t.ours(have) {
		return nil, atLine(t.line(text, spans), "%s is there already and not ours; rename it", strings.Join(t.path, "."))
	}
	return t.update(text, have.(map[string]any))
}

// update brings the keys that differ up to date.
func (t *tomlTable) update(text []byte, have map[string]any) ([]byte, error) {
	var want map[string]any
	if err := toml.Unmarshal([]byte(t.block()), &want); err != nil {
		return nil, err
	}
	wanted := lookup(want, t.path).(map[string]any)
	for _, l := range t.lines {
		if slices.Contains(t.soft, l.key) || compact("", have[l.key]) == compact("", wanted[l.key]) {
			continue
		}
		spans, _, err := parseTOML(text)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(spans, func(s tomlSpan) bool {
			return !s.header && slices.Equal(s.path, append(slices.Clone(t.path), l.key))
		})
		if i < 0 {
			return nil, atLine(t.line(text, spans), "%s is not up to date and written in a form we do not edit; delete it and run this again",
				strings.Join(t.path, "."))
		}
		text = slices.Concat(text[:spans[i].valStart], []byte(l.val.(string)), text[spans[i].end:])
	}
	return text, nil
}

// remove takes the table out if it is ours, with all that hangs on it.
func (t *tomlTable) remove(text []byte) (rest []byte, gone bool, err error) {
	for {
		spans, all, err := parseTOML(text)
		if err != nil || gone {
			return text, gone, err
		}
		if have := lookup(all, t.path); have == nil || !t.ours(have) {
			return text, false, nil
		}
		from, to := t.extent(text, spans)
		if from < 0 {
			return text, false, atLine(t.line(text, spans), "%s is written in a form we do not edit; delete it by hand", strings.Join(t.path, "."))
		}
		text, gone = cutBlock(text, from, to)
	}
}

// extent is the last run of lines that belong to the table.
func (t *tomlTable) extent(text []byte, spans []tomlSpan) (from, to int) {
	mine := func(s tomlSpan) bool {
		return len(s.path) >= len(t.path) && slices.Equal(s.path[:len(t.path)], t.path)
	}
	last := len(spans) - 1
	for ; last >= 0 && !mine(spans[last]); last-- {
	}
	if last < 0 {
		return -1, -1
	}
	first := last
	for ; first > 0 && !spans[first].header && mine(spans[first-1]); first-- {
	}
	from = bytes.LastIndexByte(text[:spans[first].start], '\n') + 1
	to = len(text)
	if i := bytes.IndexByte(text[spans[last].end:], '\n'); i >= 0 {
		to = spans[last].end + i
		if to > 0 && text[to-1] == '\r' {
			to--
		}
	}
	return from, to
}

func (t *tomlTable) block() string {
	b := "[" + strings.Join(t.path, ".") + "]"
	for _, l := range t.lines {
		b += "\n" + l.key + " = " + l.val.(string)
	}
	return b
}

// line is where the table, or what stands in its way, is.
func (t *tomlTable) line(text []byte, spans []tomlSpan) int {
	for n := len(t.path); n > 0; n-- {
		for _, s := range spans {
			if len(s.path) >= n && slices.Equal(s.path[:n], t.path[:n]) {
				return lineOf(text, s.start)
			}
		}
	}
	return 1
}

// present reports whether the table is there, and whether it is as we write it.
func (t *tomlTable) present(text []byte) (present, current bool) {
	_, all, err := parseTOML(text)
	if err != nil {
		return false, false
	}
	have := lookup(all, t.path)
	if have == nil || !t.ours(have) {
		return false, false
	}
	out, err := t.apply(text, false)
	return true, err == nil && bytes.Equal(out, text)
}

func lookup(v any, path []string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}
