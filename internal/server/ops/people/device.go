package people

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	deviceLifetime = 10 * time.Minute
	deviceInterval = 5 // seconds between polls
	adminLifetime  = 15 * time.Minute
)

var (
	devicesPerAddress = store.PerWindow(30, time.Hour)
	codesPerPerson    = store.PerWindow(15, 10*time.Minute)
)

// StartDevice begins the device flow for a client without a browser.
func (s *Service) StartDevice(ctx context.Context, who coord.Caller, in wire.StartDevice) (out wire.DeviceStarted, err error) {
	secret, code := auth.NewSecret(), auth.NewUserCode()
	if err := s.limit(ctx, "device:"+who.Address, devicesPerAddress,
		"too many log-ins from this address; wait a little and try again"); err != nil {
		return out, err
	}
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		return tx.InsertDevice(ctx, store.DeviceCode{
			ID:         ground.NewID(),
			UserCode:   code,
			Status:     store.DevicePending,
			Hostname:   in.Hostname,
			CLIVersion: in.CLIVersion,
			Address:    who.Address,
			Interval:   deviceInterval,
			CreatedAt:  tx.Now,
			ExpiresAt:  tx.Now.Add(deviceLifetime),
			Admin:      in.Admin,
			AskedOrg:   in.Org,
		}, secret.Hash)
	})
	return wire.DeviceStarted{DeviceCode: secret.Text, UserCode: code, VerificationURI: s.Config.PublicURL + "/device",
		ExpiresIn: int(deviceLifetime / time.Second), Interval: deviceInterval}, err
}

// PollDevice hands out the token once a person approved, exactly once.
func (s *Service) PollDevice(ctx context.Context, _ coord.Caller, in wire.DeviceToken) (out wire.DeviceIssued, err error) {
	// The org is not known before the code is read, so the lock is the one
	// of all sign-ins; what a poll decides must be stored even when its
	// answer is "not yet", so the answer is kept apart from the error.
	var answer error
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		answer = nil
		d, err := tx.DeviceByHash(ctx, auth.HashOf(in.DeviceCode))
		if problem.KindOf(err) == problem.NotFound {
			answer = problem.Newf(problem.ExpiredToken, "this code is not known or has expired; run svc login again")
			return nil
		}
		if err != nil {
			return err
		}
		early := d.LastPollAt != nil && tx.Now.Sub(*d.LastPollAt) < time.Duration(d.Interval)*time.Second
		d.LastPollAt = tx.Now.Ptr()
		switch {
		case d.Status == store.DeviceRedeemed || d.ExpiresAt <= tx.Now:
			answer = problem.Newf(problem.ExpiredToken, "this code has expired or was used; run svc login again")
		case d.Status == store.DeviceDenied:
			answer = problem.Newf(problem.AccessDenied, "the request was denied in the dashboard")
		case d.Status == store.DeviceApproved:
			d.Status = store.DeviceRedeemed
			if out, err = s.issueDeviceToken(ctx, tx, d); err != nil {
				return err
			}
		case early:
			d.Interval += deviceInterval
			answer = problem.Newf(problem.SlowDown, "poll every %d seconds", d.Interval)
		default:
			answer = problem.Newf(problem.AuthorizationPending, "waiting for a person to approve")
		}
		return tx.UpdateDevice(ctx, d)
	})
	return out, ground.FirstError(err, answer)
}

func (s *Service) issueDeviceToken(ctx context.Context, tx *store.Tx, d store.DeviceCode) (out wire.DeviceIssued, err error) {
	if _, err := tx.Member(ctx, *d.OrgID, *d.UserID); err != nil {
		return out, problem.Newf(problem.AccessDenied, "the person who approved has left the org")
	}
	secret := auth.NewToken()
	t := coord.Token{
		ID:        ground.NewID(),
		OrgID:     *d.OrgID,
		UserID:    d.UserID,
		CreatedBy: d.UserID,
		Name:      "cli · " + d.Hostname,
		Kind:      coord.PersonalToken,
		Prefix:    secret.Prefix,
		Scopes:    deviceScopes(d),
		CreatedAt: tx.Now,
	}
	if d.Admin {
		t.Name, t.ExpiresAt = "admin · "+d.Hostname, tx.Now.Add(adminLifetime).Ptr()
	}
	out = wire.DeviceIssued{Token: secret.Text, WebURL: s.Config.PublicURL, ExpiresAt: t.ExpiresAt}
	return out, s.insertToken(ctx, tx, coord.Caller{OrgID: *d.OrgID, UserID: *d.UserID}, t, secret.Hash)
}

// deviceScopes are what the token of a request holds.
func deviceScopes(d store.DeviceCode) []coord.Scope {
	if d.Admin {
		return coord.AdminScopes()
	}
	return coord.DeviceScopes()
}

// LookUpDevice shows a pending request to the person who typed its code.
func (s *Service) LookUpDevice(ctx context.Context, who coord.Caller, in wire.UserCode) (out wire.DeviceRequest, err error) {
	if err := s.countCode(ctx, who); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		d, err := tx.DeviceByUserCode(ctx, auth.CanonicalUserCode(in.UserCode))
		out = wire.DeviceRequest{UserCode: d.UserCode, Hostname: d.Hostname, Address: d.Address, CLIVersion: d.CLIVersion,
			CreatedAt: d.CreatedAt, ExpiresAt: d.ExpiresAt, SameHost: d.Address == who.Address,
			Scopes: deviceScopes(d), Admin: d.Admin, Org: d.AskedOrg}
		return err
	})
	return out, err
}

// countCode counts a person's tries: codes are short.
func (s *Service) countCode(ctx context.Context, who coord.Caller) error {
	return s.limit(ctx, "usercode:"+who.UserID, codesPerPerson, "too many codes tried; wait a little and try again")
}

// ApproveDevice lets a waiting client act for the caller.
func (s *Service) ApproveDevice(ctx context.Context, who coord.Caller, in wire.UserCode) (wire.None, error) {
	return s.decideDevice(ctx, who, in, store.DeviceApproved)
}

// DenyDevice refuses a waiting client.
func (s *Service) DenyDevice(ctx context.Context, who coord.Caller, in wire.UserCode) (wire.None, error) {
	return s.decideDevice(ctx, who, in, store.DeviceDenied)
}

func (s *Service) decideDevice(ctx context.Context, who coord.Caller, in wire.UserCode,
	status store.DeviceStatus) (out wire.None, err error) {
	if err := s.countCode(ctx, who); err != nil {
		return out, err
	}
	return out, s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		d, err := tx.DeviceByUserCode(ctx, auth.CanonicalUserCode(in.UserCode))
		if err != nil {
			return err
		}
		if status == store.DeviceApproved && d.AskedOrg != "" && d.AskedOrg != who.OrgSlug {
			return problem.Newf(problem.Conflict, "this asks to act in the org %s, and you are in %s; change to that org, or deny it",
				peertext.Name(d.AskedOrg), who.OrgSlug)
		}
		if d.Admin && status == store.DeviceApproved && who.Role == coord.Member {
			return problem.Newf(problem.Forbidden, "this asks for an administrator's rights, which you do not have; deny it, or ask an admin")
		}
		if d.Admin && status == store.DeviceApproved {
			if err := auth.Fresh(who, tx.Now); err != nil {
				return err
			}
		}
		d.Status, d.OrgID, d.UserID = status, &who.OrgID, &who.UserID
		return tx.UpdateDevice(ctx, d)
	})
}
