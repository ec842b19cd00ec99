// Package presence knows which agent sessions run on this machine, and in which
// processes. A host starts both svc hook and svc mcp: the first is told the
// session and writes it down with the processes above it, the second is told
// nothing and finds its session by the processes above itself. What is written
// down also tells when a host was killed and will never say goodbye.
//
// It only reads processes; it never signals one.
package presence

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
)

// A Session is one agent session as its host names it.
type Session struct {
	Tool   string `json:"tool"`
	ID     string `json:"id"`
	Parent string `json:"parent,omitempty"`
	// Place names the machine and its table of processes: those of another
	// container mean nothing here.
	Place string    `json:"place,omitempty"`
	Hosts []Process `json:"hosts,omitempty"` // above the hook, nearest first
	// Firm tells that two hooks had the first of the hosts above them, so that
	// it is the host and nothing that was started for the hook alone.
	Firm   bool      `json:"firm,omitempty"`
	Single bool      `json:"single,omitempty"` // its host has one conversation at a time
	Title  string    `json:"title,omitempty"`  // what it works on, as its service knows it
	Ended  bool      `json:"ended,omitempty"`  // its host said so, and a service was not there to hear it
	Seen   time.Time `json:"seen"`
	At     []Where   `json:"at,omitempty"`
}

// A Where is a repository the session works in, and the id under which a
// service knows it there.
type Where struct {
	Server  string   `json:"server"`
	Root    string   `json:"root"`
	Remotes []string `json:"remotes,omitempty"`
	Session string   `json:"session"`
}

// A Book holds the sessions of one user. The zero Book is empty and keeps
// nothing.
type Book struct{ dir string }

// keep is how long a session is remembered that nobody hears of any more.
const keep = 7 * 24 * time.Hour

// Open returns the book that lies with a configuration.
func Open(config string) Book {
	if config == "" {
		return Book{}
	}
	return Book{filepath.Join(config, "sessions")}
}

func (b Book) file(tool, id string) string {
	sum := sha256.Sum256([]byte(tool + "\x00" + id))
	return filepath.Join(b.dir, hex.EncodeToString(sum[:12]))
}

// Load returns what is known of a session.
func (b Book) Load(tool, id string) (Session, bool) {
	if b.dir == "" {
		return Session{}, false
	}
	return read(b.file(tool, id))
}

func read(file string) (s Session, ok bool) {
	data, err := plain.ReadHere(file, plain.State)
	return s, err == nil && json.Unmarshal(data, &s) == nil && s.ID != ""
}

// Save writes a session down, all at once.
func (b Book) Save(s Session) {
	if b.dir == "" || os.MkdirAll(b.dir, 0o700) != nil {
		return
	}
	data, err := json.Marshal(s)
	if err != nil {
		return
	}
	_ = plain.Write(b.file(s.Tool, s.ID), data)
}

// Remove forgets a session.
func (b Book) Remove(tool, id string) {
	if b.dir != "" {
		os.Remove(b.file(tool, id))
	}
}

// All returns the sessions, and forgets those that nobody heard of for long.
func (b Book) All() []Session {
	if b.dir == "" {
		return nil
	}
	list, err := plain.List(b.dir)
	if err != nil {
		return nil
	}
	var out []Session
	for _, e := range list {
		file := filepath.Join(b.dir, e.Name())
		s, ok := read(file)
		switch {
		case ok && time.Since(s.Seen) <= keep:
			out = append(out, s)
		case ok || strings.HasPrefix(e.Name(), ".new-") && older(e, time.Hour):
			os.Remove(file)
		}
	}
	return out
}

func older(e os.DirEntry, age time.Duration) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) > age
}

// Met brings a session up to date with the processes above this one.
func (s *Session) Met(now time.Time) {
	s.Seen, s.Ended = now, false
	place, hosts := here(), Hosts()
	if place == "" || len(hosts) == 0 {
		return
	}
	if s.Place != place {
		s.Place, s.Hosts, s.Firm = place, hosts, false
		return
	}
	for i, h := range hosts {
		if slices.Contains(s.Hosts, h) {
			s.Hosts, s.Firm = hosts[i:], true
			return
		}
	}
	s.Hosts, s.Firm = hosts, false // it was taken up in another process
}

// Gone reports whether a session's host is certain to run no more.
func (s *Session) Gone() bool {
	if s.Ended {
		return true
	}
	if s.Place == "" || len(s.Hosts) == 0 || s.Place != here() {
		return false
	}
	if s.Firm {
		return !s.Hosts[0].alive()
	}
	return !slices.ContainsFunc(s.Hosts, Process.alive)
}

// Put notes the id under which a service knows the session in a repository. It
// reports whether that is new.
func (s *Session) Put(w Where) bool {
	i := slices.IndexFunc(s.At, func(o Where) bool { return o.Server == w.Server && o.Root == w.Root })
	if i < 0 {
		s.At = append(s.At, w)
		return true
	}
	changed := s.At[i].Session != w.Session
	s.At = append(slices.Delete(s.At, i, i+1), w) // the latest last
	return changed
}

// Key returns what proves that a call comes from a session's own host: its hooks
// and its svc mcp make it from the machine's id, which leaves the machine only
// as a hash. The ids of sessions are shown to everybody in an org. Without an id
// of the machine there is none.
func Key(machine, tool, id string) string {
	if machine == "" || id == "" {
		return ""
	}
	m := hmac.New(sha256.New, []byte(machine))
	m.Write([]byte("svc session\x00" + tool + "\x00" + id))
	return hex.EncodeToString(m.Sum(nil))
}

// Find returns the session of the host that runs this process, and the id under
// which a server knows it, or "". root is the repository of the working folder, and
// client what the host calls itself, where that is known. A host may have several
// conversations: named is the id of the one that calls, if that is known.
//
// The host is the nearest process that this one and a hook have above them. It
// is next to one of the two, or it is something that hosts run in, such as a
// terminal.
func (b Book) Find(server, root, client, named string) (Session, string) {
	place, mine := here(), Hosts()
	if place == "" {
		return Session{}, ""
	}
	all := slices.DeleteFunc(b.All(), func(s Session) bool {
		return s.Place != place || s.Ended || s.Parent != "" || !mayBe(client, s.Tool) || s.idAt(server, root) == ""
	})
	for j, h := range mine {
		var found []Session
		nearest := 0
		for _, s := range all {
			i := slices.Index(s.Hosts, h)
			if i < 0 || i > 0 && j > 0 {
				continue
			}
			if len(found) > 0 && i > nearest {
				continue
			}
			if i < nearest {
				found = nil
			}
			found, nearest = append(found, s), i
		}
		if len(found) > 0 {
			for _, s := range found {
				if slices.ContainsFunc(s.At, func(w Where) bool { return w.Server == server && w.Session == named }) {
					return s, named
				}
			}
			s := only(found, nearest == 0)
			return *s, s.idAt(server, root)
		}
	}
	return Session{}, ""
}

// only returns the one session of a process: of a host with one conversation at
// a time the latest, and otherwise none if there are several.
func only(found []Session, host bool) *Session {
	latest := &found[0]
	for i := range found {
		if len(found) > 1 && !(host && found[i].Single) {
			return &Session{}
		}
		if found[i].Seen.After(latest.Seen) {
			latest = &found[i]
		}
	}
	return latest
}

// idAt returns the session's id at a server: in a repository, or where it was
// last.
func (s *Session) idAt(server, root string) (id string) {
	for _, w := range s.At {
		if w.Server != server {
			continue
		}
		if id = w.Session; root != "" && w.Root == root {
			return id
		}
	}
	return id
}

// mayBe reports whether a client by that name may be the tool: one that is
// known to be another is not. Both are written in many ways.
func mayBe(client, tool string) bool {
	client = strings.ReplaceAll(strings.ToLower(client), "visual studio code", "vscode")
	named := func(word string) bool { return strings.Contains(client, word) }
	first, _, _ := strings.Cut(tool, "_")
	return named(first) || !slices.ContainsFunc(strings.Fields(agents), named)
}

// agents are the first words of hosts' names.
const agents = "claude codex cursor copilot gemini windsurf opencode omp cline kiro antigravity goose qwen kilo amp crush " +
	"augment droid zed vscode"
