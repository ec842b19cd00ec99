package people

import (
	"context"
	"crypto/subtle"
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// PreviewInvite shows an invite to whoever holds its code.
func (s *Service) PreviewInvite(ctx context.Context, _ coord.Caller, in wire.InviteCode) (out wire.InvitePreview, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		i, err := tx.InviteByCode(ctx, auth.HashOf(in.Code))
		if err != nil {
			return err
		}
		org, err := tx.Org(ctx, i.OrgID)
		out = wire.InvitePreview{OrgName: org.Name, Role: i.Role, Email: i.Email, ExpiresAt: i.ExpiresAt}
		return err
	})
	return out, err
}

// AcceptInvite joins an org and signs in. Somebody with an account proves it
// with its password; others choose one.
func (s *Service) AcceptInvite(ctx context.Context, who coord.Caller, in wire.AcceptInvite) (out wire.SignedIn, err error) {
	if strings.TrimSpace(in.Name) == "" {
		return out, problem.InvalidField("name", "must not be blank")
	}
	if err := s.may(ctx, who, ""); err != nil {
		return out, err
	}
	var invite coord.Invite
	var account *store.Account
	var elsewhere bool
	err = s.Read(ctx, func(tx *store.Tx) error {
		if invite, err = tx.InviteByCode(ctx, auth.HashOf(in.Code)); err != nil {
			return err
		}
		if in.Email, err = invitedAddress(invite, in.Email); err != nil {
			return err
		}
		if org, err := tx.Org(ctx, invite.OrgID); err != nil || org.PasswordsOff {
			return ground.FirstError(err, problem.Newf(problem.Forbidden,
				"%s takes no passwords; sign in another way with the address of the invite, and it is accepted", org.Name))
		}
		if account, err = tx.AccountByEmail(ctx, *in.Email); err != nil || account == nil {
			return err
		}
		orgs, err := tx.OrgsOf(ctx, account.ID)
		for _, o := range orgs {
			elsewhere = elsewhere || o.ID != invite.OrgID
		}
		return err
	})
	if err != nil {
		return out, s.failed(ctx, who, "", err)
	}
	hash, err := s.prove(ctx, who, in, invite, account, elsewhere)
	if err != nil {
		return out, err
	}
	var user coord.User
	err = s.Store.Write(ctx, invite.OrgID, func(tx *store.Tx) error {
		user, err = s.join(ctx, tx, in, invite, hash)
		return err
	})
	if err != nil {
		return out, err
	}
	return s.begin(ctx, who, user, proof{method: coord.ByPassword})
}

func invitedAddress(i coord.Invite, given *string) (*string, error) {
	switch {
	case i.Email == nil && given == nil:
		return nil, problem.InvalidField("email", "is required: this invite names nobody")
	case i.Email == nil:
		return given, nil
	case given != nil && store.EmailKey(*given) != store.EmailKey(*i.Email):
		return nil, problem.InvalidField("email", "this invite is for another address")
	}
	return i.Email, nil
}

// prove returns the hash of the password to store, empty if the account keeps
// its own. An invite is made by one org's admin and must not open an account
// that belongs to others.
func (s *Service) prove(ctx context.Context, who coord.Caller, in wire.AcceptInvite, invite coord.Invite, account *store.Account,
	elsewhere bool) (string, error) {
	switch {
	case account != nil && account.PasswordHash != nil:
		// An invite that names nobody can be tried with anybody's address.
		return "", s.checkPassword(ctx, who, account, in.Password, "this address has an account: use its password")
	case account != nil && (account.HasWayIn() || elsewhere || invite.Email == nil):
		return "", problem.Newf(problem.Forbidden,
			"this address belongs to somebody already; ask for an invite made out to it, or sign in with OpenID first")
	}
	if err := auth.CheckNewPassword("password", in.Password, *in.Email); err != nil {
		return "", err
	}
	return auth.HashPassword(ctx, in.Password)
}

func (s *Service) join(ctx context.Context, tx *store.Tx, in wire.AcceptInvite, invite coord.Invite, hash string) (coord.User, error) {
	if _, err := tx.InviteByCode(ctx, auth.HashOf(in.Code)); err != nil {
		return coord.User{}, err // somebody was quicker
	}
	user, err := s.ensureUser(ctx, tx, *in.Email, in.Name)
	if err != nil {
		return user, err
	}
	if hash != "" {
		user.Name = strings.TrimSpace(in.Name)
		if err := ground.FirstError(tx.SetPassword(ctx, user.ID, hash), tx.SetUserName(ctx, user.ID, user.Name)); err != nil {
			return user, err
		}
	}
	return user, s.enter(ctx, tx, invite, user)
}

// enter uses an invite up and makes the user a member.
func (s *Service) enter(ctx context.Context, tx *store.Tx, invite coord.Invite, user coord.User) error {
	if err := tx.DeleteInvite(ctx, invite.ID); err != nil {
		return err
	}
	as := coord.Caller{OrgID: invite.OrgID, UserID: user.ID}
	if err := ground.Tell(ctx, tx, as, coord.EventInviteAccepted, invite.ID, "",
		wire.InviteAcceptedPayload{Role: invite.Role, UserID: user.ID}); err != nil {
		return err
	}
	if _, err := tx.Member(ctx, invite.OrgID, user.ID); problem.KindOf(err) != problem.NotFound {
		return err // the owner made by bootstrap is a member already
	}
	if err := tx.InsertMember(ctx, invite.OrgID, user.ID, invite.Role); err != nil {
		return err
	}
	return ground.Tell(ctx, tx, as, coord.EventMemberAdded, user.ID, "", wire.MemberAddedPayload{Role: invite.Role})
}

// A Bootstrapped is the first org with its owner.
type Bootstrapped struct {
	Org       coord.Org  `json:"org"`
	User      coord.User `json:"user"`
	Token     string     `json:"token"`
	SignInURL string     `json:"sign_in_url"`
}

// Bootstrap makes the first org and its owner, with a personal token that
// holds every scope and a link to choose a password. It refuses when there is
// an org already.
func (s *Service) Bootstrap(ctx context.Context, orgName, email, name string) (out Bootstrapped, err error) {
	code, token := auth.NewSecret(), auth.NewToken()
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		if out.Org, out.User, err = s.firstOrg(ctx, tx, orgName, email, name); err != nil {
			return err
		}
		as := coord.Caller{OrgID: out.Org.ID, UserID: out.User.ID}
		t := coord.Token{
			ID:        ground.NewID(),
			OrgID:     out.Org.ID,
			Name:      "bootstrap",
			Kind:      coord.PersonalToken,
			Prefix:    token.Prefix,
			Scopes:    coord.Scopes(),
			CreatedAt: tx.Now,
			UserID:    &out.User.ID,
			CreatedBy: &out.User.ID,
		}
		if err := s.insertToken(ctx, tx, as, t, token.Hash); err != nil {
			return err
		}
		return wayIn(ctx, tx, out.Org.ID, out.User, coord.Owner, code)
	})
	out.Token, out.SignInURL = token.Text, s.inviteURL(code.Text)
	return out, err
}

// RenewSignInLink returns a new link to choose a password for an owner who
// has no way to sign in yet, and an empty one for everybody else.
func (s *Service) RenewSignInLink(ctx context.Context, email string) (link string, err error) {
	code := auth.NewSecret()
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		link = ""
		a, err := tx.AccountByEmail(ctx, email)
		if err != nil || a == nil || a.HasWayIn() {
			return err
		}
		orgs, err := tx.OrgsOf(ctx, a.ID)
		if err != nil || len(orgs) != 1 || orgs[0].Role != coord.Owner {
			return err
		}
		link = s.inviteURL(code.Text)
		return wayIn(ctx, tx, orgs[0].ID, a.User, coord.Owner, code)
	})
	return link, err
}

func (s *Service) firstOrg(ctx context.Context, tx *store.Tx, orgName, email, name string) (org coord.Org, user coord.User, err error) {
	n, err := tx.CountOrgs(ctx)
	if err != nil {
		return org, user, err
	}
	if n > 0 {
		return org, user, problem.Newf(problem.Conflict,
			"this server has an org already; invite people from its dashboard, or make tokens with POST /v1/tokens")
	}
	if user, err = s.ensureUser(ctx, tx, email, name); err != nil {
		return org, user, err
	}
	org, err = s.newOrg(ctx, tx, orgName, user)
	return org, user, err
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slugOf(name string) string {
	slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if slug == "" {
		slug = "org"
	}
	return ground.Clip(slug, 60)
}

const setupCodeKey = "setup_code_hash"

// NewSetupCode makes the one-time code for the set-up page, or returns an
// empty one if there is an org already.
func (s *Service) NewSetupCode(ctx context.Context) (code string, err error) {
	secret := auth.NewSecret()
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		n, err := tx.CountOrgs(ctx)
		if err != nil || n > 0 {
			return err
		}
		code = secret.Text
		return tx.SetMeta(ctx, setupCodeKey, secret.Hash)
	})
	return code, err
}

// SetUp makes the first org from the set-up page and signs its owner in.
func (s *Service) SetUp(ctx context.Context, who coord.Caller, in wire.SetUp) (out wire.SignedIn, err error) {
	if err := s.limit(ctx, "setup:"+who.Address, perSetUp, "too many tries; wait a little"); err != nil {
		return out, err
	}
	if _, err := orgName(in.Org); err != nil {
		return out, err
	}
	if err := auth.CheckNewPassword("password", in.Password, in.Email); err != nil {
		return out, err
	}
	hash, err := auth.HashPassword(ctx, in.Password)
	if err != nil {
		return out, err
	}
	var user coord.User
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		want, err := tx.Meta(ctx, setupCodeKey)
		if err != nil {
			return err
		}
		if want == "" || subtle.ConstantTimeCompare([]byte(want), []byte(auth.HashOf(in.Code))) != 1 {
			return problem.Newf(problem.Forbidden,
				"the set-up code is wrong or was used; the server prints a new one at its next start while it has no org")
		}
		if _, user, err = s.firstOrg(ctx, tx, in.Org, in.Email, in.Name); err != nil {
			return err
		}
		return tx.SetPassword(ctx, user.ID, hash)
	})
	if err != nil {
		return out, err
	}
	return s.begin(ctx, who, user, proof{method: coord.ByPassword})
}
