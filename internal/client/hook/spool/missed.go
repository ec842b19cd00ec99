package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// Missed tells how many events of this machine a service has not answered
// since it last did, and when the last of them was. temp is "" for the
// system's temporary folder.
func Missed(temp, server string) (count int, last time.Time) {
	b := Open(temp, "", "").Breaker(server, "")
	return b.count, b.last
}

// Heard forgets the events that went unanswered, which a person was told of: the
// service answers again.
func Heard(temp, server string) {
	s := Open(temp, "", "")
	s.Breaker(server, "").Succeeded()
	s.Unshare(OutageKey(server))
}

// OutageKey names the note that a person was told of an outage.
func OutageKey(server string) string { return "outage-" + Hash(server)[:16] }

// Memory returns the folder in which hooks remember what outlives one run, and
// why they cannot, if so.
func Memory(temp string) (folder string, err error) {
	folder = Folder(temp)
	if info, err := os.Lstat(folder); err == nil && !gitrepo.Private(info) {
		return folder, fmt.Errorf("%s is not a folder of yours alone", folder)
	}
	s := Open(temp, "", "")
	if err := os.MkdirAll(s.base, 0o700); err != nil {
		return folder, err
	}
	try := filepath.Join(s.base, ".try-"+unique())
	if err := os.WriteFile(try, []byte("svc doctor\n"), 0o600); err != nil {
		return folder, errors.Join(err, os.RemoveAll(try))
	}
	return folder, os.Remove(try)
}

// Own reports whether what is in the place of that folder belongs to this user:
// others' is not ours to remove.
func Own(folder string) bool {
	info, err := os.Lstat(folder)
	return err == nil && gitrepo.Owned(info)
}

// ForgetAll makes the folder of Memory anew. What was in it is a convenience.
func ForgetAll(folder string) error { return os.RemoveAll(folder) }

// A Tally is what a session counts between two answers of a service, one byte
// each in an entry of its own.
type Tally string

const (
	FailOpens   Tally = "missed" // events that no service answered
	StaleWrites Tally = "stale"  // edits that were refused because they would undo others' lines
)

// Count adds to a tally.
func (s *Spool) Count(t Tally, n int) {
	if s.base != "" && n > 0 {
		_ = Append(filepath.Join(s.session, string(t)), strings.Repeat(".", n))
	}
}

// TakeCount returns a tally, to be told now. In good times it costs a look.
func (s *Spool) TakeCount(t Tally) int {
	if !s.Knows(string(t)) {
		return 0
	}
	return min(len(s.Take(string(t))), maxTally)
}

// maxTally is as far as a session counts.
const maxTally = 100_000

// The service counts what it answers as told, and cannot know whether an answer
// arrived: one that comes after a hook's time is up tells nobody. So a session
// remembers which of its events got none, and its next event asks for them.

const maxUnheard = 20 // the latest of them, as the service takes

func unheardName(server string) string { return "unheard-" + Hash(server)[:16] }

// KeepUnheard remembers events by their dedupe keys. The service may never have
// seen them: then it has nothing to repeat.
func (s *Spool) KeepUnheard(server string, keys ...string) {
	if s.base != "" && len(keys) > 0 {
		_ = Append(filepath.Join(s.session, unheardName(server)), strings.Join(keys, "\n")+"\n")
	}
}

// TakeUnheard returns them, to be asked for now.
func (s *Spool) TakeUnheard(server string) []string {
	if !s.Knows(unheardName(server)) {
		return nil
	}
	keys := strings.Fields(s.Take(unheardName(server)))
	return keys[max(0, len(keys)-maxUnheard):]
}
