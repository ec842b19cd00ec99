// Package spool is what hooks remember between two runs, in small files: the
// session's folder in the temporary one, the count of failures of a service,
// the log. It knows nothing of events or services.
package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/plain"
)

// A spool keeps what has to outlive one run, in the temp folder: context for
// later, when commands began, files touched in a turn. Each session has a
// folder of its own. Many hooks run at once, so every entry is a file of its
// own that appears whole and is taken by renaming it: whoever renames, has it.
//
// All of it is a convenience. Where the temp folder cannot be trusted or
// written, the spool does nothing.
type Spool struct {
	base    string // "" when there is none
	session string
}

const (
	spoolAge   = 48 * time.Hour
	duplicates = 3 * time.Second // within which a call id is the same call
)

// Folder names the user's own folder in a temporary one, the system's if none
// is given.
func Folder(temp string) string {
	if temp == "" {
		temp = os.TempDir()
	}
	return filepath.Join(temp, "svc-hook-"+strconv.Itoa(os.Getuid()))
}

// Open finds the user's own folder; it creates nothing yet.
func Open(temp, tool, session string) *Spool {
	base := Folder(temp)
	if info, err := os.Lstat(base); err == nil && !gitrepo.Private(info) {
		return &Spool{} // somebody else made it
	}
	return &Spool{base: base, session: filepath.Join(base, Hash(tool, session)[:32])}
}

// Remembers reports whether there is a folder to keep things in.
func (s *Spool) Remembers() bool { return s.base != "" }

// Put stores an entry under a fixed name.
func (s *Spool) Put(name, content string) {
	if s.base == "" || os.MkdirAll(s.session, 0o700) != nil {
		return
	}
	_ = Replace(filepath.Join(s.session, name), []byte(content))
}

// Has reports whether there is an entry of that name.
func (s *Spool) Has(name string) bool {
	if s.base == "" {
		return true // with no memory, better never than every time
	}
	_, err := os.Lstat(filepath.Join(s.session, name))
	return err == nil
}

// Knows is Has for what is only there if it was put: with no memory, it was not.
func (s *Spool) Knows(name string) bool { return s.base != "" && s.Has(name) }

// Read returns an entry and leaves it where it is.
func (s *Spool) Read(name string) (string, bool) {
	if s.base == "" {
		return "", false
	}
	data, err := plain.ReadHere(filepath.Join(s.session, name), plain.State)
	return string(data), err == nil
}

// Take returns an entry and removes it. Of several who try, one gets it.
func (s *Spool) Take(name string) string {
	content, _ := s.TakeFile(name)
	return content
}

// TakeFile is Take, with when the entry was put.
func (s *Spool) TakeFile(name string) (string, fs.FileInfo) {
	if s.base == "" {
		return "", nil
	}
	taken := filepath.Join(s.session, "taken-"+unique())
	if !s.Has(name) || os.Rename(filepath.Join(s.session, name), taken) != nil {
		return "", nil
	}
	defer os.RemoveAll(taken) // a folder, if somebody put one there
	info, err := os.Lstat(taken)
	if err != nil {
		return "", nil
	}
	data, err := plain.ReadHere(taken, plain.State)
	if err != nil {
		return "", nil
	}
	return string(data), info
}

// Entries returns the names that begin with prefix, oldest first.
func (s *Spool) Entries(prefix string) []string {
	if s.base == "" {
		return nil
	}
	return entries(s.session, prefix)
}

func entries(folder, prefix string) (out []string) {
	list, err := plain.List(folder)
	if err != nil {
		return nil
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), prefix) {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out
}

// contexts is where queued context lies: apart, so that every hook finds out at
// once that there is none.
const contexts = "contexts"

// QueueContext keeps text for the next moment at which the host can show it.
func (s *Spool) QueueContext(text string) {
	if s.base == "" {
		return
	}
	folder := filepath.Join(s.session, contexts)
	file := filepath.Join(folder, fmt.Sprintf("context-%020d-%s", time.Now().UnixNano(), unique()))
	for range 100 {
		err := os.MkdirAll(folder, 0o700)
		if err == nil {
			err = Replace(file, []byte(text))
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return // else somebody took the last of them just now, and the folder with it
		}
	}
}

// TakeContext returns what is to be said now, after queued context, oldest
// first, as far as there is room for limit characters in all. What does not fit
// stays for the next time.
func (s *Spool) TakeContext(now string, limit int) string {
	if s.base == "" {
		return now
	}
	folder, before := filepath.Join(s.session, contexts), ""
	for _, name := range entries(folder, "context-") {
		name = filepath.Join(contexts, name)
		text, ok := s.Read(name)
		if !ok || utf8.RuneCountInString(JoinContexts(JoinContexts(before, text), now)) > limit {
			break
		}
		before = JoinContexts(before, s.Take(name))
		_ = os.Remove(folder) // unless others are in it
	}
	return JoinContexts(before, now)
}

// JoinContexts puts one text after the other, a line apart.
func JoinContexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// Seen reports whether the same call was handled a moment ago, and notes it.
func (s *Spool) Seen(key string) bool {
	calls := filepath.Join(s.session, "calls") // apart: there are many of them
	if s.base == "" || os.MkdirAll(calls, 0o700) != nil {
		return false
	}
	name := filepath.Join(calls, key[:24])
	f, err := plain.Handle(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		f.Close()
		return false
	}
	info, err := os.Lstat(name)
	if err != nil || time.Since(info.ModTime()) > duplicates {
		now := time.Now()
		_ = os.Chtimes(name, now, now)
		return false
	}
	return true
}

// Touch notes files that a turn changed.
func (s *Spool) Touch(root string, paths []string) {
	if s.base == "" || len(paths) == 0 || os.MkdirAll(s.session, 0o700) != nil {
		return
	}
	var b strings.Builder
	for _, p := range paths {
		if !strings.ContainsAny(root+p, "\t\n") {
			b.WriteString(root + "\t" + p + "\n")
		}
	}
	for _, name := range []string{"turn", "touched"} {
		if err := Append(filepath.Join(s.session, name), b.String()); err != nil {
			return
		}
	}
}

// Touched returns the noted files by repository root. A turn's are forgotten
// when they are read.
func (s *Spool) Touched(turn bool) map[string][]string {
	text := ""
	if turn {
		text = s.Take("turn")
	} else {
		text, _ = s.Read("touched")
	}
	out := map[string][]string{}
	for line := range strings.Lines(text) {
		root, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && !slices.Contains(out[root], path) {
			out[root] = append(out[root], path)
		}
	}
	return out
}

// Share and Shared keep small facts for all sessions.
func (s *Spool) Share(name, content string) {
	if s.base == "" || os.MkdirAll(s.base, 0o700) != nil {
		return
	}
	_ = Replace(filepath.Join(s.base, name), []byte(content))
}

// Unshare takes one back.
func (s *Spool) Unshare(name string) {
	if s.base != "" {
		_ = os.Remove(filepath.Join(s.base, name))
	}
}

// Shared returns one, or "".
func (s *Spool) Shared(name string) string {
	if s.base == "" {
		return ""
	}
	data, err := plain.ReadHere(filepath.Join(s.base, name), plain.State)
	if err != nil {
		return ""
	}
	return string(data)
}

// SharedFile is where one lies, for another process to write.
func (s *Spool) SharedFile(name string) string { return filepath.Join(s.base, name) }

// RemoveSession forgets all that the session put.
func (s *Spool) RemoveSession() {
	if s.base != "" {
		_ = os.RemoveAll(s.session)
	}
}

// Prune removes what is older than two days.
func (s *Spool) Prune() {
	if s.base == "" {
		return
	}
	list, err := plain.List(s.base)
	if err != nil {
		return
	}
	for _, e := range list {
		info, err := e.Info()
		if err == nil && time.Since(newest(filepath.Join(s.base, e.Name()), info)) > spoolAge {
			_ = os.RemoveAll(filepath.Join(s.base, e.Name()))
		}
	}
}

// newest returns when a file, or a folder and what is in it, last changed.
func newest(name string, info fs.FileInfo) time.Time {
	t := info.ModTime()
	if !info.IsDir() {
		return t
	}
	list, _ := plain.List(name)
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
	}
	return t
}
