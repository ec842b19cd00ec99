package record

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/plain"
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
	rec.seen = rec.unsentLines()
	for _, line := range rec.seen {
		if who, path := parseUnsent(line); path != "" {
			out[path] = who
		}
	}
	return out
}

func (rec *Record) unsentLines() []string {
	data, err := plain.ReadHere(rec.unsentFile(), plain.Record)
	if err != nil {
		return nil
	}
	return slices.Collect(strings.Lines(string(data)))
}

// parseUnsent reads a line. One without a path says that there is something to
// tell, of whatever file.
func parseUnsent(line string) (who Owner, path string) {
	if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 4 {
		return Owner{f[0], f[1], f[2]}, f[3]
	}
	return Owner{}, ""
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
	if len(paths) == 0 {
		b.WriteString(who.unsentLine(""))
	}
	for _, p := range paths {
		if line := who.unsentLine(p); strings.Count(line, "\t") == 3 && strings.Count(line, "\n") == 1 {
			b.WriteString(line)
		}
	}
	if err := os.MkdirAll(filepath.Dir(rec.file), 0o700); err != nil {
		return err
	}
	if lock, ok := rec.lockUnsent(); ok { // without it a line may be lost, which the tree then tells
		defer lock.Close()
	}
	return spool.Append(rec.unsentFile(), b.String())
}

// unsentWait is how long a hook waits for another that changes the same notes.
const unsentWait = 100 * time.Millisecond

func (rec *Record) lockUnsent() (*os.File, bool) {
	return plain.LockWithin(rec.unsentFile()+".lock", patience.Of(unsentWait))
}

// Sent forgets who wrote the files that the service was told of now, as far as
// Unsent has returned it: what was added since is still to be told.
func (rec *Record) Sent(paths []string) {
	rec.forget(func(path string) bool { return slices.Contains(paths, path) })
}

// AllSent forgets all that Unsent has returned.
func (rec *Record) AllSent() { rec.forget(func(string) bool { return true }) }

func (rec *Record) forget(told func(path string) bool) {
	if !rec.HasUnsent() {
		return
	}
	lock, ok := rec.lockUnsent()
	if !ok {
		return // another time: to tell twice does no harm
	}
	defer lock.Close()
	gone := map[string]int{}
	for _, line := range rec.seen {
		if _, path := parseUnsent(line); told(path) {
			gone[line]++
		}
	}
	var stay strings.Builder
	for _, line := range rec.unsentLines() {
		if gone[line] > 0 {
			gone[line]--
		} else {
			stay.WriteString(line)
		}
	}
	if stay.Len() == 0 {
		_ = os.RemoveAll(rec.unsentFile()) // a folder, if somebody put one there
		return
	}
	_ = spool.Replace(rec.unsentFile(), []byte(stay.String()))
}

// LeaveUnsent has the next hook in a working copy tell a server what a session
// wrote there, in that session's name.
func LeaveUnsent(config, temp, server, root string, s presence.Session) error {
	rec := Record{file: In(config, server, root)}
	if err := os.MkdirAll(filepath.Dir(rec.file), 0o700); err != nil {
		return err
	}
	return rec.AddUnsent(Owner{s.Tool, s.ID, s.Parent}, spool.Open(temp, s.Tool, s.ID).Touched(false)[root])
}
