package drill

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/store"
)

// People makes the org acme with an owner and members on a database that nobody
// serves yet, and returns a token of each, the owner's first.
func People(ctx context.Context, dsn string, n int) (tokens []string, err error) {
	return PeopleOf(ctx, dsn, "acme", n)
}

// PeopleOf does so for an org of any name.
func PeopleOf(ctx context.Context, dsn, name string, n int) (tokens []string, err error) {
	st, err := store.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	org := coord.Org{ID: uuid.NewString(), Slug: name, Name: name, DataMode: coord.DataFull, Plan: "self_hosted"}
	err = st.Write(ctx, "setup", func(tx *store.Tx) error {
		org.CreatedAt = tx.Now
		if err := tx.InsertOrg(ctx, org); err != nil {
			return err
		}
		tokens = tokens[:0]
		for i := range n {
			role := coord.Member
			if i == 0 {
				role = coord.Owner
			}
			token, err := person(ctx, tx, org.ID, fmt.Sprintf("person%d.%s", i, name), role)
			if err != nil {
				return err
			}
			tokens = append(tokens, token)
		}
		return nil
	})
	return tokens, err
}

func person(ctx context.Context, tx *store.Tx, org, name string, role coord.Role) (token string, err error) {
	u := coord.User{ID: uuid.NewString(), Email: name + "@example.com", Name: name}
	if err := tx.InsertUser(ctx, u); err != nil {
		return "", err
	}
	if err := tx.InsertMember(ctx, org, u.ID, role); err != nil {
		return "", err
	}
	secret := auth.NewToken()
	return secret.Text, tx.InsertToken(ctx, coord.Token{ID: uuid.NewString(), OrgID: org, Name: "drill", Kind: coord.PersonalToken,
		UserID: &u.ID, Prefix: secret.Prefix, Scopes: coord.Scopes(), CreatedAt: tx.Now}, secret.Hash)
}
