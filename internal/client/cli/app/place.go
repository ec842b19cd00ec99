package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
)

// A Place is the repository that a command runs in.
type Place struct {
	Root         string        `json:"root"`
	Fingerprint  string        `json:"fingerprint"`
	Branch       string        `json:"branch"`
	Fingerprints []string      `json:"-"`
	Identity     hook.Identity `json:"-"`
}

// Here returns the repository of the working folder. The error says why there
// is none that the service could know.
func (a *Run) Here() (Place, error) {
	p, err := a.Repository()
	if err != nil {
		return p, err
	}
	l, store, err := a.Login(login.Overrides{})
	if was := p.Identity.Was; err == nil && was != nil && was.Local() == (l.ServerSource == login.FromLocal) &&
		(was.Local() || was.Server == l.Server) {
		p.Fingerprints = append(slices.Clone(was.Remotes), p.Fingerprints...) // as what the service knows it
	}
	if local.OwnOf(p.Fingerprints[0]) && (err != nil || l.ServerSource != login.FromLocal) {
		p.Fingerprints = nil
		return p, fmt.Errorf("%s has no remote, so the service cannot tell which repository it is", p.Root)
	}
	if err == nil {
		if err := a.Untold(l, store, p); err != nil {
			return p, err
		}
	}
	p.Fingerprint = p.Fingerprints[0]
	return p, nil
}

// Repository returns the repository of the working folder, which may have a
// name on this machine alone.
func (a *Run) Repository() (Place, error) {
	r, ok := gitrepo.Find(a.Dir)
	if !ok {
		return Place{}, fmt.Errorf("%s is in no git repository", a.Dir)
	}
	p := Place{Root: r.Root, Branch: r.Head().Branch, Identity: hook.Identity{Fingerprints: attend.FingerprintsOf(r)}}
	if store, err := login.Locate(a.Getenv); err == nil {
		p.Identity = attend.IdentityOf(store, r)
	}
	p.Fingerprints = p.Identity.Fingerprints
	return p, nil
}

// InRepo makes a path, relative to the working folder, one relative to the
// repository.
func (a *Run) InRepo(here Place, arg string) (string, error) {
	p := arg
	if !filepath.IsAbs(p) {
		p = filepath.Join(a.Dir, p)
	}
	rel, err := filepath.Rel(here.Root, p)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", term.Usagef("%s is outside the repository %s", arg, here.Root)
	}
	if rel == "." {
		return "**", nil
	}
	rel = filepath.ToSlash(rel)
	if strings.HasSuffix(arg, "/") {
		rel += "/**" // a folder means what is in it
	}
	return rel, nil
}
