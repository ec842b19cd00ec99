package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/policy"
)

// An Index holds what is live in one org. The zero Index is not ready; use
// New.
type Index struct {
	workers    map[string]uint32
	slots      []workerSlot
	freeSlots  []uint32
	changes    []changeSlot
	freeChange []uint32
	repos      map[string]*repo
	tickets    map[string][]uint32 // workers by repo and ticket
	branches   map[string][]uint32 // workers by repo and branch
	byWorker   map[string][]uint32 // changes by each worker that touched them, by place
	suppressed map[string]Suppression
	paths      *join.Org
	noted      func(Note) // of every change, while somebody watches
}

type workerSlot struct {
	w       *Worker
	entries []uint32 // in the repo's tree
	urgent  []uint32 // in its urgent tree
}

type changeSlot struct {
	c       *Change
	entries []uint32
	urgent  []uint32
}

type changeKey struct{ copy, path string }

// A repo is one repository's part of the index.
type repo struct {
	id   string
	name coord.RepoName
	tree *filing.Tree
	// urgent files again what can stop an edit: exclusive claims and changes.
	// An edit must not pay for the many shared claims that cannot.
	urgent  *filing.Tree
	rules   *policy.Effective
	demoted []coord.ConflictKind
	links   []string
	// prefixes are what people say stands before the routes of the one, as the
	// other calls them; by repo.
	prefixes map[string][]string
	changes  map[changeKey]uint32
	uses     []usesSlot
	freeUse  []uint32
	useAt    map[string]uint32 // uses by path
	code     *Worker           // stands for the live code that nobody works on
	merged   map[string][]*Merged
	maps     lineMaps                   // between versions that workers started from
	texts    map[uint32]bool            // changes that bring texts in the shape of a path
	broken   map[uint32]bool            // changes that break routes
	lost     map[uint32]bool            // changes that take names of data away
	names    map[uint32]bool            // changes that take names away which others may mention
	places   map[string]map[uint32]bool // changes by package
}

type usesSlot struct {
	path    string
	uses    []Use
	entries []uint32
}

// New returns an empty index.
func New() *Index {
	return &Index{workers: map[string]uint32{}, repos: map[string]*repo{}, tickets: map[string][]uint32{},
		branches: map[string][]uint32{}, byWorker: map[string][]uint32{}, suppressed: map[string]Suppression{}, paths: join.NewOrg()}
}

// defaultRules are made when first asked for: svc links this package and starts
// at every edit, mostly without need of it.
var defaultRules = sync.OnceValue(func() *policy.Effective { return policy.Merge() })

func (ix *Index) repo(id string) *repo {
	r := ix.repos[id]
	if r == nil {
		r = &repo{id: id, name: coord.RepoName{ID: id, FullName: id}, tree: filing.New(), urgent: filing.New(), rules: defaultRules(),
			changes: map[changeKey]uint32{}, useAt: map[string]uint32{}, merged: map[string][]*Merged{}}
		ix.repos[id] = r
	}
	return r
}

// PutWorker adds a worker, or replaces the one of the same id.
func (ix *Index) PutWorker(w *Worker) {
	ix.RemoveWorker(w.ID)
	var at uint32
	if n := len(ix.freeSlots); n > 0 {
		at, ix.freeSlots = ix.freeSlots[n-1], ix.freeSlots[:n-1]
	} else {
		ix.slots = append(ix.slots, workerSlot{})
		at = uint32(len(ix.slots) - 1)
	}
	ix.note(w.Repo.ID, NoteWorker, w.ID)
	r := ix.repo(w.Repo.ID)
	r.name = w.Repo
	s := workerSlot{w: w, entries: make([]uint32, 0, len(w.Claims))}
	for i := range w.Claims {
		c := &w.Claims[i]
		s.entries = r.tree.AddClaim(s.entries, c, at, uint16(i))
		if c.Mode == coord.Exclusive && c.Kind == coord.ClaimPath {
			s.urgent = r.urgent.AddClaim(s.urgent, c, at, uint16(i))
		}
	}
	ix.slots[at] = s
	ix.workers[w.ID] = at
	if key := ticketKey(w); key != "" {
		ix.tickets[key] = append(ix.tickets[key], at)
	}
	if w.Branch != "" {
		ix.branches[branchKey(w)] = append(ix.branches[branchKey(w)], at)
	}
}

// RemoveWorker takes a worker out. The changes it made stay until they are
// removed, and raise nothing without it.
func (ix *Index) RemoveWorker(id string) {
	at, ok := ix.workers[id]
	if !ok {
		return
	}
	s := ix.slots[at]
	ix.note(s.w.Repo.ID, NoteWorker, id)
	r := ix.repos[s.w.Repo.ID]
	r.tree.RemoveAll(s.entries)
	r.urgent.RemoveAll(s.urgent)
	if key := ticketKey(s.w); key != "" {
		drop(ix.tickets, key, at)
	}
	if s.w.Branch != "" {
		drop(ix.branches, branchKey(s.w), at)
	}
	delete(ix.workers, id)
	ix.slots[at] = workerSlot{}
	ix.freeSlots = append(ix.freeSlots, at)
}

// Worker returns the worker of that id, or nil.
func (ix *Index) Worker(id string) *Worker {
	if at, ok := ix.workers[id]; ok {
		return ix.slots[at].w
	}
	return nil
}

// workerOf returns the worker of a session in a repository, or nil. It looks at
// all, for questions that are seldom asked.
func (ix *Index) workerOf(repo, session string) *Worker {
	for _, at := range ix.workers {
		if w := ix.slots[at].w; w != nil && w.Repo.ID == repo && (w.Session == session || w.ID == session) {
			return w
		}
	}
	return nil
}

// PutChange records a file's difference in a working copy, in place of what
// was recorded for it. A file that is unchanged again is forgotten.
func (ix *Index) PutChange(c *Change) {
	ix.RemoveChange(c.RepoID, c.Copy, c.Facts.Path)
	if c.Facts.Status == coord.FileUnchanged || len(c.By) == 0 {
		return
	}
	var at uint32
	if n := len(ix.freeChange); n > 0 {
		at, ix.freeChange = ix.freeChange[n-1], ix.freeChange[:n-1]
	} else {
		ix.changes = append(ix.changes, changeSlot{})
		at = uint32(len(ix.changes) - 1)
	}
	ix.note(c.RepoID, NoteChange, ChangeKey(c.Copy, c.Facts.Path))
	r := ix.repo(c.RepoID)
	ix.changes[at] = changeSlot{c, addKeys(r.tree, c, at, addPaths(r.tree, c, at)), addPaths(r.urgent, c, at)}
	r.changes[changeKey{c.Copy, c.Facts.Path}] = at
	if soleNames(&c.Facts) {
		if r.names == nil {
			r.names = map[uint32]bool{}
		}
		r.names[at] = true
	}
	r.addPlaces(c, at)
	r.addTexts(&c.Facts, at)
	for _, id := range touchers(c) {
		all := ix.byWorker[id]
		i, _ := slices.BinarySearchFunc(all, c, ix.byPlace)
		ix.byWorker[id] = slices.Insert(all, i, at)
	}
}

// RemoveChange forgets what was recorded for a file in a working copy.
func (ix *Index) RemoveChange(repoID, copy, path string) {
	r := ix.repos[repoID]
	if r == nil {
		return
	}
	at, ok := r.changes[changeKey{copy, path}]
	if !ok {
		return
	}
	ix.note(repoID, NoteChange, ChangeKey(copy, path))
	s := ix.changes[at]
	r.tree.RemoveAll(s.entries)
	r.urgent.RemoveAll(s.urgent)
	for _, id := range touchers(s.c) {
		all := ix.byWorker[id]
		i, _ := slices.BinarySearchFunc(all, s.c, ix.byPlace)
		if ix.byWorker[id] = slices.Delete(all, i, i+1); len(all) == 1 {
			delete(ix.byWorker, id)
		}
	}
	delete(r.changes, changeKey{copy, path})
	delete(r.names, at)
	delete(r.texts, at)
	delete(r.broken, at)
	delete(r.lost, at)
	r.removePlaces(s.c, at)
	ix.changes[at] = changeSlot{}
	ix.freeChange = append(ix.freeChange, at)
}

// RemoveCopy forgets everything that was recorded in a working copy.
func (ix *Index) RemoveCopy(repoID, copy string) {
	r := ix.repos[repoID]
	if r == nil {
		return
	}
	for key := range r.changes {
		if key.copy == copy {
			ix.RemoveChange(repoID, copy, key.path)
		}
	}
}

// Changes returns the changes that count as a worker's, by path.
func (ix *Index) Changes(workerID string) []*Change {
	var out []*Change
	for _, at := range ix.byWorker[workerID] {
		if c := ix.changes[at].c; ix.ownerID(c) == workerID {
			out = append(out, c)
		}
	}
	return out
}

// byPlace orders changes by repo, path and copy, by which there is one each.
func (ix *Index) byPlace(at uint32, c *Change) int {
	b := ix.changes[at].c
	if n := strings.Compare(b.RepoID, c.RepoID); n != 0 {
		return n
	}
	return cmp.Or(strings.Compare(b.Facts.Path, c.Facts.Path), strings.Compare(b.Copy, c.Copy))
}

// ownerID returns the worker to whom a change counts: of those that touched
// it and are live, the latest.
func (ix *Index) ownerID(c *Change) string {
	best := -1
	for i, t := range c.By {
		w := ix.Worker(t.Worker)
		if w != nil && w.Repo.ID == c.RepoID && (best < 0 || t.At > c.By[best].At) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return c.By[best].Worker
}

// SetPolicy sets what holds in a repo; nil is the default.
func (ix *Index) SetPolicy(repoID string, p *policy.Effective) {
	if p == nil {
		p = defaultRules()
	}
	ix.note(repoID, NoteRules, "")
	r := ix.repo(repoID)
	r.rules = p
	if r.tree.Fold != p.IgnoreCase {
		ix.refile(r, p.IgnoreCase)
	}
}

// refile files everything of a repo again, with or without regard to case.
func (ix *Index) refile(r *repo, fold bool) {
	var workers []*Worker
	for _, s := range ix.slots {
		if s.w != nil && s.w.Repo.ID == r.id {
			workers = append(workers, s.w)
		}
	}
	var changes []*Change
	for _, at := range r.changes {
		changes = append(changes, ix.changes[at].c)
	}
	for _, w := range workers {
		ix.RemoveWorker(w.ID)
	}
	for _, c := range changes {
		ix.RemoveChange(r.id, c.Copy, c.Facts.Path)
	}
	uses := map[string][]Use{}
	for path, at := range r.useAt {
		if len(r.uses[at].uses) > 0 {
			uses[path] = r.uses[at].uses
			ix.SetUses(r.name, path, nil)
		}
	}
	r.tree, r.urgent = filing.New(), filing.New()
	r.tree.Fold, r.urgent.Fold = fold, fold
	for _, w := range workers {
		ix.PutWorker(w)
	}
	for _, c := range changes {
		ix.PutChange(c)
	}
	for path, list := range uses {
		ix.SetUses(r.name, path, list)
	}
}

// SetDemoted sets the kinds that feedback has lowered by a step in a repo.
func (ix *Index) SetDemoted(repoID string, kinds []coord.ConflictKind) {
	ix.note(repoID, NoteRules, "")
	ix.repo(repoID).demoted = slices.Clone(kinds)
}

// SetLinks sets the repos that share a project with a repo. Links go both
// ways: set those of every repo of the project.
func (ix *Index) SetLinks(repoID string, linked []string) {
	links := slices.Clone(linked)
	slices.Sort(links)
	links = slices.DeleteFunc(slices.Compact(links), func(id string) bool { return id == repoID })
	ix.note(repoID, NoteRules, "")
	ix.repo(repoID).links = links
}

// SetPrefixes sets what people say stands before a repo's routes as others
// call them, or before the others' as it calls them, by repo. Like links they go
// both ways.
func (ix *Index) SetPrefixes(repoID string, byRepo map[string][]string) {
	ix.repo(repoID).prefixes = byRepo
}

// SetUses sets what live code of a file uses, in place of what it used
// before.
func (ix *Index) SetUses(name coord.RepoName, path string, uses []Use) {
	r := ix.repo(name.ID)
	r.name, r.code = name, &Worker{Repo: name}
	ix.knownUses(name.ID, path, uses)
	at, ok := r.useAt[path]
	if ok {
		r.tree.RemoveAll(r.uses[at].entries)
	}
	switch n := len(r.freeUse); {
	case len(uses) == 0 && ok:
		delete(r.useAt, path)
		r.uses[at] = usesSlot{}
		r.freeUse = append(r.freeUse, at)
		return
	case len(uses) == 0:
		return
	case ok:
	case n > 0:
		at, r.freeUse = r.freeUse[n-1], r.freeUse[:n-1]
	default:
		r.uses = append(r.uses, usesSlot{})
		at = uint32(len(r.uses) - 1)
	}
	r.uses[at] = usesSlot{path: path}
	r.useAt[path] = at
	s := &r.uses[at]
	s.uses = slices.Clone(uses)
	for i, u := range s.uses {
		for _, node := range r.tree.EnsureKeys(u.Key) {
			s.entries = append(s.entries, r.tree.Add(node, entry{Owner: at, Sub: uint16(i), Kind: useEntry}))
		}
	}
}

// PutMerged records a file of merged work.
func (ix *Index) PutMerged(m *Merged) {
	r := ix.repo(m.RepoID)
	for _, p := range basePaths(&m.Facts) {
		r.merged[p] = append(slices.DeleteFunc(r.merged[p], func(o *Merged) bool { return o.ID == m.ID && o.Facts.Path == m.Facts.Path }), m)
	}
}

// Merged returns the files of one piece of merged work.
func (ix *Index) Merged(repoID, id string) (out []*Merged) {
	for _, all := range ix.repo(repoID).merged {
		for _, m := range all {
			if m.ID == id && !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// RemoveMerged forgets merged work.
func (ix *Index) RemoveMerged(repoID, id string) {
	r := ix.repo(repoID)
	for p, all := range r.merged {
		left := slices.DeleteFunc(all, func(o *Merged) bool { return o.ID == id })
		if len(left) == 0 {
			delete(r.merged, p)
		} else {
			r.merged[p] = left
		}
	}
}

// Suppress keeps a finding from being raised, on top of what already keeps it.
func (ix *Index) Suppress(s Suppression) {
	old, ok := ix.suppressed[s.Fingerprint]
	if ok {
		s.Forever, s.Withdrawn = s.Forever || old.Forever, s.Withdrawn || old.Withdrawn
		s.Keys = slices.Concat(old.Keys, s.Keys)
		slices.Sort(s.Keys)
		s.Keys = slices.Compact(s.Keys)
	}
	ix.suppressed[s.Fingerprint] = s
	ix.note("", NoteAccepted, s.Fingerprint)
}

// RemoveSuppression lets a finding be raised again.
func (ix *Index) RemoveSuppression(fingerprint string) {
	delete(ix.suppressed, fingerprint)
	ix.note("", NoteAccepted, fingerprint)
}

func touchers(c *Change) []string {
	out := make([]string, 0, len(c.By))
	for _, t := range c.By {
		if !slices.Contains(out, t.Worker) {
			out = append(out, t.Worker)
		}
	}
	return out
}

// ticketKey names the ticket of a worker within its repo, or "".
func ticketKey(w *Worker) string {
	if w.Intent == nil || w.Intent.ExternalRef == nil {
		return ""
	}
	ref := w.Intent.ExternalRef
	if ref.ID != nil && *ref.ID != "" {
		return w.Repo.ID + "\x00" + strings.ToLower(ref.Kind) + "\x00" + strings.ToLower(*ref.ID)
	}
	url, _, _ := strings.Cut(ref.URL, "#")
	return w.Repo.ID + "\x00" + strings.ToLower(strings.TrimRight(url, "/"))
}

func drop(m map[string][]uint32, key string, at uint32) {
	left := slices.DeleteFunc(m[key], func(x uint32) bool { return x == at })
	if len(left) == 0 {
		delete(m, key)
	} else {
		m[key] = left
	}
}
