package references

import (
	"path"
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Files that stand for their folder mostly hand on what others define.

// hands holds, by language, how such a file is called and how it names what it
// hands on.
var hands = map[string]handing{
	"python":     {"__init__.py", lazy.Regexp(`(?m)^\s*from\s+(\.\S*)\s+import\s+(\([^)]*\)|[^\n(#]+)`), 1, 2},
	"typescript": ecmaHands,
	"javascript": ecmaHands,
}

type handing struct {
	base         string
	lists        func() *regexp.Regexp
	module, list int // groups of it
}

var ecmaHands = handing{"index", lazy.Regexp(`export\s+(?:type\s+)?\{([^}]*)\}\s*from\s*["']([^"']+)["']`), 2, 1}

// maxHands bounds how many files hand one name on.
const maxHands = 4

// origin follows a name through the files that hand it on, to where it comes
// from.
func (r *Repo) origin(lang, file, name string) (string, string) {
	how, ok := hands[lang]
	for range maxHands {
		if base := path.Base(file); !ok || base != how.base && strings.TrimSuffix(base, path.Ext(base)) != how.base {
			break
		}
		next, as := r.handedBy(lang, file, name)
		if next == "" || next == file {
			break
		}
		file, name = next, as
	}
	return file, name
}

// handedBy finds where a file has a name from, and how it is called there.
func (r *Repo) handedBy(lang, file, name string) (string, string) {
	how := hands[lang]
	for _, m := range how.lists().FindAllSubmatch(r.text(file), -1) {
		if !outline.Mentions(m[how.list], name) {
			continue
		}
		for part := range strings.SplitSeq(strings.Trim(string(m[how.list]), "() \t\r\n"), ",") {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(part), "type "))
			if len(words) == 0 || words[len(words)-1] != name || words[0] == "default" {
				continue
			}
			at, _ := r.locate(&outline.File{Lang: lang, Path: file}, use{module: string(m[how.module]), name: words[0]})
			return at, words[0]
		}
	}
	return "", ""
}
