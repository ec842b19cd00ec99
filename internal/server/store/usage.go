package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Month returns the calendar month of a moment, UTC: 2026-11.
func Month(t coord.Time) string { return t.Std().Format("2006-01") }

// CountActive returns how many developers were active in a month, and whether
// the user is one of them.
func (tx *Tx) CountActive(ctx context.Context, org, month, user string) (n int, known bool, err error) {
	err = tx.QueryRowContext(ctx, `
		SELECT COUNT(*), COUNT(CASE WHEN user_id = $3 THEN 1 END)
		FROM active_developers WHERE org_id = $1 AND month = $2`, org, month, user).Scan(&n, &known)
	return n, known, err
}

// AddActive counts a developer as active in a month.
func (tx *Tx) AddActive(ctx context.Context, org, month, user string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO active_developers (org_id, month, user_id, first_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, org, month, user, tx.Now)
	return err
}

// An Active is a developer of a month.
type Active struct {
	coord.User
	FirstAt coord.Time `json:"first_active_at"`
}

// ActiveDevelopers returns the developers of a month, the earliest first.
func (tx *Tx) ActiveDevelopers(ctx context.Context, org, month string) ([]Active, error) {
	return all(ctx, tx, func(r scanner) (a Active, err error) {
		err = r.Scan(&a.ID, &a.Email, &a.Name, &a.FirstAt)
		return a, err
	}, `SELECT u.id, u.email, u.name, a.first_at FROM active_developers a JOIN users u ON u.id = a.user_id
		WHERE a.org_id = $1 AND a.month = $2 ORDER BY a.first_at, u.id`, org, month)
}

// NotePlan remembers that something was told of a plan in a month, and reports
// whether it is the first time.
func (tx *Tx) NotePlan(ctx context.Context, org, month, what string) (first bool, err error) {
	n, err := tx.exec(ctx, `INSERT INTO plan_notices (org_id, month, what, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, org, month,
		what, tx.Now)
	return n > 0, err
}
