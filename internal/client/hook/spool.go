package hook

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// A spool keeps what has to outlive one run, in the temp folder: context for
// later, when commands began, files touched in a turn. Each session has a
// folder of its own. Many hooks run at once, so every entry is a file of its
// own that appears whole and is taken by renaming it: whoever renames, has it.
//
// All of it is a convenience. Where the temp folder cannot be trusted or
// written, the spool does nothing.
type spool struct {
	base    string // "" when there is none
	session string
}

const (
	spoolAge   = 48 * time.Hour
	duplicates = 3 * time.Second // within which a call id is the same call
)

// spoolFolder names the user's own folder in a temporary one, the system's if
// none is given.
func spoolFolder(temp string) string {
	if temp == "" {
		temp = os.TempDir()
	}
	return filepath.Join(temp, fmt.Sprintf("svc-hook-%d", os.Getuid()))
}

// openSpool finds the user's own folder; it creates nothing yet.
func openSpool(temp, tool, session string) *spool {
	base := spoolFolder(temp)
	if info, err := os.Lstat(base); err == nil && !gitrepo.Private(info) {
		return &spool{} // somebody else made it
	}
	return &spool{base: base, session: filepath.Join(base, hashed(tool, session)[:32])}
}

// put stores an entry under a fixed name.
func (s *spool) put(name, content string) {
	if s.base == "" || os.MkdirAll(s.session, 0o700) != nil {
		return
	}
	_ = replaceFile(filepath.Join(s.session, name), []byte(content))
}

// has reports whether there is an entry of that name.
func (s *spool) has(name string) bool {
	if s.base == "" {
		return true // with no memory, better never than every time
	}
	_, err := os.Lstat(filepath.Join(s.session, name))
	return err == nil
}

// knows is has for what is only there if it was put: with no memory, it was not.
func (s *spool) knows(name string) bool { return s.base != "" && s.has(name) }

// take returns an entry and removes it. Of several who try, one gets it.
func (s *spool) take(name string) string {
	content, _ := s.takeFile(name)
	return content
}

func (s *spool) takeFile(name string) (string, fs.FileInfo) {
	if s.base == "" {
		return "", nil
	}
	taken := filepath.Join(s.session, "taken-"+unique())
	if !s.has(name) || os.Rename(filepath.Join(s.session, name), taken) != nil {
		return "", nil
	}
	defer os.Remove(taken)
	info, err := os.Lstat(taken)
	if err != nil {
		return "", nil
	}
	data, err := os.ReadFile(taken)
	if err != nil {
		return "", nil
	}
	return string(data), info
}

// entries returns the names that begin with prefix, oldest first.
func (s *spool) entries(prefix string) []string {
	if s.base == "" {
		return nil
	}
	list, err := os.ReadDir(s.session)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		if strings.HasPrefix(e.Name(), prefix) {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out
}

// queueContext keeps text for the next moment at which the host can show it.
func (s *spool) queueContext(text string) {
	s.put(fmt.Sprintf("context-%020d-%s", time.Now().UnixNano(), unique()), text)
}

// takeContext returns what is to be said now, after queued context, oldest
// first, as far as there is room for limit characters in all. What does not fit
// stays for the next time.
func (s *spool) takeContext(now string, limit int) string {
	before := ""
	for _, name := range s.entries("context-") {
		data, err := os.ReadFile(filepath.Join(s.session, name))
		if err != nil || utf8.RuneCountInString(joinContexts(joinContexts(before, string(data)), now)) > limit {
			break
		}
		before = joinContexts(before, s.take(name))
	}
	return joinContexts(before, now)
}

// seen reports whether the same call was handled a moment ago, and notes it.
func (s *spool) seen(key string) bool {
	calls := filepath.Join(s.session, "calls") // apart: there are many of them
	if s.base == "" || os.MkdirAll(calls, 0o700) != nil {
		return false
	}
	name := filepath.Join(calls, key[:24])
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
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

// touch notes files that a turn changed.
func (s *spool) touch(root string, paths []string) {
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
		if err := appendTo(filepath.Join(s.session, name), b.String()); err != nil {
			return
		}
	}
}

// touched returns the noted files by repository root. A turn's are forgotten
// when they are read.
func (s *spool) touched(turn bool) map[string][]string {
	text := ""
	if turn {
		text = s.take("turn")
	} else if s.base != "" {
		data, _ := os.ReadFile(filepath.Join(s.session, "touched"))
		text = string(data)
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

// share and shared keep small facts for all sessions.
func (s *spool) share(name, content string) {
	if s.base == "" || os.MkdirAll(s.base, 0o700) != nil {
		return
	}
	_ = replaceFile(filepath.Join(s.base, name), []byte(content))
}

func (s *spool) unshare(name string) {
	if s.base != "" {
		_ = os.Remove(filepath.Join(s.base, name))
	}
}

func (s *spool) shared(name string) string {
	if s.base == "" {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(s.base, name))
	if err != nil {
		return ""
	}
	return string(data)
}

func (s *spool) removeSession() {
	if s.base != "" {
		_ = os.RemoveAll(s.session)
	}
}

// prune removes what is older than two days.
func (s *spool) prune() {
	if s.base == "" {
		return
	}
	list, err := os.ReadDir(s.base)
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
	list, _ := os.ReadDir(name)
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
	}
	return t
}

// replaceFile writes a file that only its owner can read, all at once.
func replaceFile(name string, content []byte) error {
	temp := filepath.Join(filepath.Dir(name), ".new-"+unique()) // no name that anybody looks for
	if err := os.WriteFile(temp, content, 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		os.Remove(temp)
		return err
	}
	return nil
}

// appendTo adds text to a file that only its owner can read.
func appendTo(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// made counts the names that this process has made.
var made atomic.Int64

// unique is a name that no other process of this machine makes. The folders are
// the user's own, so it need not be hard to guess, which costs more than the
// file itself.
func unique() string {
	return strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(made.Add(1), 36)
}
