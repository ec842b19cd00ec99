package people

import (
	"context"
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

// Several orgs on one server: whoever signs up owns a new one. A person has one
// account, whichever orgs they are in; what they may do is a matter of their
// membership in each, and every token and every call is of one org.

const signUpLifetime = 24 * time.Hour

var (
	signUpsPerPlace   = store.PerWindow(20, time.Hour)
	signUpsPerAddress = store.PerWindow(3, time.Hour)
	orgsPerPerson     = store.PerWindow(5, 24*time.Hour)

	errNoSignUp = problem.Newf(problem.Forbidden, "signing up is off on this server; ask its administrator, who can invite you (svcd "+
		"org invite) or make an org (svcd org add)")
)

// RequestSignUp mails a link to make an org. Whoever asks learns nothing of the
// address: what happens is the same whether or not it has an account, and only
// its mailbox shows how it goes on.
func (s *Service) RequestSignUp(ctx context.Context, who coord.Caller, in wire.SignUp) (out wire.None, err error) {
	if s.Config.SignUp != coord.SignUpOpen || !s.Config.Mail {
		return out, errNoSignUp
	}
	const later = "too many tries; wait a little and try again"
	if err := s.limit(ctx, "signup:place:"+placeOf(who.Address), signUpsPerPlace, later); err != nil {
		return out, err
	}
	if err := s.limit(ctx, "signup:address:"+store.EmailKey(in.Email), signUpsPerAddress, later); err != nil {
		return out, err
	}
	code := auth.NewSecret()
	return out, s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		until := tx.Now.Add(signUpLifetime)
		m := bulletin.SignUp(bulletin.SigningUp{URL: s.signUpURL(code.Text)})
		return ground.FirstError(tx.InsertSignup(ctx, store.Signup{Email: in.Email, ExpiresAt: until}, code.Hash),
			s.QueueMail(ctx, tx, "", bulletin.Mail{To: store.EmailKey(in.Email), MailShape: m}))
	})
}

// InviteToSignUp returns a link with which somebody makes an org. Only whoever
// runs the server can ask for it.
func (s *Service) InviteToSignUp(ctx context.Context, email string) (link string, err error) {
	code := auth.NewSecret()
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		return tx.InsertSignup(ctx, store.Signup{Email: email, ExpiresAt: tx.Now.Add(InviteLifetime)}, code.Hash)
	})
	return s.signUpURL(code.Text), err
}

func (s *Service) signUpURL(code string) string { return s.Config.PublicURL + "/sign-up#" + code }

// signup returns what a code stands for, where people sign up.
func (s *Service) signup(ctx context.Context, tx *store.Tx, code string) (store.Signup, *store.Account, error) {
	if s.Config.SignUp != coord.SignUpOpen && s.Config.SignUp != coord.SignUpInvite {
		return store.Signup{}, nil, errNoSignUp
	}
	found, err := tx.Signup(ctx, auth.HashOf(code))
	if err != nil {
		return found, nil, err
	}
	a, err := tx.AccountByEmail(ctx, found.Email)
	return found, a, err
}

// PreviewSignUp shows whoever holds a link how it goes on.
func (s *Service) PreviewSignUp(ctx context.Context, who coord.Caller, in wire.InviteCode) (out wire.SignUpPreview, err error) {
	if err := s.may(ctx, who, ""); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		found, a, err := s.signup(ctx, tx, in.Code)
		out = wire.SignUpPreview{Email: found.Email, Account: a != nil && a.HasWayIn(), ExpiresAt: found.ExpiresAt}
		return err
	})
	if err != nil {
		return out, s.failed(ctx, who, "", err)
	}
	return out, nil
}

// FinishSignUp makes an account and its first org, and signs in. Whoever has an
// account already signs in to it, which may take more than a password.
func (s *Service) FinishSignUp(ctx context.Context, who coord.Caller, in wire.FinishSignUp) (out wire.SignedIn, err error) {
	if strings.TrimSpace(in.Name) == "" {
		return out, problem.InvalidField("name", "must not be blank")
	}
	seen, err := s.PreviewSignUp(ctx, who, wire.InviteCode{Code: in.Code})
	if err != nil {
		return out, err
	}
	if err := auth.CheckNewPassword("password", in.Password, seen.Email); err != nil {
		return out, err
	}
	hash, err := auth.HashPassword(ctx, in.Password)
	if err != nil {
		return out, err
	}
	var user coord.User
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		found, a, err := s.signup(ctx, tx, in.Code)
		switch {
		case err != nil:
			return err
		case a != nil && a.Disabled:
			return errDisabled
		case a != nil && a.HasWayIn():
			return problem.Newf(problem.Conflict, "this address has an account: sign in, then make the org")
		}
		if user, err = s.ensureUser(ctx, tx, found.Email, in.Name); err != nil {
			return err
		}
		user.Name = strings.TrimSpace(in.Name)
		if _, err := s.newOrg(ctx, tx, in.Org, user); err != nil {
			return err
		}
		return ground.FirstError(tx.DeleteSignups(ctx, found.Email), tx.SetPassword(ctx, user.ID, hash), tx.SetUserName(ctx, user.ID, user.Name))
	})
	if err != nil {
		return out, err
	}
	return s.begin(ctx, who, user, proof{method: coord.ByPassword})
}

// CreateOrg makes another org of somebody who is signed in.
func (s *Service) CreateOrg(ctx context.Context, who coord.Caller, in wire.CreateOrg) (out wire.OrgPlace, err error) {
	if in.Code != "" {
		seen, err := s.PreviewSignUp(ctx, who, wire.InviteCode{Code: in.Code})
		if err == nil && seen.Email != who.Email {
			err = problem.Newf(problem.Forbidden, "this invitation is for %s; sign in with that account", seen.Email)
		}
		if err != nil {
			return out, err
		}
	} else if s.Config.SignUp != coord.SignUpOpen {
		return out, errNoSignUp
	}
	if err := s.limit(ctx, "neworg:"+who.UserID, orgsPerPerson, "you made several orgs today; make more tomorrow"); err != nil {
		return out, err
	}
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		if in.Code != "" {
			if _, err := tx.Signup(ctx, auth.HashOf(in.Code)); err != nil {
				return err // used meanwhile
			}
		}
		org, err := s.newOrg(ctx, tx, in.Org, who.User())
		out = wire.OrgPlace{Org: org, Role: coord.Owner}
		return ground.FirstError(err, tx.DeleteSignups(ctx, who.Email))
	})
	return out, err
}

// AddOrg makes an org and its owner for whoever runs the server, and returns a
// link with which the owner chooses a password, if they cannot sign in yet.
func (s *Service) AddOrg(ctx context.Context, name, email, person string) (org coord.Org, link string, err error) {
	code := auth.NewSecret()
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		user, err := s.ensureUser(ctx, tx, email, person)
		if err != nil {
			return err
		}
		if org, err = s.newOrg(ctx, tx, name, user); err != nil {
			return err
		}
		link, err = s.offerWayIn(ctx, tx, org.ID, user, coord.Owner, code)
		return err
	})
	return org, link, err
}

// newOrg makes an org with its owner. It runs under SigninLock: an address is
// given once.
func (s *Service) newOrg(ctx context.Context, tx *store.Tx, name string, owner coord.User) (org coord.Org, err error) {
	if name, err = orgName(name); err != nil {
		return org, err
	}
	slug, err := tx.FreeSlug(ctx, slugOf(name))
	if err != nil {
		return org, err
	}
	org = coord.Org{ID: ground.NewID(), Slug: slug, Name: name, DataMode: coord.DataFull, Plan: s.money.InitialPlan(), CreatedAt: tx.Now}
	as := coord.Caller{OrgID: org.ID, UserID: owner.ID}
	return org, ground.FirstError(tx.InsertOrg(ctx, org), tx.InsertMember(ctx, org.ID, owner.ID, coord.Owner),
		tx.SetMeta(ctx, setupCodeKey, ""),
		ground.Tell(ctx, tx, as, coord.EventMemberAdded, owner.ID, "", wire.MemberAddedPayload{Role: coord.Owner}))
}

// orgName is what an org is to be called, if that can be read.
func orgName(text string) (string, error) {
	name := strings.TrimSpace(text)
	switch {
	case name == "":
		return "", problem.InvalidField("org", "must not be blank")
	case !coord.IsName(name):
		return "", problem.InvalidField("org", "must be a name of characters that can be seen")
	}
	return name, nil
}
