package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

const orgColumns = `o.id, o.slug, o.name, o.data_mode, o.plan, o.created_at, o.require_second_factor, o.passwords_off`

// fields are where the columns of an org go.
func fields(o *coord.Org) []any {
	return []any{&o.ID, &o.Slug, &o.Name, &o.DataMode, &o.Plan, &o.CreatedAt, &o.RequireSecondFactor, &o.PasswordsOff}
}

func scanOrg(r scanner) (o coord.Org, err error) {
	err = r.Scan(fields(&o)...)
	return o, err
}

// InsertOrg adds an org.
func (tx *Tx) InsertOrg(ctx context.Context, o coord.Org) error {
	_, err := tx.exec(ctx, `
		INSERT INTO orgs (id, slug, name, data_mode, plan, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, o.ID, o.Slug, o.Name, o.DataMode, o.Plan, o.CreatedAt)
	return tx.duplicate(err, "an org with the address %s exists", o.Slug)
}

// Org returns an org by id.
func (tx *Tx) Org(ctx context.Context, id string) (coord.Org, error) {
	return one(ctx, tx, "no such org", scanOrg, `SELECT `+orgColumns+` FROM orgs o WHERE o.id = $1`, id)
}

// Orgs returns every org, oldest first, for background work.
func (tx *Tx) Orgs(ctx context.Context) ([]coord.Org, error) {
	return all(ctx, tx, scanOrg, `SELECT `+orgColumns+` FROM orgs o ORDER BY o.created_at, o.id`)
}

// CountOrgs returns how many orgs there are.
func (tx *Tx) CountOrgs(ctx context.Context) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM orgs`)
}

// OnlyOrg returns the id of the server's one org, or "" if it has several.
func (tx *Tx) OnlyOrg(ctx context.Context) (string, error) {
	ids, err := all(ctx, tx, scanText, `SELECT id FROM orgs ORDER BY id LIMIT 2`)
	if len(ids) != 1 {
		return "", err
	}
	return ids[0], err
}

// SetDataMode changes how much an org lets leave its machines.
func (tx *Tx) SetDataMode(ctx context.Context, org string, m coord.DataMode) error {
	_, err := tx.ExecContext(ctx, `UPDATE orgs SET data_mode = $2 WHERE id = $1`, org, m)
	return err
}

// SetSignInRules changes what an org wants of those who sign in.
func (tx *Tx) SetSignInRules(ctx context.Context, org string, r coord.SignInRules) error {
	_, err := tx.ExecContext(ctx, `UPDATE orgs SET require_second_factor = $2, passwords_off = $3 WHERE id = $1`, org, r.RequireSecondFactor,
		r.PasswordsOff)
	return err
}

// OrgsOf returns the orgs a user belongs to, with the role in each.
func (tx *Tx) OrgsOf(ctx context.Context, user string) ([]OrgRole, error) {
	return all(ctx, tx, func(r scanner) (x OrgRole, err error) {
		err = r.Scan(append(fields(&x.Org), &x.Role)...)
		return x, err
	}, `
		SELECT `+orgColumns+`, m.role
		FROM members m JOIN orgs o ON o.id = m.org_id
		WHERE m.user_id = $1
		ORDER BY o.created_at, o.id`, user)
}

// An OrgRole is an org as one of its members sees it.
type OrgRole struct {
	coord.Org
	Role coord.Role `json:"role"`
}

// Meta returns a value of the server itself, empty if it was never set.
func (tx *Tx) Meta(ctx context.Context, key string) (string, error) {
	vs, err := all(ctx, tx, func(r scanner) (v string, err error) { err = r.Scan(&v); return v, err },
		`SELECT value FROM meta WHERE key = $1`, key)
	if err != nil || len(vs) == 0 {
		return "", err
	}
	return vs[0], nil
}

// SetMeta stores a value of the server itself; an empty one deletes it.
func (tx *Tx) SetMeta(ctx context.Context, key, value string) error {
	if value == "" {
		_, err := tx.ExecContext(ctx, `DELETE FROM meta WHERE key = $1`, key)
		return err
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO meta (key, value) VALUES ($1, $2)
		ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`, key, value)
	return err
}
