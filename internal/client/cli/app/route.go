package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/share"
)

// Untold is the error for a repository that the server of a login is to hear
// nothing of: the team has not registered it, and nobody has said svc share or
// svc init in it.
func (a *Run) Untold(l login.Login, store login.Store, p Place) error {
	store.Told = func(what string) { fmt.Fprintln(a.Stderr, "svc: "+what) }
	leave, err := attend.LeaveOf(l, store, p.Identity)
	if err != nil {
		return err
	}
	if leave == hook.IfAsked && slices.ContainsFunc(host.All(), func(h *host.Host) bool { return h.CallsUs(p.Root, "", &host.Host{}) }) {
		return nil
	}
	if leave == hook.IfAsked { // somebody may have registered it meanwhile; whom that asks learns nothing
		if c, err := a.Connect(l); err == nil && share.Refresh(context.Background(), store, c) == nil {
			if leave, err = attend.LeaveOf(l, store, p.Identity); err != nil {
				return err
			}
		}
	}
	switch leave {
	case hook.Never:
		return fmt.Errorf("you keep %s on this machine; svc share sends its work to %s", p.Fingerprints[0], l.Server)
	case hook.IfAsked:
		return fmt.Errorf("%s has not registered %s, so it hears nothing of it; svc share sends its work there", l.Server, p.Fingerprints[0])
	}
	return nil
}
