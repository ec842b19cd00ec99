package scope

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Word is an element of a path as a hash, so that what somebody's source says
// can be compared without being told. 0 is an element that is filled in.
type Word uint32

// A Form is a path of hashed words.
type Form []Word

// WordOf hashes an element; letters count alike, large or small.
func WordOf(elem string) Word {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(elem)))
	return Word(max(h.Sum32(), 1))
}

// PathForm hashes the elements of a path, of which the empty ones are filled in.
func PathForm(elems []string) Form {
	out := make(Form, len(elems))
	for i, e := range elems {
		if e != "" {
			out[i] = WordOf(e)
		}
	}
	return out
}

// String writes a form as it is sent: 8 hexadecimal digits for each word, * for
// what is filled in.
func (f Form) String() string {
	var b strings.Builder
	for i, w := range f {
		if i > 0 {
			b.WriteByte('.')
		}
		if w == 0 {
			b.WriteByte('*')
			continue
		}
		s := strconv.FormatUint(uint64(w), 16)
		b.WriteString("00000000"[len(s):] + s)
	}
	return b.String()
}

// maxForm is how long a path may be.
const maxForm = 16

// ParseForm reads what String wrote; ok is false for anything else.
func ParseForm(s string) (f Form, ok bool) {
	for part := range strings.SplitSeq(s, ".") {
		if len(f) == maxForm {
			return nil, false
		}
		if part == "*" {
			f = append(f, 0)
			continue
		}
		n, err := strconv.ParseUint(part, 16, 32)
		if err != nil || len(part) != 8 || n == 0 {
			return nil, false
		}
		f = append(f, Word(n))
	}
	return f, true
}

// RouteForm is the form of a route's key, with its method.
func RouteForm(key string) (method string, f Form, ok bool) {
	route, ok := httpRoute(key)
	if !ok || route == "/" || route == "" {
		return "", nil, false
	}
	method, _, _ = strings.Cut(strings.TrimPrefix(key, "http:"), " ")
	for e := range strings.SplitSeq(strings.Trim(route, "/"), "/") {
		e = strings.TrimSuffix(e, ".{}") // the format of the answer
		switch {
		case len(f) == maxForm:
			return "", nil, false
		case strings.Contains(e, "{"):
			f = append(f, 0)
		default:
			for _, end := range []string{".json", ".xml"} {
				e = strings.TrimSuffix(e, end)
			}
			f = append(f, WordOf(e))
		}
	}
	return method, f, true
}

// wordKinds tells base words and those that routes of many services are made of
// by their hashes.
var wordKinds = lazy.Table[map[Word]WordKind]{Make: func() map[Word]WordKind {
	out := map[Word]WordKind{}
	for _, w := range slices.Concat(plainWords, sharedWords) {
		out[WordOf(w)] = CommonWord
	}
	for _, w := range strings.Fields("api apis rest public private internal gateway backend server service services app web") {
		out[WordOf(w)] = BaseWord
	}
	for i := range 20 {
		n := strconv.Itoa(i)
		out[WordOf("v"+n)], out[WordOf("v"+n+".0")] = BaseWord, BaseWord
	}
	return out
}}

// A WordKind is how much a word says of which service is meant.
type WordKind uint8

// What a word can be.
const (
	OwnWord    WordKind = iota // it may well be one service's
	CommonWord                 // many services have it
	BaseWord                   // it says where an API lies
)

// Kind tells how much a word says.
func (w Word) Kind() WordKind { return wordKinds.Get()[w] }
