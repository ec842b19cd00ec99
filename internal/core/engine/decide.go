package engine

import (
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// An Action is the answer to "may I?".
type Action string

const (
	Allow Action = "allow"
	Warn  Action = "warn"
	Block Action = "block"
)

// An Edit is what a session is about to write.
type Edit struct {
	Worker  *Worker    // the session's work, whether or not the index holds it
	Session string     // the session itself
	Copy    string     // its working copy
	Since   coord.Time // when the session began: what others did before, it has read
	Paths   []string   // relative to the repository's root
	Folders []string   // selectors such as a/**: what is written there is not known, so whatever others have there is hit
	Checked []string   // those of them whose others' changes in the same working copy the client looks after
	Now     coord.Time // for the words of a warning; 0 gives absolute times
	// Pending holds, by path, what files would be like after the edit: the
	// lines of the base that it replaces. Nil while nobody has worked that out.
	Pending map[string]*coord.FileFacts
}

// A Decision is the answer to an edit.
type Decision struct {
	Action   Action
	Reason   string    // for the agent: who, where, why, and what to do
	Findings []Finding // what it rests on: warn or block, the worst first
	// Undeclared says that it rests on the policy that edits need an intent.
	Undeclared bool
	// WantLines are the files in which others have changes, so that it would
	// help to know which lines the edit replaces.
	WantLines []string
}

// Decide answers whether an edit may go on. Findings of severity info are not
// told: nobody is to be stopped for them.
func Decide(ix *Index, e Edit) Decision {
	d := decider{gatherer: gatherer{ix: ix, self: e.Worker, repo: ix.known(e.Worker.Repo.ID)}, edit: e}
	rules := d.repo.rules
	if rules.Enforcement == coord.SeverityOff {
		return Decision{Action: Allow}
	}
	d.tree = d.repo.urgent
	if d.pathUrgent = d.urgent(coord.PathOverlap); d.pathUrgent || e.Worker.Intent != nil && len(e.Worker.Intent.DependsOn) > 0 {
		d.tree = d.repo.tree // shared claims matter too
	}
	touched := false
	for _, p := range e.Paths {
		path, err := scope.CleanPath(p)
		if err != nil || rules.Ignored(path) {
			continue // outside the repository: none of our business
		}
		touched = true
		d.path(path)
	}
	for _, f := range e.Folders {
		touched = true
		d.folder(f)
	}
	if len(d.hits) == 0 && len(d.attempts) == 0 && len(d.overwrites) == 0 && (!touched || rules.RequireIntent == coord.SeverityOff) {
		return Decision{Action: Allow, WantLines: d.wants}
	}
	attempted := build(ix, e.Worker, d.attempts)
	for _, h := range d.overwrites {
		if f, ok := d.overwrite(h); ok {
			attempted = append(attempted, f)
		}
	}
	for i := range attempted {
		attempted[i].Attempted = true
	}
	findings := append(build(ix, e.Worker, d.hits), attempted...)
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Severity.Rank() < coord.SeverityWarn.Rank() })
	findings = dedupe(findings) // what was recorded comes first
	sortFindings(findings)
	out := d.answer(findings, touched)
	out.WantLines = d.wants
	return out
}

// Judge answers what findings, ordered as Check returns them, come to under
// the policy of the worker's repo: the answer to a scope check.
func Judge(ix *Index, w *Worker, findings []Finding, now coord.Time) Decision {
	d := decider{gatherer: gatherer{ix: ix, self: w, repo: ix.known(w.Repo.ID)}, edit: Edit{Worker: w, Now: now}}
	return d.answer(findings, false)
}

// A decider gathers what matters for one edit and nothing else: it runs
// before every edit of every agent.
type decider struct {
	gatherer
	edit       Edit
	tree       *filing.Tree
	pathUrgent bool  // policy has raised path_overlap
	attempts   []hit // of the edit itself; hits are those of what was recorded
	overwrites []hit
	wants      []string // files of which the lines are not known
}

// urgent reports whether conflicts of a kind reach an agent at all.
func (d *decider) urgent(k coord.ConflictKind) bool {
	sev := d.repo.rules.Severity[k]
	if slices.Contains(d.repo.demoted, k) {
		sev = policy.Demoted(sev)
	}
	return sev.Rank() >= coord.SeverityWarn.Rank()
}

func (d *decider) path(path string) {
	own := d.ownChange(path)
	d.tree.Matching(path, func(e *entry) {
		switch e.Kind {
		case claimEntry, patternEntry:
			d.claimed(path, e)
		case changeEntry, oldPathEntry, formerEntry:
			d.changedBy(path, own, e)
		}
	})
	if own != nil && d.ix.ownerID(own) == d.self.ID {
		d.change(own)
	}
}

// folder is path for what is about to be written somewhere below a selector.
func (d *decider) folder(selector string) {
	glob, err := scope.ParseGlob(selector)
	if err != nil {
		return
	}
	for _, pattern := range glob.Patterns() {
		d.tree.Overlapping(pattern, func(e *entry, _ bool) {
			switch e.Kind {
			case claimEntry, patternEntry:
				d.claimed(selector, e)
			case changeEntry:
				if path := d.ix.changes[e.Owner].c.Facts.Path; !d.repo.rules.Ignored(path) {
					d.changedBy(path, d.ownChange(path), e)
				}
			}
		})
	}
}

// ownChange is what the edit's own working copy did to a file, or nil.
func (d *decider) ownChange(path string) *Change {
	if at, ok := d.repo.changes[changeKey{d.edit.Copy, path}]; ok {
		return d.ix.changes[at].c
	}
	return nil
}

// claimed looks at a claim of somebody that what is about to be written meets.
func (d *decider) claimed(path string, e *entry) {
	w := d.ix.slots[e.Owner].w
	if mode := w.Claims[e.Sub].Mode; mode == coord.Wanted || mode != coord.Exclusive && !d.pathUrgent && !dependsOn(d.self, w) {
		return
	}
	if theirs, w := d.theirs(d.repo, e); w != nil {
		d.attempts = append(d.attempts, hit{pathHit, item{path: path}, theirs, w})
	}
}

// changedBy looks at what another working copy did to a file that is about
// to be edited, or another session in the same one.
func (d *decider) changedBy(path string, own *Change, e *entry) {
	theirs, w := d.merging(e, d.edit.Copy)
	if w == nil {
		return
	}
	c := theirs.change
	if c.Copy == d.edit.Copy {
		if slices.Contains(d.edit.Checked, path) {
			return
		}
		seen := d.edit.Since
		for _, t := range c.By {
			if t.Session == d.edit.Session {
				seen = max(seen, t.At)
			}
		}
		if e.Kind == changeEntry && touchedAt(c, w.ID) > seen {
			d.overwrites = append(d.overwrites, hit{fileHit, item{path: path}, theirs, w})
		}
		return
	}
	if pending := d.edit.Pending[path]; pending != nil {
		// Nothing of ours is there yet: who changed the lines was first.
		ours := item{kind: changeEntry, pending: own == nil, change: &Change{
			RepoID: d.repo.id,
			Copy:   d.edit.Copy,
			Facts:  *pending,
			By:     []Touch{{d.self.ID, d.edit.Session, d.edit.Now}},
		}}
		d.attempts = append(d.attempts, hit{fileHit, ours, theirs, w})
		return
	}
	if d.edit.Pending == nil && d.urgent(coord.EditOverlap) && !slices.Contains(d.wants, path) {
		d.wants = append(d.wants, path)
	}
	if own != nil {
		return // our change of it is compared as a whole
	}
	ours := item{kind: changeEntry, change: &Change{RepoID: d.repo.id, Copy: d.edit.Copy,
		Facts: coord.FileFacts{Path: path, Status: coord.FileModified}}}
	switch {
	case c.Facts.Status == coord.FileDeleted || c.Facts.Binary:
		d.attempts = append(d.attempts, hit{fileHit, ours, theirs, w})
	case d.pathUrgent || dependsOn(d.self, w):
		d.attempts = append(d.attempts, hit{pathHit, item{path: path}, theirs, w})
	}
}

// overwrite makes a finding of a file that another session of the same
// working copy changed behind this session's back.
func (d *decider) overwrite(h hit) (Finding, bool) {
	p := pairing{self: d.self, other: h.other}
	draft := p.draft(coord.EditOverlap, h.ours.path, sameCopy)
	draft.directed = true
	theirs := p.changed(h.theirs, h.ours.path)
	last := h.theirs.change.By[0]
	for _, t := range h.theirs.change.By {
		if t.Worker == h.other.ID && t.At >= last.At {
			last = t
		}
	}
	theirs.item.Detail = str("session " + last.Session + " wrote it at " + last.At.String())
	// Never more than a warning: reading the file again settles it, and of
	// that nobody tells us.
	draft.addUpTo(coord.SeverityWarn, true, p.byPath(h.ours, d.self), theirs)
	draft.both = append(draft.both, "written "+last.At.String())
	return p.finish(d.ix, draft)
}

func (d *decider) answer(findings []Finding, touched bool) Decision {
	out := Decision{Action: Allow, Findings: findings}
	worst := coord.SeverityOff
	if len(findings) > 0 {
		worst = findings[0].Severity
	}
	undeclared := coord.SeverityOff
	if in := d.self.Intent; touched && (in == nil || in.Status == coord.IntentDraft) {
		undeclared = d.repo.rules.RequireIntent
	}
	level := lower(d.repo.rules.Enforcement, higher(worst, undeclared))
	switch level {
	case coord.SeverityBlock:
		out.Action = Block
	case coord.SeverityWarn:
		out.Action = Warn
	default:
		return out
	}
	out.Undeclared = undeclared != coord.SeverityOff
	out.Reason = d.reason(level, findings, undeclared)
	return out
}

func higher(a, b coord.Severity) coord.Severity {
	if a.Rank() > b.Rank() {
		return a
	}
	return b
}

func lower(a, b coord.Severity) coord.Severity {
	if a.Rank() < b.Rank() {
		return a
	}
	return b
}
