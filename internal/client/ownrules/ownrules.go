// Package ownrules finds the rules that people wrote for their own framework: in
// the user's configuration, and in a repository that they trust. It must not say
// what a rule means: rules and extract know that.
package ownrules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/rules"
)

// Folder is where a repository keeps its rules.
const Folder = ".svc/rules"

const maxFile = 256 << 10

// Found are the rules of a working copy.
type Found struct {
	Set       *rules.Set // nil for svc's rules alone
	Untrusted int        // files of the repository that do not count: the clone is not trusted
}

// Of reads the rules of the working copy at root: the repository's if the clone
// is trusted, or if any may count, then the user's.
func Of(root string, getenv func(string) string, any bool) (Found, error) {
	var out Found
	own, err := read(filepath.Join(root, filepath.FromSlash(Folder)), Folder)
	if err != nil {
		return out, err
	}
	if len(own) > 0 && !any {
		if repo, ok := gitrepo.Find(root); !ok || !Trusts(repo, getenv) {
			out.Untrusted, own = len(own), nil
		}
	}
	if store, err := login.Locate(getenv); err == nil {
		dir := filepath.Join(store.Dir, "rules")
		users, err := read(dir, filepath.ToSlash(dir))
		if err != nil {
			return out, err
		}
		own = append(own, users...)
	}
	out.Set, err = rules.Own(own...)
	return out, err
}

// read reads the rules files of a folder, by language. A folder that is not
// there has none.
func read(dir, name string) (out []rules.Source, err error) {
	langs, err := list(dir)
	if err != nil {
		return nil, err
	}
	for _, lang := range langs {
		files, err := list(filepath.Join(dir, lang.Name()))
		if !lang.IsDir() || err != nil {
			continue
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".rules") {
				continue
			}
			at := path.Join(name, lang.Name(), f.Name())
			text, err := plain.ReadHere(filepath.Join(dir, lang.Name(), f.Name()), maxFile)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
			out = append(out, rules.Source{Name: at, Lang: lang.Name(), Text: text})
		}
	}
	return out, nil
}

func list(dir string) ([]fs.DirEntry, error) {
	entries, err := plain.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// TrustFile marks a clone as trusted. It lies with the user's configuration,
// where no repository can write.
func TrustFile(repo *gitrepo.Repo, getenv func(string) string) (string, error) {
	store, err := login.Locate(getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(store.Dir, "trusted", CloneName(repo)), nil
}

// Trusts tells whether the person said that a clone is trusted.
func Trusts(repo *gitrepo.Repo, getenv func(string) string) bool {
	file, err := TrustFile(repo, getenv)
	if err != nil {
		return false
	}
	_, err = os.Lstat(file)
	return err == nil
}

// CloneName names a clone.
func CloneName(repo *gitrepo.Repo) string {
	sum := sha256.Sum256([]byte(repo.CommonDir))
	return hex.EncodeToString(sum[:16])
}
