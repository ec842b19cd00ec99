package pathlike

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// verbs are the methods as words of names.
var verbs = lazy.Table[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE", "del": "DELETE", "head": "HEAD",
	}
}}

// besides are words that may stand beside a method in the name of a call that
// makes a request.
var besides = lazy.Words(`json request req api form async data http call do send body raw paginated text bytes page pages fetch ajax
	rest auth authed authenticated signed as from for object entity all to with multipart query perform make execute native client
	it method`)

// guesses are words of names and the method that they make likely.
var guesses = lazy.Table[map[string]string]{Make: func() map[string]string {
	return map[string]string{"get": "GET", "list": "GET", "fetch": "GET", "find": "GET", "load": "GET", "show": "GET", "read": "GET",
		"search": "GET", "query": "GET", "create": "POST", "add": "POST", "post": "POST", "new": "POST", "insert": "POST", "upload": "POST",
		"send": "POST", "update": "PUT", "edit": "PUT", "put": "PUT", "patch": "PATCH", "set": "PUT", "delete": "DELETE", "remove": "DELETE",
		"destroy": "DELETE", "unset": "DELETE"}
}}

// methodOf reads the method in the name of a call; "" if it says none.
func methodOf(callee string) string {
	found := ""
	for _, w := range wordsOf(callee) {
		if m := verbs.Get()[w]; m != "" {
			if found != "" {
				return ""
			}
			found = m
		} else if !besides.Has(w) {
			return ""
		}
	}
	return found
}

// methods returns the method that is written beside an expression, and one that
// a name around it makes likely.
func (s *scan) methods(from, last int) (stated, guess string) {
	stated = s.stated(from, last)
	name := s.receiver(from)
	if stated == "" && name != "" && !s.argument(from) {
		stated = s.later(name, last)
	}
	if stated == "" {
		stated = s.beside(from)
	}
	if stated != "" {
		return stated, ""
	}
	for _, name := range []string{name, s.caseName(from), s.function(from)} {
		if w := wordsOf(name); len(w) > 0 && guesses.Get()[w[0]] != "" {
			return "", guesses.Get()[w[0]]
		}
	}
	return "", ""
}

// beside reads the method of a type that describes one request: the only one
// that stands beside the member with the path.
func (s *scan) beside(from int) string {
	for o, n := int(s.around[from]), 0; o > 0 && n < 3; o, n = int(s.around[o]), n+1 {
		if !s.toks[o].is("{") {
			continue
		}
		found, several := "", false
		for k := o + 1; k < int(s.match[o]); k++ {
			if m := int(s.match[k]); m > k {
				k = m
				continue
			}
			if s.toks[k].kind != tokName || !methodNames.Has(strings.ToLower(s.toks[k].text)) {
				continue
			}
			for j := k + 1; j < min(k+7, len(s.toks)) && !blocks.Has(s.toks[j].text); j++ {
				if m := s.method(j); m != "" {
					several = several || found != "" && found != m
					found = m
					break
				}
			}
		}
		if found != "" && !several {
			return found
		}
	}
	return ""
}

// methodNames are names of what holds a method.
var methodNames = lazy.Words("method httpmethod http_method verb requestmethod")

// receiver is the name that an expression is given to, by itself or through the
// call around it.
func (s *scan) receiver(from int) string {
	if name := s.assigned(from); name != "" {
		return name
	}
	o := int(s.around[from])
	if o < 1 || !s.toks[o].is("(") || s.toks[o-1].kind != tokName && !s.toks[o-1].is("!") {
		return ""
	}
	k := o - 1
	for k > 1 && (s.toks[k-1].kind == tokMark && strings.Contains(". :: -> !", s.toks[k-1].text) || s.toks[k].kind == tokMark) {
		k--
	}
	return s.assigned(k)
}

// argument tells the name of a call's argument, f(path=x), from one that is used
// later on.
func (s *scan) argument(i int) bool {
	o := int(s.around[i])
	return o > 0 && i > 2 && s.toks[o].is("(") && (s.toks[i-3].is("(") || s.toks[i-3].is(",")) && s.callee(o) != "" && s.assigned(i) != ""
}

// maxAround is how many brackets out a method is looked for.
const maxAround = 4

// stated looks for a method in the calls and objects around an expression.
func (s *scan) stated(from, last int) string {
	at := from
	for range maxAround {
		o := int(s.around[at])
		if o < 0 {
			return ""
		}
		switch {
		case s.toks[o].is("{") && !s.isObject(o):
			return "" // a block: what is around it is another thing
		case s.toks[o].is("(") && o > 0 && s.toks[o-1].kind == tokName && blocks.Has(s.toks[o-1].text):
			return ""
		}
		if m := s.among(o, from, last); m != "" {
			return m
		}
		if s.toks[o].is("(") {
			if m := methodOf(s.callee(o)); m != "" && !s.ofMap(o) {
				return m
			}
			if m := s.chained(o); m != "" {
				return m
			}
		}
		at = o
	}
	return ""
}

// blocks are words before a bracket that is no call.
var blocks = lazy.Words("if while for switch when match catch func function guard")

// ofMap tells get of something that is plainly no client.
func (s *scan) ofMap(o int) bool {
	if o < 3 || !s.toks[o-2].is(".") {
		return false
	}
	switch strings.ToLower(s.toks[o-3].text) {
	case "environ", "env", "headers", "params", "args", "config", "settings", "map", "cache", "options", "dict", "kwargs", "os":
		return true
	}
	return false
}

// isObject tells { path: x } and T{Path: x} from a block.
func (s *scan) isObject(o int) bool {
	if o+2 >= len(s.toks) {
		return false
	}
	k, next := s.toks[o+1], s.toks[o+2]
	if k.is(".") && next.kind == tokName { // spread
		return true
	}
	return (k.kind == tokName || k.kind == tokText) && (next.is(":") || next.is("=>") || next.is(",") && o > 0 && !s.toks[o-1].is(")")) ||
		k.is("..") || k.is(":")
}

// callee is the name of the call that a bracket belongs to.
func (s *scan) callee(o int) string {
	k := o - 1
	if k >= 0 && s.toks[k].is(">") { // types
		depth := 0
		for ; k >= 0 && o-k < 30; k-- {
			if s.toks[k].is(">") {
				depth++
			} else if s.toks[k].is("<") {
				if depth--; depth == 0 {
					k--
					break
				}
			}
		}
	}
	for k >= 0 && (s.toks[k].is("!") || s.toks[k].is("?") || s.toks[k].is(".")) {
		k--
	}
	if k < 0 || s.toks[k].kind != tokName {
		return ""
	}
	return s.toks[k].text
}

// among looks for a method beside an expression, between the brackets that
// open at o; deeper only where a key says that it is one.
func (s *scan) among(o, from, last int) string {
	shut := int(s.match[o])
	if shut < 0 {
		return ""
	}
	for k := o + 1; k < shut && k < o+400; k++ {
		if k == from {
			k = last
			continue
		}
		t := s.toks[k]
		if t.kind == tokMark {
			if (t.text == "(" || t.text == "[" || t.text == "{") && s.match[k] > int32(k) {
				if t.text == "{" {
					if m := s.keyed(k, int(s.match[k])); m != "" {
						return m
					}
				}
				k = int(s.match[k])
			}
			continue
		}
		if m := s.method(k); m != "" {
			return m
		}
	}
	return ""
}

// keyed looks for { method: "POST" }.
func (s *scan) keyed(o, shut int) string {
	for k := o + 1; k+2 < shut && k < o+200; k++ {
		if m := int(s.match[k]); m > k {
			k = m
			continue
		}
		t := s.toks[k]
		if t.kind == tokMark || !(s.toks[k+1].is(":") || s.toks[k+1].is("=") || s.toks[k+1].is("=>")) {
			continue
		}
		switch strings.ToLower(t.text) {
		case "method", "verb", "type", "httpmethod", "http_method":
			for j := k + 2; j < min(k+6, shut); j++ {
				if m := s.method(j); m != "" {
					return m
				}
			}
		}
	}
	return ""
}

// method reads one token as a method: "POST", http.MethodPost, Method.post, :get.
func (s *scan) method(k int) string {
	t := s.toks[k]
	m := verbs.Get()[strings.ToLower(t.text)]
	if t.kind == tokText {
		return m
	}
	if rest := strings.TrimPrefix(strings.TrimPrefix(t.text, "METHOD_"), "Method"); m == "" && rest != t.text {
		m = verbs.Get()[strings.ToLower(rest)]
	}
	switch {
	case m == "" || k+1 < len(s.toks) && s.toks[k+1].is("("):
		return ""
	case t.text == m, strings.HasPrefix(t.text, "M"):
		return m
	case k > 0 && (s.toks[k-1].is(".") || s.toks[k-1].is("::") || s.toks[k-1].is(":")):
		return m
	}
	return ""
}

// chained reads a method that stands in the same chain of calls:
// client.get().uri(x), builder.url(x).post(body).
func (s *scan) chained(o int) string {
	switch strings.ToLower(s.callee(o)) {
	case "url", "uri", "path", "request", "newrequest", "builder", "to", "endpoint":
	default:
		return ""
	}
	for k, n := int(s.match[o]), 0; k > 0 && n < 8 && k+3 < len(s.toks) && s.toks[k+1].is(".") && s.toks[k+3].is("("); n++ {
		if m := verbs.Get()[strings.ToLower(s.toks[k+2].text)]; m != "" {
			return m
		}
		k = int(s.match[k+3])
	}
	for k, n := o-2, 0; k > 3 && n < 6 && s.toks[k].is(".") && s.toks[k-1].is(")"); n++ {
		open := int(s.match[k-1])
		if open < 1 {
			return ""
		}
		if m := verbs.Get()[strings.ToLower(s.toks[open-1].text)]; m != "" {
			return m
		}
		k = open - 2
	}
	return ""
}

// later looks for a method where a name is used that was given the expression;
// none if there are several.
func (s *scan) later(name string, after int) (found string) {
	seen := 0
	for k := after + 1; k < len(s.toks) && seen < 40; k++ {
		t := s.toks[k]
		if t.kind != tokName || t.text != name || k+1 < len(s.toks) && (s.toks[k+1].is("=") || s.toks[k+1].is(":=")) {
			if t.kind == tokName && t.text == name && s.around[k] == s.around[after] {
				return found // it is another thing from here on
			}
			continue
		}
		if k+1 < len(s.toks) && s.joinSign(k+1) || s.joinSign(k-1) {
			continue // a part of another
		}
		seen++
		m := s.stated(k, k)
		if m != "" && found != "" && m != found {
			return ""
		}
		if m != "" {
			found = m
		}
	}
	return found
}

// function is the name of the function around a token.
func (s *scan) function(i int) string {
	for o := int(s.around[i]); o > 0; o = int(s.around[o]) {
		if !s.toks[o].is("{") {
			continue
		}
		for k := o - 1; k > 0 && o-k < 40; k-- { // what it gives back may stand between
			if s.toks[k].is(")") && s.match[k] > 0 {
				if name := s.callee(int(s.match[k])); name != "" && !blocks.Has(name) {
					return name
				}
				k = int(s.match[k])
			} else if s.toks[k].is("}") || s.toks[k].is(";") || s.toks[k].is("{") {
				break
			}
		}
	}
	if s.lang == "python" || s.lang == "ruby" || s.lang == "elixir" {
		for k := i; k > 0 && i-k < 400; k-- {
			if s.toks[k-1].kind == tokName && s.toks[k-1].text == "def" && s.toks[k].kind == tokName {
				return s.toks[k].text
			}
		}
	}
	return ""
}

// caseName is the name of the case that an expression belongs to:
// case .createPost: "/posts", case createPost = "posts".
func (s *scan) caseName(i int) string {
	for k := i - 1; k > 1 && i-k < 14; k-- {
		if s.toks[k].kind == tokName && s.toks[k].text == "case" {
			for _, t := range s.toks[k+1 : i] {
				if t.kind == tokName && t.text != "let" {
					return t.text
				}
			}
			return ""
		}
	}
	return ""
}
