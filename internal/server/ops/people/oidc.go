package people

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// StartOIDC sends the browser to the OpenID provider.
func (s *Service) StartOIDC(ctx context.Context, _ coord.Caller, in wire.StartOIDC) (out wire.Redirect, err error) {
	if s.Config.OIDC == nil {
		return out, problem.Newf(problem.NotFound, "sign-in with OpenID is not configured here")
	}
	location, flow, err := s.Config.OIDC.Start(ctx, in.ReturnTo)
	return wire.Redirect{Location: location, Flow: &flow}, err
}

// FinishOIDC signs in whoever comes back from the OpenID provider.
func (s *Service) FinishOIDC(ctx context.Context, who coord.Caller, in wire.FinishOIDC) (out wire.Redirect, err error) {
	if s.Config.OIDC == nil {
		return out, problem.Newf(problem.NotFound, "sign-in with OpenID is not configured here")
	}
	if err := s.limit(ctx, "signin:address:"+who.Address, perAddress, tooManySignIns); err != nil {
		return out, err
	}
	if in.Error == "access_denied" {
		return out, problem.Newf(problem.Forbidden,
			"you, or the OpenID provider, stopped the sign-in; begin again, or ask whoever runs the provider for access")
	}
	id, err := s.Config.OIDC.Finish(ctx, in.Flow, in.State, in.Code)
	if err != nil {
		// The browser is not told what the provider said; whoever set it up
		// needs to know.
		s.Logger.WarnContext(ctx, "sign-in with OpenID failed", "err", err)
		return out, err
	}
	user, err := s.bind(ctx, id)
	if err != nil {
		return out, err
	}
	if err := s.takeInvites(ctx, user, id.Email); err != nil {
		return out, err
	}
	signedIn, err := s.begin(ctx, who, user)
	none := ""
	return wire.Redirect{Location: s.Config.PublicURL + id.ReturnTo, Flow: &none, Secret: signedIn.Secret}, err
}

// bind returns the account of an identity: the one bound to its subject, or
// the first time the one of its verified address.
func (s *Service) bind(ctx context.Context, id auth.Identity) (user coord.User, err error) {
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		a, err := tx.AccountBySubject(ctx, id.Subject)
		if err != nil || a != nil {
			if a != nil {
				user = a.User
			}
			return err
		}
		if id.Email == "" {
			return problem.Newf(problem.Forbidden, "the OpenID provider has not verified your address; verify it there and begin again")
		}
		if a, err = tx.AccountByEmail(ctx, id.Email); err != nil {
			return err
		}
		if a == nil {
			user, err = s.invitedUser(ctx, tx, id)
		} else {
			user = a.User
			err = claim(ctx, tx, a)
		}
		if err != nil {
			return err
		}
		return tx.SetSubject(ctx, user.ID, id.Subject)
	})
	return user, err
}

// claim hands an account to the person who proved its address. Whoever chose
// its password proved nothing, so it stops working, with all that it opened.
func claim(ctx context.Context, tx *store.Tx, a *store.Account) error {
	if a.Subject != nil {
		return problem.Newf(problem.Forbidden, "this address is bound to another sign-in; ask an owner of your org")
	}
	return ground.FirstError(tx.DeletePassword(ctx, a.ID), tx.DeleteWebSessions(ctx, a.ID, ""))
}

// invitedUser makes an account for somebody whom an org expects; others have
// no business here.
func (s *Service) invitedUser(ctx context.Context, tx *store.Tx, id auth.Identity) (coord.User, error) {
	invites, err := tx.InvitesFor(ctx, id.Email)
	if err != nil {
		return coord.User{}, err
	}
	if len(invites) == 0 {
		return coord.User{}, problem.Newf(problem.Forbidden, "nobody has invited %s; ask a colleague for an invite", store.EmailKey(id.Email))
	}
	return s.ensureUser(ctx, tx, id.Email, ground.Clip(strings.TrimSpace(id.Name), 200))
}

// takeInvites accepts what waits for a verified address.
func (s *Service) takeInvites(ctx context.Context, user coord.User, email string) error {
	if email == "" {
		return nil
	}
	var invites []coord.Invite
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		invites, err = tx.InvitesFor(ctx, email)
		return err
	})
	for _, i := range invites {
		if err != nil {
			return err
		}
		err = s.Store.Write(ctx, i.OrgID, func(tx *store.Tx) error {
			if _, err := tx.Invite(ctx, i.OrgID, i.ID); err != nil {
				if problem.KindOf(err) == problem.NotFound {
					return nil // taken back meanwhile
				}
				return err
			}
			return s.enter(ctx, tx, i, user)
		})
	}
	return err
}
