package people

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"rsc.io/qr"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// A person's second factor is asked for after a password and after a sign-in at
// a provider, in whatever org. Until then there is only a ticket, which opens
// nothing.

const (
	halfLifetime  = 5 * time.Minute
	recoveryCodes = 10
)

var (
	// Of six digits, three are right at any time: at this pace a guess succeeds
	// once in four years.
	perFactor  = store.PerWindow(10, time.Hour)
	errCode    = problem.Newf(problem.InvalidCredentials, "the code is wrong, or was used already; wait for the next one")
	errNoApp   = problem.Newf(problem.Conflict, "you have no second factor; set one up first")
	errNothing = problem.Newf(problem.Conflict, "there is nothing here to prove it with; sign out and sign in again")
)

// A proof is how somebody showed who they are.
type proof struct {
	method coord.SignInMethod
	second bool       // with a second factor, or without need of one
	at     coord.Time // zero for now
}

// insertSession makes a dashboard session.
func insertSession(ctx context.Context, tx *store.Tx, who coord.Caller, user string, p proof, hash string) error {
	if p.at == 0 || p.at > tx.Now {
		p.at = tx.Now
	}
	return tx.InsertWebSession(ctx, store.WebSession{
		ID:         ground.NewID(),
		UserID:     user,
		UserAgent:  ground.Clip(who.UserAgent, 300),
		Address:    who.Address,
		CreatedAt:  tx.Now,
		LastSeenAt: tx.Now,
		ExpiresAt:  tx.Now.Add(auth.SessionLifetime),
		Method:     p.method,
		Second:     p.second,
		ProvedAt:   p.at,
	}, hash)
}

// takeCode checks a code of somebody's second factor and uses it up. What is
// wrong with it is told apart from errors: the try has to be counted, in the
// transaction that tries, so that no two tries can pass one count.
func (s *Service) takeCode(ctx context.Context, tx *store.Tx, user, code string) (used string, wrong, err error) {
	if err := countTry(ctx, tx, user); err != nil {
		return "", nil, err
	}
	t, err := tx.TOTPOf(ctx, user)
	if err != nil {
		return "", nil, err
	}
	ok, used := false, "totp"
	if t != nil && t.ConfirmedAt != nil {
		ok, err = s.takeTOTP(ctx, tx, user, t, code)
	}
	if err == nil && !ok {
		used = "recovery_codes"
		ok, err = tx.TakeRecoveryCode(ctx, user, recoveryHash(user, code))
	}
	if err != nil || !ok {
		return "", errCode, err
	}
	return used, nil, tx.ResetLimit(ctx, triesOf(user))
}

// countTry counts a code that somebody tries.
func countTry(ctx context.Context, tx *store.Tx, user string) error {
	return tx.Take(ctx, triesOf(user), perFactor, "too many codes were tried; wait a little and try again")
}

func triesOf(user string) string { return "second:" + user }

// takeTOTP reports whether a code is one that the app shows now and that was
// not taken yet.
func (s *Service) takeTOTP(ctx context.Context, tx *store.Tx, user string, t *store.TOTP, code string) (bool, error) {
	secret, err := s.Config.Vault.Open(totpOf(user), t.Secret)
	if err != nil {
		return false, err
	}
	step, err := auth.TOTPStep(secret, auth.Plain(code), tx.Now, t.LastStep)
	if err != nil || step == 0 {
		return false, err
	}
	return tx.TakeTOTP(ctx, user, step)
}

// totpOf says what a sealed secret is for.
func totpOf(user string) string { return "totp " + user }

func recoveryHash(user, code string) string { return auth.HashOf(user + " " + auth.Plain(code)) }

// ShowSecondFactor ends a sign-in that waits for the second factor.
func (s *Service) ShowSecondFactor(ctx context.Context, who coord.Caller, in wire.SecondFactor) (out wire.SignedIn, err error) {
	if err := s.may(ctx, who, ""); err != nil {
		return out, err
	}
	secret := auth.NewSecret()
	var user coord.User
	var used string
	var wrong error
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		h, err := tx.HalfSignin(ctx, auth.HashOf(in.Ticket))
		if err != nil {
			return err
		}
		a, err := tx.AccountByID(ctx, h.UserID)
		if err != nil || a == nil || a.Disabled {
			return ground.FirstError(err, errDisabled)
		}
		user, who.SignedInBy, who.Second = a.User, h.Method, true
		if used, wrong, err = s.takeCode(ctx, tx, a.ID, in.Code); err != nil || wrong != nil {
			return err
		}
		return ground.FirstError(tx.DeleteHalfSignins(ctx, a.ID),
			insertSession(ctx, tx, who, a.ID, proof{method: h.Method, second: true}, secret.Hash))
	})
	if err == nil && wrong != nil {
		err = ground.FirstError(s.tellOrgs(ctx, user, who, coord.EventSigninFailed), wrong)
	}
	if err != nil {
		return out, s.failed(ctx, who, "", err)
	}
	if err := s.tellUse(ctx, user, who, used); err != nil {
		return out, err
	}
	return s.entered(ctx, who, user, secret)
}

// tellUse tells that somebody used a recovery code up.
func (s *Service) tellUse(ctx context.Context, user coord.User, who coord.Caller, used string) error {
	if used != "recovery_codes" {
		return nil
	}
	return s.tellFactor(ctx, user, wire.FactorPayload{Factor: used, Change: "used", Address: who.Address})
}

// tellFactor tells every org of a person what became of their second factor.
func (s *Service) tellFactor(ctx context.Context, user coord.User, what wire.FactorPayload) error {
	by := coord.Caller{UserID: user.ID, Via: coord.ViaCookie}
	if what.Change == "reset" {
		by = ground.System("")
	}
	return s.tellAll(ctx, user, by, coord.EventSigninFactor, what)
}

// Prove takes a fresh proof that the person of a dashboard session is still in
// front of it.
func (s *Service) Prove(ctx context.Context, who coord.Caller, in wire.Prove) (out wire.None, err error) {
	a, err := s.account(ctx, who)
	if err != nil {
		return out, err
	}
	switch {
	case in.Passkey != nil:
		return out, s.byPasskey(ctx, who, in.Passkey, func(tx *store.Tx, user string) error {
			if user != who.UserID {
				return errOthersPasskey
			}
			return tx.ProveWebSession(ctx, who.CookieID, true)
		})
	case a.Second && in.Code == "":
		return out, problem.InvalidField("code", "is required, or an answer of a passkey: you have a second factor")
	case a.Second:
		return out, s.proveByCode(ctx, who, in.Code)
	case a.PasswordHash == nil:
		return out, errNothing
	}
	if err := s.checkPassword(ctx, who, a, in.Password, "the password is wrong"); err != nil {
		return out, err
	}
	return out, s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error { return tx.ProveWebSession(ctx, who.CookieID, false) })
}

func (s *Service) proveByCode(ctx context.Context, who coord.Caller, code string) error {
	var used string
	var wrong error
	err := s.Store.Write(ctx, SigninLock, func(tx *store.Tx) (err error) {
		if used, wrong, err = s.takeCode(ctx, tx, who.UserID, code); err != nil || wrong != nil {
			return err
		}
		return tx.ProveWebSession(ctx, who.CookieID, true)
	})
	if err == nil && wrong != nil {
		err = ground.FirstError(s.tellOrgs(ctx, who.User(), who, coord.EventSigninFailed), wrong)
	}
	return ground.FirstError(err, s.tellUse(ctx, who.User(), who, used))
}

// account returns the caller's.
func (s *Service) account(ctx context.Context, who coord.Caller) (a *store.Account, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		a, err = tx.AccountByID(ctx, who.UserID)
		return err
	})
	if err == nil && a == nil {
		err = problem.Newf(problem.NotFound, "the account is gone")
	}
	return a, err
}

// GetFactors tells somebody what they prove who they are with.
func (s *Service) GetFactors(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Factors, err error) {
	a, err := s.account(ctx, who)
	if err != nil {
		return out, err
	}
	out = wire.Factors{TOTP: a.TOTP, Passkeys: []wire.Passkey{}, Password: a.PasswordHash != nil, ProveWith: "sign_in"}
	if _, err := auth.PasskeysAt(s.Config.PublicURL); err != nil {
		out.PasskeysOff = err.Error()
	}
	switch {
	case a.TOTP:
		out.ProveWith = "code"
	case a.Passkeys:
		out.ProveWith = "passkey"
	case out.Password:
		out.ProveWith = "password"
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		out.RecoveryCodes, err = tx.CountRecoveryCodes(ctx, who.UserID)
		if err != nil {
			return err
		}
		keys, err := tx.PasskeysOf(ctx, who.UserID)
		for _, k := range keys {
			out.Passkeys = append(out.Passkeys, shown(k))
		}
		return err
	})
	return out, err
}

// EnrolTOTP makes a secret for an app that shows one-time codes. It counts once
// ConfirmTOTP has seen a code.
func (s *Service) EnrolTOTP(ctx context.Context, who coord.Caller, _ wire.None) (out wire.EnrolledTOTP, err error) {
	out.Secret = auth.NewTOTPSecret()
	out.Address = auth.TOTPAddress(s.issuer(), who.Email, out.Secret)
	if out.QR, err = picture(out.Address); err != nil {
		return out, err
	}
	sealed, err := s.Config.Vault.Seal(totpOf(who.UserID), out.Secret)
	if err != nil {
		return out, err
	}
	return out, s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error { return tx.PutTOTP(ctx, who.UserID, sealed) })
}

// issuer is what an app lists the account under: people may have several
// servers.
func (s *Service) issuer() string {
	if u, err := url.Parse(s.Config.PublicURL); err == nil && u.Host != "" {
		return "svc (" + u.Host + ")"
	}
	return "svc"
}

// picture draws a text for a phone's camera, with the margin that it needs.
func picture(text string) (wire.QR, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return wire.QR{}, err
	}
	const quiet = 4
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return wire.QR{Size: code.Size + 2*quiet, Path: path.String()}, nil
}

// ConfirmTOTP takes the first code of an app, which counts from then on, and
// shows new recovery codes. Sign-ins elsewhere end: they did without.
func (s *Service) ConfirmTOTP(ctx context.Context, who coord.Caller, in wire.Code) (out wire.RecoveryCodes, err error) {
	var wrong error
	var hashes []string
	out.Codes, hashes = newRecoveryCodes(who.UserID)
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		wrong = nil
		t, err := tx.TOTPOf(ctx, who.UserID)
		switch {
		case err != nil:
			return err
		case t == nil:
			return problem.Newf(problem.Conflict, "begin with POST /v1/auth/totp, which shows the secret for the app")
		case t.ConfirmedAt != nil:
			return problem.Newf(problem.Conflict, "this app is set up already")
		}
		if err := countTry(ctx, tx, who.UserID); err != nil {
			return err
		}
		if ok, err := s.takeTOTP(ctx, tx, who.UserID, t, in.Code); err != nil || !ok {
			wrong = problem.InvalidField("code", "is not what the app shows now; look whether the clocks of both are right")
			return err
		}
		return ground.FirstError(tx.ResetLimit(ctx, triesOf(who.UserID)), tx.SetRecoveryCodes(ctx, who.UserID, hashes),
			tx.ProveWebSession(ctx, who.CookieID, true), tx.DeleteWebSessions(ctx, who.UserID, who.CookieID))
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return wire.RecoveryCodes{}, err
	}
	return out, s.tellFactor(ctx, who.User(), wire.FactorPayload{Factor: "totp", Change: "added", Address: who.Address})
}

func newRecoveryCodes(user string) (codes, hashes []string) {
	for range recoveryCodes {
		code := auth.NewRecoveryCode()
		codes, hashes = append(codes, code), append(hashes, recoveryHash(user, code))
	}
	return codes, hashes
}

// RemakeRecoveryCodes shows new recovery codes; the old ones stop working.
func (s *Service) RemakeRecoveryCodes(ctx context.Context, who coord.Caller, _ wire.None) (out wire.RecoveryCodes, err error) {
	var hashes []string
	out.Codes, hashes = newRecoveryCodes(who.UserID)
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		a, err := tx.AccountByID(ctx, who.UserID)
		if err != nil || a == nil || !a.Second {
			return ground.FirstError(err, errNoApp)
		}
		return tx.SetRecoveryCodes(ctx, who.UserID, hashes)
	})
	if err != nil {
		return wire.RecoveryCodes{}, err
	}
	return out, s.tellFactor(ctx, who.User(), wire.FactorPayload{Factor: "recovery_codes", Change: "remade", Address: who.Address})
}

// RemoveTOTP takes somebody's app away.
func (s *Service) RemoveTOTP(ctx context.Context, who coord.Caller, _ wire.None) (out wire.None, err error) {
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		had, err := tx.DeleteTOTP(ctx, who.UserID)
		if err != nil || !had {
			return ground.FirstError(err, errNoApp)
		}
		return dropSpare(ctx, tx, who.UserID)
	})
	if err != nil {
		return out, err
	}
	return out, s.tellFactor(ctx, who.User(), wire.FactorPayload{Factor: "totp", Change: "removed", Address: who.Address})
}

// ResetFactors takes a person's second factors away for whoever runs the server,
// and reports whether there were any.
func (s *Service) ResetFactors(ctx context.Context, email string) (had bool, err error) {
	a, err := s.accountOf(ctx, email)
	if err != nil {
		return false, err
	}
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		app, err := tx.DeleteTOTP(ctx, a.ID)
		if err != nil {
			return err
		}
		keys, err := tx.DeletePasskey(ctx, a.ID, "")
		had = app || keys
		return ground.FirstError(err, dropSpare(ctx, tx, a.ID))
	})
	if err != nil || !had {
		return had, err
	}
	return had, s.tellFactor(ctx, a.User, wire.FactorPayload{Factor: "all", Change: "reset"})
}

// dropSpare forgets what stands in for a person's second factor, if they have
// none any more.
func dropSpare(ctx context.Context, tx *store.Tx, user string) error {
	a, err := tx.AccountByID(ctx, user)
	if err != nil || a == nil || a.Second {
		return err
	}
	return ground.FirstError(tx.SetRecoveryCodes(ctx, user, nil), tx.DeleteHalfSignins(ctx, user))
}
