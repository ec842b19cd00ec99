package people

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// GetMe tells the caller who they are.
func (s *Service) GetMe(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Me, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out.Org, err = tx.Org(ctx, who.OrgID)
		return err
	})
	if who.Personal() {
		u, role := who.User(), who.Role
		out.User, out.Role = &u, &role
	}
	if who.TokenID != "" {
		out.Token = &wire.TokenName{ID: who.TokenID, Name: who.TokenName, Kind: who.TokenKind, Scopes: who.Scopes}
	}
	return out, err
}

// PatchOrg changes an org's data mode. Going to metadata_only clears the
// signature texts already stored, and what agents said.
func (s *Service) PatchOrg(ctx context.Context, who coord.Caller, in wire.PatchOrg) (out wire.PatchedOrg, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		if out.Org, err = tx.Org(ctx, who.OrgID); err != nil {
			return err
		}
		if err := in.IfMatch.Check(out.Org.Tag()); err != nil {
			return err
		}
		out.PreviousDataMode = out.Org.DataMode
		if in.DataMode == out.PreviousDataMode {
			return nil
		}
		out.Org.DataMode = in.DataMode
		if in.DataMode == coord.DataMetadataOnly {
			if out.ClearedSignatures, err = tx.ClearSignatures(ctx, who.OrgID); err != nil {
				return err
			}
			if err := ground.FirstError(tx.ClearStatuses(ctx, who.OrgID), tx.DeletePatches(ctx, who.OrgID, "")); err != nil {
				return err
			}
		}
		if err := tx.SetDataMode(ctx, who.OrgID, in.DataMode); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventOrgUpdated, who.OrgID, "", wire.OrgPayload{
			DataMode: in.DataMode, PreviousDataMode: out.PreviousDataMode, ClearedSignatures: out.ClearedSignatures})
	})
	if err == nil {
		s.Forget(who.OrgID)
	}
	return out, err
}

// SetSignInRules changes what the org wants of those who sign in. Whoever makes a
// rule keeps it already, so that an owner is left who can come in.
func (s *Service) SetSignInRules(ctx context.Context, who coord.Caller, in wire.SetSignInRules) (out coord.Org, err error) {
	rules := coord.SignInRules(in)
	switch rules.Lack(who.SignedInBy, who.Second, who.HasSecond) {
	case coord.LacksFactor, coord.LacksProof:
		return out, problem.Newf(problem.Conflict, "you have not shown a second factor yourself; set one up under Settings, Profile, first")
	case coord.LacksMethod:
		return out, problem.Newf(problem.Conflict, "you signed in with a password yourself; sign in another way first, to see that it works")
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		if out, err = tx.Org(ctx, who.OrgID); err != nil || out.SignInRules == rules {
			return err
		}
		out.SignInRules = rules
		return ground.FirstError(tx.SetSignInRules(ctx, who.OrgID, rules), ground.Tell(ctx, tx, who, coord.EventOrgUpdated, who.OrgID, "",
			wire.OrgPayload{DataMode: out.DataMode, PreviousDataMode: out.DataMode, SignIn: &rules}))
	})
	return out, err
}
