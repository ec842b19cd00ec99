package pathlike

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// hole stands in a text for what is filled in.
const hole = '\x00'

// joins are calls that put a path together of their arguments.
var joins = lazy.Words(`join Join joinPath JoinPath urljoin joinUrl joinURL urlJoin appendingPathComponent
	appendPathComponent appending appendPath AppendPath appendPathSegment appendPathSegments AppendPathSegment
	AppendPathSegments addPathSegment addPathSegments addEncodedPathSegment addEncodedPathSegments pathSegment pathSegments
	appendEncodedPath extend buildPath build_path build_url buildUrl buildURL`)

// ofFiles tells whether a call puts the path of a file together.
func (s *scan) ofFiles(i int) bool {
	if i < 2 || !s.toks[i-1].is(".") {
		return false
	}
	switch s.toks[i-2].text {
	case "filepath", "Path", "Paths", "File", "os":
		return true
	case "path":
		return s.lang != "go" || i > 3 && s.toks[i-4].text == "os"
	}
	return false
}

// skips tells whether a text names a module.
func (s *scan) skips(i int) bool {
	k := i - 1
	if k >= 0 && s.toks[k].is("(") {
		k--
	}
	if k < 0 || s.toks[k].kind != tokName {
		return s.lang == "go" && s.imported(i)
	}
	switch s.toks[k].text {
	case "import", "from", "require", "require_relative", "include", "include_once", "require_once", "mock", "unmock", "export":
		return true
	}
	return s.lang == "go" && s.imported(i)
}

// imported tells whether a text stands in Go's list of imports.
func (s *scan) imported(i int) bool {
	o := s.around[i]
	return o > 0 && s.toks[o].is("(") && s.toks[o-1].kind == tokName && s.toks[o-1].text == "import"
}

// expression reads a text with what is joined to it.
func (s *scan) expression(i int) {
	if s.skips(i) {
		return
	}
	var b strings.Builder
	from := i
	if k := i - 1; k > 0 && s.joinSign(k) && s.toks[k-1].kind == tokName {
		b.WriteString(s.named(s.toks[k-1].text))
		from = k - 1
		for from > 1 && (s.toks[from-1].is(".") || s.toks[from-1].is("::") || s.toks[from-1].is("->")) && s.toks[from-2].kind == tokName {
			from -= 2
		}
	}
	last := s.operands(&b, i)
	s.tell(b.String(), from, last, false)
}

// operands writes a text and what is joined behind it, and returns the last
// token of it.
func (s *scan) operands(b *strings.Builder, i int) int {
	s.used[i] = true
	b.WriteString(s.content(s.toks[i].text))
	last := i
	for k := i + 1; k < len(s.toks); {
		t := s.toks[k]
		if t.kind == tokText && s.lang != "go" && t.line <= s.toks[last].line+1 && s.toks[last].kind == tokText { // beside each other
			s.used[k] = true
			b.WriteString(s.content(t.text))
			last, k = k, k+1
			continue
		}
		if !s.joinSign(k) || k+1 >= len(s.toks) {
			break
		}
		k++
		if s.toks[k].kind == tokText {
			s.used[k] = true
			b.WriteString(s.content(s.toks[k].text))
			last, k = k, k+1
			continue
		}
		end, name := s.operand(k)
		if end == k {
			break
		}
		b.WriteString(s.named(name))
		last, k = end-1, end
	}
	return last
}

// joinSign tells whether a token puts texts together.
func (s *scan) joinSign(k int) bool {
	t := s.toks[k]
	switch {
	case t.is("+"), t.is("<>") && s.lang == "elixir":
		return true
	case t.is(".") && s.lang == "php":
		return k+1 < len(s.toks) && (s.toks[k+1].kind == tokText || s.toks[k+1].is("$") || s.toks[k+1].is("(") ||
			k > 0 && s.toks[k-1].kind == tokText)
	}
	return false
}

// operand returns where an expression that begins at a token ends, and its
// name when it is nothing else.
func (s *scan) operand(k int) (end int, name string) {
	plain := true
	for i := k; i < len(s.toks) && i < k+200; {
		t := s.toks[i]
		switch {
		case t.kind == tokText:
			return i, ""
		case t.kind == tokName:
			if i > k && s.toks[i-1].kind != tokMark || i > k && (s.toks[i-1].is(")") || s.toks[i-1].is("]")) {
				return i, plainName(plain, name)
			}
			name = t.text
			i++
		case t.is("(") || t.is("["):
			if s.match[i] < 0 {
				return i, ""
			}
			plain = false
			i = int(s.match[i]) + 1
		case t.is(".") && s.lang == "php":
			return i, plainName(plain, name)
		case t.is(".") || t.is("::") || t.is("->") || t.is("$") || t.is("!") || t.is("&") || t.is("*") || t.is("?") || t.is("@"):
			i++
		default:
			return i, plainName(plain, name)
		}
	}
	return k, ""
}

func plainName(plain bool, name string) string {
	if !plain {
		return ""
	}
	return name
}

// named is the text that a name stands for, or a hole.
func (s *scan) named(name string) string {
	if text, ok := s.consts[name]; ok && name != "" {
		return filled(text, nil)
	}
	return string(hole)
}

func (s *scan) content(text string) string { return filled(text, s.consts) }

// joinCall reads path.Join(a, b) and its like, and those chained to it.
func (s *scan) joinCall(i int) {
	from, last := i, i
	var parts []string
	for {
		o := i + 1
		shut := int(s.match[o])
		if shut < 0 {
			return
		}
		parts = append(parts, s.arguments(o, shut)...)
		last = shut
		if shut+3 < len(s.toks) && s.toks[shut+1].is(".") && joins.Has(s.toks[shut+2].text) && s.toks[shut+3].is("(") {
			i = shut + 2
			s.used[i] = true
			continue
		}
		break
	}
	s.tell(strings.Join(parts, "/"), from, last, len(parts) > 1 || strings.Contains(s.toks[from].text, "ath"))
}

// arguments reads what stands between two brackets as parts of a path.
func (s *scan) arguments(o, shut int) (out []string) {
	for k := o + 1; k < shut; {
		if (s.toks[k].is("[") || s.toks[k].is("{")) && int(s.match[k]) == shut-1 { // one list
			return s.arguments(k, shut-1)
		}
		if s.toks[k].kind == tokName && k+1 < shut && (s.toks[k+1].is(":") || s.toks[k+1].is("=")) { // by name
			k += 2
			continue
		}
		if s.toks[k].is(",") {
			k++
			continue
		}
		var b strings.Builder
		if s.toks[k].kind == tokText {
			k = s.operands(&b, k) + 1
		} else {
			end, name := s.operand(k)
			b.WriteString(s.named(name))
			k = max(end, k+1)
		}
		out = append(out, b.String())
		for k < shut && !s.toks[k].is(",") {
			if m := int(s.match[k]); m > k {
				k = m
			}
			k++
		}
	}
	return out
}

// joinedList reads ["a", b].join("/").
func (s *scan) joinedList(i int) {
	shut := int(s.match[i])
	if shut < 0 || shut+4 >= len(s.toks) || !s.toks[shut+1].is(".") || s.toks[shut+2].text != "join" || s.toks[shut+4].text != "/" {
		return
	}
	s.used[shut+4] = true
	s.tell(strings.Join(s.arguments(i, shut), "/"), i, shut+4, true)
}
