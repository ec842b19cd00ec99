package references

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Calls of a program's own request functions are HTTP calls, wherever the
// function is defined: in the file, in one that it imports, or in that of the
// type of what it is called on.

const (
	maxRequestDepth = 3  // files from a call to the HTTP library
	maxRequestFiles = 12 // that are looked into for one
)

// A door is a request function as a file can reach it.
type door struct {
	extract.Request
	local string // what the file calls the object, type or module that it is of; "" for none
	own   bool   // of this file
}

// requested adds the calls of request functions to a version.
func (r *Repo) requested(v *extract.Version, depth int) {
	o := v.Outline
	if r.files.Tree == nil || v.Generated || o == nil || o.Source == nil || rules.TestPath(o.Path) {
		return
	}
	r.resolveNames(v)
	doors := r.doorsOf(v, depth)
	for _, name := range slices.Sorted(maps.Keys(v.Clients)) {
		for _, q := range extract.ClientRequests(name, v.Clients[name]) {
			if q.Owner == "" { // what is called on it, rules know
				doors = append(doors, door{q, "", true})
			}
		}
	}
	seen := map[uint32]bool{}
	for range maxRequestDepth {
		v.Hand()
		for _, q := range v.Requests {
			if !slices.ContainsFunc(doors, func(d door) bool { return d.own && d.Request.Same(&q) }) {
				doors = append(doors, door{q, owner(q.Owner), true})
			}
		}
		if len(doors) == 0 {
			return
		}
		before := len(v.Requests)
		calls := o.CallsTo(func(last string) bool {
			return slices.ContainsFunc(doors, func(d door) bool { return d.Name == last })
		})
		types := &holders{o: o}
		for i := range calls {
			c := &calls[i]
			if seen[c.Span.End] || len(c.Args) == 0 {
				continue
			}
			open := opened(doors, types, c)
			if len(open) > 0 {
				v.Forget(c)
				seen[c.Span.End] = true
			}
			for _, q := range open {
				v.Apply(c, q)
			}
		}
		if len(v.Requests) == before {
			return
		}
	}
}

// opened are the request functions that a call is one of. One that asks in a way
// for each method is told which.
func opened(doors []door, types *holders, c *outline.Call) (out []*extract.Request) {
	for k := range doors {
		if doors[k].opens(types, c) {
			out = append(out, &doors[k].Request)
		}
	}
	if told := slices.DeleteFunc(slices.Clone(out), func(q *extract.Request) bool { return !q.Told(c) }); len(told) > 0 && len(out) > 1 {
		return told
	}
	return out
}

// owner is the last part of what a function is a member of.
func owner(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

// opens tells whether a call is one of a request function.
func (d *door) opens(types *holders, c *outline.Call) bool {
	if strings.Contains(c.Name, "()") {
		return d.opensMade(c.Name)
	}
	name := strings.TrimPrefix(strings.TrimPrefix(c.Name, "this."), "self.")
	at := strings.LastIndexByte(name, '.')
	if name[at+1:] != d.Name {
		return false
	}
	if at < 0 {
		if name != c.Name || d.own && d.Owner != "" && types.o.Lang != "typescript" &&
			types.o.Lang != "javascript" { // this.get(), or get() of the class
			return d.own && types.within(c, d.Owner) || !d.own && types.inherits(c, d.local)
		}
		if d.Owner != "" {
			return d.own && types.inFunction(c, d.Owner) || !d.own && types.taken(d.Name, d.local)
		}
		return d.own || d.local == d.Name || d.local == "*"
	}
	recv := owner(name[:at])
	switch {
	case d.Owner == "" && !d.own:
		return recv == d.local // a function of a module
	case d.Owner == "":
		return false
	case recv == d.local || recv == owner(d.Owner):
		return true
	}
	return types.holds(recv, d.local) || !d.own && (types.holds(recv, owner(d.Owner)) || types.taken(recv, d.local))
}

// opensMade tells whether a call is one of a client that a function gives it:
// api().get(), net.api().get().
func (d *door) opensMade(name string) bool {
	of, called := strings.CutSuffix(name, "()."+d.Name)
	maker, makes := strings.CutSuffix(d.Owner, "()")
	if !called || !makes || !d.IsClient() || strings.Contains(of, "()") {
		return false
	}
	module, last, inside := strings.Cut(of, ".")
	if inside {
		return d.local == module && last == maker
	}
	return d.own && of == maker || d.local == of
}

// holders tells of which types the variables of a file are, as far as its text
// says.
type holders struct {
	o     *outline.File
	known map[string][]string
}

var typeWord = lazy.Regexp(`\b[A-Z]\w*`)

// holds tells whether a variable is of a type: it stands beside the type where
// it is declared, or is called like it.
func (h *holders) holds(name, typ string) bool {
	if typ == "" || name == "" {
		return false
	}
	if strings.EqualFold(strings.ReplaceAll(strings.Trim(name, "_"), "_", ""), typ) {
		return true
	}
	if h.known == nil {
		h.known = map[string][]string{}
	}
	found, ok := h.known[name]
	if !ok {
		near := regexp.MustCompile(`(?:([A-Z]\w*)(?:<[^>\n]*>)?\??\s+[_$]?` +
			`|[\s(,.$_@])` + regexp.QuoteMeta(name) + `\b\s*(?:[:=]+\s*([^\n;,)]{0,80})|\*?((?:\w+\.)?[A-Z]\w*))?`)
		for _, m := range near.FindAllSubmatch(h.o.Source, 50) {
			for _, part := range m[1:] {
				for _, w := range typeWord.Get().FindAll(part, 4) {
					found = append(found, string(w))
				}
			}
		}
		h.known[name] = found
	}
	return slices.Contains(found, typ)
}

// taken tells whether a name is what a function gives, or of that:
// const { load } = useApi(), const api = useApi().
func (h *holders) taken(name, function string) bool {
	if function == "" || !bytes.Contains(h.o.Source, []byte(function+"(")) {
		return false
	}
	name = regexp.QuoteMeta(name)
	from := regexp.MustCompile(`(?:\{[^{}=]*\b` + name + `\b[^{}=]*\}|\b` + name + `)\s*=\s*(?:await\s+)?` + regexp.QuoteMeta(function) + `\(`)
	return from.Match(h.o.Source)
}

// inFunction tells whether a call stands in a function, not in a type, of a name.
func (h *holders) inFunction(c *outline.Call, name string) bool {
	return slices.ContainsFunc(h.o.Around(c.Span.Start), func(s outline.Scope) bool { return s.Name == name })
}

// within tells whether a call stands in a member of a type, or of one that
// extends it.
func (h *holders) within(c *outline.Call, typ string) bool {
	for i := c.Def; i >= 0 && i < len(h.o.Defs); i = h.o.Defs[i].Parent {
		d := &h.o.Defs[i]
		if d.Name == typ || strings.HasPrefix(d.Name, typ+".") || slices.Contains(d.Bases, typ) {
			return true
		}
	}
	return false
}

// inherits tells whether a call stands in a type that extends another one.
func (h *holders) inherits(c *outline.Call, typ string) bool {
	for i := c.Def; i >= 0 && i < len(h.o.Defs); i = h.o.Defs[i].Parent {
		if slices.ContainsFunc(h.o.Defs[i].Bases, func(b string) bool { return b == typ || owner(b) == typ }) {
			return true
		}
	}
	return false
}

// doorTo is a request function as a file reaches it that imports a name.
func doorTo(q extract.Request, name, local string) (door, bool) {
	switch {
	case q.Owner == "" && name != "" && name == q.Name:
		if local != "" {
			q.Name = local // it may be imported by another name
		}
		return door{q, q.Name, false}, true
	case q.Owner == "" && name == "":
		return door{q, local, false}, true
	case q.Owner == "" && name == "*":
		return door{q, "*", false}, true
	case strings.HasSuffix(q.Owner, "()"): // a function that gives a client
		return door{q, local, false}, name == "" || q.Owner == name+"()"
	case q.Owner != "" && q.IsClient() && q.Owner != name: // a member of what is imported, if at all
		return door{q, "", false}, true
	case q.Owner != "":
		return door{q, local, false}, true
	}
	return door{}, false
}

// doorsOf are the request functions that a file can reach through its imports,
// or through the types that it names.
func (r *Repo) doorsOf(v *extract.Version, depth int) (out []door) {
	if depth >= maxRequestDepth {
		r.modules.cutRequests = true
		return nil
	}
	o := v.Outline
	files := 0
	reach := func(file, name, local string) {
		if file == "" || file == o.Path || files >= maxRequestFiles || !r.mayRequest(file) {
			return
		}
		files++
		for _, q := range r.requestsOf(file, depth+1) {
			if d, ok := doorTo(q, name, local); ok {
				out = append(out, d)
				for _, h := range d.Handed(o, d.local) { // const ask = useAsk()
					out = append(out, door{h, cmp.Or(h.Owner, h.Name), false})
				}
			}
		}
	}
	told := map[string]bool{}
	for _, im := range o.Imports {
		if im.Local == "" && im.Name != "*" || told[im.Module+" "+im.Local] {
			continue
		}
		told[im.Module+" "+im.Local] = true
		member := ""
		if im.Name == "" {
			member = "x"
		}
		file, name := r.files.File(o, locate.Use{Module: im.Module, Name: im.Name, Member: member})
		if im.Name == "" {
			for _, f := range r.files.HandsOn(o.Lang, file) {
				reach(f, "", im.Local)
			}
			continue
		}
		file, name = r.files.Origin(o.Lang, file, name)
		reach(file, name, im.Local)
		reach(r.moduleOf(o, im, file), "", im.Local)
	}
	provided := r.provided(o)
	for _, local := range slices.Sorted(maps.Keys(provided)) {
		reach(provided[local], local, local)
	}
	for _, n := range o.Ambient {
		if !told[n.Local] {
			told[n.Local] = true
			file, _ := r.files.Ambient(o, locate.Use{Name: n.Local})
			reach(file, n.Local, n.Local)
		}
	}
	return out
}

// moduleOf is the file of the module that an import of Rust may be, rather than
// of something in the file given.
func (r *Repo) moduleOf(o *outline.File, im outline.Imported, in string) string {
	if o.Lang != "rust" {
		return ""
	}
	file, _ := r.files.File(o, locate.Use{Module: im.Module, Name: im.Name, Member: "x"})
	if file == in {
		return ""
	}
	return file
}

// requestWords are among what a file says that calls an HTTP library, or a
// function that does.
var requestWords = []string{"fetch", "axios", "http", "Http", "HTTP", "request", "Request", "client", "Client", "api", "Api",
	"superagent", "ky", "got", "session"}

func (r *Repo) mayRequest(file string) bool {
	if rules.TestPath(file) || rules.GeneratedPath(file) || !outline.CanRead(rules.LanguageOf(file)) {
		return false
	}
	text := r.files.Text(file)
	return len(text) < maxMountFile && slices.ContainsFunc(requestWords, func(w string) bool { return bytes.Contains(text, []byte(w)) })
}

// requestsOf are the request functions that a file defines, and those that its
// HTTP clients are.
func (r *Repo) requestsOf(file string, depth int) []extract.Request {
	file = path.Clean(file)
	if known, ok := r.modules.requests[reached{file, 0}]; ok {
		return known
	}
	if known, ok := r.modules.requests[reached{file, depth}]; ok {
		r.modules.cutRequests = true
		return known
	}
	if r.modules.requests == nil {
		r.modules.requests = map[reached][]extract.Request{}
	}
	before := r.modules.cutRequests
	r.modules.cutRequests = false
	var out []extract.Request
	if v := r.readVersion(file); v != nil {
		r.requested(v, depth)
		out = v.Requests
		for _, name := range slices.Sorted(maps.Keys(v.Clients)) {
			out = append(out, extract.ClientRequests(name, v.Clients[name])...)
		}
	}
	at := reached{file: file}
	if r.modules.cutRequests {
		at.depth = depth
	}
	r.modules.requests[at] = out
	r.modules.cutRequests = r.modules.cutRequests || before
	return out
}

// reached is a file as it is known after some files; 0 if none was left out for
// being too far.
type reached struct {
	file  string
	depth int
}

// maxVersions bounds the other files that are kept.
const maxVersions = 256

// versionOf reads another file of the tree, once.
func (r *Repo) versionOf(file string) *extract.Version {
	if v, ok := r.modules.versions[file]; ok {
		return v
	}
	if len(r.modules.versions) >= maxVersions || r.modules.versions == nil {
		r.modules.versions = map[string]*extract.Version{}
	}
	v := r.readVersion(file)
	r.modules.versions[file] = v
	r.resolveNames(v)
	return v
}

// readVersion reads a file, for its caller to complete. It is parsed once, for
// the repository as it was as well, unless it was another then.
func (r *Repo) readVersion(file string) *extract.Version {
	if r.files.Same(file) {
		return r.after.readVersion(file)
	}
	v, ok := r.modules.read[file]
	if !ok {
		v = r.parse(file)
		r.keep(file, v)
	}
	if v == nil {
		return nil
	}
	return v.Copy()
}

// keep keeps a file as it was read.
func (r *Repo) keep(file string, v *extract.Version) {
	if len(r.modules.read) >= maxVersions || r.modules.read == nil {
		r.modules.read = map[string]*extract.Version{}
	}
	r.modules.read[file] = v
}

// standingLimit is how long one file may take when a repository is read as it
// stands: nobody waits, and on a busy machine a short limit left routes out.
const standingLimit = 5 * time.Second

// Read reads a file of the repository for its caller to complete, and keeps it
// for the files that depend on it.
func (r *Repo) Read(file string, fetch func() ([]byte, error)) (*extract.Version, error) {
	if v := r.modules.read[file]; v != nil {
		return v.Copy(), nil
	}
	source := r.files.Known(file)
	if source == nil {
		var err error
		if source, err = fetch(); err != nil {
			return nil, err
		}
	}
	s := &extract.Side{File: file, Lang: rules.LanguageOf(file), Source: source, Rules: r.rules}
	if err := s.Read(nil, standingLimit); err != nil {
		return nil, err
	}
	if len(source) <= maxMountFile {
		r.keep(file, s.Version.Copy())
	}
	return s.Version, nil
}

func (r *Repo) parse(file string) *extract.Version {
	source := r.files.Text(file)
	if len(source) == 0 || len(source) > maxMountFile {
		return nil
	}
	s := &extract.Side{File: file, Lang: rules.LanguageOf(file), Source: source, Rules: r.rules}
	limit := patience.Of(mountLimit)
	if r.standing {
		limit = standingLimit
	}
	if s.Read(nil, limit) != nil {
		return nil
	}
	return s.Version
}
