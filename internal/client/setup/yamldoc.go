package setup

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A yamlEntry is an entry of ours in a mapping at the top of a YAML file.
// yaml.v3 only says where things are; the edits are made in the text, line by
// line.
type yamlEntry struct {
	at    string // the mapping
	name  string
	lines []field // key and value, as YAML text
	soft  []string
	ours  func(any) bool
}

// oddBreak matches what YAML takes for the end of a line and we do not, as we
// count lines.
var oddBreak = lazy.Regexp("\r([^\n]|$)|\u0085|\u2028|\u2029")

var yamlErrLine = lazy.Regexp(`line (\d+): (.*)`)

// parseYAML returns the mapping at the top, or nil if the file holds nothing.
func parseYAML(text []byte) (*yaml.Node, error) {
	if at := oddBreak.Get().FindIndex(text); at != nil {
		return nil, atLine(lineOf(text, at[0]), "a line ends in neither LF nor CRLF; convert the file and run this again")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil {
		var all any
		err = doc.Decode(&all) // finds keys that are there twice
	}
	if err != nil {
		if m := yamlErrLine.Get().FindStringSubmatch(err.Error()); m != nil {
			line, _ := strconv.Atoi(m[1])
			return nil, atLine(line, "not valid YAML: %s", m[2])
		}
		return nil, atLine(1, "not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, atLine(1, "more than one YAML document")
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" && top.Value == "" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode || top.Style&yaml.FlowStyle != 0 {
		return nil, atLine(top.Line, "expected a mapping with one key a line")
	}
	return top, nil
}

// child returns the key and value nodes of key, or nil.
func child(m *yaml.Node, key string) (k, v *yaml.Node) {
	for i := 0; m != nil && i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}

// apply makes the entry ours and current.
func (y *yamlEntry) apply(text []byte, fresh bool) ([]byte, error) {
	top, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	key, m := child(top, y.at)
	if key == nil {
		return y.checked(text, appendBlock(text, fresh, y.at+":\n"+y.block("  ")), 1)
	}
	if m.Kind != yaml.MappingNode || m.Style&yaml.FlowStyle != 0 || len(m.Content) == 0 || m.Line == key.Line {
		return nil, atLine(key.Line, "expected %s to be a mapping with one key a line", y.at)
	}
	mine, val := child(m, y.name)
	if mine == nil {
		// First among its siblings: where a key starts is certain, where a value
		// ends is not.
		at := offset(text, m.Line, 1)
		nl := newline(text)
		block := strings.ReplaceAll(y.block(strings.Repeat(" ", m.Column-1)), "\n", nl) + nl
		return y.checked(text, slices.Concat(text[:at], []byte(block), text[at:]), key.Line)
	}
	var have any
	if err := val.Decode(&have); err != nil || !y.ours(have) {
		return nil, atLine(mine.Line, "%s.%s is there already and not ours; rename it", y.at, y.name)
	}
	return y.update(text, mine, val)
}

// update replaces the lines of keys that differ.
func (y *yamlEntry) update(text []byte, mine, val *yaml.Node) ([]byte, error) {
	for _, l := range y.lines {
		k, v := child(val, l.key)
		var have, want any
		if v != nil {
			_ = v.Decode(&have)
		}
		if err := yaml.Unmarshal([]byte(l.val.(string)), &want); err != nil {
			return nil, err
		}
		if slices.Contains(y.soft, l.key) || compact("", have) == compact("", want) {
			continue
		}
		if k == nil || endOfNode(text, v) != k.Line {
			return nil, atLine(mine.Line, "%s.%s is not up to date and written in a form we do not edit; delete it and run this again", y.at, y.name)
		}
		from, to := offset(text, k.Line, k.Column), lineEnd(text, k.Line)
		return y.apply(slices.Concat(text[:from], []byte(l.key+": "+l.val.(string)), text[to:]), false)
	}
	return text, nil
}

// remove takes the entry out if it is ours, and the mapping if it holds
// nothing else.
func (y *yamlEntry) remove(text []byte) (rest []byte, gone bool, err error) {
	top, err := parseYAML(text)
	if err != nil {
		return text, false, err
	}
	key, m := child(top, y.at)
	mine, val := child(m, y.name)
	if mine == nil {
		return text, false, nil
	}
	var have any
	if err := val.Decode(&have); err != nil || !y.ours(have) {
		return text, false, nil
	}
	if m.Style&yaml.FlowStyle != 0 || val.Style&yaml.FlowStyle != 0 && val.Line != mine.Line {
		return text, false, atLine(mine.Line, "%s.%s is written in a form we do not edit; delete it by hand", y.at, y.name)
	}
	last := endOfNode(text, val)
	if len(m.Content) == 2 {
		rest, gone = cutBlock(text, offset(text, key.Line, 1), lineEnd(text, last))
		return rest, gone, nil
	}
	from, to := offset(text, mine.Line, 1), lineEnd(text, last)
	after := bytes.TrimPrefix(bytes.TrimPrefix(text[to:], []byte("\r")), []byte("\n"))
	return slices.Concat(text[:from], after), false, nil
}

func (y *yamlEntry) block(indent string) string {
	b := indent + y.name + ":"
	for _, l := range y.lines {
		b += "\n" + indent + "  " + l.key + ": " + l.val.(string)
	}
	return b
}

// checked returns out if it reads back as text with our entry in it. Anchors,
// block scalars and tabs leave places where a line of ours would mean something
// else.
func (y *yamlEntry) checked(text, out []byte, line int) ([]byte, error) {
	var before, after map[string]any
	err := errors.Join(yaml.Unmarshal(text, &before), yaml.Unmarshal(out, &after))
	m, _ := after[y.at].(map[string]any)
	mine := m[y.name]
	delete(m, y.name)
	if len(m) == 0 {
		delete(after, y.at)
	}
	if err != nil || !y.ours(mine) || !reflect.DeepEqual(before, after) && len(before)+len(after) > 0 {
		return nil, atLine(line, "cannot add %s.%s here safely; add it by hand", y.at, y.name)
	}
	return out, nil
}

// present reports whether the entry is there, and whether it is as we write it.
func (y *yamlEntry) present(text []byte) (present, current bool) {
	top, err := parseYAML(text)
	if err != nil {
		return false, false
	}
	_, m := child(top, y.at)
	_, val := child(m, y.name)
	var have any
	if val == nil || val.Decode(&have) != nil || !y.ours(have) {
		return false, false
	}
	out, err := y.apply(text, false)
	return true, err == nil && bytes.Equal(out, text)
}

// endOfNode is the last line of n.
func endOfNode(text []byte, n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, endOfNode(text, c))
	}
	if n.Kind == yaml.ScalarNode {
		last += strings.Count(strings.TrimSuffix(n.Value, "\n"), "\n")
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			last++
		}
	}
	return last
}

// offset is the place of a line and column, both from 1.
func offset(text []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at + column - 1
}

// lineEnd is the place before the newline of a line.
func lineEnd(text []byte, line int) int {
	at := offset(text, line, 1)
	rest := text[at:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return at + len(bytes.TrimSuffix(rest, []byte("\r")))
}
