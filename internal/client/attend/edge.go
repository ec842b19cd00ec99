package attend

import (
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
)

// EdgeOf returns the resident process in front of the server of a login. Where
// it does not run it is started for the next time, and the server is asked
// directly now. A login of the environment's is for work that may be over soon,
// on a machine that is thrown away: it has none.
func EdgeOf(getenv func(string) string, l login.Login) (local.Service, bool) {
	if l.TokenSource != login.FromConfig {
		return local.Service{}, false
	}
	place, wanted := local.EdgeFor(getenv, l.Server)
	if !wanted {
		return local.Service{}, false
	}
	s, runs := place.Running()
	if !runs && place.DueEdge() {
		background("", nil, "edge", "start")
	}
	return s, runs
}
