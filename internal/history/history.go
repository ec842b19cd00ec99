// Package history keeps what a service acknowledged while things went wrong, and
// has the rules that it must not break. Whoever breaks things uses it: the
// simulator (internal/tools/sim), make chaos with real processes and databases, the
// histories of edges.
package history

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// A Write is something that may have been acknowledged.
type Write struct{ Kind, Name string }

// The kinds of writes that Check knows.
const (
	Intent  = "intent"  // by its title
	End     = "end"     // of an intent
	Message = "message" // by its text
	Report  = "report"  // of an edit, by its path
)

// A Book is what is known from outside of one history. Its zero value is empty.
type Book struct {
	mu      sync.Mutex
	writes  []Write
	refused map[int]int
	lost    int
	asked   int
	held    map[string]bool // claims that were acknowledged, until giving up begins
	wrong   []error
	stale   int
}

// Acknowledged notes a write that the service said it has done.
func (b *Book) Acknowledged(kind, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes = append(b.writes, Write{kind, name})
}

// Refused notes a write that was answered with no. The service may be busy, and
// says so; it must not fail.
func (b *Book) Refused(status int, retryAfter, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refused == nil {
		b.refused = map[int]int{}
	}
	b.refused[status]++
	if status == 500 || status == 503 && retryAfter == "" {
		b.wrong = append(b.wrong, fmt.Errorf("a write was answered %s", detail))
	}
}

// Lost notes a write that was never answered: it may have happened or not.
func (b *Book) Lost() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost++
}

// Wrong notes something that must not be.
func (b *Book) Wrong(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = append(b.wrong, fmt.Errorf(format, args...))
}

// Claimed notes that an exclusive claim was acknowledged: from now on nobody
// else may be let in.
func (b *Book) Claimed(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = map[string]bool{}
	}
	b.held[path] = true
}

// Free notes that a claim is about to be given up.
func (b *Book) Free(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held, path)
}

// A Question is an edit that somebody else asks for.
type Question struct {
	book *Book
	path string
	held bool
}

// Ask begins a question. Only what was acknowledged before it counts.
func (b *Book) Ask(path string) Question {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	return Question{b, path, b.held[path]}
}

// Allowed notes that the edit was let through, by somebody who had looked. It
// reports whether that breaks a claim.
func (q Question) Allowed(by string) (broken bool) {
	q.book.mu.Lock()
	defer q.book.mu.Unlock()
	if !q.held || !q.book.held[q.path] { // or it is being given up
		return false
	}
	q.book.stale++
	q.book.wrong = append(q.book.wrong, fmt.Errorf("an edit of %s was allowed (%s) though its claim had been acknowledged", q.path, by))
	return true
}

// An Ear hears a stream of events.
type Ear struct{ Last, Heard int }

// Hear notes an event. They come one after the other, without a gap.
func (e *Ear) Hear(id int) error {
	if e.Last > 0 && id != e.Last+1 {
		return fmt.Errorf("a stream told of event %d after %d", id, e.Last)
	}
	e.Last = id
	e.Heard++
	return nil
}

// Found is what the service has in the end.
type Found struct {
	Intents  []FoundIntent
	Events   []FoundEvent // newest first
	Messages []string
	Reports  []string // the paths that reports of edits were about
}

// A FoundIntent is what the rules need of an intent.
type FoundIntent struct{ ID, Title, Status string }

// A FoundEvent is what they need of an event.
type FoundEvent struct {
	ID, Type string
	Subject  struct{ ID string }
}

// Check compares what the service has with what it acknowledged: nothing is
// lost, nothing is there twice, the log has no gap, and every intent is in it
// once. It returns what is wrong, with all that was noted before.
func (b *Book) Check(found Found) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	declared, wrong := inOrder(found.Events)
	wrong = append(slices.Clone(b.wrong), wrong...)
	seen := map[Write]int{}
	drafts := 0
	for _, i := range found.Intents {
		if i.Status == "draft" { // of somebody who only edits: nobody declared it
			drafts++
			continue
		}
		seen[Write{Intent, i.Title}]++
		if i.Status == "abandoned" {
			seen[Write{End, i.Title}]++
		}
		if declared[i.ID] != 1 {
			wrong = append(wrong, fmt.Errorf("%q was declared by %d events", i.Title, declared[i.ID]))
		}
	}
	if len(declared) != len(found.Intents)-drafts {
		wrong = append(wrong, fmt.Errorf("%d intents, but events of %d", len(found.Intents)-drafts, len(declared)))
	}
	for _, m := range found.Messages {
		seen[Write{Message, m}]++
	}
	for _, p := range found.Reports {
		seen[Write{Report, p}]++
	}
	return append(wrong, Once(b.writes, seen)...)
}

// Once checks that whatever was acknowledged is there, and nothing is there
// twice.
func Once(acknowledged []Write, seen map[Write]int) (wrong []error) {
	for _, it := range acknowledged {
		if seen[it] == 0 {
			wrong = append(wrong, fmt.Errorf("%s %q was acknowledged and is lost", it.Kind, it.Name))
		}
	}
	for it, n := range seen {
		if n > 1 {
			wrong = append(wrong, fmt.Errorf("%s %q is there %d times", it.Kind, it.Name, n))
		}
	}
	return wrong
}

// inOrder checks the log, newest first, and counts who was declared.
func inOrder(events []FoundEvent) (declared map[string]int, wrong []error) {
	declared = map[string]int{}
	for i, e := range events {
		if id, err := strconv.Atoi(e.ID); err != nil || id != len(events)-i {
			wrong = append(wrong, fmt.Errorf("event %s stands where %d should", e.ID, len(events)-i))
			break
		}
		if e.Type == "intent.declared" {
			declared[e.Subject.ID]++
		}
	}
	return declared, wrong
}

// Stale is how many edits were let through against a claim.
func (b *Book) Stale() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stale
}

// A Tally is how much a book holds.
type Tally struct {
	Acknowledged map[string]int // by kind
	Refused      map[int]int    // by status
	Lost, Asked  int
}

// Tally counts.
func (b *Book) Tally() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := Tally{Acknowledged: map[string]int{}, Refused: b.refused, Lost: b.lost, Asked: b.asked}
	for _, w := range b.writes {
		t.Acknowledged[w.Kind]++
	}
	return t
}
