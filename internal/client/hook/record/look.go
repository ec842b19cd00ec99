package record

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

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
)

// Asking git what differs costs a process each turn, and in most turns nothing
// has changed since the last one. So when a comparison found nothing to tell,
// what the working copy looked like is kept: names, times and sizes of all that
// git does not ignore. As long as it looks the same, git is not asked.

// maxLooked is how many files are looked at: of more, git is the quicker.
const maxLooked = 20_000

// settling is how long before git was asked a file must have changed last: times
// are coarse, and what changed since must show.
const settling = 50 * time.Millisecond

func (rec *Record) lookFile() string { return rec.file + ".calm" }

// Unchanged reports whether a working copy looks as it did when there was
// nothing to tell.
func (rec *Record) Unchanged(repo *gitrepo.Repo) bool {
	f, err := os.Open(rec.lookFile())
	if err != nil {
		return false
	}
	defer f.Close()
	was, ignored := "", map[string]bool{} // the folders left out
	lines := bufio.NewScanner(f)
	for first := true; lines.Scan(); first = false {
		if first {
			was = lines.Text()
		} else {
			ignored[lines.Text()] = true
		}
	}
	now, ok := rec.look(repo, ignored, time.Time{})
	return ok && now == was
}

// KeepLook keeps the look of a working copy of which there was nothing to tell
// when git was asked.
func (rec *Record) KeepLook(repo *gitrepo.Repo, ignored []string, asked time.Time) {
	known := map[string]bool{}
	for _, dir := range ignored {
		if strings.Contains(dir, "\n") {
			return
		}
		known[dir] = true
	}
	look, ok := rec.look(repo, known, asked)
	if !ok || os.MkdirAll(filepath.Dir(rec.lookFile()), 0o700) != nil {
		return
	}
	_ = spool.Replace(rec.lookFile(), []byte(look+"\n"+strings.Join(ignored, "\n")+"\n"))
}

// look describes all of a working copy that matters to what differs. It is
// false where there is too much of it, or where something has changed since
// asked, if that is given.
func (rec *Record) look(repo *gitrepo.Repo, ignored map[string]bool, asked time.Time) (string, bool) {
	h := sha256.New()
	head, def := repo.Head(), repo.DefaultBranch()
	fmt.Fprintln(h, head.SHA, head.Branch, repo.Ref("refs/remotes/origin/"+def), rec.Base, len(rec.Files))
	stamp := func(w io.Writer, name string, info fs.FileInfo) bool {
		fmt.Fprintln(w, name, info.Mode(), info.Size(), ChangedAt(info).UnixNano(), info.ModTime().UnixNano())
		return asked.IsZero() || asked.Sub(ChangedAt(info)) > settling
	}
	for _, name := range []string{filepath.Join(repo.GitDir, "index"), filepath.Join(repo.CommonDir, "config"),
		filepath.Join(repo.CommonDir, "info", "exclude"), rec.file} {
		if info, err := os.Lstat(name); err == nil && !stamp(h, name, info) {
			return "", false
		}
	}
	n, ok := 0, true
	err := filepath.WalkDir(repo.Root, func(path string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(repo.Root, path)
		if n++; err != nil || relErr != nil || n > maxLooked {
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
