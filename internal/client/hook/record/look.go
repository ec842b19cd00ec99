package record

import (
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
	"github.com/svc-hq/svc/internal/client/plain"
)

// Asking git what differs costs a process each turn, and in most turns nothing
// has changed since the last one. So when a comparison found nothing to tell, it
// is kept up to where the resident process on this machine has heard of changes:
// then only what it has heard of since is compared. Where there is none, what the
// working copy looked like is kept: names, times and sizes of all that git does
// not ignore. As long as it looks the same, git is not asked.

// maxLooked is how many files are looked at: of more, git is the quicker.
const maxLooked = 20_000

// settling is how long before git was asked a file must have changed last: times
// are coarse, and what changed since must show.
const settling = 50 * time.Millisecond

func (rec *Record) lookFile() string { return rec.file + ".calm" }

// A Calm is what was kept of a working copy when there was nothing to tell of it.
type Calm struct {
	Look    string   // of all its files; empty where nobody looked at them
	Frame   string   // of what is compared with what
	Token   string   // of who watches it: what changed since, they know
	Ignored []string // folders that git leaves out
}

// Calm returns what was last kept.
func (rec *Record) Calm() (c Calm) {
	data, err := plain.ReadHere(rec.lookFile(), plain.Record)
	if err != nil {
		return Calm{}
	}
	head, rest, _ := strings.Cut(string(data), "\n")
	if parts := strings.Split(head, "\t"); len(parts) == 3 {
		c.Look, c.Frame, c.Token = parts[0], parts[1], parts[2]
	}
	for line := range strings.Lines(rest) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			c.Ignored = append(c.Ignored, line)
		}
	}
	return c
}

// Unchanged reports whether a working copy looks as it did then.
func (rec *Record) Unchanged(repo *gitrepo.Repo, c Calm) bool {
	if c.Look == "" {
		return false
	}
	now, ok := rec.look(repo, setOf(c.Ignored), time.Time{})
	return ok && now == c.Look
}

func setOf(all []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		out[s] = true
	}
	return out
}

// Keep keeps what a working copy was like of which there was nothing to tell when
// git was asked. Where somebody watches it, its files need not be looked at.
func (rec *Record) Keep(repo *gitrepo.Repo, c Calm, asked time.Time) {
	if strings.Contains(strings.Join(c.Ignored, ""), "\n") || strings.ContainsAny(c.Token, "\t\n") {
		return
	}
	if c.Look = ""; c.Token == "" {
		var ok bool
		if c.Look, ok = rec.look(repo, setOf(c.Ignored), asked); !ok {
			return
		}
	}
	if os.MkdirAll(filepath.Dir(rec.lookFile()), 0o700) == nil {
		head := strings.Join([]string{c.Look, c.Frame, c.Token}, "\t")
		_ = spool.Replace(rec.lookFile(), []byte(head+"\n"+strings.Join(c.Ignored, "\n")+"\n"))
	}
}

// Frame describes what the files of a working copy are compared with, and which
// count: as long as it is the same, only files that changed can differ newly. It
// is false where something of it has just changed.
func Frame(repo *gitrepo.Repo) (string, bool) {
	h := sha256.New()
	ok := frame(h, repo, time.Now())
	return hex.EncodeToString(h.Sum(nil)), ok
}

func frame(h io.Writer, repo *gitrepo.Repo, asked time.Time) bool {
	head, def := repo.Head(), repo.DefaultBranch()
	fmt.Fprintln(h, head.SHA, head.Branch, repo.Ref("refs/remotes/origin/"+def))
	for _, name := range []string{repo.IndexFile(), filepath.Join(repo.CommonDir, "config"),
		filepath.Join(repo.CommonDir, "info", "exclude")} {
		if info, err := os.Lstat(name); err == nil && !stamp(h, name, info, asked) {
			return false
		}
	}
	return true
}

// stamp writes the state of a file. It reports whether that is older than what
// was asked, if that is given.
func stamp(w io.Writer, name string, info fs.FileInfo, asked time.Time) bool {
	fmt.Fprintln(w, name, info.Mode(), info.Size(), plain.ChangedAt(info).UnixNano(), info.ModTime().UnixNano())
	return asked.IsZero() || asked.Sub(plain.ChangedAt(info)) > settling
}

// look describes all of a working copy that matters to what differs. It is
// false where there is too much of it, or where something has changed since
// asked, if that is given.
func (rec *Record) look(repo *gitrepo.Repo, ignored map[string]bool, asked time.Time) (string, bool) {
	h := sha256.New()
	fmt.Fprintln(h, rec.Base, len(rec.Files))
	if !frame(h, repo, asked) {
		return "", false
	}
	if info, err := os.Lstat(rec.file); err == nil && !stamp(h, rec.file, info, asked) {
		return "", false
	}
	n, ok := 0, true
	err := filepath.WalkDir(repo.Root, func(path string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(repo.Root, path)
		if n++; err != nil || relErr != nil || n > maxLooked {
			ok = false
			return filepath.SkipAll
		}
		if e.IsDir() && rel != "." {
			if gitrepo.Keeps(e.Name()) || ignored[filepath.ToSlash(rel)] {
				return filepath.SkipDir
			}
		}
		if rel == ".git" {
			return nil
		}
		info, err := e.Info()
		if err != nil || !stamp(h, rel, info, asked) {
			ok = false
			return filepath.SkipAll
		}
		if e.IsDir() && rel != "." && gitrepo.Is(path) {
			return filepath.SkipDir // another repository
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), ok && err == nil
}
