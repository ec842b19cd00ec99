package people

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// SigninLock is the lock of what belongs to no org: accounts and sign-ins.
const SigninLock = "signin"

const tooManySignIns = "too many sign-ins; wait a little and try again"

var (
	errCredentials = problem.Newf(problem.InvalidCredentials, "the email or the password is wrong")
	perAddress     = store.PerWindow(10, time.Minute)
	perAccount     = store.PerWindow(10, 15*time.Minute)
)

// SignIn begins a dashboard session. An unknown address and a wrong password
// get the same answer in the same time.
func (s *Service) SignIn(ctx context.Context, who coord.Caller, in wire.SignIn) (out wire.SignedIn, err error) {
	err = ground.FirstError(s.limit(ctx, "signin:address:"+who.Address, perAddress, tooManySignIns),
		s.limit(ctx, "signin:account:"+store.EmailKey(in.Email), perAccount, tooManySignIns))
	if err != nil {
		return out, err
	}
	var account *store.Account
	err = s.Read(ctx, func(tx *store.Tx) error {
		account, err = tx.AccountByEmail(ctx, in.Email)
		return err
	})
	if err != nil {
		return out, err
	}
	var hash *string
	if account != nil {
		hash = account.PasswordHash
	}
	ok, err := auth.VerifyPassword(ctx, hash, in.Password)
	if err != nil {
		return out, err
	}
	if !ok {
		if account != nil {
			err = s.tellOrgs(ctx, account.User, who, coord.EventSigninFailed)
		}
		if err != nil {
			return out, err
		}
		return out, errCredentials
	}
	return s.begin(ctx, who, account.User)
}

// limit counts a try in a transaction of its own: a try that then fails must
// stay counted.
func (s *Service) limit(ctx context.Context, key string, l store.Limit, detail string) error {
	return s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error { return tx.Take(ctx, key, l, detail) })
}

// begin makes a dashboard session for a person who proved who they are.
func (s *Service) begin(ctx context.Context, who coord.Caller, user coord.User) (wire.SignedIn, error) {
	secret := auth.NewSecret()
	err := s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		return tx.InsertWebSession(ctx, store.WebSession{
			ID:         ground.NewID(),
			UserID:     user.ID,
			UserAgent:  ground.Clip(who.UserAgent, 300),
			Address:    who.Address,
			CreatedAt:  tx.Now,
			LastSeenAt: tx.Now,
			ExpiresAt:  tx.Now.Add(auth.SessionLifetime),
		}, secret.Hash)
	})
	if err != nil {
		return wire.SignedIn{}, err
	}
	if err := s.tellOrgs(ctx, user, who, coord.EventSigninSucceeded); err != nil {
		return wire.SignedIn{}, err
	}
	out, err := s.signedIn(ctx, user)
	out.Secret = secret.Text
	return out, err
}

// tellOrgs logs a sign-in in every org of a person.
func (s *Service) tellOrgs(ctx context.Context, user coord.User, who coord.Caller, t coord.EventType) error {
	var orgs []store.OrgRole
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		orgs, err = tx.OrgsOf(ctx, user.ID)
		return err
	})
	for _, o := range orgs {
		if err != nil {
			break
		}
		as := coord.Caller{OrgID: o.ID, UserID: user.ID, Via: coord.ViaCookie}
		err = s.Store.Write(ctx, o.ID, func(tx *store.Tx) error {
			return ground.Emit(ctx, tx, as, ground.Happening{
				Type:    t,
				Subject: coord.Entity{Kind: "user", ID: user.ID},
				Payload: map[string]any{"address": who.Address},
			})
		})
	}
	return err
}

func (s *Service) signedIn(ctx context.Context, user coord.User) (out wire.SignedIn, err error) {
	out.User = user
	err = s.Read(ctx, func(tx *store.Tx) error {
		orgs, err := tx.OrgsOf(ctx, user.ID)
		for _, o := range orgs {
			out.Orgs = append(out.Orgs, wire.OrgPlace{Org: o.Org, Role: o.Role})
		}
		return err
	})
	return out, err
}

// SignOut ends the dashboard session.
func (s *Service) SignOut(ctx context.Context, who coord.Caller, _ wire.None) (out wire.SignedOut, err error) {
	return out, s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error { return tx.DeleteWebSession(ctx, who.CookieID) })
}

// GetSession tells the dashboard who is signed in.
func (s *Service) GetSession(ctx context.Context, who coord.Caller, _ wire.None) (wire.SignedIn, error) {
	return s.signedIn(ctx, who.User())
}

// GetSignInOptions tells the sign-in page what to offer.
func (s *Service) GetSignInOptions(ctx context.Context, _ coord.Caller, _ wire.None) (out wire.SignInOptions, err error) {
	if s.Config.OIDC != nil {
		out.OIDC = &s.Config.OIDC.Name
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.CountOrgs(ctx)
		out.SetUp = n == 0
		return err
	})
	return out, err
}

// ChangePassword replaces the caller's password and ends their other
// sign-ins.
func (s *Service) ChangePassword(ctx context.Context, who coord.Caller, in wire.ChangePassword) (out wire.None, err error) {
	if err := auth.CheckNewPassword("new", in.New, who.Email); err != nil {
		return out, err
	}
	var account *store.Account
	err = s.Read(ctx, func(tx *store.Tx) error {
		account, err = tx.AccountByID(ctx, who.UserID)
		return err
	})
	if err != nil {
		return out, err
	}
	if account.PasswordHash != nil {
		if err := s.limit(ctx, "signin:account:"+account.Email, perAccount, tooManySignIns); err != nil {
			return out, err
		}
		if ok, err := auth.VerifyPassword(ctx, account.PasswordHash, in.Current); err != nil || !ok {
			return out, ground.FirstError(err, problem.Newf(problem.InvalidCredentials, "the current password is wrong"))
		}
	}
	hash, err := auth.HashPassword(ctx, in.New)
	if err != nil {
		return out, err
	}
	return out, s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		if err := tx.SetPassword(ctx, who.UserID, hash); err != nil {
			return err
		}
		return tx.DeleteWebSessions(ctx, who.UserID, who.CookieID)
	})
}

// SignInOwner begins a dashboard session for the one person of a local
// service, who proved to be that by reading its folder.
func (s *Service) SignInOwner(ctx context.Context, who coord.Caller, email string) (out wire.SignedIn, err error) {
	var account *store.Account
	err = s.Read(ctx, func(tx *store.Tx) error {
		account, err = tx.AccountByEmail(ctx, email)
		return err
	})
	if err != nil {
		return out, err
	}
	if account == nil {
		return out, problem.Newf(problem.NotFound, "there is no account for %s", email)
	}
	return s.begin(ctx, who, account.User)
}
