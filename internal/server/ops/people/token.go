package people

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// ListTokens returns all tokens to admins and their own to others.
func (s *Service) ListTokens(ctx context.Context, who coord.Caller, in wire.List) (out wire.Page[coord.Token], err error) {
	p := store.Page{Limit: in.Limit + 1}
	if err := ground.Uncursor(in.Cursor, &p.After); err != nil {
		return out, err
	}
	user := who.UserID
	if who.Role.IsAdmin() {
		user = ""
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Tokens(ctx, who.OrgID, user, p)
		out.Items, out.NextCursor = ground.Page(rows, in.Limit, func(t coord.Token) []any { return []any{t.ID} })
		return err
	})
	return out, err
}

// CreateToken makes a token and shows its plaintext this once.
func (s *Service) CreateToken(ctx context.Context, who coord.Caller, in wire.CreateToken) (out wire.CreatedToken, err error) {
	if in.Name = strings.TrimSpace(in.Name); in.Name == "" {
		return out, problem.InvalidField("name", "must not be blank")
	}
	scopes, err := tokenScopes(in)
	if err != nil {
		return out, err
	}
	if in.Kind == coord.ServiceToken && slices.Contains(scopes, coord.ScopeSCIM) && who.Role != coord.Owner {
		return out, problem.Newf(problem.Forbidden, "only owners make a token for the company's directory, which can make owners")
	}
	secret := auth.NewToken()
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		by := who.UserID
		t := coord.Token{ID: ground.NewID(), OrgID: who.OrgID, Name: in.Name, Kind: in.Kind, Prefix: secret.Prefix,
			Scopes: scopes, CreatedAt: tx.Now, CreatedBy: &by, ByAgent: !who.IsPerson()}
		if in.Kind == coord.PersonalToken {
			if t.UserID, err = s.tokenUser(ctx, tx, who, in.UserEmail); err != nil {
				return err
			}
		}
		if in.ExpiresInDays != nil {
			t.ExpiresAt = tx.Now.Add(time.Duration(*in.ExpiresInDays) * 24 * time.Hour).Ptr()
		}
		out = wire.CreatedToken{Token: t, Plaintext: secret.Text}
		return s.insertToken(ctx, tx, who, t, secret.Hash)
	})
	return out, err
}

func (s *Service) insertToken(ctx context.Context, tx *store.Tx, who coord.Caller, t coord.Token, hash string) error {
	if err := tx.InsertToken(ctx, t, hash); err != nil {
		return err
	}
	return ground.Tell(ctx, tx, who, coord.EventTokenCreated, t.ID, "", wire.TokenPayload{Kind: t.Kind, Scopes: t.Scopes})
}

func tokenScopes(in wire.CreateToken) ([]coord.Scope, error) {
	if in.Kind == coord.ServiceToken && in.UserEmail != nil {
		return nil, problem.InvalidField("user_email", "a service token belongs to nobody; leave this out or make a pat")
	}
	allowed, initial := coord.Scopes(), coord.DeviceScopes()
	if in.Kind == coord.ServiceToken {
		allowed = coord.ServiceScopes()
		initial = slices.DeleteFunc(initial, func(x coord.Scope) bool { return !slices.Contains(allowed, x) })
	}
	if len(in.Scopes) == 0 {
		return initial, nil
	}
	var bad []problem.Field
	for i, x := range in.Scopes {
		if !slices.Contains(allowed, x) {
			bad = append(bad, problem.Field{Path: fmt.Sprintf("scopes[%d]", i), Message: "a service token cannot hold " + string(x)})
		}
	}
	scopes := slices.Clone(in.Scopes)
	slices.Sort(scopes)
	return slices.Compact(scopes), problem.Invalid(bad)
}

// tokenUser returns whose personal token it will be.
func (s *Service) tokenUser(ctx context.Context, tx *store.Tx, who coord.Caller, email *string) (*string, error) {
	if email == nil {
		return &who.UserID, nil
	}
	m, err := tx.MemberByEmail(ctx, who.OrgID, *email)
	if err != nil {
		return nil, err
	}
	// A token acts with its user's role: who may not make somebody an owner
	// may not make an owner's token either.
	if m.ID != who.UserID && !who.Role.MayManage(m.Role) {
		return nil, problem.Newf(problem.Forbidden, "only owners make tokens for owners and admins")
	}
	return &m.ID, nil
}

// RevokeToken ends one of the caller's tokens; admins may end any.
func (s *Service) RevokeToken(ctx context.Context, who coord.Caller, in wire.ID) (out wire.None, err error) {
	if err := ground.WantUUID(in.ID, "no such token"); err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		t, err := tx.Token(ctx, who.OrgID, in.ID)
		if err != nil {
			return err
		}
		own := t.ID == who.TokenID || who.Personal() && t.UserID != nil && *t.UserID == who.UserID
		if !own && !who.Role.IsAdmin() {
			return problem.Newf(problem.Forbidden, "this token is somebody else's; only its owner or an admin revokes it")
		}
		if t.RevokedAt != nil {
			return nil
		}
		if err := tx.RevokeToken(ctx, who.OrgID, t.ID); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventTokenRevoked, t.ID, "", wire.EmptyPayload{})
	})
	if err == nil {
		s.Forget(who.OrgID)
	}
	return out, err
}
