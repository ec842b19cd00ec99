// Package plain reads files that somebody else may have put where a hook looks:
// ordinary files only, of a sensible size. A pipe there would keep an agent
// waiting, a device fill the machine's memory. It knows nothing of what is in
// them, and writes none.
package plain

import "errors"

// ErrNotPlain is returned for a file that is not an ordinary one, or larger than
// it can sensibly be.
var ErrNotPlain = errors.New("not a plain file of a sensible size")

// State is the size that no file has in which svc keeps something small.
const State = 4 << 20

// Read returns what is in a plain file of at most limit bytes. Links are
// followed: people keep their configuration elsewhere and link to it.
func Read(name string, limit int64) ([]byte, error) { return read(name, limit, 0) }

// ReadHere is Read for a file that must not be a link.
func ReadHere(name string, limit int64) ([]byte, error) { return read(name, limit, noFollow) }
