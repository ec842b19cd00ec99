package hook

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Asking git what differs costs a process each turn, and in most turns nothing
// has changed since the last one. So when a comparison found nothing to tell,
// what the working copy looked like is kept: names, times and sizes of all that
// git does not ignore. As long as it looks the same, git is not asked.

// maxCalm is how many files are looked at: of more, git is the quicker.
const maxCalm = 20_000

// settling is how long before git was asked a file must have changed last: times
// are coarse, and what changed since must show.
const settling = 50 * time.Millisecond

// A calm is a working copy's look. ignored are the folders left out.
type calm struct {
	look    string
	ignored map[string]bool
}

func (rec *record) calmFile() string { return rec.file + ".calm" }

// isCalm reports whether a working copy looks as it did when there was nothing
// to tell.
func (r *runner) isCalm(at *place, rec *record) bool {
	f, err := os.Open(rec.calmFile())
	if err != nil {
		return false
	}
	defer f.Close()
	c := calm{ignored: map[string]bool{}}
	lines := bufio.NewScanner(f)
	for first := true; lines.Scan(); first = false {
		if first {
			c.look = lines.Text()
		} else {
			c.ignored[lines.Text()] = true
		}
	}
	look, ok := r.look(at, rec, c.ignored, time.Time{})
	return ok && look == c.look
}

// keepCalm keeps the look of a working copy of which there was nothing to tell
// when git was asked.
func (r *runner) keepCalm(at *place, rec *record, ignored []string, asked time.Time) {
	known := map[string]bool{}
	for _, dir := range ignored {
		if strings.Contains(dir, "\n") {
			return
		}
		known[dir] = true
	}
	look, ok := r.look(at, rec, known, asked)
	if !ok || os.MkdirAll(filepath.Dir(rec.calmFile()), 0o700) != nil {
		return
	}
	_ = replaceFile(rec.calmFile(), []byte(look+"\n"+strings.Join(ignored, "\n")+"\n"))
}

// look describes all of a working copy that matters to what differs. It is
// false where there is too much of it, or where something has changed since
// asked, if that is given.
func (r *runner) look(at *place, rec *record, ignored map[string]bool, asked time.Time) (string, bool) {
	h := sha256.New()
	head, def := at.Head(), at.DefaultBranch()
	fmt.Fprintln(h, head.SHA, head.Branch, at.Ref("refs/remotes/origin/"+def), rec.base, len(rec.files))
	stamp := func(w io.Writer, name string, info fs.FileInfo) bool {
		fmt.Fprintln(w, name, info.Mode(), info.Size(), changedAt(info).UnixNano(), info.ModTime().UnixNano())
		return asked.IsZero() || asked.Sub(changedAt(info)) > settling
	}
	for _, name := range []string{filepath.Join(at.GitDir, "index"), filepath.Join(at.CommonDir, "config"),
		filepath.Join(at.CommonDir, "info", "exclude"), rec.file} {
		if info, err := os.Lstat(name); err == nil && !stamp(h, name, info) {
			return "", false
		}
	}
	n, ok := 0, true
	err := filepath.WalkDir(at.Root, func(path string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(at.Root, path)
		if n++; err != nil || relErr != nil || n > maxCalm {
			ok = false
			return filepath.SkipAll
		}
		if e.IsDir() && rel != "." {
			if e.Name() == ".git" || ignored[filepath.ToSlash(rel)] {
				return filepath.SkipDir
			}
		}
		if rel == ".git" {
			return nil
		}
		info, err := e.Info()
		if err != nil || !stamp(h, rel, info) {
			ok = false
			return filepath.SkipAll
		}
		if _, err := os.Lstat(filepath.Join(path, ".git")); e.IsDir() && rel != "." && err == nil {
			return filepath.SkipDir // another repository
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), ok && err == nil
}
