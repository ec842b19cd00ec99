package hook

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/core/coord"
)

// A change of a contract is often made in several files, one edit after the
// other. What the first means is known with the last: so the files of a session
// that changed a contract are looked at again with each edit that follows, and
// what was told of them between two edits does not stay.

const (
	maxRecheck = 6  // files that are looked at again
	maxAlong   = 40 // files that are compared with as they were
)

func recheckName(root string) string { return "unsettled-" + spool.Hash(root)[:24] }

// withRecheck returns the files of an event, and those that changed contracts
// before it.
func (r *runner) withRecheck(s send) []string {
	if s.as != nil || !r.spool.Remembers() || len(s.paths) == 0 || len(s.paths) > maxRecheck {
		return s.paths
	}
	text, ok := r.spool.Read(recheckName(s.at.Root))
	if !ok {
		return s.paths
	}
	out := slices.Clone(s.paths)
	for p := range strings.SplitSeq(text, "\n") {
		if p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// along are the other files of a working copy that differ from its base, as
// far as they are few.
func (r *runner) along(at *place, paths []string) (out []string) {
	for p := range r.record(at).Files {
		if !slices.Contains(paths, p) {
			out = append(out, p)
		}
	}
	if len(out) > maxAlong {
		return nil
	}
	slices.Sort(out)
	return out
}

// keepRecheck notes the files whose change of a contract may break others,
// the latest first.
func (r *runner) keepRecheck(s send, facts *coord.Analysis) {
	if s.as != nil || facts == nil {
		return
	}
	var paths []string
	for i := len(facts.Files) - 1; i >= 0; i-- {
		f := &facts.Files[i]
		may := func(k coord.ContractFacts) bool {
			return k.Role == coord.Provides && k.Change != coord.Same && k.Compatibility != coord.Compatible
		}
		if slices.ContainsFunc(f.Contracts, may) && !strings.Contains(f.Path, "\n") && len(paths) < maxRecheck {
			paths = append(paths, f.Path)
		}
	}
	name := recheckName(s.at.Root)
	if len(paths) > 0 {
		r.spool.Put(name, strings.Join(paths, "\n"))
	} else if r.spool.Knows(name) {
		r.spool.Take(name)
	}
}
