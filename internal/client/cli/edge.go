package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/wire"
)

// edgeCommand is what hooks run in the background.
func (a *app) edgeCommand() *cobra.Command {
	start := &cobra.Command{
		Use:   "start",
		Short: "Start the process that answers for the server on this machine",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := local.Locate(a.Getenv)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), commandStart)
			defer cancel()
			_, err = place.StartEdge(ctx)
			return err
		},
	}
	cmd := &cobra.Command{Use: "edge", Short: "Answer for a server far away on this machine", Hidden: true}
	cmd.AddCommand(start)
	return cmd
}

// throughEdge returns the transport of what is asked of a login's server. Nil is
// the usual one.
func (a *app) throughEdge(l login.Login) http.RoundTripper {
	if l.TokenSource != login.FromConfig {
		return nil
	}
	if _, wanted := local.EdgeFor(a.Getenv, l.Server); !wanted {
		return nil
	}
	return remote.ThroughEdge(func() (remote.Edge, bool) { return a.edgeOf(l) })
}

func (a *app) edgeOf(l login.Login) (remote.Edge, bool) {
	s, ok := attend.EdgeOf(a.Getenv, l)
	return remote.Edge{Server: l.Server, Address: s.Server, Key: s.Token}, ok
}

// edgeReport says how the edge fares with the server of a login; it is nil where
// there is none.
func (a *app) edgeReport(ctx context.Context, l login.Login) *wire.EdgeServerReport {
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
