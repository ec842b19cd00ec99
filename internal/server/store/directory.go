package store

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A DirectoryUser is a person as a company's directory knows them. Members whom
// the directory has not named yet are people of it, too, under their address.
type DirectoryUser struct {
	coord.User
	UserName   string
	ExternalID string
	GivenName  string
	FamilyName string
	Named      bool        // by the directory
	Role       *coord.Role // nil if they were deactivated
	CreatedAt  coord.Time
	UpdatedAt  coord.Time
}

// Active reports whether they are a member.
func (u DirectoryUser) Active() bool { return u.Role != nil }

// DirectoryKey is the form in which names of people and groups are compared.
func DirectoryKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

const directoryUsers = `SELECT u.id, u.email, u.name, COALESCE(d.user_name, u.email), COALESCE(d.external_id, ''),
	COALESCE(d.given_name, ''), COALESCE(d.family_name, ''), d.user_id IS NOT NULL, m.role,
	COALESCE(d.created_at, m.joined_at), COALESCE(d.updated_at, m.joined_at)
	FROM users u LEFT JOIN directory_users d ON d.user_id = u.id AND d.org_id = $1
	LEFT JOIN members m ON m.user_id = u.id AND m.org_id = $1
	WHERE u.id IN (SELECT user_id FROM directory_users WHERE org_id = $1 UNION SELECT user_id FROM members WHERE org_id = $1)`

func scanDirectoryUser(r scanner) (u DirectoryUser, err error) {
	err = r.Scan(&u.ID, &u.Email, &u.Name, &u.UserName, &u.ExternalID, &u.GivenName, &u.FamilyName, &u.Named, &u.Role, &u.CreatedAt,
		&u.UpdatedAt)
	return u, err
}

// DirectoryUsers returns an org's people, active or not, by age.
func (tx *Tx) DirectoryUsers(ctx context.Context, org string) ([]DirectoryUser, error) {
	return all(ctx, tx, scanDirectoryUser, directoryUsers+` ORDER BY u.id`, org)
}

// DirectoryUser returns one of them.
func (tx *Tx) DirectoryUser(ctx context.Context, org, user string) (DirectoryUser, error) {
	return one(ctx, tx, "no such user in this org", scanDirectoryUser, directoryUsers+` AND u.id = $2`, org, user)
}

// SaveDirectoryUser stores what a directory says of somebody.
func (tx *Tx) SaveDirectoryUser(ctx context.Context, org string, u DirectoryUser) error {
	_, err := tx.exec(ctx, `
		INSERT INTO directory_users (org_id, user_id, user_name, user_key, external_id, given_name, family_name, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
		ON CONFLICT (org_id, user_id) DO UPDATE SET user_name = EXCLUDED.user_name, user_key = EXCLUDED.user_key,
			external_id = EXCLUDED.external_id, given_name = EXCLUDED.given_name, family_name = EXCLUDED.family_name,
			updated_at = EXCLUDED.updated_at`,
		org, u.ID, u.UserName, DirectoryKey(u.UserName), u.ExternalID, u.GivenName, u.FamilyName, tx.Now)
	return tx.duplicate(err, "another user of this org has the userName %s", u.UserName)
}

// DeleteDirectoryUser forgets what an org's directory said of somebody.
func (tx *Tx) DeleteDirectoryUser(ctx context.Context, org, user string) error {
	for _, q := range []string{
		`DELETE FROM directory_seats WHERE user_id = $2 AND group_id IN (SELECT id FROM directory_groups WHERE org_id = $1)`,
		`DELETE FROM directory_users WHERE org_id = $1 AND user_id = $2`,
	} {
		if _, err := tx.ExecContext(ctx, q, org, user); err != nil {
			return err
		}
	}
	return nil
}

// A DirectoryGroup is a group of a company's directory.
type DirectoryGroup struct {
	ID         string
	Name       string
	ExternalID string
	Members    []DirectorySeat
	CreatedAt  coord.Time
	UpdatedAt  coord.Time
}

// A DirectorySeat is somebody in a group.
type DirectorySeat struct{ GroupID, UserID, Name string }

// DirectoryGroups returns an org's groups with who is in them, by age; of one
// user alone, or of one id, if these are not empty.
func (tx *Tx) DirectoryGroups(ctx context.Context, org, user, id string) ([]DirectoryGroup, error) {
	f := filter{}
	f.and(`g.org_id = ?`, org)
	if user != "" {
		f.and(`EXISTS (SELECT 1 FROM directory_seats s WHERE s.group_id = g.id AND s.user_id = ?)`, user)
	}
	if id != "" {
		f.and(`g.id = ?`, id)
	}
	groups, err := all(ctx, tx, func(r scanner) (g DirectoryGroup, err error) {
		err = r.Scan(&g.ID, &g.Name, &g.ExternalID, &g.CreatedAt, &g.UpdatedAt)
		return g, err
	}, `SELECT g.id, g.name, g.external_id, g.created_at, g.updated_at FROM directory_groups g`+f.where()+` ORDER BY g.id`, f.args...)
	if err != nil {
		return nil, err
	}
	seats, err := all(ctx, tx, func(r scanner) (s DirectorySeat, err error) {
		err = r.Scan(&s.GroupID, &s.UserID, &s.Name)
		return s, err
	}, `SELECT s.group_id, s.user_id, u.name FROM directory_seats s JOIN directory_groups g ON g.id = s.group_id
		JOIN users u ON u.id = s.user_id`+f.where()+` ORDER BY s.user_id`, f.args...)
	for i := range groups {
		for _, s := range seats {
			if s.GroupID == groups[i].ID {
				groups[i].Members = append(groups[i].Members, s)
			}
		}
	}
	return groups, err
}

// SaveDirectoryGroup stores a group and who is in it.
func (tx *Tx) SaveDirectoryGroup(ctx context.Context, org string, g DirectoryGroup) error {
	_, err := tx.exec(ctx, `
		INSERT INTO directory_groups (id, org_id, name, name_key, external_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6)
		ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, name_key = EXCLUDED.name_key, external_id = EXCLUDED.external_id,
			updated_at = EXCLUDED.updated_at`, g.ID, org, g.Name, DirectoryKey(g.Name), g.ExternalID, tx.Now)
	if err != nil {
		return tx.duplicate(err, "another group of this org is called %s", g.Name)
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM directory_seats WHERE group_id = $1`, g.ID); err != nil {
		return err
	}
	for _, m := range g.Members {
		if _, err := tx.ExecContext(ctx, `INSERT INTO directory_seats (group_id, user_id) VALUES ($1, $2)`, g.ID, m.UserID); err != nil {
			return err
		}
	}
	return nil
}

// DeleteDirectoryGroup removes a group.
func (tx *Tx) DeleteDirectoryGroup(ctx context.Context, id string) error {
	for _, q := range []string{`DELETE FROM directory_seats WHERE group_id = $1`, `DELETE FROM directory_groups WHERE id = $1`} {
		if _, err := tx.ExecContext(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}
