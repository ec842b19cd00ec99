package outline

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/scope"
)

// TextsOf reads a value as texts: a literal, a constant of the file, a format,
// or each of a list.
func (o *File) TextsOf(v Value) []string {
	switch v.Kind {
	case ValText, ValSymbol:
		if strings.Contains(v.Text, "{}") && len(v.Parts) > 0 { // constants of the file may be filled in
			return o.Spell(v, func(string) []string { return nil })
		}
		return []string{v.Text}
	case ValChoice:
		for _, i := range v.Items { // a setting, or what it is by default
			if out := o.TextsOf(i); len(out) > 0 {
				return out
			}
		}
	case ValName:
		name := v.Text
		if c, ok := o.consts[name]; ok && c.Kind == ValText {
			return []string{c.Text}
		}
		if o.Elsewhere != nil {
			if out := o.Elsewhere(name); len(out) > 0 && !slices.Contains(out, "{}") { // not what is no text there either
				return out
			}
		}
		if c, ok := o.consts[name[strings.LastIndexByte(name, '.')+1:]]; ok && c.Kind == ValText {
			return []string{c.Text}
		}
		last := strings.ToUpper(name[strings.LastIndexAny(name, ".:")+1:])
		last = strings.TrimLeft(strings.TrimPrefix(last, "METHOD"), "_") // RequestMethod.GET, http.MethodPost, Request::METHOD_PUT
		if slices.Contains(scope.Methods(), last) {
			return []string{last}
		}
	case ValList:
		var out []string
		for _, i := range v.Items {
			out = append(out, o.TextsOf(i)...)
		}
		return out
	case ValCall:
		if v.Call == nil {
			return nil
		}
		last := v.Call.Name[strings.LastIndexByte(v.Call.Name, '.')+1:]
		switch last {
		case "listOf", "setOf", "asList", "singletonList", "singleton", "arrayOf", "List", "Seq":
			return o.TextsOf(Value{Kind: ValList, Items: v.Call.Args})
		case "Sprintf", "format", "sprintf", "printf", "URI", "URL", "Url", "parse", "of", "create", "url", "String",
			"to_string", "join", "from", "encodeURI", "uri", "Uri", "Column":
			for _, a := range v.Call.Args {
				if ts := o.TextsOf(a); len(ts) > 0 {
					return []string{filled(ts[0])}
				}
			}
		}
	}
	return nil
}

// Snake writes UserProfile as user_profile.
func Snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && (s[i-1] < 'A' || s[i-1] > 'Z' || i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z') && s[i-1] != '_' {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Plural is the usual English plural, as the frameworks make it.
func Plural(s string) string {
	switch {
	case strings.HasSuffix(s, "person"):
		return strings.TrimSuffix(s, "person") + "people"
	case strings.HasSuffix(s, "child"):
		return s + "ren"
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s,
		"s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "z"), strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"):
		return s + "es"
	}
	return s + "s"
}

// Mentions tells whether the last part of a name stands in the source as a word.
func Mentions(source []byte, name string) bool {
	for range Words(source, name[strings.LastIndexByte(name, '.')+1:]) {
		return true
	}
	return false
}

// Words yields where a name begins and ends in a text, as a whole word. What
// has no name, as a module that is imported as a whole, is nowhere.
func Words(text []byte, name string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for at := 0; name != ""; {
			i := bytes.Index(text[at:], []byte(name))
			if i < 0 {
				return
			}
			i += at
			at = i + len(name)
			whole := (i == 0 || !IsNameByte(text[i-1])) && (at == len(text) || !IsNameByte(text[at]))
			if whole && !yield(i, at) {
				return
			}
		}
	}
}

// Camel writes words_like_this as WordsLikeThis.
func Camel(s string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '_' || r == '-' || r == '/' || r == '.' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
