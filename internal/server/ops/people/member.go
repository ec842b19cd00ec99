package people

import (
	"context"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// InviteLifetime is how long an invite can be accepted.
const InviteLifetime = 7 * 24 * time.Hour

// ListMembers returns the people of the org.
func (s *Service) ListMembers(ctx context.Context, who coord.Caller, in wire.List) (out wire.Page[coord.Membership], err error) {
	p := store.Page{Limit: in.Limit + 1}
	if err := ground.Uncursor(in.Cursor, &p.After); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Members(ctx, who.OrgID, p)
		out.Items, out.NextCursor = ground.Page(rows, in.Limit, func(m coord.Membership) []any { return []any{m.ID} })
		return err
	})
	return out, err
}

// mayManage refuses callers who may not touch members of a role. A service
// token has no role of its own: what it may do was decided by whoever made it,
// but owners and admins stay out of its reach.
func mayManage(who coord.Caller, role coord.Role) error {
	r := who.Role
	if !who.Personal() {
		r = coord.Admin
	}
	if !r.MayManage(role) {
		return problem.Newf(problem.Forbidden, "only owners add, change or remove owners and admins")
	}
	return nil
}

// AddMember adds a person to the org. They sign in through an invite, a token
// made for them, or OpenID.
func (s *Service) AddMember(ctx context.Context, who coord.Caller, in wire.AddMember) (out coord.Membership, err error) {
	if err := mayManage(who, in.Role); err != nil {
		return out, err
	}
	// Where everybody makes orgs, adding by address would tell which have accounts.
	if s.Config.SignUp == coord.SignUpOpen {
		return out, problem.Newf(problem.Forbidden, "people join by an invite on this server, since everybody may sign up: POST /v1/invites")
	}
	err = s.Store.Write(ctx, who.OrgID, func(tx *store.Tx) error {
		if err := s.addressIsFree(ctx, tx, who.OrgID, in.Email); err != nil {
			return err
		}
		user, err := s.ensureUser(ctx, tx, in.Email, in.Name)
		if err != nil {
			return err
		}
		if err := tx.InsertMember(ctx, who.OrgID, user.ID, in.Role); err != nil {
			return err
		}
		if out, err = tx.Member(ctx, who.OrgID, user.ID); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventMemberAdded, user.ID, "", wire.MemberAddedPayload{Role: in.Role})
	})
	return out, err
}

// addressIsFree refuses to add an account by its address alone when somebody
// else may hold it: on a server with several orgs, an admin of one could make
// an account for anybody's address, choose its password, and wait for another
// org to add it. An invite goes to the person; an account that OpenID proved
// is theirs.
func (s *Service) addressIsFree(ctx context.Context, tx *store.Tx, org, email string) error {
	a, err := tx.AccountByEmail(ctx, email)
	if err != nil || a == nil || a.PasswordHash == nil || a.Subject != nil {
		return err
	}
	if _, err := tx.Member(ctx, org, a.ID); err == nil {
		return nil // the insert says that they are a member already
	}
	n, err := tx.CountOrgs(ctx)
	if err == nil && n > 1 {
		err = problem.Newf(problem.Conflict, "%s has an account already; send an invite instead: POST /v1/invites", store.EmailKey(email))
	}
	return err
}

// ensureUser returns the account of an address, making one if need be.
func (s *Service) ensureUser(ctx context.Context, tx *store.Tx, email, name string) (coord.User, error) {
	email = store.EmailKey(email)
	a, err := tx.AccountByEmail(ctx, email)
	if err != nil {
		return coord.User{}, err
	}
	if a != nil {
		return a.User, nil
	}
	if name = strings.TrimSpace(name); name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	u := coord.User{ID: ground.NewID(), Email: email, Name: name}
	return u, tx.InsertUser(ctx, u)
}

// SetRole changes a member's role.
func (s *Service) SetRole(ctx context.Context, who coord.Caller, in wire.SetRole) (out coord.Membership, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		m, err := s.managed(ctx, tx, who, in.UserID)
		if err != nil {
			return err
		}
		if err := mayManage(who, in.Role); err != nil {
			return err
		}
		if m.Role == coord.Owner && in.Role != coord.Owner {
			if err := keepAnOwner(ctx, tx, who.OrgID); err != nil {
				return err
			}
		}
		if err := tx.SetRole(ctx, who.OrgID, m.ID, in.Role); err != nil {
			return err
		}
		out = m
		out.Role = in.Role
		return ground.Tell(ctx, tx, who, coord.EventMemberUpdated, m.ID, "", wire.MemberUpdatedPayload{Role: in.Role, PreviousRole: m.Role})
	})
	if err == nil {
		s.Forget(who.OrgID)
	}
	return out, err
}

// managed returns a member whom the caller may change or remove.
func (s *Service) managed(ctx context.Context, tx *store.Tx, who coord.Caller, user string) (coord.Membership, error) {
	if err := ground.WantUUID(user, "no such member in this org"); err != nil {
		return coord.Membership{}, err
	}
	m, err := tx.Member(ctx, who.OrgID, user)
	if err != nil {
		return m, err
	}
	return m, mayManage(who, m.Role)
}

func keepAnOwner(ctx context.Context, tx *store.Tx, org string) error {
	n, err := tx.CountRole(ctx, org, coord.Owner)
	if err == nil && n <= 1 {
		err = problem.Newf(problem.Conflict, "this is the org's last owner; make somebody else an owner first")
	}
	return err
}

// RemoveMember takes a person out of the org and ends their tokens, sign-ins,
// agents' sessions and the invites they made. Their intents stay, for an admin
// to hand on or to close.
func (s *Service) RemoveMember(ctx context.Context, who coord.Caller, in wire.MemberID) (out wire.None, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		m, err := s.managed(ctx, c.Tx, who, in.UserID)
		if err != nil {
			return err
		}
		return remove(ctx, c, m)
	})
	if err == nil {
		s.Forget(who.OrgID)
	}
	return out, err
}

// remove takes a member out of the org of a change.
func remove(ctx context.Context, c *ground.Change, m coord.Membership) error {
	tx, who := c.Tx, c.Who
	if m.Role == coord.Owner {
		if err := keepAnOwner(ctx, tx, who.OrgID); err != nil {
			return err
		}
	}
	tokens, err := revokeAll(ctx, tx, who, m.ID)
	if err != nil {
		return err
	}
	if err := ground.FirstError(tx.DeleteInvitesBy(ctx, who.OrgID, m.ID), tx.DeleteMember(ctx, who.OrgID, m.ID)); err != nil {
		return err
	}
	if err := ground.FirstError(endSignIns(ctx, tx, m.ID), endSessions(ctx, c, m.ID, "member_removed"),
		releaseClaims(ctx, c, m.User)); err != nil {
		return err
	}
	return ground.Tell(ctx, tx, who, coord.EventMemberRemoved, m.ID, "", wire.MemberRemovedPayload{Role: m.Role, RevokedTokens: tokens})
}

// endSessions ends the sessions of a person's agents.
func endSessions(ctx context.Context, c *ground.Change, user, why string) error {
	sessions, err := c.Sessions(ctx, c.Who.OrgID, store.SessionFilter{User: user, Unended: true})
	for _, x := range sessions {
		if err == nil {
			err = c.EndAndSettle(ctx, x, c.Now, wire.SessionEndedPayload{Tool: x.Tool, Reason: why})
		}
	}
	return err
}

// releaseClaims makes the exclusive claims of somebody who leaves shared: who
// is gone holds nothing.
func releaseClaims(ctx context.Context, c *ground.Change, who coord.User) error {
	rows, err := c.Intents(ctx, c.Who.OrgID, store.IntentFilter{Owner: who.ID, Statuses: coord.LiveIntentStatuses()})
	for k := range rows {
		if err == nil && rows[k].EffectiveMode == coord.Exclusive {
			err = c.ShareClaim(ctx, &rows[k], "shared: "+peertext.QuotedName(who.Name)+" has left the org")
		}
	}
	return err
}

// endSignIns ends the dashboard sessions of a person who is in no org any
// more. Where they still are in one, the session shows them that one only.
func endSignIns(ctx context.Context, tx *store.Tx, user string) error {
	orgs, err := tx.OrgsOf(ctx, user)
	if err != nil || len(orgs) > 0 {
		return err
	}
	return tx.DeleteWebSessions(ctx, user, "")
}

// ListInvites returns the invites that can still be accepted. Their links are
// not shown again: only a hash of the code is kept.
func (s *Service) ListInvites(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Page[coord.Invite], err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out.Items, err = tx.Invites(ctx, who.OrgID)
		return err
	})
	return out, err
}

// CreateInvite offers a place in the org. The link is in the answer, this
// once; it is mailed too where mail is configured.
func (s *Service) CreateInvite(ctx context.Context, who coord.Caller, in wire.CreateInvite) (out coord.Invite, err error) {
	if err := mayManage(who, in.Role); err != nil {
		return out, err
	}
	code := auth.NewSecret()
	link := s.inviteURL(code.Text)
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		if in.Email != nil {
			email := store.EmailKey(*in.Email)
			in.Email = &email
			if _, err := tx.MemberByEmail(ctx, who.OrgID, email); err == nil {
				return problem.Newf(problem.Conflict, "%s is a member already", email)
			}
		}
		by := who.UserID
		if by == "" {
			by = who.TokenID
		}
		out = coord.Invite{ID: ground.NewID(), OrgID: who.OrgID, URL: &link, Role: in.Role, Email: in.Email,
			CreatedBy: by, CreatedAt: tx.Now, ExpiresAt: tx.Now.Add(InviteLifetime)}
		if err := tx.InsertInvite(ctx, out, code.Hash); err != nil {
			return err
		}
		if err := s.mailInvite(ctx, tx, who, &out); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventInviteCreated, out.ID, "", wire.InvitePayload{Role: in.Role})
	})
	return out, err
}

// inviteURL puts the code into the fragment, which browsers keep to
// themselves: it reaches no log and no Referer.
func (s *Service) inviteURL(code string) string { return s.Config.PublicURL + "/invite#" + code }

// ResendInvite gives an invite a new link, since of the old one only a hash is
// kept, and mails it if it names somebody and mail is configured. The old one
// stops working.
func (s *Service) ResendInvite(ctx context.Context, who coord.Caller, in wire.ID) (out coord.Invite, err error) {
	if err := ground.WantUUID(in.ID, "no such invite"); err != nil {
		return out, err
	}
	code := auth.NewSecret()
	link := s.inviteURL(code.Text)
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		if out, err = tx.Invite(ctx, who.OrgID, in.ID); err != nil {
			return err
		}
		if err := mayManage(who, out.Role); err != nil {
			return err
		}
		out.URL, out.ExpiresAt = &link, tx.Now.Add(InviteLifetime)
		return ground.FirstError(tx.RenewInvite(ctx, out.ID, code.Hash, out.ExpiresAt), s.mailInvite(ctx, tx, who, &out),
			ground.Tell(ctx, tx, who, coord.EventInviteCreated, out.ID, "", wire.InvitePayload{Role: out.Role}))
	})
	return out, err
}

// RevokeInvite takes an invite back.
func (s *Service) RevokeInvite(ctx context.Context, who coord.Caller, in wire.ID) (out wire.None, err error) {
	if err := ground.WantUUID(in.ID, "no such invite"); err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		i, err := tx.Invite(ctx, who.OrgID, in.ID)
		if err != nil {
			return err
		}
		if err := tx.DeleteInvite(ctx, i.ID); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventInviteRevoked, i.ID, "", wire.EmptyPayload{})
	})
	return out, err
}

// mailInvite mails an invite to whom it is made out, where mail is configured.
func (s *Service) mailInvite(ctx context.Context, tx *store.Tx, who coord.Caller, i *coord.Invite) error {
	if !s.Config.Mail || i.Email == nil {
		return nil
	}
	org, err := tx.Org(ctx, i.OrgID)
	if err != nil {
		return err
	}
	m := bulletin.Invite(bulletin.Invitation{Org: org.Name, By: who.Name, Role: i.Role, URL: *i.URL, ExpiresAt: i.ExpiresAt})
	mail, err := s.QueueLetter(ctx, tx, i.OrgID, bulletin.Mail{To: *i.Email, MailShape: m})
	i.EmailSent, i.Mail = false, &coord.Letter{State: coord.LetterQueued, At: tx.Now}
	return ground.FirstError(err, tx.InviteMailed(ctx, i.ID, mail))
}
