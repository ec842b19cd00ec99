package cli

import (
	"fmt"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/scope"
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
	r, ok := gitrepo.Find(a.Dir)
	if !ok {
		return place{}, fmt.Errorf("%s is in no git repository", a.Dir)
	}
	p := place{Root: r.Root, Branch: r.Head().Branch}
	for _, remote := range r.Remotes() {
		if f, ok := scope.Fingerprint(remote.URL); ok {
			p.Fingerprints = append(p.Fingerprints, f)
		}
	}
	if len(p.Fingerprints) == 0 {
		return p, fmt.Errorf("%s has no remote, so the service cannot tell which repository it is", r.Root)
	}
	p.Fingerprint = p.Fingerprints[0]
	return p, nil
}
