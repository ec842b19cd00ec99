package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A jsonDoc is a JSON or JSONC file under edit. hujson only says where things
// are; every edit is a splice of the text, so that what is not ours keeps its
// bytes.
//
// An edit must be undone years later by somebody else's svc, with no record of
// what the file was. Two conventions make that possible:
//
//   - text that goes into a container with members is set off from them only
//     by a comma and one run of white space;
//   - the first member put into an empty container that was there before us
//     follows a blank line; in a container that we made it does not. So we know
//     which empty containers to leave and which to take away.
type jsonDoc struct {
	text  []byte
	root  hujson.Value
	nl    string // line ending of the file
	unit  string // one step of indentation
	fresh bool   // the file did not exist
	gone  bool   // nothing but our own making was left: delete the file
}

// A jsonItem is a member of an object or an element of an array.
type jsonItem struct {
	key        string // empty for elements
	start, end int    // from the name, or the element, to the end of the value
	after      int    // end of the comments that follow, where a comma would be
	val        *hujson.Value
}

// A jsonBox is an object or an array.
type jsonBox struct {
	open, close int // the inside
	object      bool
	items       []jsonItem
}

// maxBrackets bounds how deep a file can nest: hujson would overflow the stack
// on a file made for it, and nothing recovers from that.
const maxBrackets = 20_000

var errAt = lazy.Regexp(`^hujson: line (\d+), column \d+: (.*)$`)

// newJSON returns the document for a file that is to be created.
func newJSON() *jsonDoc {
	d := &jsonDoc{text: []byte("{}\n"), nl: "\n", unit: "  ", fresh: true}
	d.mustParse()
	return d
}

func parseJSON(text []byte) (*jsonDoc, error) {
	d := &jsonDoc{text: text, nl: newline(text)}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, atLine(1, "the file is empty; delete it or write {} into it")
	}
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return nil, atLine(1, "more than %d brackets; that is no settings file", maxBrackets)
	}
	if err := d.parse(); err != nil {
		return nil, err
	}
	box, ok := d.box(&d.root)
	if !ok || !box.object {
		return nil, atLine(lineOf(text, d.root.StartOffset), "expected an object at the top")
	}
	d.unit = d.indentUnit(box)
	return d, nil
}

// parse reads the text with a newline added, because hujson wants one after a
// line comment.
func (d *jsonDoc) parse() error {
	v, err := hujson.Parse(append(bytes.Clone(d.text), '\n'))
	if err != nil {
		if m := errAt.Get().FindStringSubmatch(err.Error()); m != nil {
			line, _ := strconv.Atoi(m[1])
			return atLine(line, "not valid JSON: %s", m[2])
		}
		return err
	}
	d.root = v
	return nil
}

// mustParse reads the text after an edit. Our edits keep JSON valid; if one
// ever did not, nothing may be written.
func (d *jsonDoc) mustParse() {
	if err := d.parse(); err != nil {
		panic(fmt.Sprintf("setup: an edit broke the JSON: %v\n%s", err, d.text))
	}
}

// indentUnit is the indentation of the first member of the root that stands on
// a line of its own.
func (d *jsonDoc) indentUnit(root jsonBox) string {
	for _, it := range root.items {
		if bytes.ContainsRune(d.text[root.open:it.start], '\n') {
			if in := d.lineIndent(it.start); in != "" {
				return in
			}
		}
	}
	return "  "
}

// box returns v as a container, if it is one.
func (d *jsonDoc) box(v *hujson.Value) (jsonBox, bool) {
	b := jsonBox{open: v.StartOffset + 1, close: v.EndOffset - 1}
	switch c := v.Value.(type) {
	case *hujson.Object:
		b.object = true
		for i := range c.Members {
			m := &c.Members[i]
			key := m.Name.Value.(hujson.Literal).String()
			b.items = append(b.items, jsonItem{key, m.Name.StartOffset, m.Value.EndOffset, m.Value.EndOffset + len(m.Value.AfterExtra), &m.Value})
		}
	case *hujson.Array:
		for i := range c.Elements {
			e := &c.Elements[i]
			b.items = append(b.items, jsonItem{"", e.StartOffset, e.EndOffset, e.EndOffset + len(e.AfterExtra), e})
		}
	default:
		return b, false
	}
	return b, true
}

// member returns the index of key, or -1. A key that is there twice is an
// error: hosts differ in which of the two they read.
func (d *jsonDoc) member(b jsonBox, key string) (int, error) {
	found := -1
	for i, it := range b.items {
		if it.key != key {
			continue
		}
		if found >= 0 {
			return 0, atLine(lineOf(d.text, it.start), "%q is there twice; keep one", key)
		}
		found = i
	}
	return found, nil
}

// find follows keys down from the root. The result is nil if one is absent.
func (d *jsonDoc) find(keys ...string) (*hujson.Value, error) {
	v := &d.root
	for i, key := range keys {
		b, ok := d.box(v)
		if !ok || !b.object {
			return nil, atLine(lineOf(d.text, v.StartOffset), "%q should be an object", strings.Join(keys[:i], "."))
		}
		n, err := d.member(b, key)
		if err != nil || n < 0 {
			return nil, err
		}
		v = b.items[n].val
	}
	return v, nil
}

// findBox is find for a container, of the kind that the host demands.
func (d *jsonDoc) findBox(object bool, keys ...string) (*jsonBox, error) {
	v, err := d.find(keys...)
	if v == nil || err != nil {
		return nil, err
	}
	b, ok := d.box(v)
	if !ok || b.object != object {
		want := map[bool]string{true: "an object", false: "a list"}[object]
		return nil, atLine(lineOf(d.text, v.StartOffset), "%q should be %s", strings.Join(keys, "."), want)
	}
	return &b, nil
}

// insert adds a member, or with an empty key an element, as the last of b.
func (d *jsonDoc) insert(b jsonBox, key string, val any) {
	if len(b.items) == 0 {
		d.insertFirst(b, key, val)
		return
	}
	last := b.items[len(b.items)-1]
	trailing := d.text[last.after] == ','
	from := last.end
	if trailing {
		from = last.after + 1
	}
	at := from + len(bytes.TrimRight(d.text[from:b.close], " \t\r\n"))
	ownLine := bytes.ContainsRune(d.text[b.open:last.start], '\n')
	var text string
	switch {
	case ownLine:
		in := d.lineIndent(last.start)
		text = d.nl + in + d.render(key, val, in)
	case bytes.ContainsRune(d.text[from:b.close], '\n'):
		in := d.lineIndent(b.open) + d.unit
		text = d.nl + in + d.render(key, val, in)
	default:
		text = " " + compact(key, val)
	}
	if trailing {
		d.splice(at, at, text+",")
		return
	}
	d.text = bytes.Join([][]byte{d.text[:last.end], []byte(","), d.text[last.end:at], []byte(text), d.text[at:]}, nil)
	d.mustParse()
}

func (d *jsonDoc) insertFirst(b jsonBox, key string, val any) {
	at := b.open + len(bytes.TrimRight(d.text[b.open:b.close], " \t\r\n"))
	in := d.lineIndent(b.open)
	lead, tail := d.nl+d.nl, d.nl+in
	if d.fresh {
		lead = d.nl
	}
	if bytes.HasPrefix(d.text[at:], []byte(d.nl)) {
		tail = d.nl // the line that closes the container is there
	}
	d.splice(at, at, lead+in+d.unit+d.render(key, val, in+d.unit)+tail)
}

// replace puts val in the place of v.
func (d *jsonDoc) replace(v *hujson.Value, val any) {
	text := compact("", val)
	if bytes.ContainsRune(d.text[v.StartOffset:v.EndOffset], '\n') {
		text = d.render("", val, d.lineIndent(v.StartOffset))
	}
	d.splice(v.StartOffset, v.EndOffset, text)
}

// remove takes out the item that path leads to, as indexes from the root, and
// every container that we made and that holds nothing any more.
func (d *jsonDoc) remove(path ...int) {
	v := &d.root
	for _, i := range path[:len(path)-1] {
		b, _ := d.box(v)
		v = b.items[i].val
	}
	b, _ := d.box(v)
	i := path[len(path)-1]
	it := b.items[i]
	start := len(bytes.TrimRight(d.text[:it.start], " \t\r\n"))
	keep := len(b.items) > 1 || strings.HasPrefix(string(d.text[start:it.start]), d.nl+d.nl)
	followed := d.text[it.after] == ','
	rest := d.text[it.end:]
	switch {
	case followed:
		rest = append(bytes.Clone(d.text[it.end:it.after]), d.text[it.after+1:]...)
	case i > 0:
		comma := b.items[i-1].after
		head := append(bytes.Clone(d.text[:comma]), d.text[comma+1:start]...)
		d.text, start = append(head, d.text[start:]...), start-1
	}
	if len(b.items) == 1 { // the end of insertFirst
		if bytes.HasPrefix(rest, []byte(d.nl+d.nl)) {
			rest = rest[len(d.nl):]
		} else {
			rest = bytes.TrimPrefix(rest, []byte(d.nl+d.lineIndent(b.open)))
		}
	}
	d.text = append(bytes.Clone(d.text[:start]), rest...)
	d.mustParse()
	d.prune(path[:len(path)-1], keep)
}

// prune removes the container at path if it is empty and of our making.
func (d *jsonDoc) prune(path []int, keep bool) {
	v := &d.root
	for _, i := range path {
		b, _ := d.box(v)
		v = b.items[i].val
	}
	b, _ := d.box(v)
	if keep || len(b.items) > 0 || len(bytes.TrimSpace(d.text[b.open:b.close])) > 0 {
		return
	}
	if len(path) > 0 {
		d.remove(path...)
		return
	}
	d.gone = len(bytes.TrimSpace(d.text)) == len("{}")
}

func (d *jsonDoc) splice(from, to int, text string) {
	d.text = bytes.Join([][]byte{d.text[:from], []byte(text), d.text[to:]}, nil)
	d.mustParse()
}

// lineIndent is the white space at the start of the line that holds at.
func (d *jsonDoc) lineIndent(at int) string {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (d *jsonDoc) render(key string, val any, indent string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(compact("", val)), indent, d.unit); err != nil {
		panic(err) // compact wrote it
	}
	text := strings.ReplaceAll(b.String(), "\n", d.nl)
	if key != "" {
		text = compact("", key) + ": " + text
	}
	return text
}

// indexPath is find, as indexes.
func (d *jsonDoc) indexPath(keys ...string) ([]int, *jsonBox) {
	b, ok := d.box(&d.root)
	var path []int
	for _, key := range keys {
		if !ok || !b.object {
			return nil, nil
		}
		n, err := d.member(b, key)
		if err != nil || n < 0 {
			return nil, nil
		}
		path = append(path, n)
		b, ok = d.box(b.items[n].val)
	}
	if !ok {
		return nil, nil
	}
	return path, &b
}
