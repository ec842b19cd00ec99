package app

import (
	"context"
	"net/http"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/wire"
)

// ThroughEdge returns the transport of what is asked of a login's server. Nil is
// the usual one.
func (a *Run) ThroughEdge(l login.Login) http.RoundTripper {
	if l.TokenSource != login.FromConfig {
		return nil
	}
	if _, wanted := local.EdgeFor(a.Getenv, l.Server); !wanted {
		return nil
	}
	return remote.ThroughEdge(func() (remote.Edge, bool) { return a.EdgeOf(l) })
}

func (a *Run) EdgeOf(l login.Login) (remote.Edge, bool) {
	s, ok := attend.EdgeOf(a.Getenv, l)
	return remote.Edge{Server: l.Server, Address: s.Server, Key: s.Token}, ok
}

// EdgeReport says how the edge fares with the server of a login; it is nil where
// there is none.
func (a *Run) EdgeReport(ctx context.Context, l login.Login) *wire.EdgeServerReport {
	edge, ok := attend.EdgeOf(a.Getenv, l)
	if !ok {
		return nil
	}
	report, err := edge.EdgeReport(ctx)
	if err != nil {
		return nil
	}
	found := &wire.EdgeServerReport{Server: l.Server}
	for i := range report.Servers { // one for each token that came by; ours has been answered
		r := &report.Servers[i]
		newer := found.Reached == nil || r.Reached != nil && r.Reached.Std().After(found.Reached.Std())
		if r.Server == l.Server && newer {
			found = r
		}
	}
	return found
}
