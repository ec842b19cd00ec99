package lines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/coord"
)

// The default branch moves files while people work on them. Who started after
// the move tells under which names a file went before, so that who started
// before it is met. Git is asked once for each file that was not there a year
// ago, and what it said is kept: what a file was called does not change.

const (
	maxAsked     = 10         // files of one report that git is asked about
	maxKept      = 4 << 20    // bytes of what is kept
	yearHolds    = 30 * 86400 // seconds until the commit of a year ago is looked up again
	formerBudget = 400 * time.Millisecond
)

// A pedigree is what is known of the former names of a repository's files.
type pedigree struct {
	Year  string              `json:"year"` // the commit of a year ago, or "" where history is younger
	At    int64               `json:"at"`   // when that was looked up
	Names map[string][]string `json:"names"`
}

// Former adds to the facts about files what the default branch called them
// before base. What git does not say in time is asked for another time. It keeps
// what git said in folder.
func Former(ctx context.Context, repo *gitrepo.Repo, base, folder string, a *coord.Analysis) {
	paths := moved(a)
	if len(paths) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(formerBudget))
	defer cancel()
	sum := sha256.Sum256([]byte(repo.CommonDir))
	file := filepath.Join(folder, hex.EncodeToString(sum[:12])+".json")
	p := pedigree{}
	if data, err := plain.Read(file, maxKept); err == nil && json.Unmarshal(data, &p) != nil {
		p = pedigree{}
	}
	if p.look(ctx, repo, base, paths, time.Now().Unix()) && os.MkdirAll(folder, 0o700) == nil {
		if data, err := json.Marshal(&p); err == nil {
			_ = plain.Write(file, data) // if not, or if it grew beyond what is read, all is asked for again
		}
	}
	p.tell(a)
}

// FormerNow does so for a version of a repository's history, and keeps nothing.
func FormerNow(ctx context.Context, repo *gitrepo.Repo, base string, a *coord.Analysis) {
	if paths := moved(a); len(paths) > 0 {
		p := pedigree{}
		p.look(ctx, repo, base, paths, 1)
		p.tell(a)
	}
}

// moved are the names in the base of files that may have had others.
func moved(a *coord.Analysis) (out []string) {
	if a == nil {
		return nil
	}
	for i := range a.Files {
		if path := inBase(&a.Files[i]); path != "" {
			out = append(out, path)
		}
	}
	return out
}

func inBase(f *coord.FileFacts) string {
	switch {
	case f.Status == coord.FileAdded || f.Status == coord.FileUnchanged:
		return ""
	case f.OldPath != nil:
		return *f.OldPath
	}
	return f.Path
}

// look asks git for what is not known yet, and reports whether it said anything.
func (p *pedigree) look(ctx context.Context, repo *gitrepo.Repo, base string, paths []string, now int64) (learnt bool) {
	if p.Names == nil || now-p.At > yearHolds {
		year, err := repo.YearBefore(ctx, base)
		if err != nil {
			return false
		}
		p.Year, p.At, learnt = year, now, true
		if p.Names == nil {
			p.Names = map[string][]string{}
		}
	}
	if p.Year != "" {
		paths = repo.Absent(p.Year, paths)
	}
	asked := 0
	for _, path := range paths {
		if _, known := p.Names[path]; known || asked == maxAsked || ctx.Err() != nil {
			continue
		}
		asked++
		names, err := repo.Former(ctx, base, path)
		if err != nil {
			return learnt
		}
		p.Names[path], learnt = names, true
	}
	return learnt
}

func (p *pedigree) tell(a *coord.Analysis) {
	for i := range a.Files {
		for _, name := range p.Names[inBase(&a.Files[i])] {
			if len(name) <= MaxPath && strings.IndexFunc(name, unicode.IsControl) < 0 && utf8.ValidString(name) {
				a.Files[i].Former = append(a.Files[i].Former, name)
			}
		}
	}
}
