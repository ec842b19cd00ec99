package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Note names one thing that an index holds, for whoever keeps a copy of it.
type Note struct {
	Repo string // empty for what belongs to no repo
	Kind NoteKind
	Key  string
}

// A NoteKind is what a Note names.
type NoteKind string

// What Decide and Guard look at within one repository. What only Detect looks
// at (merged work, what code of linked repositories uses) is not among them.
const (
	NoteWorker   NoteKind = "worker"   // by id
	NoteChange   NoteKind = "change"   // by copy and path
	NoteLines    NoteKind = "lines"    // a line map, by its two versions
	NoteAccepted NoteKind = "accepted" // a suppression, by fingerprint
	NoteRules    NoteKind = "rules"    // policy, what feedback demotes, links
)

// keySep parts the fields of a key: no path and no id has it.
const keySep = "\x00"

// ChangeKey is the key of a change.
func ChangeKey(copy, path string) string { return copy + keySep + path }

// CutKey parts the key of a change or of a line map.
func CutKey(key string) (first, second string) {
	first, second, _ = strings.Cut(key, keySep)
	return first, second
}

func mapKey(from, to string) string {
	if from > to {
		from, to = to, from
	}
	return from + keySep + to
}

// Watch has every change of the index noted, until it is called with nil.
func (ix *Index) Watch(noted func(Note)) { ix.noted = noted }

func (ix *Index) note(repo string, kind NoteKind, key string) {
	if ix.noted != nil {
		ix.noted(Note{repo, kind, key})
	}
}

// Notes lists all that the index holds of a repo, in a fixed order, and what
// belongs to none.
func (ix *Index) Notes(repoID string) []Note {
	out := []Note{{repoID, NoteRules, ""}}
	if r := ix.repos[repoID]; r != nil {
		for key := range r.changes {
			out = append(out, Note{repoID, NoteChange, ChangeKey(key.copy, key.path)})
		}
		for key := range r.maps {
			if key[0] < key[1] {
				out = append(out, Note{repoID, NoteLines, mapKey(key[0], key[1])})
			}
		}
	}
	for id, at := range ix.workers {
		if ix.slots[at].w.Repo.ID == repoID {
			out = append(out, Note{repoID, NoteWorker, id})
		}
	}
	for fingerprint := range ix.suppressed {
		out = append(out, Note{"", NoteAccepted, fingerprint})
	}
	slices.SortFunc(out, func(a, b Note) int {
		return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Key, b.Key))
	})
	return out
}

// LineMap returns how two versions of a file go together, or nil.
func (ix *Index) LineMap(repoID, from, to string) *coord.LineMap {
	return ix.known(repoID).maps[[2]string{from, to}]
}

// Exclusive reports whether a worker keeps others out of paths.
func (w *Worker) Exclusive() bool {
	return slices.ContainsFunc(w.Claims, func(c coord.Claim) bool { return c.Mode == coord.Exclusive })
}

// Claimed returns a copy of what refuses an edit by itself: exclusive claims,
// with what people accepted, and the rules. Nobody changes it.
func (ix *Index) Claimed() *Index {
	out := New()
	for id, r := range ix.repos {
		out.SetPolicy(id, r.rules)
		out.SetDemoted(id, r.demoted)
	}
	for _, at := range ix.workers {
		if w := ix.slots[at].w; w.Exclusive() {
			out.PutWorker(w)
		}
	}
	for _, s := range ix.suppressed {
		out.Suppress(s)
	}
	return out
}

// Hardened reports whether more than exclusive claims can refuse an edit in a
// repo: its policy has raised another kind of conflict, or wants an intent.
func (ix *Index) Hardened(repoID string) bool {
	rules, _ := ix.Rules(repoID)
	if rules.Enforcement != coord.SeverityBlock {
		return false
	}
	if rules.RequireIntent == coord.SeverityBlock {
		return true
	}
	for kind, severity := range rules.Severity {
		if kind != coord.ExclusiveClaim && severity == coord.SeverityBlock {
			return true
		}
	}
	return false
}

// WorksOn returns the live work that a session of a repo is part of, or last
// was; nil if there is none.
func (ix *Index) WorksOn(repoID, session string) *Worker { return ix.workerOf(repoID, session) }
