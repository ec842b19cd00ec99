// Package record is what a service was last told of a working copy: which
// files differed from its base, and in which state; who wrote those whose events
// did not get through; what the working copy looked like when there was nothing
// to tell. It lies with the configuration and outlives hosts, sessions and
// restarts. It asks no git and no service: the hook does, and says what was told.
package record

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/plain"
)

// A Record is of one working copy, for one service.
type Record struct {
	file  string           // "" where nothing can be kept
	Base  string           // what the files were compared with
	Files map[string]State // of those that differed from base, by path
	lines int              // that the file has
	seen  []string         // what Unsent has read
}

// A State of a file is its stamp, and the mark of the session that told it.
type State struct{ Stamp, By string }

// In returns the file of a working copy's record for a server.
func In(config, server, root string) string {
	if config == "" {
		return ""
	}
	return filepath.Join(config, "trees", spool.Hash(server, root)[:32])
}

// Read reads a record as it is now: others write it too.
func Read(file string) *Record {
	rec := &Record{file: file, Files: map[string]State{}}
	if rec.file == "" {
		return rec
	}
	data, err := plain.ReadHere(rec.file, plain.Record)
	if err != nil {
		return rec
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		path, rest, ok := strings.Cut(line, "\t")
		switch {
		case rec.lines == 0:
			rec.Base = line
		case ok:
			stamp, by, _ := strings.Cut(rest, "\t")
			rec.Files[path] = State{stamp, by}
		default:
			delete(rec.Files, path)
		}
		rec.lines++
	}
	return rec
}

// Again reads the record anew. What it has said is unsent still is what it said.
func (rec *Record) Again() *Record {
	now := Read(rec.file)
	now.seen = rec.seen
	return now
}

// File is where it lies; "" where it cannot be kept.
func (rec *Record) File() string { return rec.file }

// Save keeps the record, all at once.
func (rec *Record) Save() {
	if rec.file == "" || os.MkdirAll(filepath.Dir(rec.file), 0o700) != nil {
		return
	}
	var b strings.Builder
	b.WriteString(rec.Base + "\n")
	for path, s := range rec.Files {
		b.WriteString(s.line(path))
	}
	_ = spool.Replace(rec.file, []byte(b.String()))
}

// line is a file's line of a record; a later line of the same file takes its
// place, and one that has the path alone takes it out.
func (s State) line(path string) string {
	if strings.ContainsAny(path, "\t\n") {
		return ""
	}
	return path + "\t" + s.Stamp + "\t" + s.By + "\n"
}

// slack is how many lines of a record may have been taken over by later ones.
const slack = 100

// Change keeps what became of files. To add a line costs a fifth of what a new
// file does, and takes nothing from others that add theirs.
func (rec *Record) Change(now map[string]State) {
	var b strings.Builder
	n := rec.lines
	for path, s := range now {
		if was, known := rec.Files[path]; !known || was != s {
			b.WriteString(s.line(path))
			n++
		}
	}
	for path := range rec.Files {
		if _, stays := now[path]; !stays {
			b.WriteString(path + "\n")
			n++
		}
	}
	rec.Files = now
	if b.Len() == 0 {
		return
	}
	if rec.lines == 0 || n > 2*len(now)+slack || rec.add(b.String()) != nil {
		rec.Save()
	}
}

func (rec *Record) add(lines string) error {
	f, err := plain.Handle(rec.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines)
	return errors.Join(err, f.Close())
}

// Stamp tells one state of a file from another.
func Stamp(root, path string) string {
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return "gone"
	}
	return strconv.FormatInt(plain.ChangedAt(info).UnixNano(), 36) + "." + strconv.FormatInt(info.Size(), 36) + "." + info.Mode().String()
}
