// Package outline reads one source file, whatever its language, as far as rules
// and references want to know: definitions, calls, annotations, texts, imports.
// How a language writes them is told by its syntax.rules; Go has a reader of its
// own (golang.go), which needs no C. It sees one file at a time and does not
// know what a contract is.
package outline

import (
	_ "text/tabwriter" // so that it is initialised late: see verdict

	"github.com/svc-hq/svc/internal/core/coord"
)

// A File is what the rules see of a file, whatever its language: its
// definitions, and those calls, annotations, texts and imports that a rule or
// a reference could be about.
type File struct {
	Lang    string // as in symbol keys
	Path    string
	Source  []byte
	Traits  *Traits
	Broken  bool
	Defs    []Def
	Calls   []Call
	Marks   []Mark
	Texts   []Text
	Reads   []read
	Imports []Imported
	consts  map[string]Value
	Assigns []assign
	Funcs   []Func
	Returns []Value // objects and lists of return statements
	Objects []object
	Names   []Name // uses of imported names
	Ambient []Name // uses of names that no import binds

	others func(wanted func(last string) bool) []Call // calls that no rule wants
	own    func(wanted map[string]bool) []Name
	gives  func(node int) []Value
	kept   func(last string) []Kept // of Go: what fields and variables are given
	loops  func() []Loop            // until they are asked for
	looped []Loop

	// Elsewhere is what other files say of a name, for who reads the texts of
	// this one; nil when nobody can tell.
	Elsewhere func(name string) []string

	Generated map[string]bool // modules that are generated from .proto files
}

// A Def is a definition.
type Def struct {
	Name     string // nested names joined by dots
	Kind     string
	Parent   int // index of the definition it stands in, -1 at the top
	Span     Span
	Exported bool
	Head     string // the header as one line, without comments and annotations
	Before   string // of it what stands before the name
	Params   []Param
	HasCall  bool   // it takes parameters
	after    string // of it what stands after the parameters
	Bases    []string
	Own      string // its text without that of nested definitions
	body     Span
	nameAt   uint32
	node     int
	Contain  bool
	Tag      string     // of a Go field
	hides    bool       // its members from here on are not visible
	fill     func(*Def) // makes head, params and after, when they are needed
}

// A Span is a range of the source.
type Span struct {
	Start, End uint32
	Row, Last  uint32 // lines, from 0
}

func (s Span) Holds(at uint32) bool { return s.Start <= at && at < s.End }

// A Param is a parameter of a definition.
type Param struct {
	Name, Typ string
	Optional  bool
	Rest      bool
	Keyword   bool
}

// A Call is a call with its arguments.
type Call struct {
	Name  string // dotted; calls in it are written (), as in router.route().get
	Args  []Value
	Span  Span
	Flat  string   // the name without calls that are only chained
	Inner *Call    // the call it is chained to
	Picks []string // of x[y](): which members it may be
	Types string   // what it is given between < and >
	On    string   // the text that it is a method of, if it is
	Index *Value   // of x[y](): what y is, where that does not say which; the name ends in request then
	Def   int
}

// A Mark is an annotation, attribute or decorator of a definition.
type Mark struct {
	Name   string
	Args   []Value
	Target int // the definition it stands at, -1 for none
	Line   uint32
}

// A Text is a literal text.
type Text struct {
	Value string
	Line  uint32
	Tag   string // of a tagged template
	at    uint32
}

// An object is one with the fields that some rule is about.
type object struct {
	Value Value
	Def   int
}

// A read is an access by name or index to something rules care about.
type read struct {
	Object string
	Key    string
	Line   uint32
}

// An assign is an assignment in a class body or at the top.
type assign struct {
	Name  string
	Value Value
	Def   int
	Line  uint32
	Adds  bool // behind what it was
	Maybe bool // by a condition
}

// An Imported name is bound by an import.
type Imported struct {
	Module string
	Name   string // in the module; "" for the module itself, "*" for all
	Local  string
	Line   uint32
}

// A Name is a use of an imported one.
type Name struct {
	Local  string
	Member string // what was taken from it, for a module
	Line   uint32
	Call   *coord.Call // how it is called, if it is
	Mark   bool        // it marks the definition that follows
}

// Full makes the parts of a header that only a definition that changed needs.
func (d *Def) Full() *Def {
	if d.fill != nil {
		f := d.fill
		d.fill = nil
		f(d)
	}
	return d
}

// Body is where a definition's body stands; its end is 0 when it has none.
func (d *Def) Body() Span { return d.body }

// NameAt is where its name stands.
func (d *Def) NameAt() uint32 { return d.nameAt }
