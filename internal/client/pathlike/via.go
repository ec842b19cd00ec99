package pathlike

import (
	"strings"
	"unicode"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// What a text is handed to tells more of it than what it says: what goes to one
// function of a program goes to one place, whatever that place is. Calls of a
// service, pages of a router and names of files are told apart by it without
// knowing any of the functions.

// shapers are calls that give back the text that they are given, changed.
var shapers = lazy.Words(`sprintf format formatted encodeuri encodeuricomponent escape unescape quote string str url uri parse
	urlparse urljoin join joinpath concat tostring trim trimstart trimend template buildurl buildpath of newurl new trimprefix trimsuffix
	replace replaceall lower tolower uri_template expand appendingpathcomponent append path pathescape queryescape urlencode httpurl tourl
	touri tohttpurl addquery withquery params appendquery raw html safe create from into as_str asref must newrequestpath`)

// shows are words of calls that show a text to people or hold it against
// another: nothing is asked for there.
var shows = lazy.Words(`print println printf fprintf fprintln eprintln puts echo browser writeline markupline log debug info warn warning
	contains startswith starts_with endswith ends_with hasprefix hassuffix includes indexof equals equalsignorecase`)

// shown is what via says of a text that only such calls are given.
const shown = "shown"

func showing(callee string) bool {
	return shows.Has(strings.ToLower(callee)) || speaks(callee, showWords)
}

var showWords = lazy.Words("print browser")

// maxVia is how many brackets out that is looked for.
const maxVia = 6

// via names what a text is handed to: a host, a function, a key, a kind of
// constant.
func (s *scan) via(text string, from, last int) string {
	if host := hostOf(text); host != "" {
		return "host " + host
	}
	at := from
	for range maxVia {
		at = s.chainStart(at)
		if name := s.assigned(at); name != "" && !s.argument(at) {
			if user := s.handedOn(name, last); user != "" {
				return user
			}
			return "= " + kindOf(name)
		}
		o := int(s.around[at])
		if o < 1 {
			break
		}
		switch {
		case s.toks[o].is("("):
			callee := s.callee(o)
			if callee == "" || blocks.Has(callee) || shapers.Has(strings.ToLower(callee)) {
				break
			}
			if showing(callee) {
				return shown
			}
			return s.target(o, callee)
		case s.toks[o].is("{") && !s.isObject(o):
			return "< " + lastWord(s.function(from))
		}
		at = o
	}
	return "< " + lastWord(s.function(from))
}

// chainStart goes back from a bracket to where the call that it belongs to
// begins: from the one of a.b(x) to a.
func (s *scan) chainStart(at int) int {
	if at < 1 || !s.toks[at].is("(") {
		return at
	}
	k := at - 1
	for k > 0 && (s.toks[k].is("!") || s.toks[k].is("?")) {
		k--
	}
	for k > 1 && s.toks[k].kind == tokName && s.toks[k-2].kind == tokName &&
		(s.toks[k-1].is(".") || s.toks[k-1].is("::") || s.toks[k-1].is("->")) {
		k -= 2
	}
	for k > 0 && s.toks[k-1].kind == tokName && (s.toks[k-1].text == "new" || s.toks[k-1].text == "await" || s.toks[k-1].text == "try") {
		k--
	}
	return k
}

// target names a call: by its function, or by whose it is where the function is
// called as a method of HTTP is.
func (s *scan) target(o int, callee string) string {
	if methodOf(callee) == "" {
		k := o - 3
		if k >= 0 && s.toks[k].kind == tokName && s.toks[k+1].is(".") && (k == 0 || !s.toks[k-1].is(".")) && !selves.Has(s.toks[k].text) {
			return "( " + s.toks[k].text + "." + callee // two types may have one of that name
		}
		return "( " + callee
	}
	for k := o - 1; k > 0 && o-k < 30; k-- {
		if s.toks[k].is(".") || s.toks[k].is("->") || s.toks[k].is("::") {
			if s.toks[k-1].kind == tokName {
				return ". " + s.toks[k-1].text
			}
			break
		}
	}
	return "( verb"
}

// selves are names that every type has for itself.
var selves = lazy.Words("self this super cls")

// handedOn names the call that a name is handed to after it was given a text,
// one that shows it only if no other is.
func (s *scan) handedOn(name string, after int) (found string) {
	for k := after + 1; k < len(s.toks) && k < after+200; k++ {
		t := s.toks[k]
		within := t.kind == tokText && filledWith(t.text, name)
		if !within && (t.kind != tokName || t.text != name || k > 0 && s.toks[k-1].is(".")) {
			continue
		}
		if k+1 < len(s.toks) && (s.toks[k+1].is("=") || s.toks[k+1].is(":=") || s.toks[k+1].is(":")) {
			return found
		}
		at := k
		for range maxVia {
			o := int(s.around[at])
			if o < 1 || s.toks[o].is("{") && !s.isObject(o) {
				break
			}
			if callee := s.callee(o); s.toks[o].is("(") && callee != "" && !blocks.Has(callee) && !shapers.Has(strings.ToLower(callee)) {
				if showing(callee) {
					found = shown
				} else if !within {
					return s.target(o, callee)
				}
				break
			}
			at = o
		}
	}
	return found
}

// filledWith tells whether a name is filled in somewhere in a text.
func filledWith(text, name string) bool {
	for rest, found := text, true; found; {
		if _, rest, found = strings.Cut(rest, "{"); found {
			in, _, _ := strings.Cut(rest, "}")
			for _, w := range strings.FieldsFunc(in, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				if w == name {
					return true
				}
			}
		}
	}
	return false
}

// hostOf is the host of an address that names one.
func hostOf(text string) string {
	scheme := strings.Index(text, "://")
	if scheme < 0 {
		return ""
	}
	host, _, _ := strings.Cut(text[scheme+3:], "/")
	if host == "" || strings.ContainsRune(host, hole) || strings.HasPrefix(host, "localhost") || strings.HasPrefix(host, "127.") ||
		strings.HasPrefix(host, "0.0.0.0") {
		return ""
	}
	return strings.ToLower(host)
}

// kindOf is what constants of one table have in common: the word for what they
// hold, where they have one.
func kindOf(name string) string {
	if w := lastWord(name); pathWords.Has(w) || name != strings.ToUpper(name) {
		return w
	}
	return "A"
}

func lastWord(name string) string {
	if w := wordsOf(name); len(w) > 0 {
		return w[len(w)-1]
	}
	return ""
}
