package people

import (
	"context"
	"errors"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// A passkey signs in by itself, and counts as a second factor: whoever uses it
// has the device, and has shown it a PIN, a finger or a face.

const (
	mostPasskeys   = 20     // of a person
	mostChallenges = 10_000 // that wait for an answer, on the whole server
)

var (
	perChallenge     = store.PerWindow(2000, 10*time.Minute) // of an address, which may be a whole office's
	errOthersPasskey = problem.Newf(problem.InvalidCredentials,
		"this is somebody else's passkey; choose one of the account that you began with")
	errLastWayIn = problem.Newf(problem.Conflict,
		"this is your last way into an org that takes no passwords; add another passkey first, or have an owner allow passwords")
)

// AskForPasskey asks whoever it is for a passkey. Nothing about anybody goes into
// the question.
func (s *Service) AskForPasskey(ctx context.Context, who coord.Caller, _ wire.None) (out wire.PasskeyQuestion, err error) {
	return s.ask(ctx, who, "", auth.Passkeys.Ask)
}

// AskForNewPasskey begins to set up a passkey of the caller's.
func (s *Service) AskForNewPasskey(ctx context.Context, who coord.Caller, _ wire.None) (out wire.PasskeyQuestion, err error) {
	var have []store.Passkey
	err = s.Read(ctx, func(tx *store.Tx) error {
		have, err = tx.PasskeysOf(ctx, who.UserID)
		return err
	})
	if err := ground.FirstError(err, roomFor(have)); err != nil {
		return out, err
	}
	return s.ask(ctx, who, who.UserID, func(p auth.Passkeys) (auth.PasskeyQuestion, error) { return p.Register(who.User(), have) })
}

// roomFor refuses one more passkey than a person may have.
func roomFor(have []store.Passkey) error {
	if len(have) < mostPasskeys {
		return nil
	}
	return problem.Newf(problem.Conflict, "you have %d passkeys; remove one that you do not use first", len(have))
}

// ask keeps what is asked, until it is answered.
func (s *Service) ask(ctx context.Context, who coord.Caller, user string, make func(auth.Passkeys) (auth.PasskeyQuestion, error)) (
	out wire.PasskeyQuestion, err error) {
	here, err := auth.PasskeysAt(s.Config.PublicURL)
	if err != nil {
		return out, err
	}
	q, err := make(here)
	if err != nil {
		return out, err
	}
	out.Options = q.Options
	return out, s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		if err := tx.Take(ctx, "passkey:"+placeOf(who.Address), perChallenge, tooManySignIns); err != nil {
			return err
		}
		return tx.InsertChallenge(ctx, auth.HashOf(q.Challenge), user, tx.Now.Add(halfLifetime), mostChallenges)
	})
}

// takeChallenge uses up what was asked, whatever becomes of the answer.
func (s *Service) takeChallenge(ctx context.Context, challenge, user string) error {
	held := false
	err := s.Store.Write(ctx, SigninLock, func(tx *store.Tx) (err error) {
		held, err = tx.TakeChallenge(ctx, auth.HashOf(challenge), user)
		return err
	})
	if err == nil && !held {
		err = auth.ErrPasskey
	}
	return err
}

// AddPasskey keeps a passkey that the caller's device has made. With the first
// second factor come recovery codes, and sign-ins elsewhere end: they did without.
func (s *Service) AddPasskey(ctx context.Context, who coord.Caller, in wire.AddPasskey) (out wire.AddedPasskey, err error) {
	here, err := auth.PasskeysAt(s.Config.PublicURL)
	if err != nil {
		return out, err
	}
	answer, err := auth.ReadNewPasskey(in.Credential)
	if err != nil {
		return out, err
	}
	if err := s.takeChallenge(ctx, answer.Challenge(), who.UserID); err != nil {
		if !errors.Is(err, auth.ErrPasskey) {
			return out, err
		}
		return out, problem.Newf(problem.NotFound, "this was begun more than five minutes ago, or is done already; begin again")
	}
	k, err := here.Made(who.User(), answer)
	if err != nil {
		return out, err
	}
	k.ID, k.Name = ground.NewID(), in.Name
	codes, hashes := newRecoveryCodes(who.UserID)
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		out.RecoveryCodes = []string{}
		a, err := tx.AccountByID(ctx, who.UserID)
		if err != nil || a == nil {
			return ground.FirstError(err, errDisabled)
		}
		have, err := tx.PasskeysOf(ctx, a.ID)
		if err := ground.FirstError(err, roomFor(have)); err != nil { // others may have been begun beside this one
			return err
		}
		if !a.Second {
			out.RecoveryCodes = codes
			err = ground.FirstError(tx.SetRecoveryCodes(ctx, a.ID, hashes), tx.DeleteWebSessions(ctx, a.ID, who.CookieID))
		}
		k.CreatedAt = tx.Now
		return ground.FirstError(err, tx.InsertPasskey(ctx, k), tx.ProveWebSession(ctx, who.CookieID, true))
	})
	if err != nil {
		return wire.AddedPasskey{}, err
	}
	out.Passkey = shown(k)
	return out, s.tellFactor(ctx, who.User(), wire.FactorPayload{Factor: "passkey", Change: "added", Address: who.Address})
}

func shown(k store.Passkey) wire.Passkey {
	return wire.Passkey{ID: k.ID, Name: k.Name, Synced: k.Synced, CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt, CopiedAt: k.CopiedAt}
}

// RemovePasskey takes one of the caller's passkeys away.
func (s *Service) RemovePasskey(ctx context.Context, who coord.Caller, in wire.ID) (out wire.None, err error) {
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		had, err := tx.DeletePasskey(ctx, who.UserID, in.ID)
		if err != nil || !had {
			return ground.FirstError(err, problem.Newf(problem.NotFound, "you have no such passkey"))
		}
		a, err := tx.AccountByID(ctx, who.UserID)
		if err != nil || a == nil {
			return ground.FirstError(err, errDisabled)
		}
		orgs, err := tx.OrgsOf(ctx, a.ID)
		for _, o := range orgs {
			if o.PasswordsOff && !a.Passkeys && a.Subject == nil {
				return errLastWayIn
			}
		}
		return ground.FirstError(err, dropSpare(ctx, tx, a.ID))
	})
	if err != nil {
		return out, err
	}
	return out, s.tellFactor(ctx, who.User(), wire.FactorPayload{Factor: "passkey", Change: "removed", Address: who.Address})
}

// ShowPasskey begins a dashboard session for the owner of a passkey; with a
// ticket, for whoever began to sign in with a password.
func (s *Service) ShowPasskey(ctx context.Context, who coord.Caller, in wire.ShowPasskey) (out wire.SignedIn, err error) {
	secret := auth.NewSecret()
	var user coord.User
	p := proof{method: coord.ByPasskey, second: true}
	err = s.byPasskey(ctx, who, in.Credential, func(tx *store.Tx, id string) error {
		a, err := tx.AccountByID(ctx, id)
		if err != nil || a == nil || a.Disabled {
			return ground.FirstError(err, errDisabled)
		}
		if in.Ticket != "" {
			h, err := tx.HalfSignin(ctx, auth.HashOf(in.Ticket))
			if err != nil || h.UserID != id {
				return ground.FirstError(err, errOthersPasskey)
			}
		}
		user = a.User
		return ground.FirstError(tx.DeleteHalfSignins(ctx, id), insertSession(ctx, tx, who, id, p, secret.Hash))
	})
	if err != nil {
		return out, err
	}
	who.SignedInBy, who.Second, who.HasSecond = p.method, true, true
	return s.entered(ctx, who, user, secret)
}

// byPasskey runs fn for the person whose passkey gave an answer, in the
// transaction that notes its use.
func (s *Service) byPasskey(ctx context.Context, who coord.Caller, credential map[string]any,
	fn func(tx *store.Tx, user string) error) error {
	here, err := auth.PasskeysAt(s.Config.PublicURL)
	if err != nil {
		return err
	}
	if err := s.may(ctx, who, ""); err != nil {
		return err
	}
	answer, err := auth.ReadPasskeyAnswer(credential)
	if err == nil {
		err = s.takeChallenge(ctx, answer.Challenge(), "")
	}
	if err != nil {
		return s.failed(ctx, who, "", err)
	}
	var key *store.Passkey
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		if key, err = tx.PasskeyByCredential(ctx, answer.Credential()); err != nil || key == nil {
			return ground.FirstError(err, auth.ErrPasskey)
		}
		count, err := here.Verify(answer, *key)
		if err != nil {
			return err
		}
		return ground.FirstError(tx.UsePasskey(ctx, key.ID, count), fn(tx, key.UserID))
	})
	if err == nil {
		return nil
	}
	if key != nil && problem.KindOf(err) == problem.InvalidCredentials {
		err = ground.FirstError(s.refused(ctx, who, key, errors.Is(err, auth.ErrCopied)), err)
	}
	return s.failed(ctx, who, "", err)
}

// refused tells the orgs of a passkey's owner that it was refused.
func (s *Service) refused(ctx context.Context, who coord.Caller, key *store.Passkey, copied bool) error {
	owner := coord.User{ID: key.UserID}
	if !copied {
		return s.tellOrgs(ctx, owner, who, coord.EventSigninFailed)
	}
	err := s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error { return tx.SuspectPasskey(ctx, key.ID) })
	return ground.FirstError(err, s.tellFactor(ctx, owner, wire.FactorPayload{Factor: "passkey", Change: "copied", Address: who.Address}))
}
