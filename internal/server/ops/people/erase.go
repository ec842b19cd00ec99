package people

import (
	"context"
	"fmt"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// EraseMember erases a person for an owner of their org: name, address, sign-ins
// and all that they and their agents wrote, for good. What they did stays in
// figures and records, as that of a former member with a number.
func (s *Service) EraseMember(ctx context.Context, who coord.Caller, in wire.MemberID) (out wire.Erased, err error) {
	var user coord.User
	err = s.Read(ctx, func(tx *store.Tx) error {
		m, err := s.managed(ctx, tx, who, in.UserID)
		if err != nil {
			return err
		}
		if user = m.User; user.ID == who.UserID {
			return problem.Newf(problem.Conflict, "somebody else has to erase you")
		}
		orgs, err := tx.OrgsOf(ctx, m.ID)
		for _, o := range orgs { // whose account it is, is not for one org alone to say
			if mine, err := tx.Member(ctx, o.ID, who.UserID); o.ID != who.OrgID && (err != nil || mine.Role != coord.Owner) {
				return problem.Newf(problem.Forbidden, "this person is in an org that you do not own, too; the server's administrator can erase them")
			}
		}
		return err
	})
	if err != nil {
		return out, err
	}
	out.Name, err = s.erase(ctx, who, user)
	return out, err
}

// EraseUser is EraseMember for whoever runs the server.
func (s *Service) EraseUser(ctx context.Context, email string) (name string, err error) {
	a, err := s.accountOf(ctx, email)
	if err != nil {
		return "", err
	}
	return s.erase(ctx, coord.Caller{Via: coord.ViaSystem}, a.User)
}

// erase goes in steps that can each be done again: the account keeps its name
// until nothing else has it, so that an erasure that was cut short is finished by
// the next.
func (s *Service) erase(ctx context.Context, by coord.Caller, user coord.User) (name string, err error) {
	touched, err := s.leaveAll(ctx, by, user)
	if err != nil {
		return "", err
	}
	var former coord.User
	err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error {
		n, err := tx.CountErased(ctx)
		former = coord.User{ID: user.ID, Name: fmt.Sprintf("former member %d", n+1),
			Email: fmt.Sprintf("former-member-%d@erased.invalid", n+1)}
		return ground.FirstError(err, tx.EraseTexts(ctx, user))
	})
	for at, more := 0, err == nil; more && err == nil; at++ {
		err = s.Store.Write(ctx, store.SealLock, func(tx *store.Tx) (err error) {
			more, err = tx.EraseName(ctx, at, user, former)
			return err
		})
	}
	if err == nil {
		err = s.Store.Write(ctx, SigninLock, func(tx *store.Tx) error { return tx.RenameErased(ctx, user.ID, former) })
	}
	var loose []string // also where they never were, and somebody had invited them
	if err == nil {
		err = s.Read(ctx, func(tx *store.Tx) (err error) {
			loose, err = tx.Unaccounted(ctx)
			return err
		})
	}
	for _, org := range slices.Compact(slices.Sorted(slices.Values(append(touched, loose...)))) {
		if err == nil {
			err = s.Store.Write(ctx, org, func(tx *store.Tx) error {
				as := by
				as.OrgID = org
				return ground.Tell(ctx, tx, as, coord.EventMemberErased, user.ID, "", wire.MemberErasedPayload{Name: former.Name})
			})
		}
		s.Forget(org)
	}
	if err == nil {
		err = s.Store.Scrub(ctx)
	}
	return former.Name, err
}

// leaveAll takes a person out of all orgs and closes what they have under way. It
// returns the orgs in which anything of theirs is.
func (s *Service) leaveAll(ctx context.Context, by coord.Caller, user coord.User) (touched []string, err error) {
	var orgs []store.OrgRole
	err = s.Read(ctx, func(tx *store.Tx) error {
		if orgs, err = tx.OrgsOf(ctx, user.ID); err != nil {
			return err
		}
		touched, err = tx.OrgsWith(ctx, user.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, o := range orgs {
		if !slices.Contains(touched, o.ID) {
			touched = append(touched, o.ID)
		}
		as := by
		as.OrgID = o.ID
		if err := s.Alter(ctx, as, func(c *ground.Change) error {
			m, err := c.Member(ctx, o.ID, user.ID)
			if err != nil {
				return err
			}
			return remove(ctx, c, m)
		}); err != nil {
			return nil, err
		}
	}
	return touched, nil
}
