package pathlike

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// filled writes the content of a text with a hole for each part that is filled
// in, however the language writes that.
func filled(text string, consts map[string]string) string {
	if !strings.ContainsAny(text, `{$%\:<*`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		end, inner := holeAt(text, i)
		if end == i {
			if text[i] == '\\' && i+1 < len(text) {
				i++
			}
			b.WriteByte(text[i])
			i++
			continue
		}
		c, ok := consts[inner[strings.LastIndexByte(inner, '.')+1:]]
		doubled := strings.HasPrefix(c, "/") && strings.HasSuffix(b.String(), "/") // a parameter that is called like a path
		if ok && inner != "" && !doubled {
			b.WriteString(filled(c, nil))
		} else {
			b.WriteByte(hole)
		}
		i = end
	}
	return b.String()
}

// holeAt returns where a part that is filled in ends, and what fills it in; the
// same place if none begins there.
func holeAt(s string, i int) (end int, inner string) {
	rest := s[i:]
	start := i == 0 || s[i-1] == '/'
	switch {
	case strings.HasPrefix(rest, `\(`):
		return closing(s, i+1, '(', ')')
	case strings.HasPrefix(rest, "${"), strings.HasPrefix(rest, "#{"), strings.HasPrefix(rest, "%{"):
		return closing(s, i+1, '{', '}')
	case rest[0] == '{':
		return closing(s, i, '{', '}')
	case rest[0] == '<' && start:
		return closing(s, i, '<', '>')
	case rest[0] == '$' && len(rest) > 1 && nameByte(rest[1]), rest[0] == ':' && start && len(rest) > 1 && nameByte(rest[1]):
		j := 1
		for j < len(rest) && nameByte(rest[j]) {
			j++
		}
		return i + j, rest[1:j]
	case rest[0] == '%':
		return i + verb(rest), ""
	case rest[0] == '*' && start:
		return i + 1, ""
	}
	return i, ""
}

func closing(s string, at int, open, shut byte) (int, string) {
	depth := 0
	for j := at; j < len(s); j++ {
		switch s[j] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return j + 1, strings.TrimSpace(s[at+1 : j])
			}
		}
	}
	return at, ""
}

// verb is how long the verb of a format is, 0 if there is none.
func verb(s string) int {
	j := 1
	if j < len(s) && s[j] == '(' {
		end := strings.IndexByte(s, ')')
		if end < 0 {
			return 0
		}
		j = end + 1
	}
	for j < len(s) && strings.IndexByte("+-# 0123456789.$l", s[j]) >= 0 {
		j++
	}
	if j < len(s) && strings.IndexByte("vsdqxTtfgeiuc@", s[j]) >= 0 {
		return j + 1
	}
	return 0
}

// fileEnds are what names of files end in that no route is called.
var fileEnds = lazy.Words(`js ts tsx jsx mjs cjs css scss less html htm vue svg png jpg jpeg gif ico webp md txt yml yaml toml go py rb rs
	java kt swift cs h c cpp so dll sh lock woff woff2 ttf map log conf cfg ini sql db proto tmpl erb exe zip gz mp3 mp4`)

// Bounds of what is taken for a path.
const (
	maxElems = 14
	maxWord  = 64
)

// shape returns the elements of a path, empty where something is filled in, and
// whether it has a slash; none if a text is no path.
func shape(text string) (elems []string, slash bool) {
	if len(text) > 400 {
		return nil, false
	}
	text = withoutHost(text)
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i]
	}
	if text == "" || strings.HasPrefix(text, ".") || strings.HasPrefix(text, "~") {
		return nil, false
	}
	slash = strings.Contains(text, "/")
	parts := strings.Split(strings.Trim(text, "/"), "/")
	if len(parts) > maxElems {
		return nil, false
	}
	words := 0
	for i, p := range parts {
		if p == "" {
			continue
		}
		word, ok := element(p, i == len(parts)-1)
		if !ok {
			return nil, false
		}
		if word != "" {
			words++
		}
		elems = append(elems, word)
	}
	for len(elems) > 0 && elems[0] == "" {
		elems = elems[1:]
	}
	if words == 0 || isMedia(elems) {
		return nil, false
	}
	return elems, slash
}

// withoutHost drops what stands before the path of an address.
func withoutHost(text string) string {
	scheme := strings.Index(text, "://")
	if scheme < 0 {
		return text
	}
	rest := text[scheme+3:]
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return ""
	}
	return rest[slash:]
}

// element reads one part of a path: its word, "" for what is filled in.
func element(p string, last bool) (string, bool) {
	at := strings.IndexByte(p, hole)
	if at >= 0 {
		rest := strings.Trim(p[at:], string(hole))
		for i := 0; i < len(rest); i++ {
			if rest[i] <= ' ' {
				return "", false
			}
		}
		if at == 0 || !last || rest != "" {
			return "", plain(strings.ReplaceAll(p, string(hole), ""))
		}
		p = p[:at] // a query, most likely
	}
	if !plain(p) || len(p) > maxWord || p == "." || p == ".." {
		return "", false
	}
	if dot := strings.LastIndexByte(p, '.'); dot > 0 && last {
		switch end := strings.ToLower(p[dot+1:]); {
		case end == "json" || end == "xml":
			p = p[:dot]
		case fileEnds.Has(end):
			return "", false
		}
	}
	if !strings.ContainsFunc(p, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) {
		return "", true // a number stands for one of many
	}
	return p, true
}

// plain tells whether an element has only what paths are written with.
func plain(p string) bool {
	for i := 0; i < len(p); i++ {
		c := p[i]
		if !(nameByte(c) && c < 0x80 || strings.IndexByte("-.@:,()=;~", c) >= 0) {
			return false
		}
	}
	return true
}

// contents are media types of applications that have one plain word.
var contents = lazy.Words(`json xml pdf zip gzip javascript ecmascript wasm graphql yaml toml cbor protobuf msgpack ogg jwt jose rtf sql
	msword text html form binary stream tar jsonlines ndjson jsonp`)

// isMedia tells a media type from a path.
func isMedia(elems []string) bool {
	if len(elems) != 2 {
		return false
	}
	switch elems[0] {
	case "application": // which is the first word of many a path, too
		return elems[1] == "" || strings.ContainsAny(elems[1], ".+-") || contents.Has(elems[1])
	case "text", "image", "audio", "video", "multipart", "font", "message":
		return true
	}
	return false
}
