package cli

import (
	"fmt"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
)

// A place is the repository that a command runs in.
type place struct {
	Root         string   `json:"root"`
	Fingerprint  string   `json:"fingerprint"`
	Branch       string   `json:"branch"`
	Fingerprints []string `json:"-"`
}

// here returns the repository of the working folder. The error says why there
// is none that the service could know.
func (a *app) here() (place, error) {
	p, err := a.repository()
	if err != nil {
		return p, err
	}
	l, store, err := a.login(login.Overrides{})
	if local.OwnOf(p.Fingerprints[0]) && (err != nil || l.ServerSource != login.FromLocal) {
		p.Fingerprints = nil
		return p, fmt.Errorf("%s has no remote, so the service cannot tell which repository it is", p.Root)
	}
	if err == nil {
		if err := a.untold(l, store, p); err != nil {
			return p, err
		}
	}
	p.Fingerprint = p.Fingerprints[0]
	return p, nil
}

// repository returns the repository of the working folder, which may have a
// name on this machine alone.
func (a *app) repository() (place, error) {
	r, ok := gitrepo.Find(a.Dir)
	if !ok {
		return place{}, fmt.Errorf("%s is in no git repository", a.Dir)
	}
	return place{Root: r.Root, Branch: r.Head().Branch, Fingerprints: attend.FingerprintsOf(r)}, nil
}
