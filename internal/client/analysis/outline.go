package analysis

import "github.com/svc-hq/svc/internal/core/coord"

// An outline is what the rules see of a file, whatever its language: its
// definitions, and those calls, annotations, texts and imports that a rule or
// a reference could be about.
type outline struct {
	lang    string // as in symbol keys
	path    string
	source  []byte
	traits  *traits
	broken  bool
	defs    []def
	calls   []call
	marks   []mark
	texts   []text
	reads   []read
	imports []imported
	consts  map[string]value
	assigns []assign
	returns []value // objects and lists of return statements
	names   []name  // uses of imported names
	ambient []name  // uses of names that no import binds

	generated map[string]bool // modules that are generated from .proto files
}

// A def is a definition.
type def struct {
	name     string // nested names joined by dots
	kind     string
	parent   int // index of the definition it stands in, -1 at the top
	span     span
	exported bool
	head     string // the header as one line, without comments and annotations
	before   string // of it what stands before the name
	params   []param
	hasCall  bool   // it takes parameters
	after    string // of it what stands after the parameters
	bases    []string
	own      string // its text without that of nested definitions
	body     span
	nameAt   uint32
	node     int
	contain  bool
	tag      string     // of a Go field
	hides    bool       // its members from here on are not visible
	fill     func(*def) // makes head, params and after, when they are needed
}

// A span is a range of the source.
type span struct {
	start, end uint32
	row, last  uint32 // lines, from 0
}

func (s span) holds(at uint32) bool { return s.start <= at && at < s.end }

// A param is a parameter of a definition.
type param struct {
	name, typ string
	optional  bool
	rest      bool
	keyword   bool
}

// A call is a call with its arguments.
type call struct {
	name  string // dotted; calls in it are written (), as in router.route().get
	args  []value
	span  span
	flat  string // the name without calls that are only chained
	inner *call  // the call it is chained to
	def   int
}

// A mark is an annotation, attribute or decorator of a definition.
type mark struct {
	name   string
	args   []value
	target int // the definition it stands at, -1 for none
	line   uint32
}

// A text is a literal text.
type text struct {
	value string
	line  uint32
	tag   string // of a tagged template
	at    uint32
}

// A read is an access by name or index to something rules care about.
type read struct {
	object string
	key    string
	line   uint32
}

// An assign is an assignment in a class body or at the top.
type assign struct {
	name  string
	value value
	def   int
	line  uint32
}

// An imported name is bound by an import.
type imported struct {
	module string
	name   string // in the module; "" for the module itself, "*" for all
	local  string
	line   uint32
}

// A name is a use of an imported one.
type name struct {
	local  string
	member string // what was taken from it, for a module
	line   uint32
	call   *coord.Call // how it is called, if it is
	mark   bool        // it marks the definition that follows
}

// full makes the parts of a header that only a definition that changed needs.
func (d *def) full() *def {
	if d.fill != nil {
		f := d.fill
		d.fill = nil
		f(d)
	}
	return d
}
