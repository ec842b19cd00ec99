package store

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A GitHubApp is an app that an org made on GitHub.
type GitHubApp struct {
	ID          string
	OrgID       string
	AppID       int64
	Slug        string
	Name        string
	Owner       string
	URL         string
	Web         string
	API         string
	Secrets     string // sealed
	Flow        string
	CreatedBy   string
	CreatedAt   coord.Time
	DeliveredAt *coord.Time
	SyncedAt    *coord.Time
}

const githubAppColumns = `id, org_id, app_id, slug, name, owner, url, web, api, secrets, flow, created_by, created_at, delivered_at,
	synced_at`

func scanGitHubApp(r scanner) (a GitHubApp, err error) {
	err = r.Scan(&a.ID, &a.OrgID, &a.AppID, &a.Slug, &a.Name, &a.Owner, &a.URL, &a.Web, &a.API, &a.Secrets, &a.Flow, &a.CreatedBy,
		&a.CreatedAt, &a.DeliveredAt, &a.SyncedAt)
	return a, err
}

// InsertGitHubApp adds an app.
func (tx *Tx) InsertGitHubApp(ctx context.Context, a GitHubApp) error {
	_, err := tx.exec(ctx, `
		INSERT INTO github_apps (id, org_id, app_id, slug, name, owner, url, web, api, secrets, flow, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		a.ID, a.OrgID, a.AppID, a.Slug, a.Name, a.Owner, a.URL, a.Web, a.API, a.Secrets, a.Flow, a.CreatedBy, a.CreatedAt)
	return tx.duplicate(err, "this app was made already; begin again for another")
}

// GitHubApps returns an org's apps, or with "" those of every org, oldest
// first.
func (tx *Tx) GitHubApps(ctx context.Context, org string) ([]GitHubApp, error) {
	f := filter{}
	if org != "" {
		f.and(`org_id = ?`, org)
	}
	return all(ctx, tx, scanGitHubApp, `SELECT `+githubAppColumns+` FROM github_apps`+f.where()+` ORDER BY id`, f.args...)
}

// GitHubApp returns an app.
func (tx *Tx) GitHubApp(ctx context.Context, id string) (GitHubApp, error) {
	return one(ctx, tx, "no such app", scanGitHubApp, `SELECT `+githubAppColumns+` FROM github_apps WHERE id = $1`, id)
}

// DeleteGitHubApp forgets an app with its secrets and installations. Pull
// requests that it told of stay, and say nothing any more.
func (tx *Tx) DeleteGitHubApp(ctx context.Context, id string) error {
	for _, q := range []string{
		`DELETE FROM github_installations WHERE app = $1`,
		`UPDATE pulls SET app = '', installation = 0 WHERE app = $1`,
		`DELETE FROM github_apps WHERE id = $1`,
	} {
		if _, err := tx.ExecContext(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}

// GitHubAppDelivered notes that a webhook of an app came.
func (tx *Tx) GitHubAppDelivered(ctx context.Context, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE github_apps SET delivered_at = $2 WHERE id = $1`, id, tx.Now)
	return err
}

// GitHubAppSynced notes up to when an app's missed webhooks were asked for.
func (tx *Tx) GitHubAppSynced(ctx context.Context, id string, at coord.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE github_apps SET synced_at = $2 WHERE id = $1`, id, at)
	return err
}

// An Installation is where an app is installed.
type Installation struct {
	App       string
	ID        int64
	Account   string
	Selection string
	Repos     []string
	Suspended bool
	Gone      bool
	CreatedAt coord.Time
	ChangedAt coord.Time
}

// SaveInstallation stores an installation.
func (tx *Tx) SaveInstallation(ctx context.Context, i Installation) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO github_installations (app, id, account, selection, repos, suspended, gone, created_at, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (app, id) DO UPDATE SET account = EXCLUDED.account, selection = EXCLUDED.selection, repos = EXCLUDED.repos,
			suspended = EXCLUDED.suspended, gone = EXCLUDED.gone, changed_at = EXCLUDED.changed_at`,
		i.App, i.ID, i.Account, i.Selection, js(i.Repos), i.Suspended, i.Gone, i.CreatedAt, i.ChangedAt)
	return err
}

// Installations returns where an app is or was installed, oldest first.
func (tx *Tx) Installations(ctx context.Context, app string) ([]Installation, error) {
	return all(ctx, tx, func(r scanner) (i Installation, err error) {
		err = r.Scan(&i.App, &i.ID, &i.Account, &i.Selection, asJSON{&i.Repos}, &i.Suspended, &i.Gone, &i.CreatedAt, &i.ChangedAt)
		return i, err
	}, `SELECT app, id, account, selection, repos, suspended, gone, created_at, changed_at FROM github_installations WHERE app = $1
		ORDER BY created_at, id`, app)
}

// Installation returns where an app is installed, or nil.
func (tx *Tx) Installation(ctx context.Context, app string, id int64) (*Installation, error) {
	rows, err := tx.Installations(ctx, app)
	for _, i := range rows {
		if i.ID == id {
			return &i, err
		}
	}
	return nil, err
}

// A HostHook is an org's way in for the webhooks of a git host that a person
// set up there: of GitLab, or of GitHub where there is no app.
type HostHook struct {
	Provider    coord.Provider
	ID          string
	OrgID       string
	Secret      string // sealed
	CreatedBy   string
	CreatedAt   coord.Time
	DeliveredAt *coord.Time
}

// hostTable returns the table of a host for hooks or tokens.
func hostTable(provider coord.Provider, what string) string { return string(provider) + "_" + what }

func (tx *Tx) hostHook(ctx context.Context, provider coord.Provider, column, value string) (*HostHook, error) {
	h := HostHook{Provider: provider}
	err := tx.QueryRowContext(ctx, `SELECT id, org_id, secret, created_by, created_at, delivered_at
		FROM `+hostTable(provider, "hooks")+` WHERE `+column+` = $1`, value).
		Scan(&h.ID, &h.OrgID, &h.Secret, &h.CreatedBy, &h.CreatedAt, &h.DeliveredAt)
	return maybe(h, err)
}

// HostHook returns the way in with an id, or nil.
func (tx *Tx) HostHook(ctx context.Context, provider coord.Provider, id string) (*HostHook, error) {
	return tx.hostHook(ctx, provider, "id", id)
}

// HostHookOf returns an org's way in, or nil.
func (tx *Tx) HostHookOf(ctx context.Context, provider coord.Provider, org string) (*HostHook, error) {
	return tx.hostHook(ctx, provider, "org_id", org)
}

// SaveHostHook stores an org's way in.
func (tx *Tx) SaveHostHook(ctx context.Context, h HostHook) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO `+hostTable(h.Provider, "hooks")+` (id, org_id, secret, created_by, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO UPDATE SET secret = EXCLUDED.secret, created_by = EXCLUDED.created_by`,
		h.ID, h.OrgID, h.Secret, h.CreatedBy, h.CreatedAt)
	return err
}

// HostDelivered notes that a webhook came.
func (tx *Tx) HostDelivered(ctx context.Context, provider coord.Provider, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE `+hostTable(provider, "hooks")+` SET delivered_at = $2 WHERE id = $1`, id, tx.Now)
	return err
}

// DeleteHostHook closes an org's way in.
func (tx *Tx) DeleteHostHook(ctx context.Context, provider coord.Provider, org string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM `+hostTable(provider, "hooks")+` WHERE org_id = $1`, org)
	return err
}

// A HostToken is with what an org's git host may be asked and written to.
type HostToken struct {
	Provider  coord.Provider
	OrgID     string
	Web       string // the host it is for
	Token     string // sealed
	Name      string
	ExpiresAt *coord.Time
	RefusedAt *coord.Time // when the host first did not take it any more
	CreatedBy string
	CreatedAt coord.Time
	SyncedAt  *coord.Time // when the host was last asked what we missed
}

// HostToken returns an org's token, or nil.
func (tx *Tx) HostToken(ctx context.Context, provider coord.Provider, org string) (*HostToken, error) {
	t := HostToken{Provider: provider}
	err := tx.QueryRowContext(ctx, `SELECT org_id, web, token, name, expires_at, refused_at, created_by, created_at, synced_at
		FROM `+hostTable(provider, "tokens")+` WHERE org_id = $1`, org).
		Scan(&t.OrgID, &t.Web, &t.Token, &t.Name, &t.ExpiresAt, &t.RefusedAt, &t.CreatedBy, &t.CreatedAt, &t.SyncedAt)
	return maybe(t, err)
}

// SaveHostToken stores an org's token, in place of the one before.
func (tx *Tx) SaveHostToken(ctx context.Context, t HostToken) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO `+hostTable(t.Provider, "tokens")+` (org_id, web, token, name, expires_at, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org_id) DO UPDATE SET web = EXCLUDED.web, token = EXCLUDED.token, name = EXCLUDED.name, expires_at = EXCLUDED.expires_at,
			refused_at = NULL,
			created_by = EXCLUDED.created_by, created_at = EXCLUDED.created_at, synced_at = NULL`,
		t.OrgID, t.Web, t.Token, t.Name, t.ExpiresAt, t.CreatedBy, t.CreatedAt)
	return err
}

// HostRefused notes that a host does not take a token any more, unless there
// is another by now.
func (tx *Tx) HostRefused(ctx context.Context, t HostToken) error {
	_, err := tx.ExecContext(ctx, `UPDATE `+hostTable(t.Provider, "tokens")+` SET refused_at = $3 WHERE org_id = $1 AND created_at = $2
		AND refused_at IS NULL`,
		t.OrgID, t.CreatedAt, tx.Now)
	return err
}

// HostSynced notes up to when a host was asked what we missed.
func (tx *Tx) HostSynced(ctx context.Context, t HostToken, at coord.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE `+hostTable(t.Provider, "tokens")+` SET synced_at = $3 WHERE org_id = $1 AND created_at = $2`,
		t.OrgID, t.CreatedAt, at)
	return err
}

// DeleteHostToken forgets an org's token.
func (tx *Tx) DeleteHostToken(ctx context.Context, provider coord.Provider, org string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM `+hostTable(provider, "tokens")+` WHERE org_id = $1`, org)
	return err
}

// NoteReceipt remembers a webhook by its names and reports whether it is the
// first with any of them.
func (tx *Tx) NoteReceipt(ctx context.Context, source string, names ...string) (first bool, err error) {
	first = true
	for _, name := range names {
		n, err := tx.exec(ctx, `INSERT INTO hook_receipts (source, name, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, source, name, tx.Now)
		if err != nil {
			return false, err
		}
		first = first && n > 0
	}
	return first, nil
}

// DeleteOldReceipts forgets webhooks that came longer ago than kept.
func (tx *Tx) DeleteOldReceipts(ctx context.Context, kept time.Duration) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM hook_receipts WHERE at < $1`, tx.Now.Add(-kept))
	return err
}
