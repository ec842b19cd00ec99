package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

const intentColumns = `i.id, i.org_id, i.number, i.status, i.resume_status, i.title, i.summary, i.plan_md, i.mode, i.effective_mode,
	i.mode_note,
	r.id, r.full_name, u.id, u.email, u.name, i.session_id, i.branch, i.pr_number, i.external_ref, i.scope, i.observed, i.depends_on,
		i.blocked_by,
	i.outcome, i.note, i.created_at, i.updated_at, i.last_activity_at, i.closed_at, i.wanted, i.leases,
	(SELECT MAX(e.ended_at) FROM sessions e WHERE e.intent_id = i.id),
	(SELECT h.from_id FROM handoffs h WHERE h.intent_id = i.id ORDER BY h.created_at DESC, h.id DESC LIMIT 1)`

const intentTables = ` FROM intents i JOIN repos r ON r.id = i.repo_id JOIN users u ON u.id = i.owner_id`

// An IntentRow is an intent with what only the service needs.
type IntentRow struct {
	coord.Intent
	Observed []string    // paths edited outside the scope
	Wanted   []string    // paths whose edit was refused under somebody's exclusive claim
	Left     *coord.Time // when the latest of its sessions that ended did so
	FromID   *string     // who handed it to its owner last
}

func scanIntent(r scanner) (i IntentRow, err error) {
	err = r.Scan(&i.ID, &i.OrgID, &i.Number, &i.Status, &i.Resume, &i.Title, &i.Summary, &i.PlanMD, &i.Mode, &i.EffectiveMode, &i.ModeNote,
		&i.Repo.ID, &i.Repo.FullName, &i.Owner.ID, &i.Owner.Email, &i.Owner.Name, &i.SessionID, &i.Branch, &i.PRNumber, asJSON{&i.ExternalRef},
		asJSON{&i.Scope}, asJSON{&i.Observed}, asJSON{&i.DependsOn}, asJSON{&i.BlockedBy},
		&i.Outcome, &i.Note, &i.CreatedAt, &i.UpdatedAt, &i.LastActivityAt, &i.ClosedAt, asJSON{&i.Wanted}, asJSON{&i.Leases}, &i.Left, &i.FromID)
	i.Ref = coord.IntentRef(i.Number)
	return i, err
}

// told are the ids of what events of a kind after one, up to another, are about.
func told(kind string) string {
	return `SELECT subject_id FROM events WHERE org_id = $1 AND seq > $2 AND seq <= $3 AND subject_kind = '` + kind + `'`
}

// intentsTold are the intents that events are about, and those that sessions work
// on that they are about.
var intentsTold = `(` + told("intent") + ` UNION SELECT k.intent_id FROM sessions k WHERE k.id IN (` + told("session") +
	`) AND k.intent_id IS NOT NULL)`

// IntentsTold returns the intents that the next events after one are about, or
// that the sessions work on which they are about.
func (tx *Tx) IntentsTold(ctx context.Context, org string, after, next int64) ([]IntentRow, error) {
	return all(ctx, tx, scanIntent, `SELECT `+intentColumns+intentTables+` WHERE i.org_id || '' = $1 AND i.id IN `+intentsTold,
		org, after, after+next)
}

// NextIntentNumber returns the org's next intent number.
func (tx *Tx) NextIntentNumber(ctx context.Context, org string) (n int, err error) {
	last, err := tx.Advance(ctx, intentSeq, org, 1)
	return int(last), err
}

// SaveIntent adds an intent or stores its new state.
func (tx *Tx) SaveIntent(ctx context.Context, i *IntentRow) error {
	i.UpdatedAt = tx.Now
	if i.Leases == nil {
		i.Leases = []coord.Lease{}
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO intents (id, org_id, number, repo_id, owner_id, session_id, status, resume_status, title, summary, plan_md, mode,
			effective_mode, mode_note,
			branch, pr_number, external_ref, scope, observed, depends_on, blocked_by, outcome, note, created_at, updated_at, last_activity_at,
				closed_at, wanted, leases)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27,
			$28, $29)
		ON CONFLICT (id) DO UPDATE SET owner_id = EXCLUDED.owner_id, session_id = EXCLUDED.session_id, status = EXCLUDED.status,
			resume_status = EXCLUDED.resume_status,
			title = EXCLUDED.title, summary = EXCLUDED.summary, plan_md = EXCLUDED.plan_md, mode = EXCLUDED.mode,
				effective_mode = EXCLUDED.effective_mode,
			mode_note = EXCLUDED.mode_note, branch = EXCLUDED.branch, pr_number = EXCLUDED.pr_number, external_ref = EXCLUDED.external_ref,
				scope = EXCLUDED.scope,
			observed = EXCLUDED.observed, depends_on = EXCLUDED.depends_on, blocked_by = EXCLUDED.blocked_by, outcome = EXCLUDED.outcome,
				note = EXCLUDED.note,
			updated_at = EXCLUDED.updated_at, last_activity_at = EXCLUDED.last_activity_at, closed_at = EXCLUDED.closed_at,
				wanted = EXCLUDED.wanted, leases = EXCLUDED.leases`,
		i.ID, i.OrgID, i.Number, i.Repo.ID, i.Owner.ID, i.SessionID, i.Status, i.Resume, i.Title, i.Summary, i.PlanMD, i.Mode, i.EffectiveMode,
		i.ModeNote,
		i.Branch, i.PRNumber, jsOrNull(i.ExternalRef), js(i.Scope), js(i.Observed), js(i.DependsOn), js(i.BlockedBy), i.Outcome, i.Note,
		i.CreatedAt, i.UpdatedAt, i.LastActivityAt, i.ClosedAt,
		js(i.Wanted), js(i.Leases))
	return err
}

// An UnattendedClaim is an exclusive claim in somebody's way whose sessions
// have all ended.
type UnattendedClaim struct {
	IntentRow
	InTheWaySince coord.Time
}

// Unattended returns an org's unattended claims.
func (tx *Tx) Unattended(ctx context.Context, org string) ([]UnattendedClaim, error) {
	const inTheWay = `SELECT MIN(c.first_seen_at) FROM conflicts c WHERE c.org_id = i.org_id AND c.holder = i.id AND c.kind = 'exclusive_claim'
			AND c.status IN ('open', 'acknowledged', 'resolving') AND c.closed_at IS NULL`
	return all(ctx, tx, func(r scanner) (u UnattendedClaim, err error) {
		u.IntentRow, err = scanIntent(also{r, []any{&u.InTheWaySince}})
		return u, err
	}, `SELECT `+intentColumns+`, (`+inTheWay+`)`+intentTables+`
		WHERE i.org_id = $1 AND i.status IN ('draft', 'active', 'blocked',
			'in_review') AND (i.effective_mode = 'exclusive' OR i.leases <> '[]') AND i.session_id IS NOT NULL
			AND EXISTS (SELECT 1 FROM sessions e WHERE e.intent_id = i.id)
			AND NOT EXISTS (SELECT 1 FROM sessions l WHERE l.intent_id = i.id AND l.ended_at IS NULL)
			AND EXISTS (`+inTheWay+` HAVING COUNT(*) > 0)
		ORDER BY i.number`, org)
}

// also scans more columns after those that a scan asks for.
type also struct {
	scanner
	more []any
}

func (a also) Scan(to ...any) error { return a.scanner.Scan(append(to, a.more...)...) }

// Orphans returns the live intents whose owner is no member any more.
func (tx *Tx) Orphans(ctx context.Context, org string) ([]IntentRow, error) {
	return all(ctx, tx, scanIntent, `SELECT `+intentColumns+intentTables+`
		WHERE i.org_id = $1 AND i.closed_at IS NULL AND i.status IN ('draft', 'active', 'blocked', 'in_review')
			AND NOT EXISTS (SELECT 1 FROM members m WHERE m.org_id = i.org_id AND m.user_id = i.owner_id)
		ORDER BY i.number LIMIT 200`, org)
}

// FormerOwner returns the id of whoever has that address and owns intents of
// an org, a member or not; "" if nobody does.
func (tx *Tx) FormerOwner(ctx context.Context, org, email string) (string, error) {
	ids, err := all(ctx, tx, scanText, `SELECT u.id FROM users u
		WHERE u.email = $2 AND EXISTS (SELECT 1 FROM intents i WHERE i.org_id = $1 AND i.owner_id = u.id)`, org, EmailKey(email))
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// Intent returns an org's intent by number.
func (tx *Tx) Intent(ctx context.Context, org string, number int) (IntentRow, error) {
	i, err := one(ctx, tx, "no intent "+coord.IntentRef(number)+" in this org", scanIntent,
		`SELECT `+intentColumns+intentTables+` WHERE i.org_id = $1 AND i.number = $2`, org, number)
	return tx.withHandoff(ctx, i, err)
}

// IntentByID returns an org's intent by id. As in filter.within no index of the
// org is taken: without statistics PostgreSQL walks through all that it has.
func (tx *Tx) IntentByID(ctx context.Context, org, id string) (IntentRow, error) {
	i, err := one(ctx, tx, "no such intent in this org", scanIntent,
		`SELECT `+intentColumns+intentTables+` WHERE i.id = $2 AND i.org_id || '' = $1`, org, id)
	return tx.withHandoff(ctx, i, err)
}

func (tx *Tx) withHandoff(ctx context.Context, i IntentRow, err error) (IntentRow, error) {
	if err != nil || i.FromID == nil { // nobody passed it on
		return i, err
	}
	i.Handoff, err = tx.LastHandoff(ctx, i.ID)
	return i, err
}

// An IntentFilter narrows a list of intents.
type IntentFilter struct {
	Repo     string
	Owner    string
	Branch   string
	Statuses []coord.IntentStatus
	IDs      []string
	Changed  coord.Time // since then
	Before   int        // keyset: number of the last row
	Limit    int
}

// Intents returns an org's intents, newest first.
func (tx *Tx) Intents(ctx context.Context, org string, want IntentFilter) ([]IntentRow, error) {
	f := filter{}
	f.and(`i.org_id = ?`, org)
	in(&f, "i.status", want.Statuses)
	is := f.equals
	if every(want.Statuses) { // there are few
		f.and(`i.closed_at IS NULL`)
		is = f.within
	}
	in(&f, "i.id", want.IDs)
	is("i.repo_id", want.Repo)
	is("i.owner_id", want.Owner)
	is("i.branch", want.Branch)
	if want.Changed > 0 {
		f.and(`i.updated_at > ?`, want.Changed)
	}
	if want.Before > 0 {
		f.and(`i.number < ?`, want.Before)
	}
	return all(ctx, tx, scanIntent, `SELECT `+intentColumns+intentTables+f.where()+` ORDER BY i.number DESC`+f.limit(want.Limit), f.args...)
}

// LiveIntentsOn returns an owner's live intents on a branch of a repo, the
// latest first: one for each of their agents that works there.
func (tx *Tx) LiveIntentsOn(ctx context.Context, org, repo, owner, branch string) ([]IntentRow, error) {
	f := filter{}
	f.and(`i.org_id = ?`, org)
	f.within("i.repo_id", repo)
	f.equals("i.owner_id", owner)
	f.equals("i.branch", branch)
	f.and(`i.closed_at IS NULL`)
	in(&f, "i.status", coord.LiveIntentStatuses())
	// Sorted by what is no column: an index of all that the owner ever did has
	// this order, and must not be taken for it.
	return all(ctx, tx, scanIntent, `SELECT `+intentColumns+intentTables+f.where()+` ORDER BY i.number + 0 DESC`, f.args...)
}

// SetDependencies replaces what an intent depends on.
func (tx *Tx) SetDependencies(ctx context.Context, intent string, on []string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM intent_deps WHERE intent_id = $1`, intent); err != nil {
		return err
	}
	for _, id := range on {
		if _, err := tx.ExecContext(ctx, `INSERT INTO intent_deps (intent_id, depends_on_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, intent,
			id); err != nil {
			return err
		}
	}
	return nil
}

// A Dependency is an intent that another waits for.
type Dependency struct {
	ID     string
	Number int
	Status coord.IntentStatus
}

func scanDependency(r scanner) (d Dependency, err error) {
	err = r.Scan(&d.ID, &d.Number, &d.Status)
	return d, err
}

// Dependencies returns what an intent depends on.
func (tx *Tx) Dependencies(ctx context.Context, intent string) ([]Dependency, error) {
	return all(ctx, tx, scanDependency, `
		SELECT i.id, i.number, i.status FROM intent_deps d JOIN intents i ON i.id = d.depends_on_id
		WHERE d.intent_id = $1 ORDER BY i.number`, intent)
}

// Dependents returns the intents that depend on one.
func (tx *Tx) Dependents(ctx context.Context, intent string) ([]Dependency, error) {
	return all(ctx, tx, scanDependency, `
		SELECT i.id, i.number, i.status FROM intent_deps d JOIN intents i ON i.id = d.intent_id
		WHERE d.depends_on_id = $1 ORDER BY i.number`, intent)
}

// TouchIntent notes activity on an intent.
func (tx *Tx) TouchIntent(ctx context.Context, id string, at coord.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE intents SET last_activity_at = $2 WHERE id = $1 AND last_activity_at < $2`, id, at)
	return err
}

// QuietIntents returns live intents without activity since a moment, by
// number after the given one, some at a time.
func (tx *Tx) QuietIntents(ctx context.Context, org string, before coord.Time, after int) ([]IntentRow, error) {
	f := filter{}
	f.and(`i.org_id = ? AND i.last_activity_at < ? AND i.number > ?`, org, before, after)
	f.and(`i.closed_at IS NULL`)
	in(&f, "i.status", coord.LiveIntentStatuses())
	return all(ctx, tx, scanIntent, `SELECT `+intentColumns+intentTables+f.where()+` ORDER BY i.number LIMIT 500`, f.args...)
}

const handoffColumns = `h.id, i.number, f.id, f.email, f.name, t.id, t.email, t.name, h.note, h.thread_id, h.message_id, h.created_at,
	h.adopted_at`

func scanHandoff(r scanner) (h coord.Handoff, err error) {
	var number int
	err = r.Scan(&h.ID, &number, &h.From.ID, &h.From.Email, &h.From.Name, &h.To.ID, &h.To.Email, &h.To.Name, &h.Note, &h.ThreadID,
		&h.MessageID, &h.CreatedAt, &h.AdoptedAt)
	h.Intent = coord.IntentRef(number)
	return h, err
}

// InsertHandoff records the passing of an intent.
func (tx *Tx) InsertHandoff(ctx context.Context, org, intent string, h coord.Handoff) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO handoffs (id, org_id, intent_id, from_id, to_id, note, thread_id, message_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, h.ID, org, intent, h.From.ID, h.To.ID, h.Note, h.ThreadID, h.MessageID, h.CreatedAt)
	return err
}

// LastHandoff returns an intent's latest handoff, or nil.
func (tx *Tx) LastHandoff(ctx context.Context, intent string) (*coord.Handoff, error) {
	h, err := scanHandoff(tx.QueryRowContext(ctx, `
		SELECT `+handoffColumns+` FROM handoffs h
		JOIN intents i ON i.id = h.intent_id JOIN users f ON f.id = h.from_id JOIN users t ON t.id = h.to_id
		WHERE h.intent_id = $1 ORDER BY h.created_at DESC, h.id DESC LIMIT 1`, intent))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &h, err
}

// AdoptHandoff notes that a handed-off intent was taken up.
func (tx *Tx) AdoptHandoff(ctx context.Context, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE handoffs SET adopted_at = $2 WHERE id = $1`, id, tx.Now)
	return err
}

// AddRepoFile remembers a file of a repo.
func (tx *Tx) AddRepoFile(ctx context.Context, repo, path string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO repo_files (repo_id, path) VALUES ($1, $2) ON CONFLICT DO NOTHING`, repo, path)
	return err
}

// SaveRepoFiles remembers files of a repo, with what is not known of each. Of a
// path that is given twice the last counts.
func (tx *Tx) SaveRepoFiles(ctx context.Context, repo string, files []wire.FileGap) error {
	last := map[string]wire.FileGap{}
	for _, g := range files {
		last[g.Path] = g
	}
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(last)), 200) {
		f := filter{}
		id := f.arg(repo)
		var rows []string
		for _, path := range batch {
			g := last[path]
			rows = append(rows, "("+id+", "+f.arg(path)+", "+f.arg(g.Unread)+", "+f.arg(g.Cut)+")")
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO repo_files (repo_id, path, unread, cut) VALUES `+strings.Join(rows, ", ")+`
			ON CONFLICT (repo_id, path) DO UPDATE SET unread = EXCLUDED.unread, cut = EXCLUDED.cut
			WHERE repo_files.unread <> EXCLUDED.unread OR repo_files.cut <> EXCLUDED.cut`, f.args...); err != nil {
			return err
		}
	}
	return nil
}

// RemoveRepoFile forgets a file of a repo.
func (tx *Tx) RemoveRepoFile(ctx context.Context, repo, path string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM repo_files WHERE repo_id = $1 AND path = $2`, repo, path)
	return err
}

// RepoFiles returns the known files of a repo.
func (tx *Tx) RepoFiles(ctx context.Context, repo string) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT path FROM repo_files WHERE repo_id = $1 ORDER BY path`, repo)
}
