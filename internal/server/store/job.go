package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Job is a piece of background work.
type Job struct {
	ID        string
	Kind      string
	OrgID     string // empty for work of the server itself
	Key       string // of all jobs with a key one exists at a time; empty for no such promise
	Payload   string // JSON
	DueAt     coord.Time
	Attempts  int
	Lease     string // whoever runs the job; empty while it waits
	LastError *string
	CreatedAt coord.Time
	FailedAt  *coord.Time
}

const jobColumns = `id, kind, org_id, unique_key, payload, due_at, attempts, lease, last_error, created_at, failed_at`

func scanJob(r scanner) (j Job, err error) {
	var key, lease *string
	err = r.Scan(&j.ID, &j.Kind, &j.OrgID, &key, &j.Payload, &j.DueAt, &j.Attempts, &lease, &j.LastError, &j.CreatedAt, &j.FailedAt)
	if key != nil {
		j.Key = *key
	}
	if lease != nil {
		j.Lease = *lease
	}
	return j, err
}

// AddJob queues a job in the transaction of its cause. Where one with its key
// waits already, that one comes forward to the earlier of the two times; where
// one runs, it will run anew when it is done, since it may have looked before
// this cause.
func (tx *Tx) AddJob(ctx context.Context, j Job) error {
	return tx.addJob(ctx, j, `CASE WHEN EXCLUDED.due_at < jobs.due_at THEN EXCLUDED.due_at ELSE jobs.due_at END`)
}

// AddPatientJob is AddJob for work that gathers: one that waits already keeps
// its time.
func (tx *Tx) AddPatientJob(ctx context.Context, j Job) error {
	return tx.addJob(ctx, j, `jobs.due_at`)
}

// MoveJob is AddJob for a timetable: one that waits already gets the new time,
// earlier or later.
func (tx *Tx) MoveJob(ctx context.Context, j Job) error {
	return tx.addJob(ctx, j, `EXCLUDED.due_at`)
}

func (tx *Tx) addJob(ctx context.Context, j Job, dueIfWaiting string) error {
	var key any
	if j.Key != "" {
		key = j.Key
	}
	tx.Queue()
	_, err := tx.ExecContext(ctx, `
		INSERT INTO jobs (id, kind, org_id, unique_key, payload, due_at, attempts, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, 0, $7)
		ON CONFLICT (unique_key) DO UPDATE SET
			due_at = CASE WHEN jobs.lease IS NULL THEN `+dueIfWaiting+` ELSE jobs.due_at END,
			next_at = CASE
				WHEN jobs.lease IS NULL THEN NULL
				WHEN jobs.next_at < EXCLUDED.due_at THEN jobs.next_at
				ELSE EXCLUDED.due_at END`,
		j.ID, j.Kind, j.OrgID, key, j.Payload, j.DueAt, tx.Now)
	return err
}

// DropJob takes back the job with a key, unless it runs.
func (tx *Tx) DropJob(ctx context.Context, key string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM jobs WHERE unique_key = $1 AND lease IS NULL`, key)
	return err
}

// TakeJobs leases up to limit jobs of a kind that are due, or whose lease ran
// out because whoever held it died. Several replicas may ask at once.
func (tx *Tx) TakeJobs(ctx context.Context, kind, lease string, until coord.Time, limit int) ([]Job, error) {
	return all(ctx, tx, scanJob, `
		WITH due AS (
			SELECT id FROM jobs
			WHERE kind = $3 AND due_at <= $4
			ORDER BY due_at, id LIMIT $5+0 `+tx.SkipLocked()+`)
		UPDATE jobs SET lease = $1, due_at = $2, attempts = attempts + 1, next_at = NULL
		WHERE id IN (SELECT id FROM due)
		RETURNING `+jobColumns, lease, until, kind, tx.Now, limit)
}

// RenewJob keeps a lease and reports whether it was still held.
func (tx *Tx) RenewJob(ctx context.Context, id, lease string, until coord.Time) (bool, error) {
	n, err := tx.exec(ctx, `UPDATE jobs SET due_at = $3 WHERE id = $1 AND lease = $2`, id, lease, until)
	return n > 0, err
}

// FinishJob ends a job that succeeded: it is deleted, or waits for its next
// run if it was asked for again meanwhile or next is not nil. It reports
// whether the lease was still held; if not, nothing changed.
func (tx *Tx) FinishJob(ctx context.Context, id, lease string, next *coord.Time) (bool, error) {
	if next == nil {
		n, err := tx.exec(ctx, `DELETE FROM jobs WHERE id = $1 AND lease = $2 AND next_at IS NULL`, id, lease)
		if err != nil || n > 0 {
			return n > 0, err
		}
		return tx.waitAgain(ctx, id, lease, math.MaxInt64, `0`, nil)
	}
	return tx.waitAgain(ctx, id, lease, *next, `0`, nil)
}

// RetryJob makes a job that failed wait until at.
func (tx *Tx) RetryJob(ctx context.Context, id, lease string, at coord.Time, cause string) (bool, error) {
	return tx.waitAgain(ctx, id, lease, at, `attempts`, &cause)
}

// ReleaseJob gives a job back as if it had not been taken.
func (tx *Tx) ReleaseJob(ctx context.Context, id, lease string) (bool, error) {
	return tx.waitAgain(ctx, id, lease, tx.Now, `attempts - 1`, nil)
}

func (tx *Tx) waitAgain(ctx context.Context, id, lease string, at coord.Time, attempts string, cause *string) (bool, error) {
	n, err := tx.exec(ctx, `
		UPDATE jobs SET lease = NULL, next_at = NULL, attempts = `+attempts+`, last_error = $4,
			due_at = CASE WHEN next_at < $3 THEN next_at ELSE $3 END
		WHERE id = $1 AND lease = $2`, id, lease, at, cause)
	if n > 0 {
		tx.Queue()
	}
	return n > 0, err
}

// ReleaseJobs gives back the jobs of a process that is known to be dead.
func (tx *Tx) ReleaseJobs(ctx context.Context) error {
	_, err := tx.ExecContext(ctx, `UPDATE jobs SET lease = NULL, next_at = NULL, due_at = $1 WHERE lease IS NOT NULL`, tx.Now)
	return err
}

// FailJob ends a job for good. It stays to be seen, and its key is free.
func (tx *Tx) FailJob(ctx context.Context, id, lease, cause string) (bool, error) {
	n, err := tx.exec(ctx, `
		UPDATE jobs SET lease = NULL, next_at = NULL, unique_key = NULL, due_at = $3, last_error = $4, failed_at = $5
		WHERE id = $1 AND lease = $2`, id, lease, int64(math.MaxInt64), cause, tx.Now)
	return n > 0, err
}

// DueKinds returns the kinds that have jobs to take.
func (tx *Tx) DueKinds(ctx context.Context, kinds []string) ([]string, error) {
	f := filter{}
	f.and(`due_at <= ?`, tx.Now)
	in(&f, "kind", kinds)
	return all(ctx, tx, scanText, `SELECT DISTINCT kind FROM jobs`+f.where(), f.args...)
}

// NextDue returns when the next job of the kinds can be taken, or nil if there
// is none.
func (tx *Tx) NextDue(ctx context.Context, kinds []string) (*coord.Time, error) {
	f := filter{conds: []string{`failed_at IS NULL`}}
	in(&f, "kind", kinds)
	var at *coord.Time
	err := tx.QueryRowContext(ctx, `SELECT MIN(due_at) FROM jobs`+f.where(), f.args...).Scan(&at)
	return at, err
}

// A JobCount tells how many jobs of a kind are in a state: due, scheduled,
// running or failed.
type JobCount struct {
	Kind, State string
	Count       int
	Oldest      coord.Time // earliest due time among them
}

// JobCounts counts the jobs.
func (tx *Tx) JobCounts(ctx context.Context) ([]JobCount, error) {
	return all(ctx, tx, func(r scanner) (c JobCount, err error) {
		err = r.Scan(&c.Kind, &c.State, &c.Count, &c.Oldest)
		return c, err
	}, `
		SELECT kind, CASE
			WHEN failed_at IS NOT NULL THEN 'failed'
			WHEN lease IS NOT NULL AND due_at > $1 THEN 'running'
			WHEN due_at <= $1 THEN 'due'
			ELSE 'scheduled' END AS state, COUNT(*), MIN(due_at)
		FROM jobs
		GROUP BY kind, state
		ORDER BY kind, state`, tx.Now)
}

// JobByKey returns the job with a key, or nil.
func (tx *Tx) JobByKey(ctx context.Context, key string) (*Job, error) {
	j, err := scanJob(tx.QueryRowContext(ctx, `SELECT `+jobColumns+` FROM jobs WHERE unique_key = $1`, key))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &j, err
}

// DeleteFailedJobs forgets jobs that failed for good longer ago than age.
func (tx *Tx) DeleteFailedJobs(ctx context.Context, age time.Duration) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM jobs WHERE failed_at < $1`, tx.Now.Add(-age))
	return err
}
