package gitrepo

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// attributes tell whether git would look at a file's bytes in another way than
// as they are.
type attributes struct {
	root  string
	info  string // what .git/info/attributes says
	files map[string]string
}

// harmlessAttributes change neither the bytes that git compares, in a file
// without carriage returns, nor whether it finds lines in them. Filters are
// off for us, always.
var harmlessAttributes = lazy.Words(`text crlf eol whitespace filter merge export-ignore export-subst delta
	conflict-marker-size encoding`)

// plain reports whether git compares a file's content byte by byte.
func (a *attributes) plain(p string, content []byte) bool {
	return bytes.IndexByte(content, '\r') < 0 && a.harmless(p) // otherwise line ends may be converted
}

// harmless reports whether git compares a file's bytes but for its line ends.
func (a *attributes) harmless(p string) bool {
	if !a.allow(a.info, p) {
		return false
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if !a.allow(a.file(dir), p) {
			return false
		}
		if dir == "." {
			return true
		}
	}
}

// file returns the attributes that a folder sets.
func (a *attributes) file(dir string) string {
	if text, ok := a.files[dir]; ok {
		return text
	}
	if a.files == nil {
		a.files = map[string]string{}
	}
	data, _ := plain.ReadHere(filepath.Join(a.root, filepath.FromSlash(dir), ".gitattributes"), odb.MaxText)
	a.files[dir] = string(data)
	return string(data)
}

// allow reports whether no line that may be about p says anything that matters.
func (a *attributes) allow(text, p string) bool {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0][0] == '#' {
			continue
		}
		if words[0] == "[attr]binary" || strings.HasPrefix(words[0], "[attr]") || strings.HasPrefix(words[0], `"`) {
			return false
		}
		if cannotMatch(words[0], p) {
			continue
		}
		for _, w := range words[1:] {
			name, _, _ := strings.Cut(strings.TrimLeft(w, "-!"), "=")
			if !harmlessAttributes.Has(name) && !strings.HasPrefix(name, "linguist-") && !strings.HasPrefix(name, "gitlab-") {
				return false
			}
		}
	}
	return true
}

// cannotMatch reports whether a pattern is surely about other files: most are
// *.png and the like.
func cannotMatch(pattern, p string) bool {
	ext, ok := strings.CutPrefix(path.Base(pattern), "*")
	return ok && !strings.ContainsAny(ext, "*?[\\") && !strings.HasSuffix(strings.ToLower(p), strings.ToLower(ext))
}
