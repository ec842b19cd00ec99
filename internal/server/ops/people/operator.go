package people

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// What whoever has the machine can do for people. Each shows in the audit log of
// their orgs.

// accountOf returns the account of an address.
func (s *Service) accountOf(ctx context.Context, email string) (a *store.Account, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		a, err = tx.AccountByEmail(ctx, email)
		return err
	})
	if err == nil && a == nil {
		err = problem.Newf(problem.NotFound, "there is no account for %s", email)
	}
	return a, err
}

// Users returns every account with its orgs.
func (s *Service) Users(ctx context.Context) (out []store.UserLine, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out, err = tx.UserLines(ctx)
		return err
	})
	return out, err
}

// AddUser makes an account a member of an org and returns a link with which
// they choose a password, if they cannot sign in yet.
func (s *Service) AddUser(ctx context.Context, org, email, name string, role coord.Role) (link string, err error) {
	code := auth.NewSecret()
	id, err := s.orgBySlug(ctx, org)
	if err != nil {
		return "", err
	}
	err = s.Store.Write(ctx, id, func(tx *store.Tx) error {
		user, err := s.ensureUser(ctx, tx, email, name)
		if err != nil {
			return err
		}
		if err := tx.InsertMember(ctx, id, user.ID, role); err != nil {
			return err
		}
		if link, err = s.offerWayIn(ctx, tx, id, user, role, code); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, ground.System(id), coord.EventMemberAdded, user.ID, "", wire.MemberAddedPayload{Role: role})
	})
	return link, err
}

// orgBySlug returns the id of an org; of the only one if slug is empty.
func (s *Service) orgBySlug(ctx context.Context, slug string) (id string, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		orgs, err := tx.Orgs(ctx)
		for _, o := range orgs {
			if slug == o.Slug || slug == "" && len(orgs) == 1 {
				id = o.ID
			}
		}
		return err
	})
	switch {
	case err != nil || id != "":
	case slug == "":
		err = problem.Newf(problem.BadRequest, "this server has several orgs, or none; say which with --org SLUG (svcd org list)")
	default:
		err = problem.Newf(problem.NotFound, "there is no org %q; svcd org list shows them", slug)
	}
	return id, err
}

// offerWayIn returns a link with which somebody who cannot sign in yet chooses a
// password, and "" for others.
func (s *Service) offerWayIn(ctx context.Context, tx *store.Tx, org string, u coord.User, role coord.Role,
	code auth.Secret) (string, error) {
	a, err := tx.AccountByID(ctx, u.ID)
	if err != nil || a.HasWayIn() {
		return "", err
	}
	return s.inviteURL(code.Text), wayIn(ctx, tx, org, u, role, code)
}

// wayIn is an invite to oneself: with its link a person chooses a password.
func wayIn(ctx context.Context, tx *store.Tx, org string, u coord.User, role coord.Role, code auth.Secret) error {
	return tx.InsertInvite(ctx, coord.Invite{ID: ground.NewID(), OrgID: org, Role: role, Email: &u.Email,
		CreatedBy: u.ID, CreatedAt: tx.Now, ExpiresAt: tx.Now.Add(InviteLifetime)}, code.Hash)
}

// DisableUser closes an account until EnableUser opens it again: its tokens are
// refused, its sign-ins end, its agents' sessions too, and its claims hold
// nobody up.
func (s *Service) DisableUser(ctx context.Context, email string) error {
	a, err := s.accountOf(ctx, email)
	if err != nil {
		return err
	}
	var orgs []store.OrgRole
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		if orgs, err = tx.OrgsOf(ctx, a.ID); err != nil {
			return err
		}
		for _, o := range orgs {
			n, err := tx.CountOwners(ctx, o.ID, a.ID)
			if err == nil && o.Role == coord.Owner && n == 0 {
				err = problem.Newf(problem.Conflict, "%s is the last owner of %s; make somebody else an owner first: svcd user owner ADDRESS",
					a.Email, o.Name)
			}
			if err != nil {
				return err
			}
		}
		return ground.FirstError(tx.SetDisabled(ctx, a.ID, true), tx.DeleteWebSessions(ctx, a.ID, ""))
	})
	for _, o := range orgs {
		if err == nil {
			err = s.Alter(ctx, ground.System(o.ID), func(c *ground.Change) error {
				return ground.FirstError(endSessions(ctx, c, a.ID, "account_disabled"), releaseClaims(ctx, c, a.User))
			})
		}
	}
	if err != nil {
		return err
	}
	return s.tellMember(ctx, a.User, wire.MemberUpdatedPayload{By: "operator", Account: "disabled"})
}

// EnableUser opens an account again. Its tokens work as before.
func (s *Service) EnableUser(ctx context.Context, email string) error {
	a, err := s.accountOf(ctx, email)
	if err == nil {
		err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error { return tx.SetDisabled(ctx, a.ID, false) })
	}
	if err != nil {
		return err
	}
	return s.tellMember(ctx, a.User, wire.MemberUpdatedPayload{By: "operator", Account: "enabled"})
}

// SignOutUser ends a person's sign-ins and the tokens that they and their agents
// use, everywhere.
func (s *Service) SignOutUser(ctx context.Context, email string) (tokens int, err error) {
	a, err := s.accountOf(ctx, email)
	if err != nil {
		return 0, err
	}
	return s.signOut(ctx, a, false)
}

// ResetUser takes an account's password and sign-ins away and returns a link
// with which the person chooses a new password.
func (s *Service) ResetUser(ctx context.Context, email string) (link string, err error) {
	a, err := s.accountOf(ctx, email)
	if err != nil {
		return "", err
	}
	if _, err := s.signOut(ctx, a, true); err != nil {
		return "", err
	}
	code := auth.NewSecret()
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		orgs, err := tx.OrgsOf(ctx, a.ID)
		if err == nil && len(orgs) == 0 {
			err = problem.Newf(problem.Conflict, "%s is in no org; add them with svcd user add", a.Email)
		}
		if err != nil {
			return err
		}
		return wayIn(ctx, tx, orgs[0].ID, a.User, orgs[0].Role, code)
	})
	return s.inviteURL(code.Text), err
}

// signOut ends what a person is signed in with; with reset also what they could
// sign in with.
func (s *Service) signOut(ctx context.Context, a *store.Account, reset bool) (tokens int, err error) {
	var orgs []store.OrgRole
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		if orgs, err = tx.OrgsOf(ctx, a.ID); err != nil {
			return err
		}
		if reset {
			_, err := tx.Unbind(ctx, a.ID, "")
			_, lost := tx.DeletePasskey(ctx, a.ID, "")
			if err := ground.FirstError(err, lost, tx.DeletePassword(ctx, a.ID), dropSpare(ctx, tx, a.ID)); err != nil {
				return err
			}
		}
		return tx.DeleteWebSessions(ctx, a.ID, "")
	})
	for _, o := range orgs {
		if err != nil {
			return tokens, err
		}
		n := 0
		err = s.Store.Write(ctx, o.ID, func(tx *store.Tx) error {
			n, err = revokeAll(ctx, tx, ground.System(o.ID), a.ID)
			return err
		})
		tokens += n
	}
	if err != nil {
		return tokens, err
	}
	what := wire.MemberUpdatedPayload{By: "operator", Account: "signed_out"}
	if reset {
		what.Account = "reset"
	}
	return tokens, s.tellMember(ctx, a.User, what)
}

// revokeAll ends a person's tokens in an org.
func revokeAll(ctx context.Context, tx *store.Tx, who coord.Caller, user string) (int, error) {
	tokens, err := tx.LiveTokens(ctx, who.OrgID, user)
	for _, id := range tokens {
		if err == nil {
			err = ground.FirstError(tx.RevokeToken(ctx, who.OrgID, id),
				ground.Tell(ctx, tx, who, coord.EventTokenRevoked, id, "", wire.EmptyPayload{}))
		}
	}
	return len(tokens), err
}

// MakeOwner makes a member an owner of their org.
func (s *Service) MakeOwner(ctx context.Context, org, email string) error {
	id, err := s.orgBySlug(ctx, org)
	if err != nil {
		return err
	}
	err = s.Store.Write(ctx, id, func(tx *store.Tx) error {
		m, err := tx.MemberByEmail(ctx, id, email)
		if err != nil || m.Role == coord.Owner {
			return err
		}
		return ground.FirstError(tx.SetRole(ctx, id, m.ID, coord.Owner), ground.Tell(ctx, tx, ground.System(id), coord.EventMemberUpdated,
			m.ID, "", wire.MemberUpdatedPayload{Role: coord.Owner, PreviousRole: m.Role, By: "operator"}))
	})
	s.Forget(id)
	return err
}

// Orgs returns the server's orgs.
func (s *Service) Orgs(ctx context.Context) (out []coord.Org, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out, err = tx.Orgs(ctx)
		return err
	})
	return out, err
}
