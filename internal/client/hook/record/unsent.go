package record

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/presence"
)

// An Owner is a session of this machine: what it wrote is told in its name.
type Owner struct{ Tool, Session, Parent string }

// Mark tells one session from another, in a record.
func (o Owner) Mark() string { return spool.Hash(o.Tool, o.Session, o.Parent)[:8] }

// unsentFile marks a working copy of which an event did not get through.
func (rec *Record) unsentFile() string { return rec.file + ".owed" }

// HasUnsent reports whether an event of the working copy did not get through.
func (rec *Record) HasUnsent() bool {
	_, err := os.Lstat(rec.unsentFile())
	return err == nil
}

// Unsent returns who wrote the files of the working copy whose events did not
// get through, by path.
func (rec *Record) Unsent() map[string]Owner {
	out := map[string]Owner{}
	data, err := os.ReadFile(rec.unsentFile())
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 4 {
			out[f[3]] = Owner{f[0], f[1], f[2]}
		}
	}
	return out
}

// unsentLine is the line that says who wrote a file.
func (o Owner) unsentLine(path string) string {
	return o.Tool + "\t" + o.Session + "\t" + o.Parent + "\t" + path + "\n"
}

// AddUnsent notes that the service missed what a session wrote.
func (rec *Record) AddUnsent(who Owner, paths []string) error {
	if rec.file == "" {
		return nil
	}
	var b strings.Builder
	for _, p := range paths {
		if line := who.unsentLine(p); strings.Count(line, "\t") == 3 && strings.Count(line, "\n") == 1 {
			b.WriteString(line)
		}
	}
	return spool.Append(rec.unsentFile(), b.String())
}

// Sent forgets who wrote the files that the service was told of now.
func (rec *Record) Sent(paths []string) {
	unsent := rec.Unsent()
	if len(unsent) == 0 {
		return
	}
	for _, p := range paths {
		delete(unsent, p)
	}
	var b strings.Builder
	for p, who := range unsent {
		b.WriteString(who.unsentLine(p))
	}
	_ = spool.Replace(rec.unsentFile(), []byte(b.String()))
}

// AllSent tells that nothing is left to tell.
func (rec *Record) AllSent() { _ = os.Remove(rec.unsentFile()) }

// LeaveUnsent has the next hook in a working copy tell a server what a session
// wrote there, in that session's name.
func LeaveUnsent(config, temp, server, root string, s presence.Session) error {
	rec := Record{file: In(config, server, root)}
	if err := os.MkdirAll(filepath.Dir(rec.file), 0o700); err != nil {
		return err
	}
	return rec.AddUnsent(Owner{s.Tool, s.ID, s.Parent}, spool.Open(temp, s.Tool, s.ID).Touched(false)[root])
}
