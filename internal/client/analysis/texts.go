package analysis

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/pathlike"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// cut is a version of a file in pieces, nil if it has no code, or code that
// nobody else goes by: what a test calls and names is made up.
func cut(path string, v *extract.Version) *pathlike.Source {
	if v == nil || v.Outline == nil || len(v.Outline.Source) == 0 || rules.TestPath(path) {
		return nil
	}
	return pathlike.Read(v.Outline.Lang, v.Outline.Source)
}

// candidates returns what looks like a path in a version of a file and not in an
// older one. Where a route is provided its path is no use of it.
func candidates(old, new *pathlike.Source, v *extract.Version) []coord.Candidate {
	if new == nil {
		return nil
	}
	provided := map[int]bool{}
	for _, c := range v.Contracts {
		if c.Role == coord.Provides && strings.HasPrefix(c.Key, "http:") {
			provided[c.Line] = true
		}
	}
	all := new.Paths()
	had := map[string]bool{}
	if old != nil && len(all) > 0 {
		for _, c := range old.Paths() {
			had[c.Method+" "+c.Form] = true
		}
	}
	return slices.DeleteFunc(all, func(c coord.Candidate) bool { return provided[c.Line] || had[c.Method+" "+c.Form] })
}

// texts adds to a file's facts what merely looks like a use or a name: its new
// texts in the shape of a path, and the names of data that it lost and got.
func (r *run) texts(f *coord.FileFacts, old, new *extract.Version) {
	was, is := cut(f.Path, old), cut(f.Path, new)
	f.Candidates = candidates(was, is, new)
	if new.Broken { // in the middle of an edit
		return
	}
	var names [2][]pathlike.Field
	for i, v := range []*pathlike.Source{was, is} {
		if v != nil {
			names[i] = v.Fields()
		}
	}
	f.Lost, f.Came = pathlike.Lost(names[0], names[1])
	if r.opts.MetadataOnly {
		for i := range f.Lost {
			f.Lost[i].Name, f.Lost[i].Now = "", ""
		}
	}
}
