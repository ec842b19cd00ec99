package gitrepo

import "errors"

// errNotPlain is returned for a file that is not an ordinary one, or larger
// than it can sensibly be. Whoever made a working copy chose what lies in its
// .git folder: a pipe there would keep us waiting, a link lead us elsewhere,
// a huge file fill our memory.
var errNotPlain = errors.New("not a plain file of a sensible size")

// Limits of what is read of a git folder.
const (
	maxLine  = 4096      // HEAD, a reference, where a worktree's folder is
	maxText  = 1 << 20   // config, exclude, attributes
	maxRefs  = 64 << 20  // packed-refs
	maxIndex = 512 << 20 // about five million files
)
