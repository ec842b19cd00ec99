package join

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A Name is a place that has the name of some data.
type Name struct {
	Path     string
	Line     int
	ToolMade bool // a tool wrote the file
	score    int
	kind     byte
}

// ownerName is the letter of a type's name; m is a member, r what is read.
const ownerName = 'o'

// fileNames are the names of a file.
type fileNames struct {
	path     string
	all      []name
	toolMade bool
}

type name struct {
	word scope.Word
	line int32
	kind byte
}

// parseName reads a name as it was sent.
func parseName(s string) (n name, toolMade, ok bool) {
	if len(s) < 10 {
		return n, false, false
	}
	word, err := strconv.ParseUint(s[:8], 16, 32)
	line, bad := strconv.ParseUint(s[9:], 10, 31)
	kind := s[8] | 0x20
	if err != nil || bad != nil || !strings.ContainsRune("mor", rune(kind)) {
		return n, false, false
	}
	return name{scope.Word(word), int32(line), kind}, kind != s[8], true
}

// maxNames is how many names of one repository are known: what comes after them
// is not found.
const maxNames = 200_000

// SetNames sets the names of a file, as they were sent, in place of those it had.
func (o *Org) SetNames(repo, path string, names []string) {
	if o.repos[repo] == nil && len(names) == 0 {
		return
	}
	c := o.catalog(repo)
	if old := c.names[path]; old != nil {
		for _, n := range old.all {
			unfile(c.named, n.word, old)
		}
		c.nameCount -= len(old.all)
		delete(c.names, path)
	}
	f := &fileNames{path: path}
	for _, s := range names {
		n, toolMade, ok := parseName(s)
		if !ok || c.nameCount+len(f.all) == maxNames {
			continue
		}
		f.all, f.toolMade = append(f.all, n), f.toolMade || toolMade
		if list := c.named[n.word]; len(list) == 0 || list[len(list)-1] != f {
			c.named[n.word] = append(list, f)
		}
	}
	if len(f.all) > 0 {
		c.names[path], c.nameCount = f, c.nameCount+len(f.all)
	}
}

// Names returns the names of a file, as they were sent.
func (o *Org) Names(repo, path string) (out []string) {
	if c := o.repos[repo]; c != nil && c.names[path] != nil {
		f := c.names[path]
		for _, n := range f.all {
			kind := n.kind
			if f.toolMade {
				kind &^= 0x20
			}
			out = append(out, scope.Form{n.word}.String()+string(kind)+strconv.Itoa(int(n.line)))
		}
	}
	return out
}

// ToolMade tells whether a tool wrote a file.
func (o *Org) ToolMade(repo, path string) bool {
	c := o.repos[repo]
	return c != nil && c.names[path] != nil && c.names[path].toolMade
}

// Tied tells whether something ties a repository to a provider: people's word,
// or routes in common.
func (o *Org) Tied(provider, user string, said bool) bool {
	return said || o.common(provider, user, nil) >= 1
}

// enough is what must speak for a place before it is told.
const enough = 2

// Named returns the places of a repository that have a name which a provider
// lost, the likeliest first. A name of several words speaks for itself. One that
// many programs have needs a type of the same name in the file, or that the file
// calls the provider; one that all have needs both.
func (o *Org) Named(provider, user string, lost *coord.LostName) []Name {
	c := o.repos[user]
	form, ok := scope.ParseForm(lost.Word)
	if c == nil || !ok {
		return nil
	}
	var owner scope.Word
	if f, ok := scope.ParseForm(lost.Owner); ok {
		owner = f[0]
	}
	near := o.linked(provider, user).files
	var out []Name
	for _, f := range c.named[form[0]] {
		n := Name{Path: f.path, ToolMade: f.toolMade, score: lost.Telling}
		found := false
		for _, x := range f.all {
			switch {
			case x.kind == ownerName && owner != 0 && x.word == owner:
				n.score++
			case x.kind != ownerName && x.word == form[0] && (!found || x.kind < n.kind):
				n.Line, n.kind, found = int(x.line), x.kind, true
			}
		}
		if near[f.path] {
			n.score++
		}
		if found && n.score >= enough {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.kind, b.kind), cmp.Compare(a.Path, b.Path))
	})
	return out
}
