package pathlike

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A Field is a name in a file that another program may know as well: what data
// is called, wherever it stands.
type Field struct {
	Name  string // as the source writes it
	Line  int
	Kind  FieldKind
	Owner string // of a member: what it is most likely of, as scope.OwnerName has it
	Type  string // of a member: what kind of value it holds, "" if that is not said
}

// A FieldKind is where a name stands.
type FieldKind uint8

// From what says most.
const (
	Member FieldKind = iota // of a type, an object that is made, a serialiser or a list of values
	Owner                   // the name of a type
	Access                  // what is read of a value, and texts that look like a name
)

// Fields returns the names of data in a file, in order.
func (s *Source) Fields() []Field {
	r := fields{scan: &s.scan}
	for i := range r.toks {
		switch t := r.toks[i]; {
		case len(r.out) == maxFields:
			return r.out
		case t.kind == tokText:
			r.text(i)
		case t.kind == tokName && fieldLike(t.text):
			r.name(i)
		}
	}
	return r.out
}

// maxFields ends the reading of files that are a table of data.
const maxFields = 5000

// fields is the reading of one file's names.
type fields struct {
	*scan
	owner string
	out   []Field
}

func (r *fields) add(name string, i int, kind FieldKind, typ string) {
	if !fieldLike(name) {
		return
	}
	f := Field{Name: name, Line: r.toks[i].line, Kind: kind}
	if kind == Member {
		f.Owner, f.Type = r.owner, typ
	}
	r.out = append(r.out, f)
}

// fieldLike tells whether a word can be the name of data: a word of its own, or
// several, and no keyword.
func fieldLike(s string) bool {
	if len(s) < 3 || len(s) > 50 || s[0] >= '0' && s[0] <= '9' || s[0] == '-' || notFields.Has(s) {
		return false
	}
	letters := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case c != '_' && c != '-' && (c < '0' || c > '9'):
			return false
		}
	}
	return letters >= 3
}

var notFields = lazy.Words(`and any are async await bool boolean break case catch class const continue data def default defer delete do
	dict double elif else end enum export extends fail false final finally float for from func function get global has import include int
	integer interface internal let list long map match module mut new nil none not null number object open optional override package
	private protected protocol pub public raise range readonly record repeat required rescue return self set short static str string String
	struct super switch then this throw trait true try type typeof undefined union unless until use val value values var void when where
	while with yield`)

// at returns a token that may not be there.
func (r *fields) at(i int) token {
	if i < 0 || i >= len(r.toks) {
		return token{kind: tokMark, line: -1}
	}
	return r.toks[i]
}

// text files the names in a text.
func (r *fields) text(i int) {
	content := r.toks[i].text
	if r.lang == "go" && strings.Contains(content, `:"`) {
		r.tag(i, content)
		return
	}
	if !fieldLike(content) {
		return
	}
	kind := Access
	if r.keyed(i) || r.listed(i) {
		kind = Member
	}
	r.add(content, i, kind, "")
}

// tag files what the tag of a Go field says: the name that others know.
func (r *fields) tag(i int, content string) {
	for part := range strings.FieldsSeq(content) {
		key, value, ok := strings.Cut(part, `:"`)
		name, _, _ := strings.Cut(strings.TrimSuffix(value, `"`), ",")
		if ok && wireTags.Has(key) && name != "" && name != "-" {
			typ := ""
			if from := r.lineStart(i); from+1 < i {
				typ = r.typeOf(from + 1)
			}
			r.add(name, i, Member, typ)
			return
		}
	}
}

var wireTags = lazy.Words("json xml form query url schema uri msgpack")

func (r *fields) lineStart(i int) int {
	line := r.toks[i].line
	for i > 0 && r.toks[i-1].line == line {
		i--
	}
	return i
}

// keyed tells whether a text is the key of something, or the name that an
// annotation gives to what stands behind it.
func (r *fields) keyed(i int) bool {
	next, before := r.at(i+1), r.at(i-1)
	if next.is(":") && !before.is("?") || next.is("=>") {
		return true
	}
	if before.is("=") && r.at(i-3).text == "case" { // of Swift's CodingKeys and of enums
		return true
	}
	o := int(r.around[i])
	if o < 0 || !r.toks[o].is("(") {
		return false
	}
	if before.is("=") && naming.Has(r.at(i-2).text) {
		return true
	}
	callee := r.callee(o)
	return before.is("(") && (wireMarks.Has(callee) || r.at(o-2).is("@") && wireMarks.Has(r.at(o-1).text))
}

// naming are arguments that say what a member is called.
var naming = lazy.Words("rename alias serialization_alias validation_alias name data_key PropertyName key")

// wireMarks are annotations and functions that say so.
var wireMarks = lazy.Words(`SerialName JsonProperty SerializedName JsonKey Json JsonPropertyName Expose ApiProperty Field XmlElement
	JsonAlias DataMember Column attribute attributes field fields Prop Property`)

// listed tells whether a text is one of the values or members that a list holds.
func (r *fields) listed(i int) bool {
	if r.at(i-1).is("|") || r.at(i+1).is("|") {
		return true // a union of texts
	}
	if r.at(i-1).is("=") && r.lineStart(i) == i-2 && upperName(r.at(i-2).text) {
		return true // ACTIVE = "active"
	}
	o := int(r.around[i])
	if o < 1 || !r.toks[o].is("[") && !r.toks[o].is("(") {
		return false
	}
	if before := r.at(o - 1); before.is("=") && memberLists.Has(r.at(o-2).text) {
		return true
	} else if before.is("(") && r.at(o-2).text == "enum" {
		return true
	}
	return false
}

// memberLists are names of lists of members.
var memberLists = lazy.Words("fields attributes only visible appends choices")

func upperName(s string) bool { return s != "" && s == strings.ToUpper(s) }

// name files a name by where it stands.
func (r *fields) name(i int) {
	t, before, next := r.toks[i], r.at(i-1), r.at(i+1)
	switch {
	case before.kind == tokName && typeWords.Has(before.text) && before.line == t.line:
		r.owner = scope.OwnerName(t.text)
		r.add(t.text, i, Owner, "")
	case before.is(".") || before.is("->"):
		r.access(i)
	case r.lang == "ruby" && before.is(":") && before.end == t.start:
		kind := Access
		if rubyMembers.Has(r.at(r.lineStart(i)).text) {
			kind = Member
		}
		r.add(t.text, i, kind, "")
	case next.is(":") && next.end == next.start+1, next.is("?") && r.at(i+2).is(":") && next.start == t.end:
		r.key(i)
	case next.is("=") && r.inCall(i) && r.lang == "python":
		if c := r.callee(int(r.around[i])); c == "dict" || c != "" && c[0] >= 'A' && c[0] <= 'Z' {
			r.add(t.text, i, Member, "")
		}
	default:
		r.declared(i)
	}
	if r.made(i) {
		r.owner = scope.OwnerName(t.text)
	}
}

// made tells whether a name is given a schema or an object: const User = z.object.
func (r *fields) made(i int) bool {
	t := r.toks[i]
	return t.text[0] >= 'A' && t.text[0] <= 'Z' && r.at(i+1).is("=") && r.at(i-1).kind == tokName
}

// typeWords stand before the name of a type.
var typeWords = lazy.Words("class struct interface enum record object type protocol trait message module")

// rubyMembers begin lines that list the members of a serialiser.
var rubyMembers = lazy.Words(`attributes attribute field fields has_one has_many belongs_to association property expose identifier json
	properties enum value`)

func (r *fields) inCall(i int) bool {
	o := r.around[i]
	return o >= 0 && r.toks[o].is("(")
}

// access files what is read of a value.
func (r *fields) access(i int) {
	t := r.toks[i]
	if r.lang == "ruby" && r.at(i-2).text == "json" && !r.at(i+1).is("!") { // of a builder
		r.add(t.text, i, Member, "")
		return
	}
	if !r.at(i + 1).is("(") {
		r.add(t.text, i, Access, "")
		return
	}
	for _, verb := range []string{"get", "is"} {
		if rest, ok := strings.CutPrefix(t.text, verb); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
			r.add(rest, i, Access, "")
		}
	}
}

// key files a name before a colon: of an object, of a type, or a parameter.
func (r *fields) key(i int) {
	t, before := r.toks[i], r.at(i-1)
	if before.is("?") || before.kind == tokName && before.line == t.line && !modifiers.Has(before.text) {
		return // a condition, a label
	}
	kind := Access
	switch o := int(r.around[i]); {
	case o < 0 || r.toks[o].is("{"):
		if !bindings.Has(before.text) || before.line != t.line || o >= 0 && r.ofType(o) {
			kind = Member
		}
	case r.toks[o].is("(") && r.ofRecord(o):
		kind = Member
	case r.toks[o].is("("):
		return // a parameter or a named argument
	}
	from := i + 2
	if r.at(i + 1).is("?") {
		from++
	}
	r.add(t.text, i, kind, r.typeOf(from))
}

var (
	bindings  = lazy.Words("val var let const")
	modifiers = lazy.Words(`val var let const pub public private protected internal readonly static final override open lateinit abstract
		required crate`)
)

// declared files what a language declares with its type first or last, values
// of enums, and names that stand for themselves in an object.
func (r *fields) declared(i int) {
	o := int(r.around[i])
	if o < 0 {
		return
	}
	t, before, next := r.toks[i], r.at(i-1), r.at(i+1)
	first := before.line != t.line || before.is("{")
	ends := next.is(",") || next.is("}") || next.line != t.line
	switch {
	case r.toks[o].is("("):
		if typed := before.kind == tokName || before.is(">") || before.is("$") || before.is("?"); typed && (next.is(",") || next.is(")") ||
			next.is("=")) && (r.ofRecord(o) || before.is("$") && r.promoted(i)) {
			r.add(t.text, i, Member, r.typeOf(i-1))
		}
	case !r.toks[o].is("{"):
	case r.lang == "go":
		if first && r.at(o-1).text == "struct" && t.text[0] >= 'A' && t.text[0] <= 'Z' && next.line == t.line && !r.tagged(i) {
			r.add(t.text, i, Member, r.typeOf(i+1))
		}
	case r.ofEnum(o):
		if (first || before.is(",") || before.text == "case") && (ends || next.is("=") || next.is("(") || next.is(";")) {
			r.add(t.text, i, Member, "")
		}
	case (next.is(";") || next.is("=") || next.is("{")) && before.line == t.line && r.ofType(o) &&
		(before.kind == tokName && before.text != "return" || before.is(">") || before.is("]") || before.is("?") || before.is("$")):
		r.add(t.text, i, Member, r.typeOf(i-1))
	case (before.is("{") || before.is(",")) && (next.is(",") || next.is("}")) && (r.lang == "typescript" || r.lang == "javascript"):
		r.short(i, o)
	}
}

// short files a name that stands for itself: in an object that is made, or in a
// pattern that takes one apart.
func (r *fields) short(i, o int) {
	switch before := r.at(o - 1); {
	case before.text == "import" || before.text == "export" || r.ofType(o):
		return
	case before.text == "const" || before.text == "let" || before.text == "var":
		r.add(r.toks[i].text, i, Access, "")
	default:
		kind := Member
		if end := int(r.match[o]); end > 0 && (r.at(end+1).is("=") || r.at(end+1).is(")") && (r.at(end+2).is("{") || r.at(end+2).is("=>"))) {
			kind = Access
		}
		r.add(r.toks[i].text, i, kind, "")
	}
}

// promoted tells whether a parameter of PHP is a member, too.
func (r *fields) promoted(i int) bool {
	for k := i - 1; k > i-5 && k >= 0; k-- {
		switch r.toks[k].text {
		case "public", "private", "protected", "readonly":
			return true
		}
	}
	return false
}

// tagged tells whether a Go field has a tag that names it.
func (r *fields) tagged(i int) bool {
	for k := i; k < len(r.toks) && r.toks[k].line == r.toks[i].line; k++ {
		if r.toks[k].kind == tokText {
			return strings.Contains(r.toks[k].text, `:"`)
		}
	}
	return false
}
