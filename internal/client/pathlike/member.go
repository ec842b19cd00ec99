package pathlike

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// maxHeader is how far back the head of a block is looked for.
const maxHeader = 60

// ofType tells whether a brace opens the body of a type.
func (r *fields) ofType(o int) bool { return headOf(r.head(o)) == "type" || r.ofEnum(o) }

// ofEnum tells whether it opens a list of values.
func (r *fields) ofEnum(o int) bool { return headOf(r.head(o)) == "enum" }

// head returns the nearest word before a bracket that says what it opens.
func (r *fields) head(o int) string {
	for i := o - 1; i >= 0 && i > o-maxHeader; i-- {
		t := r.toks[i]
		switch {
		case t.kind == tokMark && (t.text == ";" || t.text == "{" || t.text == "}" || t.text == "=>" || t.text == "->"):
			return ""
		case t.kind == tokMark && (t.text == ")" || t.text == "]") && r.match[i] >= 0:
			i = int(r.match[i])
		case t.kind == tokName && headOf(t.text) != "":
			if i > 0 && r.toks[i-1].text == "enum" { // enum class
				return "enum"
			}
			return t.text
		}
	}
	return ""
}

// headOf tells what a word begins.
func headOf(word string) string {
	switch word {
	case "class", "struct", "interface", "record", "protocol", "trait", "message", "type", "extension", "mixin", "object":
		return "type"
	case "enum":
		return "enum"
	case "fun", "func", "function", "def", "fn", "if", "for", "while", "switch", "return", "else", "init", "new", "constructor", "do", "try":
		return "code"
	}
	return ""
}

// ofRecord tells whether a bracket holds the members of a type: data class User(.
func (r *fields) ofRecord(o int) bool {
	if o < 2 || r.toks[o-1].kind != tokName && !r.toks[o-1].is(">") {
		return false
	}
	for i := o - 1; i >= 0 && i > o-8; i-- {
		switch r.toks[i].text {
		case "class", "record":
			return r.toks[i].kind == tokName
		case ";", "{", "}", "fun", "def", ".", "=", "new":
			return false
		}
	}
	return false
}

// typeOf tells what kind of value a type is of that stands at a token, "" where
// that is not plain.
func (r *fields) typeOf(i int) string {
	list := false
	for k := i; k < len(r.toks) && k < i+6 && k >= 0; k++ {
		t := r.toks[k]
		if t.line != r.at(i).line {
			break
		}
		switch {
		case t.is("["):
			list = true
		case t.kind == tokMark && strings.Contains(", ; } ) = {", t.text):
			return ""
		case t.kind == tokName:
			kind := valueKinds.Get()[strings.ToLower(t.text)]
			switch {
			case kind == "list":
				return kind
			case kind == "":
				if wrappers.Has(t.text) {
					continue
				}
				return ""
			case list || r.at(k+1).is("[") && r.at(k+2).is("]"):
				return "list"
			}
			return kind
		}
	}
	return ""
}

// wrappers stand before a type without being one.
var wrappers = lazy.Words("z t Optional Option Nullable Required Joi yup private public protected final readonly static var")

// valueKinds are the types of values that languages have in common.
var valueKinds = lazy.Table[map[string]string]{Make: func() map[string]string {
	out := map[string]string{}
	for kind, words := range map[string]string{
		"text": "string str text varchar char uuid",
		"number": "int integer number long short float double decimal bigdecimal i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 int32 " +
			"int64 uint uint32 uint64 float32 float64 bigint",
		"bool": "bool boolean",
		"list": "list array vec set slice mutablelist arraylist",
		"time": "date datetime instant time timestamp localdate localdatetime offsetdatetime zoneddatetime",
	} {
		for _, w := range strings.Fields(words) {
			out[w] = kind
		}
	}
	return out
}}
