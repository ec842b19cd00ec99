package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
)

// A ConflictRow is a conflict with what only the service needs.
type ConflictRow struct {
	coord.Conflict
	Holder         string // the worker's id; empty where nobody live is that side
	Challenger     string
	HolderUser     string
	ChallengerUser string
	Keys           []string // of all evidence
	AttemptedBy    string   // the worker whose attempted edit it rests on, if it does
	Voices         Voices
}

// Voices are what a conflict says to each of its sides; the conflict itself
// says what it says to all others.
type Voices struct {
	Holder, Challenger Voice
	Gone               bool // the holder's last session had ended
}

// A Voice is what a conflict says to one side, and the next step there.
type Voice struct {
	Explanation string
	Suggestion  coord.Suggestion
}

// For returns the conflict as one side reads it.
func (c ConflictRow) For(side coord.PartyRole) coord.Conflict {
	v := Voice{}
	switch side {
	case coord.Holder:
		v = c.Voices.Holder
	case coord.Challenger:
		v = c.Voices.Challenger
	}
	if v.Explanation != "" {
		c.Explanation, c.Suggestion = v.Explanation, v.Suggestion
	}
	return c.Conflict
}

// Lasting returns what the conflict says to its like.
func (c ConflictRow) Lasting() Lasting {
	return Lasting{Fingerprint: c.Fingerprint, Keys: c.Keys, Status: c.Status, Resolution: c.Resolution}
}

// Stakes returns who stands on which side.
func (c ConflictRow) Stakes() (holder, challenger coord.Stake) {
	return coord.Stake{Worker: c.Holder, User: c.HolderUser}, coord.Stake{Worker: c.Challenger, User: c.ChallengerUser}
}

// KeptOut returns the conflicts that keep work of a user out: the newest of
// each fingerprint, live or withdrawn.
func (tx *Tx) KeptOut(ctx context.Context, org, user string) ([]ConflictRow, error) {
	return all(ctx, tx, scanConflict, `SELECT `+conflictColumns+conflictTables+`
		WHERE c.org_id = $1 AND c.challenger_user = $2 AND (c.severity = 'block' OR c.kind = 'exclusive_claim')
			AND (c.status IN ('open', 'acknowledged', 'resolving') OR c.resolution = 'withdrawn')
			AND NOT EXISTS (SELECT 1 FROM conflicts n WHERE n.org_id = c.org_id AND n.fingerprint = c.fingerprint AND n.number > c.number)
		ORDER BY c.number`, org, user)
}

const conflictColumns = `c.id, c.org_id, c.number, c.kind, c.severity, c.status, r.id, r.full_name, d.id, d.full_name, c.holder,
	c.challenger, c.holder_user, c.challenger_user,
	c.parties, c.evidence, c.evidence_keys, c.explanation, c.suggestion, c.fingerprint, c.previous, c.resolution, c.override,
		c.override_requested,
	c.first_seen_at, c.updated_at, c.closed_at, c.attempted_by, c.voices`

const conflictTables = ` FROM conflicts c JOIN repos r ON r.id = c.repo_id LEFT JOIN repos d ON d.id = c.dependent_repo_id`

func scanConflict(r scanner) (c ConflictRow, err error) {
	var depID, depName *string
	err = r.Scan(&c.ID, &c.OrgID, &c.Number, &c.Kind, &c.Severity, &c.Status, &c.Repo.ID, &c.Repo.FullName, &depID, &depName, &c.Holder,
		&c.Challenger, &c.HolderUser, &c.ChallengerUser,
		asJSON{&c.Parties}, asJSON{&c.Evidence}, asJSON{&c.Keys}, &c.Explanation, asJSON{&c.Suggestion}, &c.Fingerprint, &c.Previous,
		&c.Resolution, asJSON{&c.Override}, asJSON{&c.OverrideRequested},
		&c.FirstSeenAt, &c.UpdatedAt, &c.ClosedAt, &c.AttemptedBy, asJSON{&c.Voices})
	c.Ref = coord.ConflictRef(c.Number)
	if depID != nil {
		c.CrossRepo, c.DependentRepo = true, &coord.RepoName{ID: *depID, FullName: *depName}
	}
	c.Actions, c.Feedback = []coord.ActionTaken{}, []coord.FeedbackGiven{}
	return c, err
}

// PartiesNow makes the intents of the parties say how they are, and what they are
// called: a conflict is stored with what they were when it was last looked at.
func (tx *Tx) PartiesNow(ctx context.Context, org string, rows []ConflictRow) error {
	type named struct {
		status coord.IntentStatus
		title  string
	}
	numbers := map[int]named{}
	for _, c := range rows {
		for _, p := range c.Parties {
			if p.Intent != nil {
				numbers[p.Intent.Number] = named{}
			}
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	f := filter{}
	f.and(`org_id = ?`, org)
	in(&f, "number", slices.Sorted(maps.Keys(numbers)))
	found, err := tx.QueryContext(ctx, `SELECT number, status, title FROM intents`+f.where(), f.args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var n int
		var is named
		if err := found.Scan(&n, &is.status, &is.title); err != nil {
			return err
		}
		numbers[n] = is
	}
	for _, c := range rows {
		for i := range c.Parties {
			was := c.Parties[i].Intent
			if was == nil {
				continue
			}
			is, now := numbers[was.Number], *was
			if now.Status = is.status; was.Title != nil { // that of a draft is its person's own
				now.Title = &is.title
			}
			if is.status != "" {
				c.Parties[i].Intent = &now
			}
		}
	}
	return found.Err()
}

// ConflictNumbers takes the org's next conflict numbers and returns the first
// of them.
func (tx *Tx) ConflictNumbers(ctx context.Context, org string, count int) (first int, err error) {
	last, err := tx.Advance(ctx, conflictSeq, org, count)
	return int(last) - count + 1, err
}

// SaveConflict adds a conflict or stores its new state.
func (tx *Tx) SaveConflict(ctx context.Context, c *ConflictRow) error {
	c.UpdatedAt = tx.Now
	var dep *string
	if c.DependentRepo != nil {
		dep = &c.DependentRepo.ID
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO conflicts (id, org_id, number, kind, severity, status, repo_id, dependent_repo_id, holder, challenger, holder_user,
			challenger_user, parties, evidence, evidence_keys,
			explanation, suggestion, fingerprint, previous, resolution, override, override_requested, first_seen_at, updated_at, closed_at,
				attempted_by, voices)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)
		ON CONFLICT (id) DO UPDATE SET severity = EXCLUDED.severity, status = EXCLUDED.status, holder = EXCLUDED.holder,
			challenger = EXCLUDED.challenger,
			holder_user = EXCLUDED.holder_user, challenger_user = EXCLUDED.challenger_user, parties = EXCLUDED.parties,
				evidence = EXCLUDED.evidence, evidence_keys = EXCLUDED.evidence_keys,
			explanation = EXCLUDED.explanation, suggestion = EXCLUDED.suggestion, resolution = EXCLUDED.resolution, override = EXCLUDED.override,
				override_requested = EXCLUDED.override_requested,
			updated_at = EXCLUDED.updated_at, closed_at = EXCLUDED.closed_at, attempted_by = EXCLUDED.attempted_by,
			voices = EXCLUDED.voices`,
		c.ID, c.OrgID, c.Number, c.Kind, c.Severity, c.Status, c.Repo.ID, dep, c.Holder, c.Challenger, c.HolderUser, c.ChallengerUser,
		js(c.Parties), js(c.Evidence), js(c.Keys),
		c.Explanation, js(c.Suggestion), c.Fingerprint, c.Previous, c.Resolution, jsOrNull(c.Override), jsOrNull(c.OverrideRequested),
		c.FirstSeenAt, c.UpdatedAt, c.ClosedAt, c.AttemptedBy, js(c.Voices))
	return err
}

// Conflict returns an org's conflict by number, with its actions and feedback.
func (tx *Tx) Conflict(ctx context.Context, org string, number int) (ConflictRow, error) {
	c, err := one(ctx, tx, "no conflict "+coord.ConflictRef(number)+" in this org", scanConflict,
		`SELECT `+conflictColumns+conflictTables+` WHERE c.org_id = $1 AND c.number = $2`, org, number)
	if err != nil {
		return c, err
	}
	rows := []ConflictRow{c}
	err = tx.withHistory(ctx, rows)
	return rows[0], err
}

// A ConflictFilter narrows a list of conflicts.
type ConflictFilter struct {
	Statuses   []coord.ConflictStatus
	Severities []coord.Severity
	Kinds      []coord.ConflictKind
	Numbers    []int
	Changed    coord.Time // since then
	User       string     // a party
	Repo       string     // either side's
	Worker     string     // either side
	Plea       bool       // only those for which an override was asked for
	Before     int        // keyset: number of the last row
	Limit      int
	History    bool // with actions and feedback
}

// Conflicts returns an org's conflicts, newest first.
func (tx *Tx) Conflicts(ctx context.Context, org string, want ConflictFilter) ([]ConflictRow, error) {
	f := filter{}
	if want.Worker != "" {
		f.within(`c.org_id`, org)
	} else {
		f.and(`c.org_id = ?`, org)
	}
	in(&f, "c.status", want.Statuses)
	in(&f, "c.severity", want.Severities)
	in(&f, "c.kind", want.Kinds)
	in(&f, "c.number", want.Numbers)
	if want.Changed > 0 {
		f.and(`c.updated_at > ?`, want.Changed)
	}
	if every(want.Statuses) {
		f.and(`c.closed_at IS NULL`)
	}
	if want.User != "" {
		f.and(`(c.holder_user = ? OR c.challenger_user = ?)`, want.User, want.User)
	}
	if want.Repo != "" {
		f.and(`(c.repo_id = ? OR c.dependent_repo_id = ?)`, want.Repo, want.Repo)
	}
	if want.Worker != "" {
		f.ofWorker(org, want.Worker, every(want.Statuses))
	}
	if want.Plea {
		f.and(`c.override_requested IS NOT NULL`)
	}
	if want.Before > 0 {
		f.and(`c.number < ?`, want.Before)
	}
	rows, err := all(ctx, tx, scanConflict, `SELECT `+conflictColumns+conflictTables+f.where()+` ORDER BY c.number DESC`+f.limit(want.Limit),
		f.args...)
	if err == nil && want.History {
		err = tx.withHistory(ctx, rows)
	}
	return rows, err
}

// ofWorker narrows conflicts to those in which a worker is a side. Each side,
// live and over, has an index of its own: in a crowd an org has many of others.
func (f *filter) ofWorker(org, worker string, live bool) {
	const part = `SELECT id FROM conflicts WHERE org_id = ? AND `
	over := []string{`closed_at IS NULL`, `closed_at IS NOT NULL`}
	if live {
		over = over[:1]
	}
	var parts []string
	var args []any
	for _, o := range over {
		parts = append(parts, part+`holder = ? AND `+o, part+`challenger = ? AND `+o)
		args = append(args, org, worker, org, worker)
	}
	f.and(`c.id IN (`+strings.Join(parts, ` UNION `)+`)`, args...)
}

// Blocking returns the numbers of the live conflicts that block a worker.
func (tx *Tx) Blocking(ctx context.Context, org, worker string) ([]int, error) {
	return all(ctx, tx, func(r scanner) (n int, err error) { return n, r.Scan(&n) }, `
		SELECT number FROM conflicts WHERE org_id = $1 AND challenger = $2 AND closed_at IS NULL AND severity = 'block'
			AND status IN ('open', 'acknowledged', 'resolving')
		ORDER BY number+0`, org, worker) // not by the index of all that are live
}

// LastConflicts returns the newest conflict of each fingerprint that has any.
func (tx *Tx) LastConflicts(ctx context.Context, org string, fingerprints []string) (map[string]*ConflictRow, error) {
	out := map[string]*ConflictRow{}
	for chunk := range slices.Chunk(fingerprints, 20) {
		f := filter{}
		f.and(`c.org_id = ?`, org)
		for len(chunk) < 20 { // one text, so that it is parsed once
			chunk = append(slices.Clip(chunk), chunk[0])
		}
		in(&f, "c.fingerprint", chunk)
		rows, err := all(ctx, tx, scanConflict, `SELECT `+conflictColumns+conflictTables+f.where()+` ORDER BY c.number+0`, f.args...)
		if err != nil {
			return nil, err
		}
		for _, c := range rows { // oldest first: the newest stays
			out[c.Fingerprint] = &c
		}
	}
	return out, nil
}

// LastConflict returns the newest conflict of a fingerprint, or nil.
func (tx *Tx) LastConflict(ctx context.Context, org, fingerprint string) (*ConflictRow, error) {
	c, err := scanConflict(tx.QueryRowContext(ctx,
		`SELECT `+conflictColumns+conflictTables+` WHERE c.org_id = $1 AND c.fingerprint = $2 ORDER BY c.number DESC LIMIT 1`, org, fingerprint))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &c, err
}

// A Lasting is what an ended conflict says to its like.
type Lasting struct {
	Fingerprint string
	Keys        []string
	Status      coord.ConflictStatus
	Resolution  *coord.Resolution
}

// ClosedConflicts returns the conflicts that were overridden, agreed on, called
// false, withdrawn or came into one hand: those that keep their like from being raised
// again. With a fingerprint, only those of it. There may be many, so no more of
// them is read than that.
func (tx *Tx) ClosedConflicts(ctx context.Context, org, fingerprint string) ([]Lasting, error) {
	f := filter{}
	f.and(`c.org_id = ?`, org)
	if fingerprint != "" {
		f.and(`c.fingerprint = ?`, fingerprint)
	}
	return tx.lasting(ctx, f.where(), f.args...)
}

// ClosedTold returns those with the fingerprints of conflicts that the next events
// after one are about.
func (tx *Tx) ClosedTold(ctx context.Context, org string, after, next int64) ([]Lasting, error) {
	return tx.lasting(ctx, ` WHERE c.org_id = $1 AND c.fingerprint IN (SELECT t.fingerprint FROM conflicts t WHERE t.id IN (`+
		told("conflict")+`))`, org, after, after+next)
}

func (tx *Tx) lasting(ctx context.Context, where string, args ...any) ([]Lasting, error) {
	return all(ctx, tx, func(r scanner) (l Lasting, err error) {
		err = r.Scan(&l.Fingerprint, asJSON{&l.Keys}, &l.Status, &l.Resolution)
		return l, err
	}, `SELECT c.fingerprint, c.evidence_keys, c.status, c.resolution FROM conflicts c`+where+
		` AND (c.status = 'overridden' OR c.resolution IN ('agreed', 'false_positive', 'withdrawn', 'handed_over'))
		ORDER BY c.fingerprint, c.number`, args...)
}

// withHistory fills in actions and feedback, in two queries for all rows.
func (tx *Tx) withHistory(ctx context.Context, cs []ConflictRow) error {
	at := make(map[string]int, len(cs))
	ids := make([]string, len(cs))
	for i := range cs {
		at[cs[i].ID], ids[i] = i, cs[i].ID
	}
	for chunk := range slices.Chunk(ids, 500) {
		f := filter{}
		in(&f, "a.conflict_id", chunk)
		actions, err := all(ctx, tx, scanAction, `
			SELECT a.conflict_id, a.action, a.note, u.id, u.email, u.name, a.session_id,
				a.at FROM conflict_actions a JOIN users u ON u.id = a.user_id`+
			f.where()+` ORDER BY a.at, a.id`, f.args...)
		if err != nil {
			return err
		}
		for _, a := range actions {
			c := &cs[at[a.conflict]]
			c.Actions = append(c.Actions, a.it)
		}
		verdicts, err := all(ctx, tx, scanFeedback, `
			SELECT a.conflict_id, a.verdict, u.id, u.email, u.name, a.at FROM conflict_feedback a JOIN users u ON u.id = a.user_id`+
			f.where()+` ORDER BY a.at, u.id`, f.args...)
		if err != nil {
			return err
		}
		for _, v := range verdicts {
			c := &cs[at[v.conflict]]
			c.Feedback = append(c.Feedback, v.it)
		}
	}
	return nil
}

// of is something about one of several conflicts.
type of[T any] struct {
	conflict string
	it       T
}

func scanAction(r scanner) (a of[coord.ActionTaken], err error) {
	err = r.Scan(&a.conflict, &a.it.Action, &a.it.Note, &a.it.By.ID, &a.it.By.Email, &a.it.By.Name, &a.it.SessionID, &a.it.At)
	return a, err
}

func scanFeedback(r scanner) (f of[coord.FeedbackGiven], err error) {
	err = r.Scan(&f.conflict, &f.it.Verdict, &f.it.By.ID, &f.it.By.Email, &f.it.By.Name, &f.it.At)
	return f, err
}

// InsertAction records an action on a conflict.
func (tx *Tx) InsertAction(ctx context.Context, id, conflict string, a coord.ActionTaken) error {
	_, err := tx.ExecContext(ctx,
		`INSERT INTO conflict_actions (id, conflict_id, action, note, user_id, session_id, at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		id, conflict, a.Action, a.Note, a.By.ID, a.SessionID, a.At)
	return err
}

// SaveFeedback stores a person's verdict, in place of an earlier one.
func (tx *Tx) SaveFeedback(ctx context.Context, conflict, user string, v coord.Verdict) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO conflict_feedback (conflict_id, user_id, verdict, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (conflict_id, user_id) DO UPDATE SET verdict = EXCLUDED.verdict, at = EXCLUDED.at`, conflict, user, v, tx.Now)
	return err
}

// A Tally counts the verdicts on a kind of conflict in a repo.
type Tally struct {
	RepoID        string
	Kind          coord.ConflictKind
	Useful        int
	FalsePositive int
	TooLate       int
	Judges        int // people who called one of them false
}

// Verdicts returns what the policy judges by.
func (t Tally) Verdicts() policy.Verdicts {
	return policy.Verdicts{Useful: t.Useful, FalsePositive: t.FalsePositive, Judges: t.Judges}
}

// Tallies counts the verdicts of an org by repo and kind; of one repo if it is
// not empty.
func (tx *Tx) Tallies(ctx context.Context, org, repo string) ([]Tally, error) {
	f := filter{}
	f.within("c.org_id", org) // from the few verdicts to their conflicts: SQLite leaves the order of a cross join
	f.and(`c.id = f.conflict_id`)
	f.equals("c.repo_id", repo)
	return all(ctx, tx, func(r scanner) (t Tally, err error) {
		err = r.Scan(&t.RepoID, &t.Kind, &t.Useful, &t.FalsePositive, &t.TooLate, &t.Judges)
		return t, err
	}, `SELECT c.repo_id, c.kind,
			SUM(CASE WHEN f.verdict = 'useful' THEN 1 ELSE 0 END),
			SUM(CASE WHEN f.verdict = 'false_positive' THEN 1 ELSE 0 END),
			SUM(CASE WHEN f.verdict = 'too_late' THEN 1 ELSE 0 END),
			COUNT(DISTINCT CASE WHEN f.verdict = 'false_positive' THEN f.user_id END)
		FROM conflict_feedback f CROSS JOIN conflicts c`+f.where()+`
		GROUP BY c.repo_id, c.kind ORDER BY c.repo_id, c.kind`, f.args...)
}
