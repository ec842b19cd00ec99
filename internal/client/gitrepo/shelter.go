package gitrepo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo/jj"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A shelter is a git folder of our own that stands in for a working copy's.
// Git runs programs that a working copy's configuration names: monitors of
// its files, filters, hooks, drivers, fetchers. So git is never shown that
// configuration, but one that holds nothing except what the content of files
// depends on. Objects and index stay where they are. What the user's own
// configuration says counts as always, except for filters.
type shelter struct {
	dir  string
	head string
}

var (
	shelterMu sync.Mutex
	shelters  = map[string]*shelter{} // by git folder, for this process
)

// wanted are the settings of a working copy that decide what is in its files.
var wanted = lazy.Words(`core.autocrlf core.eol core.filemode core.symlinks core.ignorecase core.precomposeunicode
	core.sparsecheckout core.sparsecheckoutcone index.sparse extensions.objectformat core.repositoryformatversion
	core.bigfilethreshold`)

const (
	shelterAge = 7 * 24 * time.Hour
	pruneEvery = 24 * time.Hour
)

// sheltered returns the variables that make git use r from its shelter.
func (r *Repo) sheltered() ([]string, error) {
	index, err := r.index()
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(index); err == nil && (!info.Mode().IsRegular() || info.Size() > odb.MaxIndex) {
		return nil, fmt.Errorf("%s: %w", index, plain.ErrNotPlain)
	}
	s, err := r.shelter()
	if err != nil {
		return nil, err
	}
	env := []string{"GIT_DIR=" + s.dir, "GIT_INDEX_FILE=" + index, "GIT_OBJECT_DIRECTORY=" + filepath.Join(r.CommonDir, "objects")}
	if r.Root != "" && r.Root != r.GitDir {
		env = append(env, "GIT_WORK_TREE="+r.Root)
	}
	shallow := filepath.Join(r.CommonDir, "shallow")
	if info, err := os.Lstat(shallow); err == nil && info.Mode().IsRegular() {
		env = append(env, "GIT_SHALLOW_FILE="+shallow)
	}
	return env, nil
}

// shelter makes the stand-in, or brings it up to date.
func (r *Repo) shelter() (*shelter, error) {
	shelterMu.Lock()
	defer shelterMu.Unlock()
	s := shelters[r.GitDir]
	head := "ref: refs/heads/none\n"
	if h := r.Head(); h.SHA != "" {
		head = h.SHA + "\n"
	}
	if s != nil && s.head == head {
		return s, nil
	}
	if s == nil {
		base, err := shelterBase()
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(r.GitDir))
		s = &shelter{dir: filepath.Join(base, hex.EncodeToString(sum[:16]))}
		if err := r.furnish(s.dir); err != nil {
			return nil, err
		}
		shelters[r.GitDir] = s
	}
	if err := keepFile(filepath.Join(s.dir, "HEAD"), head); err != nil {
		return nil, err
	}
	s.head = head
	return s, nil
}

// shelterBase is the user's own folder for shelters: with a name that others
// can guess, but not a folder that others can write to.
func shelterBase() (string, error) {
	base := filepath.Join(os.TempDir(), fmt.Sprintf("svc-git-%d", os.Getuid()))
	err := os.Mkdir(base, 0o700)
	if err == nil {
		return base, nil
	}
	if info, statErr := os.Lstat(base); statErr == nil && Private(info) {
		pruneShelters(base)
		return base, nil
	}
	if errors.Is(err, fs.ErrExist) { // somebody else's
		return os.MkdirTemp("", "svc-git-")
	}
	return "", err
}

// pruneShelters removes those of working copies nobody has used for a week.
// It looks once a day, as the age of a file in base says: every hook of an
// agent comes by here, and where working copies come and go there are
// thousands of shelters.
func pruneShelters(base string) {
	stamp := filepath.Join(base, "pruned")
	if info, err := os.Lstat(stamp); err == nil && time.Since(info.ModTime()) < pruneEvery {
		return
	}
	list, err := plain.List(base)
	if err != nil {
		return
	}
	_ = os.Remove(stamp)
	if os.WriteFile(stamp, nil, 0o600) != nil {
		return
	}
	for _, e := range list {
		if !e.IsDir() {
			continue
		}
		dir := filepath.Join(base, e.Name())
		info, err := os.Lstat(filepath.Join(dir, "HEAD"))
		if err != nil { // another process may be about to furnish it
			info, err = os.Lstat(dir)
		}
		if err == nil && time.Since(info.ModTime()) > shelterAge {
			_ = os.RemoveAll(dir)
		}
	}
}

// furnish writes what git wants to find in a git folder.
func (r *Repo) furnish(dir string) error {
	for _, sub := range []string{"refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	var config strings.Builder
	for _, s := range r.settings() {
		if wanted.Has(s.name) && !strings.ContainsAny(s.value, "\n\"\\") {
			section, key, _ := strings.Cut(s.name, ".")
			fmt.Fprintf(&config, "[%s]\n\t%s = \"%s\"\n", section, key, s.value)
		}
	}
	files := map[string]string{
		"config":               config.String(),
		"info/exclude":         r.infoFile("exclude") + "\n/" + jj.Folder + "/\n",
		"info/sparse-checkout": r.infoFile("sparse-checkout"),
		// The last word on attributes: no filter for any file.
		"info/attributes": r.infoFile("attributes") + "\n* -filter\n",
	}
	for name, content := range files {
		if err := keepFile(filepath.Join(dir, filepath.FromSlash(name)), content); err != nil {
			return err
		}
	}
	// A split index has its larger part in a file beside it.
	parts, _ := filepath.Glob(filepath.Join(r.GitDir, "sharedindex.*"))
	for _, part := range parts {
		if info, err := os.Lstat(part); err == nil && info.Mode().IsRegular() {
			_ = os.Symlink(part, filepath.Join(dir, filepath.Base(part)))
		}
	}
	return nil
}

// infoFile returns a file of the info folder, which worktrees share except
// for the one about sparse checkouts.
func (r *Repo) infoFile(name string) string {
	dir := r.CommonDir
	if name == "sparse-checkout" {
		dir = r.GitDir
	}
	data, err := plain.ReadHere(filepath.Join(dir, "info", name), odb.MaxText)
	if err != nil {
		return ""
	}
	return string(data)
}

// keepFile makes a file hold content, all at once and only if it does not.
func keepFile(name, content string) error {
	if data, err := plain.ReadHere(name, odb.MaxText); err == nil && string(data) == content {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
