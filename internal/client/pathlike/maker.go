package pathlike

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A maker is a function of a program that makes a path of what it is given, as
// its name says: apiPath("users").Seg(id).Lit("posts"), userURL(id, "posts").
// What it gives back, where the file says so, stands before what it is given.

// makerWords are words of their names, and steps those of what is called on
// what they give to add to it.
var (
	makerWords = lazy.Words("path url uri endpoint route")
	steps      = lazy.Words("seg segs segment segments lit literal path part parts append join child element component id slash")
	doers      = lazy.Words("request fetch call send do open load get post put patch delete response download upload to")
)

// makesPath tells whether a name before a bracket is that of a maker.
func (s *scan) makesPath(i int) bool {
	name := s.toks[i].text
	if s.match[i+1] < 0 || shapers.Has(strings.ToLower(name)) || methodOf(name) != "" || s.defined(i) {
		return false
	}
	return s.makers[name] != "" || speaks(name, makerWords) && !speaks(name, doers)
}

// defined tells a function's definition from its call.
func (s *scan) defined(i int) bool {
	if i > 0 && s.toks[i-1].kind == tokName {
		switch s.toks[i-1].text {
		case "def", "func", "function", "fun", "fn", "class", "String", "string", "str", "static", "async", "sub":
			return true
		}
	}
	if i > 0 && s.lang == "go" && s.toks[i-1].is(")") { // of a type
		o := s.match[i-1]
		return o > 0 && s.toks[o-1].kind == tokName && s.toks[o-1].text == "func"
	}
	return false
}

// makerCall reads the call of a maker with what is chained to it. One text alone
// is read as any other.
func (s *scan) makerCall(i int) {
	parts, last, texts := s.made(i)
	if given := s.makers[s.toks[i].text]; given != "" || texts > 0 && len(parts) > 1 {
		s.tell(strings.Join(parts, "/"), s.chainStart(i+1), last, true)
		return
	}
	clear(s.used[i : last+1])
}

// made returns the parts of the path that a maker makes, where its call ends,
// and how many texts it was given.
func (s *scan) made(i int) (parts []string, last, texts int) {
	given := s.makers[s.toks[i].text]
	if given != "" {
		parts = append(parts, given)
	}
	for first := true; ; first = false {
		shut := int(s.match[i+1])
		if shut < 0 {
			return parts, i, texts
		}
		args := s.simple(i+1, shut)
		if first {
			args = segments(args, given != "")
		}
		for _, a := range args {
			if strings.Trim(a, string(hole)) != "" {
				texts++
			}
			parts = append(parts, a)
		}
		last = shut
		if shut+3 >= len(s.toks) || !s.toks[shut+1].is(".") || !s.toks[shut+3].is("(") || s.match[shut+3] < 0 ||
			!speaks(s.toks[shut+2].text, steps) {
			return parts, last, texts
		}
		i = shut + 2
		s.used[i] = true
	}
}

// segments are those of the arguments of a maker that are parts of the path: all
// where each is one, not what is filled into a text or says how to ask. Where it
// is known what the maker gives, its parameters are in that.
func segments(args []string, known bool) (out []string) {
	formats := false
	for i, a := range args {
		if m := verbs.Get()[strings.ToLower(a)]; m != "" && (i == 0 || a == m) {
			return nil // it asks
		}
		filled := a == string(hole)
		formats = formats || strings.ContainsRune(a, '/') || !filled && strings.ContainsRune(a, hole)
		if !filled || !known && !formats {
			out = append(out, a)
		}
	}
	return out
}

// simple reads arguments that are texts, or holes; none if they are more than
// that, as the settings of a request are.
func (s *scan) simple(o, shut int) []string {
	for k := o + 1; k < shut; k++ {
		if s.toks[k].is("{") || s.toks[k].is("=>") || s.toks[k].is("->") {
			return nil
		}
	}
	if shut > o+3 && s.toks[shut-1].is(".") && s.toks[shut-2].is("..") { // what else there may be
		return s.simple(o, shut-3)
	}
	return s.arguments(o, shut)
}

// findMakers notes the functions of a file that give back a path of their own.
// Where they are called is where it is used.
func (s *scan) findMakers() {
	s.makers = map[string]string{}
	said := map[string][2]int{}
	for i := 0; i+2 < len(s.toks); i++ {
		if s.toks[i].kind != tokName || s.toks[i].text != "return" {
			continue
		}
		name := s.function(i)
		if name == "" || !speaks(name, makerWords) || s.makers[name] != "" {
			continue
		}
		text, last := "", i+1
		switch next := s.toks[i+1]; {
		case next.kind == tokText:
			var b strings.Builder
			last = s.operands(&b, i+1)
			text = b.String()
		case next.kind == tokName && s.toks[i+2].is("(") && s.makesPath(i+1) && s.makers[next.text] == "":
			parts, end, texts := s.made(i + 1)
			if last = end; texts > 0 {
				text = strings.Join(parts, "/")
			}
		}
		if elems, _ := shape(text); len(elems) > 0 {
			s.makers[name], said[name] = strings.Trim(text, "/"), [2]int{i + 1, last}
		}
	}
	clear(s.used)
	for i := 0; i+1 < len(s.toks) && len(said) > 0; i++ {
		if at, ok := said[s.toks[i].text]; ok && s.toks[i].kind == tokName && s.toks[i+1].is("(") && !s.defined(i) {
			for k := at[0]; k <= at[1]; k++ {
				s.used[k] = true
			}
			delete(said, s.toks[i].text)
		}
	}
}
