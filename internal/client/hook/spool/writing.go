package spool

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
)

// A session puts an entry for what it is about to write: the root of the
// working copy, and the files from there in lines of their own. Of a command it
// puts the root and what else is to be known when it ends.
const (
	EditPrefix  = "edit-"
	ShellPrefix = "shell-"
)

// writingAge is how long an agent is taken to be at an edit of which no hook
// told the end: its person may still be asked whether it may.
const writingAge = 10 * time.Minute

// Writing returns the files that agents are writing in a working copy. all tells
// that a command runs there, of which nobody knows what it writes.
func (s *Spool) Writing(root string) (paths []string, all bool) {
	if s.base == "" {
		return nil, false
	}
	sessions, _ := plain.List(s.base)
	for _, e := range sessions {
		if !e.IsDir() {
			continue
		}
		session := &Spool{base: s.base, session: filepath.Join(s.base, e.Name())}
		for _, name := range append(session.Entries(EditPrefix), session.Entries(ShellPrefix)...) {
			file := filepath.Join(session.session, name)
			info, err := os.Lstat(file)
			if err != nil || time.Since(info.ModTime()) > writingAge {
				continue
			}
			data, _ := plain.ReadHere(file, plain.State)
			where, rest, _ := strings.Cut(string(data), "\n")
			switch {
			case where != root:
			case strings.HasPrefix(name, ShellPrefix):
				all = true
			default:
				paths = append(paths, strings.Split(rest, "\n")...)
			}
		}
	}
	return paths, all
}
