// Package diff is which lines of a file were replaced: found here, where that is
// sure to find what git's merge finds, or read from what git prints. It reads no
// files and starts nothing. Line ranges decide whether two pieces of work will
// merge, so the comparison is held to git's own answers.
package diff

// A Delta is what became of one file between a base version and a newer one.
type Delta struct {
	Path    string // now, or before when it was deleted; raw bytes as git has them
	OldPath string // set when it was renamed
	Status  Status
	OldMode int // git's octal mode, 0 when there was no file
	NewMode int
	OldBlob string // object id, empty when there was no file
	NewBlob string // object id after git's filters, empty when it is gone
	Binary  bool   // git finds no lines in it
	Hunks   []Hunk

	// What the file held and holds, where whoever compared has read it for that;
	// else nil. Who goes on with it need not read it again.
	Old, New []byte `json:"-"`
}

// A Status is what became of a file.
type Status byte

const (
	Unchanged Status = iota
	Added
	Modified
	Deleted
	Renamed
)

// Git's modes of things that are not ordinary files.
const (
	ModeSymlink   = 0o120000
	ModeSubmodule = 0o160000
)

// A Hunk is a range of base lines and what replaced it. Lines count from 1. A
// range of no lines stands before its start.
type Hunk struct {
	OldStart, OldCount int
	NewStart, NewCount int
	Hash               string // of the new lines
}

// MergeArgs make git find the hunks that its own merge would find: merge-ort
// compares with histogram and without the indent heuristic. A line of context
// is asked for and dropped: without, git leaves the common end of the two
// versions out before it compares, and then puts an insertion between repeated
// lines elsewhere than its merge does. Everything a user's configuration could
// change is fixed.
var MergeArgs = []string{
	"--raw", "--patch", "-z", "--full-index", "--no-abbrev", "--unified=1", "--inter-hunk-context=0",
	"--diff-algorithm=histogram", "--no-indent-heuristic", "--find-renames=50%",
	"--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty",
	"--src-prefix=a/", "--dst-prefix=b/", "--no-relative",
}
