package shape

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Accepts reports whether JSON text certainly has the shape of s, without
// making values of it. False says nothing: decode the text and ask Validate.
// Nearly all requests are right, and this costs them a fifth of that. What nests
// deeply is not accepted; whether it is valid JSON with no member twice is for
// the decoder to find.
func (r *Registry) Accepts(s *Schema, text []byte, how Strictness) bool {
	if bytes.Contains(text, []byte(`\u0000`)) {
		return false
	}
	a := acceptor{reg: r, how: how, text: text}
	return a.value(s) && a.next() == 0
}

type acceptor struct {
	reg  *Registry
	how  Strictness
	text []byte
	at   int
	deep int // brackets that are open
}

// deepest is how many brackets may be open at once: more than any of our shapes
// has, and less than a decoder would mind.
const deepest = 32

// next returns the next byte that is not white space, 0 at the end.
func (a *acceptor) next() byte {
	for ; a.at < len(a.text); a.at++ {
		switch c := a.text[a.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (a *acceptor) value(s *Schema) bool {
	if s == nil {
		return a.skip()
	}
	s = a.reg.Resolve(s)
	c := a.next()
	if len(s.AnyOf) == 2 { // a reference or null
		return c == 'n' && a.word("null") || c != 'n' && a.value(s.AnyOf[0])
	}
	switch c {
	case '"':
		text, plain, ok := a.quoted()
		return ok && is(s, "string") && acceptsText(s, text, plain)
	case 't':
		return is(s, "boolean") && a.word("true")
	case 'f':
		return is(s, "boolean") && a.word("false")
	case 'n':
		return is(s, "null") && a.word("null")
	case '[':
		return is(s, "array") && a.array(s)
	case '{':
		return is(s, "object") && a.object(s)
	}
	return (is(s, "integer") || is(s, "number")) && a.number(s)
}

func is(s *Schema, name string) bool { return s.Type == nil || allows(s, name) }

func (a *acceptor) word(w string) bool {
	if !bytes.HasPrefix(a.text[a.at:], []byte(w)) {
		return false
	}
	a.at += len(w)
	return true
}

// quoted returns the text between quotes as it is written, and whether it
// means itself.
func (a *acceptor) quoted() (text []byte, plain, ok bool) {
	if a.next() != '"' {
		return nil, false, false
	}
	a.at++
	plain = true
	for i := a.at; i < len(a.text); i++ {
		switch a.text[i] {
		case '\\':
			plain = false
			i++
		case '"':
			text, a.at = a.text[a.at:i], i+1
			return text, plain, true
		}
	}
	return nil, false, false
}

// AcceptsText reports whether a text certainly has the shape of s.
func (s *Schema) AcceptsText(text string) bool {
	return is(s, "string") && acceptsText(s, []byte(text), true)
}

// acceptsText judges a string. Escaped, it is never shorter than what it
// means, and empty only if that is.
func acceptsText(s *Schema, text []byte, plain bool) bool {
	if s.MaxLength != nil && len(text) > *s.MaxLength && utf8.RuneCount(text) > *s.MaxLength {
		return false
	}
	least := 0
	if s.MinLength != nil {
		least = *s.MinLength
	}
	if !plain {
		return least <= min(1, len(text)) && len(s.Enum) == 0 && s.pattern == nil && s.Format == ""
	}
	if least > 0 && utf8.RuneCount(text) < least {
		return false
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { w, ok := e.(string); return ok && w == string(text) }) {
		return false
	}
	return (s.pattern == nil || s.pattern.Match(text)) && (s.Format == "" || formatted(s.Format, string(text)))
}

// number accepts whole numbers of up to 15 digits.
func (a *acceptor) number(s *Schema) bool {
	from := a.at
	for a.at < len(a.text) && (a.text[a.at] == '-' || '0' <= a.text[a.at] && a.text[a.at] <= '9') {
		a.at++
	}
	if a.at == from || a.at-from > 15 || a.at < len(a.text) && bytes.IndexByte([]byte(".eE+"), a.text[a.at]) >= 0 {
		return false
	}
	n, err := strconv.Atoi(string(a.text[from:a.at]))
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(float64(n))) {
		return false
	}
	return err == nil && (s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum)
}

func (a *acceptor) array(s *Schema) bool {
	n := 0
	ok := a.members(']', func() bool {
		n++
		return (s.MaxItems == nil || n <= *s.MaxItems) && a.value(s.Items)
	})
	return ok && (s.MinItems == nil || n >= *s.MinItems)
}

func (a *acceptor) object(s *Schema) bool {
	missing := len(s.Required)
	ok := a.members('}', func() bool {
		name, plain, ok := a.quoted()
		if !ok || !plain || a.next() != ':' {
			return false
		}
		a.at++
		if missing > 0 && slices.ContainsFunc(s.Required, func(r string) bool { return r == string(name) }) {
			missing--
		}
		if p, ok := s.Properties[string(name)]; ok {
			return a.value(p)
		}
		if rest, ok := s.AdditionalProperties.(*Schema); ok {
			return a.value(rest)
		}
		return (s.AdditionalProperties != false || a.how != Strict) && a.skip()
	})
	return ok && missing == 0
}

// members reads what stands between brackets and commas.
func (a *acceptor) members(end byte, one func() bool) bool {
	a.at++
	if a.next() == end {
		a.at++
		return true
	}
	if a.deep++; a.deep > deepest {
		return false
	}
	for one() {
		switch a.next() {
		case ',':
			a.at++
		case end:
			a.at++
			a.deep--
			return true
		default:
			return false
		}
	}
	return false
}

// anything has no limits.
var anything = &Schema{}

// skip passes over a value of any shape.
func (a *acceptor) skip() bool {
	switch c := a.next(); {
	case c == '-' || '0' <= c && c <= '9':
		for a.at < len(a.text) && bytes.IndexByte([]byte("+-.0123456789eE"), a.text[a.at]) >= 0 {
			a.at++
		}
		return true
	}
	return a.value(anything)
}
