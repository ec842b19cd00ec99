package extinct

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Tree is the files of one version of a repository.
type Tree struct {
	ctx  context.Context
	root string
	at   string // commit or tree; empty for what is on disk
	read func(file string) []byte
}

// maxSource is the size above which a file is not looked into.
const maxSource = 1 << 20

// OnDisk is what lies in the working tree at root.
func OnDisk(ctx context.Context, root string) *Tree {
	return &Tree{ctx, root, "", func(file string) []byte {
		name := filepath.Join(root, filepath.FromSlash(file))
		data, _ := plain.ReadHere(name, maxSource) // gone, or too large: nothing stands in it
		return data
	}}
}

// InGit is a commit or tree of the repository at root.
func InGit(ctx context.Context, root, treeish string, objects *gitrepo.Objects) *Tree {
	return &Tree{ctx, root, treeish, func(file string) []byte {
		data, _ := objects.Blob(treeish+":"+file, maxSource) // too large to tell
		return data
	}}
}

const (
	maxNames = 100 // names looked for at a time
	maxFiles = 60  // a name in more files than that is nobody's alone
	minName  = 4
)

// A candidate is a name that may be one definition's alone.
type candidate struct {
	family string
	name   string
	facts  []*coord.SymbolFacts
	files  []string // of the facts
}

// MarkSole finds out which of the removed and changed definitions of an
// analysis nothing else in the tree goes by, and marks them. Only names that
// are wanted are looked for; nil wants all.
func MarkSole(t *Tree, files []coord.FileFacts, wanted func(family, name string) bool) error {
	byFamily := map[string][]*candidate{}
	for _, c := range candidates(files, wanted) {
		if list := byFamily[c.family]; len(list) < maxNames {
			byFamily[c.family] = append(list, c)
		}
	}
	for family, list := range byFamily {
		names := make([]string, len(list))
		for i, c := range list {
			names[i] = c.name
		}
		found, err := gitrepo.Grep(t.ctx, t.root, t.at, names, endings.Get()[family])
		if err != nil {
			return err
		}
		for _, c := range list {
			if t.sole(c, found[c.name]) {
				for _, f := range c.facts {
					f.Sole = true
				}
			}
		}
	}
	return nil
}

// candidates are the names that definitions went by that were removed or take
// other parameters now.
func candidates(files []coord.FileFacts, wanted func(family, name string) bool) []*candidate {
	by := map[string]*candidate{}
	var order []*candidate
	for i := range files {
		f := &files[i]
		family := coord.NameFamily(f.Language)
		if family == "" || f.Generated {
			continue
		}
		for k := range f.Symbols {
			s := &f.Symbols[k]
			name := coord.LastName(s.Key)
			gone := s.Change == coord.Removed
			taken := s.Change == coord.Signature && s.Compatibility == coord.Breaking && len(s.Takes) > 0
			if vague.Has(s.Kind) || !gone && !taken || !telling(name) || wanted != nil && !wanted(family, name) {
				continue
			}
			key := coord.NameKey(family, name)
			c := by[key]
			if c == nil {
				c = &candidate{family: family, name: name}
				by[key] = c
				order = append(order, c)
			}
			c.facts = append(c.facts, s)
			c.files = append(c.files, f.Path)
		}
	}
	return slices.DeleteFunc(order, func(c *candidate) bool { // of one that went and one that changed nobody can tell which is meant
		return slices.ContainsFunc(c.facts, func(s *coord.SymbolFacts) bool { return s.Change != c.facts[0].Change })
	})
}

// vague are the kinds whose names code also gives to other things.
var vague = lazy.Words("module namespace implementation object")

// telling reports whether a name says what it stands for: one that every
// library has does not.
func telling(name string) bool {
	return len(name) >= minName && !strings.HasPrefix(name, "__") && !everywhere.Has(strings.ToLower(name)) && len(name) <= 200 && isName(name)
}

// sole decides whether the tree has anything else by a name.
func (t *Tree) sole(c *candidate, files []string) bool {
	if len(files) > maxFiles {
		return false
	}
	names := map[string]bool{c.name: true}
	defs, calls := map[string]int{}, 0
	for _, file := range files {
		lang, src := rules.LanguageOf(file).Name, t.read(file)
		if coord.NameFamily(lang) != c.family || src == nil {
			return false // templates, files too large: nobody can tell
		}
		for _, u := range find(lang, src, names) {
			if c.facts[0].Change == coord.Removed {
				return false
			}
			switch {
			case u.defines:
				defs[file]++
			case u.called:
				fit := u.call.Fit(c.takes())
				if fit == coord.Misfits {
					return false // of something else, or the work is not done
				}
				if fit == coord.Fits {
					calls++
				}
			}
		}
	}
	if c.facts[0].Change == coord.Removed {
		return true
	}
	for file, n := range defs {
		if n > c.defined(file) {
			return false
		}
	}
	return calls > 0
}

// takes are the parameters of all definitions of the name.
func (c *candidate) takes() (out [][]coord.Param) {
	for _, s := range c.facts {
		out = append(out, s.Takes...)
	}
	return out
}

// defined is how many definitions of the name a file has, by the facts.
func (c *candidate) defined(file string) (n int) {
	for i, s := range c.facts {
		if c.files[i] == file {
			n += len(s.Takes)
		}
	}
	return n
}

// everywhere are names that so many libraries have that a mention of one tells
// nothing of the repository's own definition.
var everywhere = lazy.Words(`main init setup teardown test tests name names value values type types kind size length count index data item
	items list lists text string strings number first last next prev previous current parent child children root node nodes path paths file
	files line lines open close read write load save store start stop reset clear clean flush create make build delete remove insert append
	push find filter reduce foreach contains includes indexof equals hashcode compare compareto tostring toarray tolist isempty isnull
	isvalid copy clone merge split join trim replace match parse format render print println printf error errors warn debug info fatal
	panic assert expect check validate handle handler callback listener execute call apply bind send receive emit dispatch notify subscribe
	publish connect disconnect login logout update upsert refresh sync async await wait sleep lock unlock acquire release begin commit
	rollback run runs options option config configure settings context request response result results message messages event events state
	status code body header headers params query args kwargs input output source target user users default empty none true false null self
	this super base client server service session token keys entry entries get_or_default getorcreate getvalue setvalue getname setname
	getid setid gettype tojson fromjson serialize deserialize encode decode marshal unmarshal iterator iter enumerate range sort sorted
	reverse shuffle group sum total average round floor ceil abs random hash digest sign verify encrypt decrypt compress decompress exists
	mkdir unlink rename move stat chmod isdir isfile basename dirname extname dispose finalize destroy shutdown terminate kill pause resume
	enable disable toggle show hide focus blur click select submit cancel accept reject resolve then catch finally throw raise return yield
	element elements document window props component view model controller route router middleware logger log plugin plugins module modules
	version description title label summary content contents buffer stream reader writer scanner parser builder factory manager provider
	repository adapter wrapper proxy helper util utils common core api http json yaml html text table tables column columns field fields
	record records schema database transaction cursor timeout interval duration date time datetime timestamp timezone year month hour minute
	second offset limit page pages skip take left right width height color image images icon font style class classes children attribute
	attributes property properties method methods function functions variable variables constant constants parameter parameters argument
	arguments expression statement block scope symbol annotation metadata tag tags category group groups role roles permission permissions`)
