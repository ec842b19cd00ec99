// Package engine answers one question for every worker: what is somebody else
// doing that will hurt this work at merge time or after it, and how sure are
// we? An Index holds what is live in an org; Detect finds what a worker
// collides with, Check does so for work that is only planned, Decide answers
// whether an edit may go on, Holders tells who is in the way of it, and
// Explain puts a finding into words.
//
// Everything here is pure: no clock, no database, no context. The same claims
// and changes give the same findings in whatever order they arrived and
// whichever side asks.
//
// An Index has no lock. Methods that begin with Put, Remove, Set or Suppress
// change it and must not run beside anything else; all functions that read it
// may run beside each other.
package engine

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/alike"
)

// A Worker is live work: an intent with its sessions, a session that has no
// intent, or work of people who do not use svc. An Index keeps the pointer it is given; do not change it after.
type Worker struct {
	ID       string // of the intent, else of the session or the branch
	Repo     coord.RepoName
	User     coord.User
	Intent   *Intent // nil for a session without one
	Session  string  // id of the session that works on it, if any
	Tool     string
	Branch   string
	Since    coord.Time // when the work began: of two, the earlier holds
	Lineages []string   // of its sessions: a lineage collides with itself only where git has to merge its working copies
	Gone     coord.Time // when the last of its sessions ended; 0 while one is there, or none ever was
	From     coord.User // who handed the intent to its owner, if anybody did
	// Claims in canonical form. Mode is the effective one: an exclusive claim
	// that is not honoured is shared here.
	Claims []coord.Claim
	// Outside is set for a pull request or a pushed branch whose people do not use
	// svc. It claims nothing, stops nobody, and only the svc side is told.
	Outside *coord.Outside `json:",omitempty"`
}

// Intent is what a Worker knows about its intent.
type Intent struct {
	Number      int
	Status      coord.IntentStatus
	Title       string     // put into words for its own person only
	Task        alike.Task // title and plan, to be compared with others
	DependsOn   []string
	ExternalRef *coord.ExternalRef
}

// Ref returns how people and agents name the worker's intent, or "".
func (w *Worker) Ref() string {
	if w.Intent == nil || w.Intent.Number == 0 {
		return ""
	}
	return coord.IntentRef(w.Intent.Number)
}

// A Change is one file's difference from its base in one working copy.
// Sessions that share a working copy see each other's edits on disk, so the
// difference is the copy's; By tells who touched the file, the latest last.
type Change struct {
	RepoID string
	Copy   string // the worktree's hash, or the session's id where none is known
	Facts  coord.FileFacts
	By     []Touch
}

// A Touch is one session's latest edit of a file.
type Touch struct {
	Worker  string
	Session string
	At      coord.Time
}

// A Use is live code that uses a contract, as the contract index knows it.
type Use struct {
	Key           string
	Line          int
	SignatureHash *string
	Fields        []coord.ContractField // what it may use of it, if that is known
	By            coord.User            // the member who changed its line last, if that is known
}

// Merged is a file as somebody's merged work left it.
type Merged struct {
	ID     string // of the merged work: its intent's id or its commit
	RepoID string
	Facts  coord.FileFacts // against what was there before
	By     *Worker         // who it was, for words
	At     coord.Time
}

// A Suppression keeps a finding from being raised again.
type Suppression struct {
	Fingerprint string
	Forever     bool     // a false alarm; otherwise until the evidence grows
	Keys        []string // the evidence that an override covers
	// Withdrawn says that the side which is kept out took its attempt back:
	// what it has announced is known and raised no more, what it does is.
	Withdrawn bool
}

// A Finding is a collision of two workers.
type Finding struct {
	Kind          coord.ConflictKind
	Severity      coord.Severity
	Demoted       bool // feedback lowered the severity by a step
	Holder        *Worker
	Challenger    *Worker
	Repo          coord.RepoName  // the challenger's
	CrossRepo     bool            // the holder's repo is another one
	DependentRepo *coord.RepoName // the holder's repo, if CrossRepo
	Place         string          // the path or contract it is about; empty for the whole scope
	Evidence      []coord.Evidence
	Keys          []string   // of all evidence, sorted: what Grown compares
	At            coord.Time // of the holder's latest edit there, or 0
	Fingerprint   string     // one per unordered pair, kind and place
	// Attempted says that it rests on an edit that was about to be made, so
	// that Detect need not find it.
	Attempted bool

	atWork *Worker // who is at work on the file of code that a break hurts, if anybody is
	reason reason
	seen   coord.Time // when it is told, for what is said to have been so long ago
	grace  int        // minutes after which a claim whose holder is gone is shared
}

// Other returns the party that is not the worker with this id.
func (f *Finding) Other(id string) *Worker {
	if f.Holder.ID == id {
		return f.Challenger
	}
	return f.Holder
}

// Role returns which side of f the worker with this id is.
func (f *Finding) Role(id string) coord.PartyRole {
	if f.Holder.ID == id {
		return coord.Holder
	}
	return coord.Challenger
}

// Parties returns both sides as a conflict record shows them, the holder
// first. The title of a draft is left out: it is its owner's alone.
func (f *Finding) Parties() []coord.Party {
	return []coord.Party{f.Holder.party(coord.Holder), f.Challenger.party(coord.Challenger)}
}

// number returns the number of the worker's intent, or 0.
func (w *Worker) number() int {
	if w.Intent == nil {
		return 0
	}
	return w.Intent.Number
}

func (w *Worker) party(role coord.PartyRole) coord.Party {
	p := coord.Party{Role: role, Repo: w.Repo}
	if w.User.ID != "" {
		p.User = &w.User
	}
	if w.Session != "" {
		p.SessionID = &w.Session
	}
	if w.Branch != "" {
		p.Branch = &w.Branch
	}
	p.Outside = w.Outside
	if w.Intent != nil {
		p.Intent = &coord.IntentName{Ref: w.Ref(), Number: w.Intent.Number, Status: w.Intent.Status}
		if w.Intent.Status != coord.IntentDraft {
			p.Intent.Title = &w.Intent.Title
		}
	}
	return p
}

// Live reports whether both parties are live workers: a break may hurt code
// that nobody is working on, and rebase_needed is about merged work.
func (w *Worker) Live() bool { return w.ID != "" }
