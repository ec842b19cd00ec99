package people

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

var errNoOpenID = problem.Newf(problem.NotFound, "sign-in with OpenID is not configured here")

// provider returns the OpenID provider of a name, or with "" the first.
func (s *Service) provider(name string) (*auth.OIDC, error) {
	for _, p := range s.Config.OIDC {
		if name == "" || p.Name == name {
			return p, nil
		}
	}
	if len(s.Config.OIDC) == 0 {
		return nil, errNoOpenID
	}
	return nil, problem.Newf(problem.NotFound, "no OpenID provider is called %s here", name)
}

// StartOIDC sends the browser to an OpenID provider.
func (s *Service) StartOIDC(ctx context.Context, _ coord.Caller, in wire.StartOIDC) (out wire.Redirect, err error) {
	p, err := s.provider(in.Provider)
	if err != nil {
		return out, err
	}
	location, flow, err := p.Start(ctx, in.ReturnTo, in.Choose, in.Fresh)
	return wire.Redirect{Location: location, Flow: &flow}, err
}

// EndOIDC sends a browser that signed out here to sign out at the provider.
func (s *Service) EndOIDC(ctx context.Context, _ coord.Caller, in wire.EndOIDC) (out wire.Redirect, err error) {
	p, err := s.provider(in.Provider)
	if err != nil {
		return out, err
	}
	back := s.Config.PublicURL + "/sign-in?out=1"
	if out.Location, err = p.EndSession(ctx, back); err == nil && out.Location == "" {
		out.Location = back
	}
	return out, err
}

// FinishOIDC signs in whoever comes back from an OpenID provider.
func (s *Service) FinishOIDC(ctx context.Context, who coord.Caller, in wire.FinishOIDC) (out wire.Redirect, err error) {
	if len(s.Config.OIDC) == 0 {
		return out, errNoOpenID
	}
	if err := s.may(ctx, who, ""); err != nil {
		return out, err
	}
	if in.Error == "access_denied" {
		return out, problem.Newf(problem.Forbidden,
			"you, or the OpenID provider, stopped the sign-in; try again, or ask the provider's administrator for access")
	}
	at := slices.IndexFunc(s.Config.OIDC, func(p *auth.OIDC) bool { return p.Began(in.Flow, in.State) })
	if at < 0 {
		return out, s.failed(ctx, who, "", auth.ErrNotBegun)
	}
	p := s.Config.OIDC[at]
	id, err := p.Finish(ctx, in.Flow, in.State, in.Code)
	if err != nil {
		// The browser is not told what the provider said; whoever set it up
		// needs to know.
		s.Logger.WarnContext(ctx, "sign-in with OpenID failed", "provider", p.Name, "err", err)
		return out, s.failed(ctx, who, "", err)
	}
	user, err := s.bind(ctx, p, id)
	if err != nil {
		return out, s.failed(ctx, who, "", err)
	}
	if err := ground.FirstError(s.takeInvites(ctx, user, id.Email), s.takeGroups(ctx, p, user, id)); err != nil {
		return out, err
	}
	if user, err = s.follow(ctx, user, id); err != nil {
		return out, err
	}
	signedIn, err := s.begin(ctx, who, user, proof{method: coord.ByOpenID, at: id.At})
	to, none := id.ReturnTo, ""
	if half := signedIn.SecondFactor; half != nil { // in the fragment, like the code of an invite
		to = "/sign-in?next=" + url.QueryEscape(to) + "#" + half.Ticket
	}
	return wire.Redirect{Location: s.Config.PublicURL + to, Flow: &none, Secret: signedIn.Secret}, err
}

// bind returns the account of an identity: the one bound to its subject, or
// the first time the one of its verified address.
func (s *Service) bind(ctx context.Context, p *auth.OIDC, id auth.Identity) (user coord.User, err error) {
	var bound *store.Account // to somebody else, as far as we know
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		bound = nil
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
			user, err = s.newcomer(ctx, tx, p, id)
		} else {
			user = a.User
			if a.Subject != nil {
				free, err := replaced(ctx, tx, p, a)
				if err != nil || !free {
					bound = a
					return err
				}
			}
			err = claim(ctx, tx, a)
		}
		if err != nil {
			return err
		}
		return tx.Bind(ctx, user.ID, id.Subject)
	})
	if err == nil && bound != nil {
		err = s.offerRebind(ctx, p, bound.User, id)
	}
	return user, err
}

// replaced takes an account from a provider whose place this one takes, and
// reports whether nothing else binds it.
func replaced(ctx context.Context, tx *store.Tx, p *auth.OIDC, a *store.Account) (bool, error) {
	issuers, err := tx.IssuersOf(ctx, a.ID)
	if err != nil || p.Replaces == "" || slices.ContainsFunc(issuers, func(i string) bool { return i != p.Replaces }) {
		return false, err
	}
	_, err = tx.Unbind(ctx, a.ID, p.Replaces)
	return true, err
}

// claim hands an account to the person who proved its address. Whoever chose
// its password proved nothing, so it stops working, with all that it opened.
func claim(ctx context.Context, tx *store.Tx, a *store.Account) error {
	return ground.FirstError(tx.DeletePassword(ctx, a.ID), tx.DeleteWebSessions(ctx, a.ID, ""))
}

const linkLifetime = time.Hour

// offerRebind refuses a sign-in whose address is bound to another one, and
// mails its owner a link with which to bind it to this one.
func (s *Service) offerRebind(ctx context.Context, p *auth.OIDC, user coord.User, id auth.Identity) error {
	orgs := []store.OrgRole{}
	if err := s.Read(ctx, func(tx *store.Tx) (err error) { orgs, err = tx.OrgsOf(ctx, user.ID); return err }); err != nil {
		return err
	}
	if !s.Config.Mail || len(orgs) == 0 {
		return problem.Newf(problem.Forbidden,
			"this address is bound to another sign-in; an owner of your org can unbind it under Settings, Members")
	}
	code := auth.NewSecret()
	err := s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		if err := tx.Take(ctx, "rebind:"+user.ID, store.PerWindow(3, time.Hour),
			"an email was sent already; look for it, or wait an hour"); err != nil {
			return err
		}
		l := store.SigninLink{UserID: user.ID, Subject: id.Subject, ExpiresAt: tx.Now.Add(linkLifetime)}
		m := bulletin.Rebind(bulletin.Rebinding{Name: user.Name, Provider: p.Name, URL: s.linkURL(code.Text), ExpiresAt: l.ExpiresAt})
		return ground.FirstError(tx.InsertSigninLink(ctx, l, code.Hash),
			s.QueueMail(ctx, tx, orgs[0].ID, bulletin.Mail{To: user.Email, MailShape: m}))
	})
	if err != nil {
		return err
	}
	return problem.Newf(problem.Forbidden, "this address is bound to another sign-in; an email to it has a link that binds it to %s. "+
		"An owner of your org can unbind it, too", p.Name)
}

// linkURL puts the code into the fragment, like that of an invite.
func (s *Service) linkURL(code string) string { return s.Config.PublicURL + "/link#" + code }

// UseLink signs in by a link that was mailed, which binds the account to the
// sign-in that asked for it, or made by whoever runs the server.
func (s *Service) UseLink(ctx context.Context, who coord.Caller, in wire.InviteCode) (out wire.SignedIn, err error) {
	if err := s.may(ctx, who, ""); err != nil {
		return out, err
	}
	event, by := coord.EventSigninRebound, proof{method: coord.ByOpenID}
	var user coord.User
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		l, err := tx.TakeSigninLink(ctx, auth.HashOf(in.Code))
		if err != nil {
			return err
		}
		a, err := tx.AccountByID(ctx, l.UserID)
		if err != nil || a == nil {
			return ground.FirstError(err, problem.Newf(problem.NotFound, "the account is gone"))
		}
		user = a.User
		if l.Subject == "" {
			event, by = coord.EventSigninBreakGlass, proof{method: coord.ByLink, second: true}
			return nil
		}
		issuer, _, _ := strings.Cut(l.Subject, " ")
		_, err = tx.Unbind(ctx, a.ID, issuer)
		return ground.FirstError(err, claim(ctx, tx, a), tx.Bind(ctx, a.ID, l.Subject))
	})
	if err != nil {
		return out, s.failed(ctx, who, "", err)
	}
	s.Logger.WarnContext(ctx, "signed in by a one-time link", "event", event, "user", user.Email, "address", who.Address)
	if err := s.tellOrgs(ctx, user, who, event); err != nil {
		return out, err
	}
	return s.begin(ctx, who, user, by)
}

// BreakGlass makes a link that signs an owner in though neither provider nor
// password does. Only whoever runs the server can ask for it.
func (s *Service) BreakGlass(ctx context.Context, email string) (link string, err error) {
	code := auth.NewSecret()
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		a, err := tx.AccountByEmail(ctx, email)
		if err != nil {
			return err
		}
		if a == nil {
			return problem.Newf(problem.NotFound, "there is no account for %s", email)
		}
		orgs, err := tx.OrgsOf(ctx, a.ID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(orgs, func(o store.OrgRole) bool { return o.Role == coord.Owner }) {
			return problem.Newf(problem.Forbidden, "%s owns no org; an owner can unbind or invite them, or: svcd user unbind %s", email, email)
		}
		return tx.InsertSigninLink(ctx, store.SigninLink{UserID: a.ID, ExpiresAt: tx.Now.Add(15 * time.Minute)}, code.Hash)
	})
	return s.linkURL(code.Text), err
}

// UnbindMember takes a member's account from the OpenID sign-ins it is bound
// to: the next one with its verified address has it.
func (s *Service) UnbindMember(ctx context.Context, who coord.Caller, in wire.MemberID) (out wire.None, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		m, err := s.managed(ctx, tx, who, in.UserID)
		if err != nil {
			return err
		}
		orgs, err := tx.OrgsOf(ctx, m.ID)
		if err != nil {
			return err
		}
		for _, o := range orgs { // whose account it is, is not for one org alone to say
			if mine, err := tx.Member(ctx, o.ID, who.UserID); o.ID != who.OrgID && (err != nil || mine.Role != coord.Owner) {
				return problem.Newf(problem.Forbidden, "%s is in an org that you do not own, too; ask the server's administrator: svcd user unbind %s",
					m.Name, m.Email)
			}
		}
		n, err := tx.Unbind(ctx, m.ID, "")
		if err != nil {
			return err
		}
		if n == 0 {
			return problem.Newf(problem.Conflict, "%s is not bound to any OpenID sign-in", m.Name)
		}
		return ground.Tell(ctx, tx, who, coord.EventMemberUpdated, m.ID, "", wire.MemberUpdatedPayload{Unbound: n})
	})
	return out, err
}

// UnbindUser is UnbindMember for whoever runs the server.
func (s *Service) UnbindUser(ctx context.Context, email string) (n int64, err error) {
	var user coord.User
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		a, err := tx.AccountByEmail(ctx, email)
		if err != nil {
			return err
		}
		if a == nil {
			return problem.Newf(problem.NotFound, "there is no account for %s", email)
		}
		user = a.User
		n, err = tx.Unbind(ctx, a.ID, "")
		return err
	})
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.tellMember(ctx, user, wire.MemberUpdatedPayload{Unbound: n})
}

// tellMember tells every org of a person that something of theirs changed.
func (s *Service) tellMember(ctx context.Context, user coord.User, what wire.MemberUpdatedPayload) error {
	var orgs []store.OrgRole
	err := s.Read(ctx, func(tx *store.Tx) (err error) { orgs, err = tx.OrgsOf(ctx, user.ID); return err })
	for _, o := range orgs {
		if err != nil {
			break
		}
		err = s.Store.Write(ctx, o.ID, func(tx *store.Tx) error {
			return ground.Tell(ctx, tx, ground.System(o.ID), coord.EventMemberUpdated, user.ID, "", what)
		})
		s.Forget(o.ID)
	}
	return err
}

// follow takes over the name and the address that the provider has now. An
// address that another account has is left alone: two people cannot be one.
func (s *Service) follow(ctx context.Context, user coord.User, id auth.Identity) (coord.User, error) {
	name, email := seen(id.Name), store.EmailKey(id.Email)
	var changed wire.MemberUpdatedPayload
	err := s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		changed = wire.MemberUpdatedPayload{}
		if name != "" && name != user.Name {
			if err := tx.SetUserName(ctx, user.ID, name); err != nil {
				return err
			}
			changed.Name = true
		}
		if email == "" || email == user.Email {
			return nil
		}
		other, err := tx.AccountByEmail(ctx, email)
		if err != nil {
			return err
		}
		if other != nil {
			s.Logger.WarnContext(ctx, "the provider has another address for a person, which another account has", "user", user.Email, "address",
				email)
			return nil
		}
		changed.Email = true
		return tx.SetUserEmail(ctx, user.ID, email)
	})
	if err != nil || !changed.Name && !changed.Email {
		return user, err
	}
	if changed.Name {
		user.Name = name
	}
	if changed.Email {
		user.Email = email
	}
	return user, s.tellMember(ctx, user, changed)
}

// newcomer makes an account for somebody whom an org expects, by an invite or
// by the domain of the address. Others have no business here, unless everybody
// may make an org.
func (s *Service) newcomer(ctx context.Context, tx *store.Tx, p *auth.OIDC, id auth.Identity) (coord.User, error) {
	invites, err := tx.InvitesFor(ctx, id.Email)
	if err != nil {
		return coord.User{}, err
	}
	if len(invites) == 0 && !welcome(p, id) && s.Config.SignUp != coord.SignUpOpen {
		return coord.User{}, problem.Newf(problem.Forbidden, "nobody has invited %s; ask a colleague for an invite", store.EmailKey(id.Email))
	}
	return s.ensureUser(ctx, tx, id.Email, seen(id.Name))
}

// welcome reports whether somebody may join without an invite.
func welcome(p *auth.OIDC, id auth.Identity) bool {
	_, domain, _ := strings.Cut(id.Email, "@")
	return slices.ContainsFunc(p.Domains, func(d string) bool { return strings.EqualFold(d, domain) }) || roleOf(p, id) != ""
}

// roleOf returns the highest role that somebody's groups give, or "".
func roleOf(p *auth.OIDC, id auth.Identity) coord.Role {
	for _, role := range []coord.Role{coord.Owner, coord.Admin, coord.Member, coord.Billing, coord.Viewer} {
		for _, g := range id.Groups {
			if p.Roles[g] == role {
				return role
			}
		}
	}
	return ""
}

// takeGroups makes somebody what the provider's groups say they are, in the
// server's one org. Nobody is taken the role of an owner: somebody must be
// able to mend a provider that went wrong.
func (s *Service) takeGroups(ctx context.Context, p *auth.OIDC, user coord.User, id auth.Identity) error {
	role := roleOf(p, id)
	if role == "" && id.Email != "" && welcome(p, id) {
		role = coord.Member
	}
	if role == "" {
		return nil
	}
	var org string
	err := s.Read(ctx, func(tx *store.Tx) (err error) { org, err = tx.OnlyOrg(ctx); return err })
	if err != nil || org == "" {
		return err
	}
	err = s.Store.Write(ctx, org, func(tx *store.Tx) error {
		m, err := tx.Member(ctx, org, user.ID)
		switch {
		case problem.KindOf(err) == problem.NotFound:
			return ground.FirstError(tx.InsertMember(ctx, org, user.ID, role),
				ground.Tell(ctx, tx, ground.System(org), coord.EventMemberAdded, user.ID, "", wire.MemberAddedPayload{Role: role, By: "provider"}))
		case err != nil:
			return err
		case m.Role == coord.Owner || m.Role == role || roleOf(p, id) == "":
			return nil
		}
		return ground.FirstError(tx.SetRole(ctx, org, user.ID, role), ground.Tell(ctx, tx, ground.System(org), coord.EventMemberUpdated,
			user.ID, "", wire.MemberUpdatedPayload{Role: role, PreviousRole: m.Role, By: "provider"}))
	})
	s.Forget(org)
	return err
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

// seen is a name that a provider gave, without what cannot be seen: people who
// sign in cannot be asked to change it there first.
func seen(name string) string { return ground.Clip(coord.Visible(name), 200) }
