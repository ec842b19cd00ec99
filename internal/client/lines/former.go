package lines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
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
	maxKept      = 4 << 20    // bytes of what is kept
	yearHolds    = 30 * 86400 // seconds until the commit of a year ago is looked up again
	lateHolds    = 3600       // seconds until what took too long is asked for again
	formerBudget = 150 * time.Millisecond
)

// A pedigree is what is known of the former names of a repository's files.
type pedigree struct {
	Year  string // the commit of a year ago, or "" where history is younger
	At    int64  // when that was looked up
	Names map[string][]string
	Late  map[string]int64 // files for which git took too long, and when
}

// Former adds to the facts about files what the default branch called them
// before base, and keeps in folder what git said. It returns the files for which
// git takes longer than an agent may wait: LookBack asks for them.
func Former(ctx context.Context, repo *gitrepo.Repo, base, folder string, a *coord.Analysis) (late []string) {
	paths := moved(a)
	if len(paths) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(formerBudget))
	defer cancel()
	p := readPedigree(repo, folder)
	now := time.Now().Unix()
	learnt, left := p.look(ctx, repo, base, paths, now)
	for _, path := range left {
		if now-p.Late[path] > lateHolds {
			if p.Late == nil {
				p.Late = map[string]int64{}
			}
			p.Late[path] = now
			late, learnt = append(late, path), true
		}
	}
	if learnt {
		p.keep(repo, folder)
	}
	p.tell(a)
	return late
}

// LookBack asks git for the former names of files, however long that takes, for
// the next time that facts about them are told.
func LookBack(ctx context.Context, repo *gitrepo.Repo, base, folder string, paths []string) {
	found := pedigree{}
	found.look(ctx, repo, base, paths, time.Now().Unix())
	p := readPedigree(repo, folder) // as it is by now
	if p.Names == nil {
		p.Names, p.Year, p.At = map[string][]string{}, found.Year, found.At
	}
	for path, names := range found.Names {
		p.Names[path] = names
		delete(p.Late, path)
	}
	p.keep(repo, folder)
}

func pedigreeFile(repo *gitrepo.Repo, folder string) string {
	sum := sha256.Sum256([]byte(repo.CommonDir))
	return filepath.Join(folder, hex.EncodeToString(sum[:12]))
}

func readPedigree(repo *gitrepo.Repo, folder string) pedigree {
	data, err := plain.Read(pedigreeFile(repo, folder), maxKept)
	if err != nil {
		return pedigree{}
	}
	return parsePedigree(string(data))
}

// keep writes down what is known. If that fails, or has grown beyond what is
// read, all is asked for again.
func (p *pedigree) keep(repo *gitrepo.Repo, folder string) {
	if os.MkdirAll(folder, 0o700) == nil {
		_ = plain.Write(pedigreeFile(repo, folder), p.text())
	}
}

// text is a pedigree in lines of words with tabs between them. encoding/json
// takes longer to learn what a pedigree is than to read one.
func (p *pedigree) text() (b []byte) {
	line := func(words ...string) {
		for i, w := range words {
			if i > 0 {
				b = append(b, '\t')
			}
			if strings.HasPrefix(w, `"`) || strings.IndexFunc(w, unicode.IsControl) >= 0 || !utf8.ValidString(w) {
				w = strconv.Quote(w)
			}
			b = append(b, w...)
		}
		b = append(b, '\n')
	}
	if p.Names != nil {
		line("year", p.Year, strconv.FormatInt(p.At, 10))
	}
	for path, names := range p.Names {
		line(append([]string{"was", path}, names...)...)
	}
	for path, when := range p.Late {
		line("late", path, strconv.FormatInt(when, 10))
	}
	line("end")
	return b
}

// parsePedigree reads one; what is cut short or damaged is none.
func parsePedigree(text string) (p pedigree) {
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		words := strings.Split(line, "\t")
		var bad error
		for i, w := range words {
			if strings.HasPrefix(w, `"`) && bad == nil {
				words[i], bad = strconv.Unquote(w)
			}
		}
		number := func() (n int64) {
			if bad == nil {
				n, bad = strconv.ParseInt(words[2], 10, 64)
			}
			return n
		}
		switch {
		case words[0] == "year" && len(words) == 3 && p.Names == nil:
			p.Year, p.At, p.Names = words[1], number(), map[string][]string{}
		case words[0] == "was" && len(words) > 1 && p.Names != nil:
			p.Names[words[1]] = words[2:]
		case words[0] == "late" && len(words) == 3:
			if p.Late == nil {
				p.Late = map[string]int64{}
			}
			p.Late[words[1]] = number()
		case line == "end" && text == "":
			return p
		default:
			return pedigree{}
		}
		if bad != nil {
			return pedigree{}
		}
	}
	return pedigree{}
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

// look asks git for what is not known yet. It reports whether git said anything,
// and which files it did not come to.
func (p *pedigree) look(ctx context.Context, repo *gitrepo.Repo, base string, paths []string, now int64) (learnt bool, left []string) {
	if p.Names == nil || now-p.At > yearHolds {
		year, err := repo.YearBefore(ctx, base)
		if err != nil {
			return false, paths
		}
		p.Year, p.At, learnt = year, now, true
		if p.Names == nil {
			p.Names = map[string][]string{}
		}
	}
	if p.Year != "" {
		paths = repo.Absent(p.Year, paths)
	}
	for _, path := range paths {
		if _, known := p.Names[path]; known {
			continue
		}
		if _, before := p.Late[path]; before || ctx.Err() != nil {
			left = append(left, path)
			continue
		}
		names, err := repo.Former(ctx, base, path)
		if err != nil {
			left = append(left, path)
			continue
		}
		p.Names[path], learnt = names, true
	}
	return learnt, left
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
