package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A Sweep is a git command that takes hold of the uncommitted work of a whole
// working copy, as an agent is about to run it.
type Sweep struct {
	Verb   string // stash, reset, add, ...
	Effect SweepEffect
	Files  []SweptFile
	All    bool // every uncommitted change, too many to list
	// Stashes are those that are gone after it.
	Stashes []SweptStash
}

// A SweptStash is a stash, and the session that made it. Stashes are shared by
// all working copies of a clone.
type SweptStash struct{ Name, Session string }

// A SweepEffect is what a Sweep does to uncommitted work.
type SweepEffect uint8

const (
	Discards SweepEffect = iota // it is gone from the files
	Sweeps                      // it goes into the agent's own commit
	Moves                       // it stays, on another commit than it was made on
	// The others take hold of what svc sees of the working copy.
	Renames // which repository it is
	Leaves  // whether svc is asked about it
	Blinds  // the files by which svc is asked
)

// A SweptFile is a file with uncommitted work. Edits before Committed are in a
// commit and safe.
type SweptFile struct {
	Path      string
	Committed coord.Time
}

// A Guarded is what the guard of a shared working copy answers to git commands.
type Guarded struct {
	Action Action
	Reason string // for the agent: whose work, where, and the narrower command
	Key    string // the same for the same commands and files, whenever it is asked
}

// Guard answers whether an agent may run git commands in a working copy that
// it shares with others. A merge does not come to help there: what one of them
// stashes, resets or cleans away is the only copy of the other's work. That
// rests on files alone, so no conflict is recorded; a person who means it runs
// the command in a terminal, where nothing asks.
func Guard(ix *Index, e Edit, sweeps []Sweep) Guarded {
	g := guard{gatherer: gatherer{ix: ix, self: e.Worker, repo: ix.known(e.Worker.Repo.ID)}, edit: &e}
	rules := g.repo.rules
	level := lower(rules.Enforcement, rules.SharedCloneGuard)
	out := Guarded{Action: Allow}
	var refused, warned, keys []string
	for i := range sweeps {
		s := &sweeps[i]
		if s.Effect >= Renames {
			switch text, stops := g.detached(s); {
			case text == "":
			case stops:
				refused = append(refused, text)
			default:
				warned, keys = append(warned, text), append(keys, text)
			}
			continue
		}
		if level == coord.SeverityOff {
			continue
		}
		if text := g.stashed(s); text != "" && level == coord.SeverityBlock {
			refused = append(refused, text)
		} else if text != "" {
			warned, keys = append(warned, text), append(keys, text)
		}
		theirs, own := g.hits(s)
		switch {
		case len(theirs) == 0:
		case s.Effect == Discards && level == coord.SeverityBlock:
			refused = append(refused, g.words(s, theirs, own, e.Now))
		default:
			warned = append(warned, g.words(s, theirs, own, e.Now))
			keys = append(keys, g.words(s, theirs, nil, 0))
		}
	}
	switch {
	case len(refused) > 0:
		out = Guarded{Action: Block, Reason: strings.Join(refused, "\n") + " A person can run it in a terminal of their own."}
	case len(warned) > 0:
		out = Guarded{Action: Warn, Reason: strings.Join(warned, "\n"), Key: strings.Join(keys, "\n")}
	}
	return out
}

// A guard looks for others' work in one working copy.
type guard struct {
	gatherer
	edit *Edit
}

// A touched file is one with somebody else's uncommitted work.
type touchedFile struct {
	path string
	by   *Worker
	at   coord.Time
	mine bool // the agent that asks has written it, too
}

// hits returns the files of a sweep that hold others' work, the latest first,
// and those that only this agent has written.
func (g *guard) hits(s *Sweep) (theirs []touchedFile, own []string) {
	look := func(path string, committed coord.Time) {
		c := g.ix.Change(g.repo.id, g.edit.Copy, path)
		if c == nil {
			return // nobody wrote it through an agent
		}
		last, mine := touchedFile{path: path}, false
		for _, t := range c.By {
			w := g.ix.Worker(t.Worker)
			switch {
			case t.At <= committed:
			case g.own(t, w):
				mine = true
			case w != nil && t.At > last.at:
				last.by, last.at = w, t.At
			}
		}
		switch {
		case last.by != nil:
			last.mine = mine
			theirs = append(theirs, last)
		case mine:
			own = append(own, path)
		}
	}
	for _, f := range s.Files {
		look(f.Path, f.Committed)
	}
	if s.All {
		for key := range g.repo.changes {
			if key.copy == g.edit.Copy {
				look(key.path, 0)
			}
		}
	}
	slices.SortFunc(theirs, func(a, b touchedFile) int { return cmp.Or(cmp.Compare(b.at, a.at), strings.Compare(a.path, b.path)) })
	slices.Sort(own)
	return theirs, own
}

// stashed says whose stash a command would take, and which are the agent's own.
// What is stashed is nowhere else.
func (g *guard) stashed(s *Sweep) string {
	var names, own, by []string
	v := voice{f: &Finding{}, viewer: g.self.ID, me: g.self}
	for _, t := range s.Stashes {
		w := g.ix.workerOf(g.repo.id, t.Session)
		switch {
		case g.own(Touch{Session: t.Session}, w):
			own = append(own, t.Name)
		case w != nil:
			names = append(names, t.Name)
			if who := v.who(w); !slices.Contains(by, who) {
				by = append(by, who)
			}
		}
	}
	if by == nil {
		return ""
	}
	text := "`git " + verb(s.Verb) + "` would take away " + listing(names) + ", stashed in this clone by " + listing(by) + "."
	if len(own) == 0 {
		return text + " Name a stash of your own, as `git stash list` calls it, or leave it where it is."
	}
	return text + " Name your own instead: `git stash drop " + own[0] + "`."
}

// own reports whether a touch is of the agent that asks, its sub-agents, or
// work that was handed to it.
func (g *guard) own(t Touch, w *Worker) bool {
	return t.Session == g.edit.Session || w != nil && !meets(g.self, w)
}

// narrower says how to do the same to one's own files only.
var narrower = map[string]string{
	"stash":    "git stash push -- {files}",
	"reset":    "git restore --staged --worktree -- {files}",
	"checkout": "git restore -- {files}",
	"restore":  "git restore -- {files}",
	"clean":    "git clean -f -- {files}",
	"add":      "git add -- {files}",
	"commit":   "git commit -- {files}",
	"rm":       "git rm -f -- {files}",
}

// merges are the commands that change the very files in which the uncommitted
// work is.
var merges = map[string]bool{"stash pop": true, "stash apply": true, "apply": true}

// does says what a command does to uncommitted work.
func does(s *Sweep) string {
	switch {
	case s.Effect == Discards:
		return " would take away uncommitted work on "
	case s.Effect == Sweeps:
		return " would take along uncommitted work on "
	case merges[s.Verb]:
		return " would mix other changes into uncommitted work on "
	}
	return " would put another commit under uncommitted work on "
}

// verb makes what a client calls a git command words of letters and dashes.
func verb(s string) string {
	plain := func(r rune) rune {
		if r == ' ' || r == '-' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}
	if s = strings.Map(plain, s); len(s) > 40 || strings.TrimSpace(s) == "" {
		return peertext.Name(s)
	}
	return s
}

// words says what a command would do to whose files, and what to run instead.
// Without a time they are the same whenever it is asked.
func (g *guard) words(s *Sweep, theirs []touchedFile, own []string, now coord.Time) string {
	v := voice{f: &Finding{}, viewer: g.self.ID, now: now, me: g.self}
	files := make([]string, len(theirs))
	var by []string
	shared := false
	for i, t := range theirs {
		files[i], shared = place(t.path), shared || t.mine
		if who := v.who(t.by); !slices.Contains(by, who) {
			by = append(by, who)
		}
	}
	last := ", written"
	if len(by) > 1 {
		last = ", last written"
	}
	text := "`git " + verb(s.Verb) + "`" + does(s) + listing(files) + last + v.when(theirs[0].at) +
		" in this working copy by " + listing(by) + "."
	command, narrows := narrower[s.Verb]
	switch {
	case s.Effect == Moves && merges[s.Verb]:
		return text + " Let it be committed first, or do this in a working copy of its own: git worktree add."
	case s.Effect == Moves:
		return text + " Work on another branch in a working copy of its own: git worktree add."
	case !narrows && strings.Contains(s.Verb, " "):
		return text + " Let it be committed first."
	case len(own) == 0 && shared:
		return text + " Changes of yours are in the same files: leave the others' lines as they are."
	case len(own) == 0:
		return text + " None of your own changes is among them: leave them as they are."
	}
	if len(own) > 8 {
		own = append(own[:8:8], "...")
	}
	for i := range own {
		own[i] = quoted(own[i])
	}
	if !narrows {
		return text + " Name your own files instead: " + strings.Join(own, " ") + "."
	}
	return text + " Name your own files instead: `" + strings.Replace(command, "{files}", strings.Join(own, " "), 1) + "`."
}

// quoted makes a path one word of a shell line.
func quoted(path string) string {
	if q := peertext.Quoted(path); q != path {
		return q
	}
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+@,") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
