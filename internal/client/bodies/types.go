package bodies

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// scalars are the types that hold no fields, by the names that languages give
// them.
var scalars = lazy.Table[map[string]string]{Make: func() map[string]string {
	out := map[string]string{}
	for typ, names := range map[string]string{
		"string": "string str String text varchar char UUID uuid Uuid CharSequence EmailStr HttpUrl AnyUrl Str Email URL Url Uri " +
			"EmailField CharField TextField SlugField URLField ObjectId Text Char Slug",
		"integer": "int integer Integer Int Long long short i8 i16 i32 i64 u8 u16 u32 u64 usize isize int8 int16 int32 int64 uint " +
			"uint8 uint16 uint32 uint64 Int64 Int32 BigInteger bigint IntegerField BigIntegerField Short",
		"number":  "float double number Number Float Double BigDecimal Decimal decimal f32 f64 float32 float64 DecimalField FloatField",
		"boolean": "bool boolean Boolean Bool BooleanField",
		"date": "Date DateTime datetime date Instant LocalDate LocalDateTime OffsetDateTime ZonedDateTime DateTimeOffset DateOnly " +
			"Timestamp Timestamptz Time DateTimeField DateField datetime.datetime time.Time Carbon NaiveDateTime",
	} {
		for n := range strings.FieldsSeq(names) {
			out[n] = typ
		}
	}
	return out
}}

var listTypes = lazy.Words("List Vec Seq Array Set IEnumerable ICollection IList IReadOnlyList IReadOnlyCollection Collection " +
	"Iterable Flux Iterator Sequence ArrayList LinkedList MutableList list tuple set Vector HashSet BTreeSet Stream ReadonlyArray " +
	"MutableSet FrozenSet Slice Tuple IQueryable Flow AnonymousResourceCollection Queryable QuerySet frozenset")

var mapTypes = lazy.Words("Map HashMap Record Dictionary dict Dict BTreeMap IDictionary MutableMap LinkedHashMap Mapping ModelMap")

// typeLeads stand before a type and change nothing of what it holds.
var typeLeads = []string{"&", "*", "mut ", "dyn ", "impl ", "readonly ", "final ", "ref ", "'static ", "'a ", "?", "suspend ", "const "}

// typ works out what a value of a type holds.
func (e *Eval) typ(t string, sc *scope) *Shape {
	if e.steps++; e.steps > maxSteps || sc.depth > 30 {
		return nil
	}
	sc.depth++
	defer func() { sc.depth-- }()
	t = strings.TrimSpace(t)
	for _, word := range typeLeads {
		if rest, ok := strings.CutPrefix(t, word); ok {
			s := e.typ(rest, sc)
			if s != nil && (word == "?" || word == "*" && sc.o.Lang == "go") {
				c := *s
				c.Null = true
				return &c
			}
			return s
		}
	}
	if rest, ok := strings.CutSuffix(t, "?"); ok {
		return nullable(e.typ(rest, sc))
	}
	if parts := splitTop(t, '|'); len(parts) > 1 {
		return e.union(parts, sc)
	}
	if parts := splitTop(t, '&'); len(parts) > 1 {
		var out *Shape
		for _, p := range parts {
			out = merge(out, e.typ(p, sc))
		}
		return out
	}
	return e.oneType(t, sc)
}

func nullable(s *Shape) *Shape {
	if s == nil {
		return nil
	}
	c := *s
	c.Null = true
	return &c
}

func (e *Eval) union(parts []string, sc *scope) *Shape {
	var out *Shape
	null := false
	for _, p := range parts {
		switch p = strings.TrimSpace(p); p {
		case "null", "undefined", "None", "nil", "Null":
			null = true
		case "":
		default:
			if p[0] == '\'' || p[0] == '"' {
				out = either(out, &Shape{Type: "string"})
			} else {
				out = either(out, e.typ(p, sc))
			}
		}
	}
	if null {
		return nullable(out)
	}
	return out
}

// oneType works out a type without operators.
func (e *Eval) oneType(t string, sc *scope) *Shape {
	if t == "" {
		return nil
	}
	if s, ok := scalars.Get()[t]; ok {
		if sc.types[t] == nil {
			return &Shape{Type: s}
		}
	}
	switch {
	case strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}"):
		return e.inline(t, sc)
	case strings.HasPrefix(t, "struct"):
		if open := strings.IndexByte(t, '{'); open >= 0 {
			return e.inlineGo(t[open:], sc)
		}
	case strings.HasPrefix(t, "[]"):
		return &Shape{Elem: e.typ(t[2:], sc)}
	case strings.HasSuffix(t, "[]"):
		return &Shape{Elem: e.typ(t[:len(t)-2], sc)}
	case strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]"):
		inside, _, _ := strings.Cut(t[1:len(t)-1], ";")
		if k, _, ok := strings.Cut(inside, ":"); ok && !strings.Contains(k, "::") {
			return &Shape{Open: true}
		}
		return &Shape{Elem: e.typ(inside, sc)}
	case strings.HasPrefix(t, "map["):
		return &Shape{Open: true}
	case strings.HasPrefix(t, "("):
		inside := splitTop(strings.TrimSuffix(t[1:], ")"), ',')
		for i := len(inside) - 1; i >= 0; i-- {
			if s := e.typ(inside[i], sc); s.holds() {
				return s
			}
		}
		return nil
	}
	base, args := generic(t)
	if s, ok := sc.types[base]; ok {
		return s
	}
	return e.namedType(base, args, sc)
}

// generic takes Name<A, B> and Name[A, B] apart.
func generic(t string) (base string, args []string) {
	open := strings.IndexAny(t, "<[")
	if open <= 0 {
		return dots(t), nil
	}
	end := strings.LastIndexAny(t, ">]")
	if end < open {
		return dots(t[:open]), nil
	}
	return dots(t[:open]), splitTop(t[open+1:end], ',')
}

func (e *Eval) namedType(base string, args []string, sc *scope) *Shape {
	last := lastOf(base)
	if s := e.utility(last, args, sc); s != nil {
		return s
	}
	given := make([]*Shape, len(args))
	if notBodies.Has(last) {
		return nil
	}
	if p, ok := e.findClass(sc, base); ok && !(len(args) > 0 && (listTypes.Has(last) || mapTypes.Has(last)) && e.typeParams(p, nil) == nil) {
		for i, a := range args {
			given[i] = e.typ(a, sc)
		}
		return e.class(p, given)
	}
	switch {
	case listTypes.Has(last):
		if len(args) == 0 {
			return &Shape{Elem: &Shape{}}
		}
		return &Shape{Elem: e.typ(args[len(args)-1], sc)}
	case mapTypes.Has(last):
		return &Shape{Open: true}
	case scalars.Get()[last] != "":
		return &Shape{Type: scalars.Get()[last]}
	}
	var out *Shape
	for _, a := range args { // what only wraps another
		if s := e.typ(a, sc); s.holds() {
			out = s
			break
		} else if out == nil {
			out = s
		}
	}
	if last == "Option" || last == "Optional" || last == "Nullable" || last == "Maybe" {
		return nullable(out)
	}
	return out
}

// notBodies are types whose arguments say what comes in, not what goes out.
var notBodies = lazy.Words("Action Handler HandlerFunc RequestHandler EssentialAction Request")

// utility works out the types that are made of others.
func (e *Eval) utility(name string, args []string, sc *scope) *Shape {
	if len(args) == 0 {
		return nil
	}
	switch name {
	case "Omit", "Pick", "OmitType", "PickType":
		s := e.typ(args[0], sc)
		if s == nil || len(args) < 2 {
			return s
		}
		out := &Shape{}
		for _, f := range s.Fields {
			if strings.Contains(args[1], "'"+f.Name+"'") == strings.HasPrefix(name, "Pick") ||
				strings.Contains(args[1], `"`+f.Name+`"`) == strings.HasPrefix(name, "Pick") && strings.Contains(args[1], `"`) {
				out.Fields = append(out.Fields, f)
			}
		}
		return out
	case "Partial", "PartialType":
		s := e.typ(args[0], sc)
		if s == nil {
			return nil
		}
		out := &Shape{Open: s.Open, Fields: slices.Clone(s.Fields)}
		for i := range out.Fields {
			out.Fields[i].Optional = true
		}
		return out
	case "Readonly", "Required", "NonNullable", "Awaited", "Promise", "Annotated":
		return e.typ(args[0], sc)
	case "infer", "InferType", "TypeOf", "Static", "InferSchema", "ReturnType":
		of := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(args[0]), "typeof "))
		if s := e.global(sc, of); s != nil {
			return s
		}
		for _, p := range e.find(sc, of) {
			return e.function(p, nil, nil)
		}
	}
	return nil
}

// inline works out { a: T; b?: U }.
func (e *Eval) inline(t string, sc *scope) *Shape {
	out := &Shape{}
	body := strings.TrimSuffix(strings.TrimPrefix(t, "{"), "}")
	body = strings.ReplaceAll(body, "\n", ";")
	for _, part := range splitTop(body, ';') {
		for _, p := range splitTop(part, ',') {
			key, typ, ok := strings.Cut(p, ":")
			key = strings.Trim(strings.TrimPrefix(strings.TrimSpace(key), "readonly "), "'\" ")
			if !ok || strings.Contains(key, "//") {
				continue
			}
			name, optional := strings.CutSuffix(key, "?")
			if isKey(name) {
				out.set(Field{Name: name, Optional: optional, Shape: e.typ(typ, sc)})
			} else {
				out.Open = true
			}
		}
	}
	return out
}

// inlineGo works out struct { A T `json:"a"` }.
func (e *Eval) inlineGo(t string, sc *scope) *Shape {
	out := &Shape{}
	body := strings.TrimSpace(t)
	body = body[1:max(1, len(body)-1)]
	for from := 0; from < len(body); {
		line := body[from:]
		end := 0
		for end < len(line) && line[end] != '\n' && line[end] != ';' {
			if line[end] == '{' {
				end = closing(line, end, "go")
				continue
			}
			end++
		}
		from += end + 1
		line = strings.TrimSpace(line[:min(end, len(line))])
		name, rest, ok := strings.Cut(line, " ")
		if !ok || strings.HasPrefix(line, "//") {
			continue
		}
		typ, tag := rest, ""
		if i := strings.IndexByte(rest, '`'); i >= 0 && strings.HasSuffix(rest, "`") {
			if j := strings.LastIndexByte(rest[:len(rest)-1], '`'); j >= 0 {
				typ, tag = rest[:j], rest[j:]
			}
		}
		f := Field{Name: name, Shape: e.typ(typ, sc)}
		if tagged(&f, tag) {
			out.set(f)
		}
	}
	return out
}

// tagged names a field of Go as its tag says; false when it is not written.
func tagged(f *Field, tag string) bool {
	for _, key := range []string{`json:"`, `form:"`} {
		_, rest, ok := strings.Cut(tag, key)
		if !ok {
			continue
		}
		value, _, _ := strings.Cut(rest, `"`)
		name, options, _ := strings.Cut(value, ",")
		if name == "-" {
			return false
		}
		if name != "" {
			f.Name = name
		}
		f.Optional = strings.Contains(options, "omitempty")
		return true
	}
	return isUpper(f.Name)
}
