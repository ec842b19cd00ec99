package githost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

var fileStatuses = map[string]coord.FileStatus{
	"added":    coord.FileAdded,
	"removed":  coord.FileDeleted,
	"modified": coord.FileModified,
	"changed":  coord.FileModified,
	"renamed":  coord.FileRenamed,
}

// Changed looks at no more than the 300 files that GitHub compares.
func (h onGitHub) Changed(ctx context.Context, repo, before, after string, paths []string) (out []coord.FileFacts, err error) {
	diff, err := h.compare(ctx, repo, before, after, "1")
	if err != nil {
		return nil, err
	}
	for _, f := range diff.Files {
		facts, ok := f.facts()
		if !ok || !slices.Contains(paths, f.Filename) && !slices.Contains(paths, f.Previous) {
			continue
		}
		if facts, err = h.based(ctx, repo, facts, before); err != nil {
			return nil, err
		}
		out = append(out, facts)
	}
	return out, nil
}

// based adds which version of a file its lines are counted in.
func (h onGitHub) based(ctx context.Context, repo string, f coord.FileFacts, at string) (_ coord.FileFacts, err error) {
	if f.Status != coord.FileAdded {
		f.BaseBlob, err = h.blob(ctx, repo, basePath(f), at)
	}
	return f, err
}

func basePath(f coord.FileFacts) string {
	if f.OldPath != nil {
		return *f.OldPath
	}
	return f.Path
}

// blob returns the id of a file's content at a commit, nil if there is none. Of
// a folder GitHub tells the list.
func (h onGitHub) blob(ctx context.Context, repo, path, at string) (*string, error) {
	var there json.RawMessage
	_, err := h.call(ctx, h.access, http.MethodGet, repoPath(repo)+"/contents/"+escaped(path), url.Values{"ref": {at}}, nil, &there)
	if missing(err) {
		return nil, nil
	}
	var file struct{ SHA string }
	if err != nil || json.Unmarshal(there, &file) != nil || file.SHA == "" {
		return nil, err
	}
	return &file.SHA, nil
}

// A changed is a file of GitHub's comparison.
type changed struct {
	Filename string
	Previous string `json:"previous_filename"`
	Status   string
	Patch    string
	SHA      *string
}

func (f changed) facts() (coord.FileFacts, bool) {
	status, ok := fileStatuses[f.Status]
	facts := changedFile(f.Filename, status, f.Patch)
	if status == coord.FileRenamed && f.Previous != "" {
		facts.OldPath = &f.Previous
	}
	if status != coord.FileDeleted {
		facts.NewBlob = f.SHA
	}
	return facts, ok
}

// changedFile is what a patch tells of a file.
func changedFile(path string, status coord.FileStatus, patch string) coord.FileFacts {
	return coord.FileFacts{
		Path:       path,
		Status:     status,
		Hunks:      hunksOf(patch),
		Symbols:    []coord.SymbolFacts{},
		Contracts:  []coord.ContractFacts{},
		References: []coord.Reference{},
	}
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@`)

// hunksOf returns the ranges of the old file that a patch replaces, without
// the context around them.
func hunksOf(patch string) []coord.Hunk {
	r := hunkReader{out: []coord.Hunk{}}
	for line := range strings.SplitSeq(patch, "\n") {
		if m := hunkHead.FindStringSubmatch(line); m != nil {
			r.end()
			r.at, _ = strconv.Atoi(m[1])
			if m[2] == "0" {
				r.at++ // an insertion comes after the line it names
			}
		} else if r.at > 0 && line != "" {
			r.line(line)
		}
	}
	r.end()
	return r.out
}

// A hunkReader gathers the ranges of a patch.
type hunkReader struct {
	at    int  // line of the old file; 0 before the first hunk
	open  bool // the last of out goes on
	inNew bool // the last line was a new one
	fresh strings.Builder
	out   []coord.Hunk
}

func (r *hunkReader) line(line string) {
	switch line[0] {
	case '-':
		r.begin()
		r.out[len(r.out)-1].Count++
		r.at++
	case '+':
		r.begin()
		r.fresh.WriteString(line[1:] + "\n")
	case '\\':
		if r.inNew {
			r.fresh.WriteByte(0) // no newline at the end of the file
		}
	default:
		r.end()
		r.at++
	}
	r.inNew = line[0] == '+'
}

func (r *hunkReader) begin() {
	if !r.open {
		r.open = true
		r.out = append(r.out, coord.Hunk{Start: r.at})
	}
}

func (r *hunkReader) end() {
	if r.open {
		sum := sha256.Sum256([]byte(r.fresh.String())) // as the client hashes new lines
		r.out[len(r.out)-1].LinesHash = hex.EncodeToString(sum[:16])
	}
	r.open = false
	r.fresh.Reset()
}
