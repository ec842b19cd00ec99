package people

import (
	"cmp"
	"context"
	"net/netip"
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
	// Failures: of an address, which may be a whole office's; of an account from
	// one address; and of an account from wherever, which does not count where
	// its owner is signed in already, so that nobody can be kept out by others.
	perAddress = store.PerWindow(60, 10*time.Minute)
	perPair    = store.PerWindow(10, 15*time.Minute)
	perAccount = store.PerWindow(100, time.Hour)
	perSetUp   = store.PerWindow(10, time.Minute)
)

// A gate is one limit of failures.
type gate struct {
	key   string
	limit store.Limit
}

// gates returns the limits that a try to sign in has to pass.
func (s *Service) gates(ctx context.Context, tx *store.Tx, who coord.Caller, email string) ([]gate, error) {
	at := placeOf(who.Address)
	out := []gate{{"signin:address:" + at, perAddress}}
	if email == "" {
		return out, nil
	}
	email = store.EmailKey(email)
	out = append(out, gate{"signin:pair:" + email + " " + at, perPair})
	known, err := tx.KnownAt(ctx, email, who.Address)
	if err == nil && !known {
		out = append(out, gate{"signin:account:" + email, perAccount})
	}
	return out, err
}

// placeOf folds addresses of one place: a host has a whole /64 of them.
func placeOf(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() && !ip.Is4In6() {
		if net, err := ip.Prefix(64); err == nil {
			return net.String()
		}
	}
	return address
}

// may refuses a try to sign in where too many have failed.
func (s *Service) may(ctx context.Context, who coord.Caller, email string) error {
	return s.Read(ctx, func(tx *store.Tx) error {
		gates, err := s.gates(ctx, tx, who, email)
		for _, g := range gates {
			err = ground.FirstError(err, tx.Full(ctx, g.key, g.limit, tooManySignIns))
		}
		return err
	})
}

// failed counts a try that failed, in a transaction of its own, and returns
// why. What is not the caller's fault does not count.
func (s *Service) failed(ctx context.Context, who coord.Caller, email string, why error) error {
	switch problem.KindOf(why) {
	case problem.Internal, problem.Unavailable, problem.RateLimited:
		return why
	}
	err := s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		gates, err := s.gates(ctx, tx, who, email)
		for _, g := range gates {
			if err == nil {
				err = tx.Take(ctx, g.key, g.limit, tooManySignIns)
			}
			if problem.KindOf(err) == problem.RateLimited {
				err = nil // others failed meanwhile; the next try is refused
			}
		}
		return err
	})
	return ground.FirstError(err, why)
}

// SignIn begins a dashboard session. An unknown address and a wrong password
// get the same answer in the same time.
func (s *Service) SignIn(ctx context.Context, who coord.Caller, in wire.SignIn) (out wire.SignedIn, err error) {
	if err := s.may(ctx, who, in.Email); err != nil {
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
		return out, s.failed(ctx, who, in.Email, errCredentials)
	}
	return s.begin(ctx, who, account.User, proof{method: coord.ByPassword})
}

// limit counts a try in a transaction of its own: a try that then fails must
// stay counted.
func (s *Service) limit(ctx context.Context, key string, l store.Limit, detail string) error {
	return s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error { return tx.Take(ctx, key, l, detail) })
}

// errDisabled is what somebody with a closed account hears, once they have proved
// whose it is.
var errDisabled = problem.Newf(problem.Forbidden, "this account is disabled; the server's administrator can enable it")

// begin makes a dashboard session for a person who proved who they are, or,
// where they have a second factor and did not show it, a ticket for that.
func (s *Service) begin(ctx context.Context, who coord.Caller, user coord.User, p proof) (wire.SignedIn, error) {
	secret := auth.NewSecret()
	var half *wire.HalfSignedIn
	err := s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		half = nil
		a, err := tx.AccountByID(ctx, user.ID)
		if err != nil || a == nil || a.Disabled {
			return ground.FirstError(err, errDisabled)
		}
		if a.Second && !p.second {
			half = &wire.HalfSignedIn{Ticket: secret.Text, ExpiresAt: tx.Now.Add(halfLifetime), TOTP: a.TOTP, Passkeys: a.Passkeys}
			return tx.InsertHalfSignin(ctx, store.HalfSignin{UserID: user.ID, Method: p.method, ExpiresAt: half.ExpiresAt}, secret.Hash)
		}
		return insertSession(ctx, tx, who, user.ID, p, secret.Hash)
	})
	if err != nil || half != nil {
		return wire.SignedIn{Orgs: []wire.OrgPlace{}, SecondFactor: half}, err
	}
	who.SignedInBy, who.Second = p.method, p.second
	return s.entered(ctx, who, user, secret)
}

// entered tells of a new dashboard session and shows it.
func (s *Service) entered(ctx context.Context, who coord.Caller, user coord.User, secret auth.Secret) (wire.SignedIn, error) {
	if err := s.tellOrgs(ctx, user, who, coord.EventSigninSucceeded); err != nil {
		return wire.SignedIn{}, err
	}
	out, err := s.signedIn(ctx, who, user)
	out.Secret = secret.Text
	return out, err
}

// tellOrgs logs a sign-in in every org of a person.
func (s *Service) tellOrgs(ctx context.Context, user coord.User, who coord.Caller, t coord.EventType) error {
	return s.tellAll(ctx, user, coord.Caller{UserID: user.ID, Via: coord.ViaCookie}, t, wire.SigninPayload{Address: who.Address})
}

// tellAll tells every org of a person what happened to their account.
func (s *Service) tellAll(ctx context.Context, user coord.User, by coord.Caller, t coord.EventType, payload any) error {
	var orgs []store.OrgRole
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		orgs, err = tx.OrgsOf(ctx, user.ID)
		return err
	})
	for _, o := range orgs {
		if err != nil {
			break
		}
		by.OrgID = o.ID
		err = s.Store.Write(ctx, o.ID, func(tx *store.Tx) error {
			return ground.Emit(ctx, tx, by, ground.Happening{Type: t, Subject: coord.Entity{Kind: "user", ID: user.ID}, Payload: payload})
		})
	}
	return err
}

func (s *Service) signedIn(ctx context.Context, who coord.Caller, user coord.User) (out wire.SignedIn, err error) {
	out.User, out.MayMakeOrgs = &user, s.Config.SignUp == coord.SignUpOpen
	err = s.Read(ctx, func(tx *store.Tx) error {
		orgs, err := tx.OrgsOf(ctx, user.ID)
		for _, o := range orgs {
			out.Orgs = append(out.Orgs, wire.OrgPlace{Org: o.Org, Role: o.Role,
				Lacks: o.Lack(who.SignedInBy, who.Second, who.HasSecond)})
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
	return s.signedIn(ctx, who, who.User())
}

// GetSignInOptions tells the sign-in page what to offer.
func (s *Service) GetSignInOptions(ctx context.Context, _ coord.Caller, _ wire.None) (out wire.SignInOptions, err error) {
	out.Providers, out.SignUp = []string{}, cmp.Or(s.Config.SignUp, coord.SignUpOff)
	_, off := auth.PasskeysAt(s.Config.PublicURL)
	out.Passkeys = off == nil
	for _, p := range s.Config.OIDC {
		out.Providers = append(out.Providers, p.Name)
	}
	if len(out.Providers) > 0 {
		out.OIDC = &out.Providers[0]
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
	account, err := s.account(ctx, who)
	if err != nil {
		return out, err
	}
	if account.PasswordHash != nil {
		err = s.checkPassword(ctx, who, account, in.Current, "the current password is wrong")
	} else {
		err = auth.Fresh(who, s.Store.Now())
	}
	if err != nil {
		return out, err
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

// checkPassword refuses a wrong password of an account, and counts it.
func (s *Service) checkPassword(ctx context.Context, who coord.Caller, a *store.Account, password, wrong string) error {
	if err := s.may(ctx, who, a.Email); err != nil {
		return err
	}
	ok, err := auth.VerifyPassword(ctx, a.PasswordHash, password)
	if err == nil && !ok {
		err = s.failed(ctx, who, a.Email, problem.Newf(problem.InvalidCredentials, "%s", wrong))
	}
	return err
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
	return s.begin(ctx, who, account.User, proof{method: coord.ByFolder, second: true})
}
