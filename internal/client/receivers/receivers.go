// Package receivers tells whose member x.m is: what x is declared as, what the
// function returns that it comes from, which class stands around it, what that
// one inherits or embeds. So a use names the definition that it means, however
// many others have the name.
//
// It follows what is written down, as text, through the files of one
// repository, and never guesses: where two ways are open, or one leads out of
// the repository, nothing is said.
package receivers

import (
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A World knows the other files of a repository.
type World interface {
	// Find returns the definition that a name, perhaps one of a module
	// (pkg.Name), means in a file.
	Find(o *outline.File, name string) (Place, bool)
	// Beside returns the other files in which members of a type may be defined.
	Beside(p Place) []*outline.File
}

// A Place is a definition in a file.
type Place struct {
	File *outline.File
	Def  int
}

func (p Place) def() *outline.Def { return p.File.Defs[p.Def].Full() }

// A Use is one of a member whose owner is known, or of a type that somebody
// implements or makes.
type Use struct {
	File  *outline.File // that defines it
	Name  string        // as it is called there, with its owner
	Line  uint32
	Call  *coord.Call
	Typed bool     // the code does not name its owner
	Whole bool     // whoever uses it so must have all members
	Has   []string // those that it has
	Lacks []string // those that it had, and has no longer as they were
}

// languages are those that write types down.
var languages = lazy.Words("go typescript java kotlin csharp rust python")

// Reads tells whether receivers of a language can be followed.
func Reads(lang string) bool { return languages.Has(lang) }

const (
	maxDepth = 12  // declarations that lead to each other
	maxUses  = 400 // members that are looked at in one file
)

// A Reader follows the names of one file's code.
type Reader struct {
	w     World
	texts map[*outline.File][]byte // code without remarks and texts
	fake  map[*outline.File]bool   // files with a definition that was made up
	depth int
}

// New returns a reader for the files of one analysis.
func New(w World) *Reader {
	return &Reader{w: w, texts: map[*outline.File][]byte{}, fake: map[*outline.File]bool{}}
}
