package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// An Account is a user with what sign-in needs.
type Account struct {
	coord.User
	PasswordHash *string
	Subject      *string // of the OpenID provider, if the account is bound to one
	Disabled     bool    // nobody can use it for now
	TOTP         bool    // it has an app for one-time codes
	Passkeys     bool    // it has a passkey
	Second       bool    // it has a second factor: either
}

// HasWayIn reports whether somebody can sign in to the account: from then on
// it is theirs.
func (a *Account) HasWayIn() bool { return a.PasswordHash != nil || a.Subject != nil || a.Passkeys }

func scanAccount(r scanner) (a Account, err error) {
	err = r.Scan(&a.ID, &a.Email, &a.Name, &a.PasswordHash, &a.Subject, &a.Disabled, &a.TOTP, &a.Passkeys)
	a.Second = a.TOTP || a.Passkeys
	return a, err
}

const accountColumns = `u.id, u.email, u.name, u.password_hash,
	(SELECT MIN(i.subject) FROM identities i WHERE i.user_id = u.id), u.disabled_at IS NOT NULL,
	EXISTS (SELECT 1 FROM totps t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL),
	EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id)`

// EmailKey is the form in which addresses are compared and stored.
func EmailKey(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// AccountByEmail returns the account of an address, or nil.
func (tx *Tx) AccountByEmail(ctx context.Context, email string) (*Account, error) {
	return tx.account(ctx, `u.email = $1`, EmailKey(email))
}

// AccountByID returns an account, or nil.
func (tx *Tx) AccountByID(ctx context.Context, id string) (*Account, error) {
	return tx.account(ctx, `u.id = $1`, id)
}

// AccountBySubject returns the account of an OpenID subject, or nil.
func (tx *Tx) AccountBySubject(ctx context.Context, subject string) (*Account, error) {
	return tx.account(ctx, `u.id = (SELECT i.user_id FROM identities i WHERE i.subject = $1)`, subject)
}

func (tx *Tx) account(ctx context.Context, cond, arg string) (*Account, error) {
	a, err := scanAccount(tx.QueryRowContext(ctx, `SELECT `+accountColumns+` FROM users u WHERE `+cond, arg))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &a, err
}

// InsertUser adds a person.
func (tx *Tx) InsertUser(ctx context.Context, u coord.User) error {
	_, err := tx.exec(ctx, `INSERT INTO users (id, email, name, created_at) VALUES ($1, $2, $3, $4)`,
		u.ID, EmailKey(u.Email), u.Name, tx.Now)
	return tx.duplicate(err, "an account with the address %s exists", u.Email)
}

// SetPassword stores a password's hash.
func (tx *Tx) SetPassword(ctx context.Context, user, hash string) error {
	_, err := tx.ExecContext(ctx, `UPDATE users SET password_hash = $2 WHERE id = $1`, user, hash)
	return err
}

// DeletePassword leaves an account without one.
func (tx *Tx) DeletePassword(ctx context.Context, user string) error {
	_, err := tx.ExecContext(ctx, `UPDATE users SET password_hash = NULL WHERE id = $1`, user)
	return err
}

// SetDisabled closes an account, or opens it again.
func (tx *Tx) SetDisabled(ctx context.Context, user string, disabled bool) error {
	var at *coord.Time
	if disabled {
		at = &tx.Now
	}
	_, err := tx.ExecContext(ctx, `UPDATE users SET disabled_at = $2 WHERE id = $1 AND erased_at IS NULL`, user, at)
	return err
}

// A UserLine is an account as the operator sees it.
type UserLine struct {
	coord.User
	Disabled bool       `json:"disabled,omitempty"`
	Erased   bool       `json:"erased,omitempty"`
	Since    coord.Time `json:"created_at"`
	Orgs     []OrgSeat  `json:"orgs"`
}

// An OrgSeat is what somebody is in an org.
type OrgSeat struct {
	Org  string     `json:"org"`
	Role coord.Role `json:"role"`
}

// UserLines returns every account with its orgs, by address.
func (tx *Tx) UserLines(ctx context.Context) ([]UserLine, error) {
	seats := map[string][]OrgSeat{}
	err := tx.each(ctx, func(s scanner) error {
		var user string
		var seat OrgSeat
		err := s.Scan(&user, &seat.Org, &seat.Role)
		seats[user] = append(seats[user], seat)
		return err
	}, `SELECT m.user_id, o.slug, m.role FROM members m JOIN orgs o ON o.id = m.org_id ORDER BY o.slug`)
	if err != nil {
		return nil, err
	}
	return all(ctx, tx, func(s scanner) (u UserLine, err error) {
		err = s.Scan(&u.ID, &u.Email, &u.Name, &u.Disabled, &u.Erased, &u.Since)
		u.Orgs = append([]OrgSeat{}, seats[u.ID]...)
		return u, err
	}, `SELECT id, email, name, disabled_at IS NOT NULL, erased_at IS NOT NULL, created_at FROM users ORDER BY email`)
}

// CountOwners returns how many owners an org has beside one, with accounts that
// can be used.
func (tx *Tx) CountOwners(ctx context.Context, org, beside string) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM members m JOIN users u ON u.id = m.user_id
		WHERE m.org_id = $1 AND m.role = $2 AND m.user_id <> $3 AND u.disabled_at IS NULL`, org, coord.Owner, beside)
}

// OrgsWith returns the orgs in which something is by a person, whether or not
// they are in them still.
func (tx *Tx) OrgsWith(ctx context.Context, user string) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT org_id FROM sessions WHERE user_id = $1 UNION SELECT org_id FROM intents WHERE owner_id = $1
		UNION SELECT org_id FROM messages WHERE from_user = $1 UNION SELECT org_id FROM tokens WHERE user_id = $1
		UNION SELECT org_id FROM events WHERE actor_id = $1 ORDER BY 1`, user)
}

// SetUserName changes a person's display name.
func (tx *Tx) SetUserName(ctx context.Context, user, name string) error {
	_, err := tx.ExecContext(ctx, `UPDATE users SET name = $2 WHERE id = $1`, user, name)
	return err
}

// SetUserEmail changes a person's address.
func (tx *Tx) SetUserEmail(ctx context.Context, user, email string) error {
	_, err := tx.exec(ctx, `UPDATE users SET email = $2 WHERE id = $1`, user, EmailKey(email))
	return tx.duplicate(err, "an account with the address %s exists", email)
}

const memberColumns = `u.id, u.email, u.name, m.role, m.joined_at`

func scanMember(r scanner) (m coord.Membership, err error) {
	err = r.Scan(&m.ID, &m.Email, &m.Name, &m.Role, &m.JoinedAt)
	return m, err
}

// InsertMember adds a user to an org.
func (tx *Tx) InsertMember(ctx context.Context, org, user string, role coord.Role) error {
	_, err := tx.exec(ctx, `INSERT INTO members (org_id, user_id, role, joined_at) VALUES ($1, $2, $3, $4)`,
		org, user, role, tx.Now)
	return tx.duplicate(err, "this person is a member already")
}

// Member returns a member by user id.
func (tx *Tx) Member(ctx context.Context, org, user string) (coord.Membership, error) {
	return one(ctx, tx, "no such member in this org", scanMember, `
		SELECT `+memberColumns+` FROM members m JOIN users u ON u.id = m.user_id
		WHERE m.org_id = $1 AND m.user_id = $2`, org, user)
}

// MemberByEmail returns a member by address.
func (tx *Tx) MemberByEmail(ctx context.Context, org, email string) (coord.Membership, error) {
	return one(ctx, tx, "no member of this org has the address "+email, scanMember, `
		SELECT `+memberColumns+` FROM members m JOIN users u ON u.id = m.user_id
		WHERE m.org_id = $1 AND u.email = $2`, org, EmailKey(email))
}

// A Page asks for a part of a list: at most Limit rows after the key.
type Page struct {
	Limit int
	After string // the last row's key, empty for the first page
}

// Members returns a page of members, ordered by user id, which is by age.
func (tx *Tx) Members(ctx context.Context, org string, p Page) ([]coord.Membership, error) {
	return all(ctx, tx, scanMember, `
		SELECT `+memberColumns+` FROM members m JOIN users u ON u.id = m.user_id
		WHERE m.org_id = $1 AND m.user_id > $2
		ORDER BY m.user_id LIMIT $3+0`, org, p.After, p.Limit)
}

// CountRole returns how many members hold a role.
func (tx *Tx) CountRole(ctx context.Context, org string, role coord.Role) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM members WHERE org_id = $1 AND role = $2`, org, role)
}

// SetRole changes a member's role.
func (tx *Tx) SetRole(ctx context.Context, org, user string, role coord.Role) error {
	_, err := tx.ExecContext(ctx, `UPDATE members SET role = $3 WHERE org_id = $1 AND user_id = $2`, org, user, role)
	return err
}

// DeleteMember removes a user from an org.
func (tx *Tx) DeleteMember(ctx context.Context, org, user string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM members WHERE org_id = $1 AND user_id = $2`, org, user)
	return err
}

const inviteColumns = `id, org_id, role, email, email_sent, created_by, created_at, expires_at, mail_state, mail_detail, mail_at`

func scanInvite(r scanner) (i coord.Invite, err error) {
	var l coord.Letter
	var at *coord.Time
	err = r.Scan(&i.ID, &i.OrgID, &i.Role, &i.Email, &i.EmailSent, &i.CreatedBy, &i.CreatedAt, &i.ExpiresAt, &l.State, &l.Detail, &at)
	if l.State != "" && at != nil {
		l.At = *at
		i.Mail = &l
	}
	i.EmailSent = l.State == coord.LetterSent
	return i, err
}

// InsertInvite adds an invite; of its code only the hash is kept.
func (tx *Tx) InsertInvite(ctx context.Context, i coord.Invite, codeHash string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO invites (id, org_id, role, email, email_sent, created_by, created_at, expires_at, code_hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		i.ID, i.OrgID, i.Role, i.Email, i.EmailSent, i.CreatedBy, i.CreatedAt, i.ExpiresAt, codeHash)
	return err
}

// RenewInvite gives an invite another code and end.
func (tx *Tx) RenewInvite(ctx context.Context, id, codeHash string, until coord.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE invites SET code_hash = $2, expires_at = $3 WHERE id = $1`, id, codeHash, until)
	return err
}

// InviteMailed notes which letter an invite's is. What becomes of an earlier
// one is not of interest any more.
func (tx *Tx) InviteMailed(ctx context.Context, id, mail string) error {
	_, err := tx.ExecContext(ctx, `UPDATE invites SET mail_id = $2, mail_state = $3, mail_detail = '', mail_at = $4 WHERE id = $1`,
		id, mail, coord.LetterQueued, tx.Now)
	return err
}

// LetterBecame notes what became of a letter with whatever it is the letter of.
func (tx *Tx) LetterBecame(ctx context.Context, mail string, state coord.LetterState, detail string) error {
	for _, q := range []string{
		`UPDATE invites SET mail_state = $2, mail_detail = $3, mail_at = $4 WHERE mail_id = $1`,
		`UPDATE mail_tests SET state = $2, detail = $3, at = $4 WHERE mail_id = $1`,
	} {
		if _, err := tx.ExecContext(ctx, q, mail, state, detail, tx.Now); err != nil {
			return err
		}
	}
	return nil
}

// Invites returns an org's pending invites, oldest first.
func (tx *Tx) Invites(ctx context.Context, org string) ([]coord.Invite, error) {
	return all(ctx, tx, scanInvite, `
		SELECT `+inviteColumns+` FROM invites
		WHERE org_id = $1 AND expires_at > $2
		ORDER BY created_at, id`, org, tx.Now)
}

// InvitesFor returns the pending invites made out to an address, in any org.
func (tx *Tx) InvitesFor(ctx context.Context, email string) ([]coord.Invite, error) {
	return all(ctx, tx, scanInvite, `
		SELECT `+inviteColumns+` FROM invites
		WHERE email = $1 AND expires_at > $2
		ORDER BY created_at, id`, EmailKey(email), tx.Now)
}

// Invite returns an org's invite by id, expired or not.
func (tx *Tx) Invite(ctx context.Context, org, id string) (coord.Invite, error) {
	return one(ctx, tx, "no such invite", scanInvite,
		`SELECT `+inviteColumns+` FROM invites WHERE org_id = $1 AND id = $2`, org, id)
}

// InviteByCode returns the invite of a code that has not expired.
func (tx *Tx) InviteByCode(ctx context.Context, codeHash string) (coord.Invite, error) {
	return one(ctx, tx, "this invite does not exist or has expired; ask for a new one", scanInvite,
		`SELECT `+inviteColumns+` FROM invites WHERE code_hash = $1 AND expires_at > $2`, codeHash, tx.Now)
}

// DeleteInvite removes an invite.
func (tx *Tx) DeleteInvite(ctx context.Context, id string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM invites WHERE id = $1`, id)
	return err
}

// DeleteInvitesBy removes the invites that a user made.
func (tx *Tx) DeleteInvitesBy(ctx context.Context, org, user string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM invites WHERE org_id = $1 AND created_by = $2`, org, user)
	return err
}
