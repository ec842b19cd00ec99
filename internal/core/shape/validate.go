package shape

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// Strictness says what to do about fields that a schema does not know.
type Strictness int

const (
	// Strict refuses unknown fields: a typo must not be silently dropped.
	Strict Strictness = iota
	// Lenient ignores them: a newer client must work with an older server.
	Lenient
)

// maxFields bounds how many errors one answer names.
const maxFields = 50

// Validate returns what is wrong with v, the any-form of a JSON value, as
// judged by s. Paths are such as scope.paths[3].
func (r *Registry) Validate(s *Schema, v any, how Strictness) []problem.Field {
	// Nearly all inputs are right, and naming what is wrong costs more than
	// finding out whether anything is.
	c := checker{reg: r, how: how, probing: true}
	if c.value(s, v, ""); len(c.bad) == 0 {
		return nil
	}
	c = checker{reg: r, how: how}
	c.value(s, v, "")
	return c.bad
}

type checker struct {
	reg *Registry
	how Strictness
	bad []problem.Field
	// probing checkers want to know only whether something is wrong.
	probing bool
}

func (c *checker) fail(path, format string, args ...any) {
	if c.probing {
		c.bad = wrong
	} else if len(c.bad) < maxFields {
		c.bad = append(c.bad, problem.Field{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// wrong is what a probing checker finds.
var wrong = make([]problem.Field, 1)

func (c *checker) value(s *Schema, v any, path string) {
	if s == nil { // anything goes
		s = &Schema{}
	}
	s = c.reg.Resolve(s)
	if len(s.AnyOf) == 2 { // a reference or null
		if v != nil {
			c.value(s.AnyOf[0], v, path)
		}
		return
	}
	if v == nil {
		if !allows(s, "null") && s.Type != nil {
			c.fail(path, "must be %s, not null", article(typeOf(s)))
		}
		return
	}
	switch v := v.(type) {
	case string:
		if c.typed(s, "string", path) {
			c.text(s, v, path)
		}
	case bool:
		c.typed(s, "boolean", path)
	case float64:
		c.number(s, v, path)
	case []any:
		if c.typed(s, "array", path) {
			c.array(s, v, path)
		}
	case map[string]any:
		if c.typed(s, "object", path) {
			c.object(s, v, path)
		}
	}
}

func (c *checker) typed(s *Schema, got, path string) bool {
	if s.Type == nil || allows(s, got) {
		return true
	}
	c.fail(path, "must be %s, not %s", article(typeOf(s)), article(got))
	return false
}

func (c *checker) text(s *Schema, v, path string) {
	n := utf8.RuneCountInString(v)
	switch {
	case strings.ContainsRune(v, 0):
		c.fail(path, "must not contain a NUL character")
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)):
		c.fail(path, "must be one of %s", list(s.Enum))
	case s.MinLength != nil && s.MaxLength != nil && (n < *s.MinLength || n > *s.MaxLength):
		c.fail(path, "must be %d-%d characters, is %d", *s.MinLength, *s.MaxLength, n)
	case s.MinLength != nil && n < *s.MinLength:
		c.fail(path, "must be at least %d characters, is %d", *s.MinLength, n)
	case s.MaxLength != nil && n > *s.MaxLength:
		c.fail(path, "must be at most %d characters, is %d", *s.MaxLength, n)
	case s.pattern != nil && !s.pattern.MatchString(v):
		if len(s.Examples) > 0 {
			c.fail(path, "must be like %v (match %s)", s.Examples[0], s.Pattern)
			return
		}
		c.fail(path, "must match %s", s.Pattern)
	case !formatted(s.Format, v):
		c.fail(path, "must be %s", formats[s.Format])
	}
}

var formats = map[string]string{
	"uuid":      "a UUID",
	"email":     "an email address",
	"name":      "text that can be seen: no control, direction or zero-width characters",
	"uri":       "a URL such as https://example.com/x",
	"date-time": "a time such as 2026-11-15T09:30:00.000Z",
}

// IsUUID reports whether s has the form of a UUID.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
		default:
			return false
		}
	}
	return true
}

var emailForm = regexp.MustCompile(`^[^\s@<>"(),:;\\\[\]\x00-\x1f]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// IsEmail reports whether s has the form of a bare email address. Whether it
// exists only a mail can tell.
func IsEmail(s string) bool {
	return len(s) <= 254 && emailForm.MatchString(s) && !strings.Contains(s, "..") && !strings.ContainsFunc(s, lookalike)
}

// lookalike reports whether a character is none of an address, or is another
// form of one: full-width, mathematical and letterlike letters, the long s.
func lookalike(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
		return true
	}
	return r == 0x17f || 0x2100 <= r && r <= 0x24ff || 0xff00 <= r && r <= 0xffef || 0x1d400 <= r && r <= 0x1d7ff
}

var urlForm = regexp.MustCompile(`^https?://[^\s/?#@\\]+(:[0-9]+)?([/?#]\S*)?$`)

func formatted(format, v string) bool {
	switch format {
	case "uuid":
		return IsUUID(v)
	case "email":
		return IsEmail(v)
	case "name":
		return coord.IsName(v)
	case "uri":
		return urlForm.MatchString(v)
	}
	return true
}

func (c *checker) number(s *Schema, v float64, path string) {
	if allows(s, "integer") && v != math.Trunc(v) {
		c.fail(path, "must be a whole number")
		return
	}
	if !allows(s, "integer") && !c.typed(s, "number", path) {
		return
	}
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)):
		c.fail(path, "must be one of %s", list(s.Enum))
	case s.sample != "": // what it may be is for the operation to say
	case s.Minimum != nil && s.Maximum != nil && (v < float64(*s.Minimum) || v > float64(*s.Maximum)):
		c.fail(path, "must be %d-%d", *s.Minimum, *s.Maximum)
	case s.Minimum != nil && v < float64(*s.Minimum):
		c.fail(path, "must be at least %d", *s.Minimum)
	case s.Maximum != nil && v > float64(*s.Maximum):
		c.fail(path, "must be at most %d", *s.Maximum)
	case math.Abs(v) > 1<<53:
		c.fail(path, "is too large")
	}
}

func (c *checker) array(s *Schema, v []any, path string) {
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		c.fail(path, "must have at most %d items, has %d", *s.MaxItems, len(v))
		return
	}
	if s.MinItems != nil && len(v) < *s.MinItems {
		c.fail(path, "must have at least %d items, has %d", *s.MinItems, len(v))
	}
	for i, item := range v {
		at := ""
		if !c.probing {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		c.value(s.Items, item, at)
	}
}

func (c *checker) object(s *Schema, v map[string]any, path string) {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			c.fail(c.join(path, name), "is required")
		}
	}
	if c.probing {
		for name := range v {
			c.property(s, v, path, name)
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		c.property(s, v, path, name)
	}
}

func (c *checker) property(s *Schema, v map[string]any, path, name string) {
	if p, ok := s.Properties[name]; ok {
		c.value(p, v[name], c.join(path, name))
		return
	}
	if rest, ok := s.AdditionalProperties.(*Schema); ok {
		c.value(rest, v[name], c.join(path, name))
		return
	}
	if s.AdditionalProperties == false && c.how == Strict {
		c.fail(c.join(path, name), "is not a known field%s", hint(name, s.order))
	}
}

// hint suggests a known name that differs only in case or separators.
func hint(name string, known []string) string {
	fold := strings.NewReplacer("_", "", "-", "")
	for _, k := range known {
		if strings.EqualFold(fold.Replace(k), fold.Replace(name)) {
			return "; did you mean " + k + "?"
		}
	}
	return ""
}

func (c *checker) join(path, name string) string {
	if path == "" || c.probing {
		return name
	}
	return path + "." + name
}

func allows(s *Schema, name string) bool {
	switch t := s.Type.(type) {
	case string:
		return t == name
	case []string:
		return slices.Contains(t, name)
	}
	return false
}

func typeOf(s *Schema) string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []string:
		return t[0]
	}
	return "value"
}

func article(name string) string {
	switch name[0] {
	case 'a', 'e', 'i', 'o':
		return "an " + name
	}
	return "a " + name
}

func list(vs []any) string {
	var out []string
	for _, v := range vs {
		if v != nil {
			out = append(out, fmt.Sprint(v))
		}
	}
	return strings.Join(out, ", ")
}
