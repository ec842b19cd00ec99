package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A repoTable is a table whose rows belong to a repo.
type repoTable struct {
	name string
	// key is what tells two rows of one repo apart, where the database insists.
	key []string
	// forgotten rows go with the repo; the others are history.
	forgotten bool
}

// RepoTables names every table with a column repo_id that is merged row by
// row: a test compares it with the schema.
var repoTables = []repoTable{
	{"repo_remotes", nil, true},
	{"repo_roots", []string{"org_id", "commit_id"}, true},
	{"repo_names", nil, true},
	{"repo_files", []string{"path"}, true},
	{"repo_packages", []string{"name"}, true},
	{"project_repos", []string{"project_id"}, true},
	{"policies", []string{"org_id"}, true},
	{"contracts", []string{"org_id", "path", "key", "role"}, true},
	{"changes", []string{"org_id", "copy", "path"}, true},
	{"merged_changes", []string{"org_id", "merge_id", "path"}, true},
	{"patches", []string{"org_id", "copy"}, true},
	{"line_maps", []string{"org_id", "from_blob", "to_blob"}, true},
	{"resource_numbers", []string{"resource"}, true},
	{"pulls", []string{"provider", "number"}, true},
	{"branches", []string{"provider", "number", "name", "fork"}, true},
	{"slack_repos", []string{"org_id"}, true},
	{"sessions", nil, false},
	{"intents", nil, false},
	{"conflicts", nil, false},
	{"questions", nil, false},
	{"conversations", nil, false},
	{"events", nil, false},
	{"daily_sums", sumKey, false},
}

// sumKey is what tells the sums of one repo apart.
var sumKey = []string{"org_id", "day", "figure", "user_id", "detail"}

// sumOf finds the sum of the other repo that belongs to one.
const sumOf = `SELECT x.n FROM daily_sums x WHERE x.repo_id = $1 AND x.org_id = daily_sums.org_id AND x.day = daily_sums.day
	AND x.figure = daily_sums.figure AND x.user_id = daily_sums.user_id AND x.detail = daily_sums.detail`

// RepoTables lists the tables that MergeRepo and RemoveRepo see to.
func RepoTables() []string {
	out := make([]string, len(repoTables))
	for i, t := range repoTables {
		out[i] = t.name
	}
	return out
}

// MergeRepo gives everything of one repo to another and deletes its record.
// Where both have a row of one key, the one that stays keeps its own.
func (tx *Tx) MergeRepo(ctx context.Context, org string, from, into coord.Repo) error {
	steps := []struct {
		query string
		args  []any
	}{
		// The later word on a file counts: one working copy may have been known
		// under both names.
		{`DELETE FROM changes WHERE repo_id = $2 AND EXISTS (SELECT 1 FROM changes x WHERE x.repo_id = $1 AND x.org_id = changes.org_id
			AND x.copy = changes.copy AND x.path = changes.path AND x.updated_at > changes.updated_at)`, nil},
		// And one agent may have a session under both: the one that stays is its own.
		{`UPDATE sessions SET external_id = external_id || ' ' || id, ended_at = COALESCE(ended_at, $3) WHERE repo_id = $1 AND EXISTS (
			SELECT 1 FROM sessions x WHERE x.repo_id = $2 AND x.org_id = sessions.org_id AND x.user_id = sessions.user_id AND x.tool = sessions.tool
			AND x.external_id = sessions.external_id)`, []any{tx.Now}},
		{`UPDATE conflicts SET dependent_repo_id = $2 WHERE dependent_repo_id = $1`, nil},
		{`UPDATE conflicts SET parties = REPLACE(parties, $1, $2), evidence = REPLACE(evidence, $1, $2)
			WHERE repo_id IN ($1, $2) OR dependent_repo_id = $2`, nil},
		{`UPDATE projects SET prefixes = REPLACE(prefixes, $1, $2) WHERE prefixes <> '[]'`, nil},
		// What was counted under both names adds up.
		{`UPDATE daily_sums SET n = n + (` + sumOf + `) WHERE repo_id = $2 AND EXISTS (` + sumOf + `)`, nil},
		{`UPDATE repo_remotes SET position = position + 1000 WHERE repo_id = $1 AND repo_id <> $2`, nil},
		{`DELETE FROM repo_twins WHERE first_id IN ($1, $2) AND second_id IN ($1, $2)`, nil},
		{`DELETE FROM repo_twins WHERE (first_id = $1 OR second_id = $1) AND first_id <> $2`, nil}, // found again by the next client
	}
	for _, s := range steps {
		if _, err := tx.ExecContext(ctx, s.query, append([]any{from.ID, into.ID}, s.args...)...); err != nil {
			return fmt.Errorf("%w: %s", err, s.query)
		}
	}
	if err := tx.mergeChannel(ctx, from.ID, into.ID); err != nil {
		return err
	}
	for _, t := range repoTables {
		if err := tx.mergeTable(ctx, t, from.ID, into.ID); err != nil {
			return err
		}
	}
	if from.HostID != nil && into.HostID == nil {
		if err := tx.SetHostID(ctx, from.ID, ""); err != nil {
			return err
		}
		if err := tx.SetHostID(ctx, into.ID, *from.HostID); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE repos SET index_version = (SELECT SUM(x.index_version) FROM repos x WHERE x.id IN ($1, $2))
		WHERE id = $2`, from.ID, into.ID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM repos WHERE id = $1`, from.ID); err != nil {
		return err
	}
	if err := tx.rememberName(ctx, org, from.FullName, from.FullName, into.ID); err != nil {
		return err
	}
	return tx.rememberName(ctx, org, from.ID, "", into.ID)
}

func (tx *Tx) mergeTable(ctx context.Context, t repoTable, from, into string) error {
	if len(t.key) > 0 {
		same := make([]string, len(t.key))
		for i, k := range t.key {
			same[i] = "x." + k + " = " + t.name + "." + k
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+t.name+` WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM `+t.name+` x WHERE x.repo_id = $2
			AND `+
			strings.Join(same, " AND ")+`)`, from, into); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE `+t.name+` SET repo_id = $2 WHERE repo_id = $1`, from, into); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// mergeChannel makes one channel of those of two repos.
func (tx *Tx) mergeChannel(ctx context.Context, from, into string) error {
	find := func(repo string) (string, error) {
		ids, err := all(ctx, tx, scanText, `SELECT id FROM conversations WHERE conv_key = $1`, RepoChannel(repo).Key)
		return strings.Join(ids, ""), err
	}
	old, err := find(from)
	if err != nil || old == "" {
		return err
	}
	stays, err := find(into)
	if err != nil {
		return err
	}
	if stays == "" {
		_, err := tx.ExecContext(ctx, `UPDATE conversations SET conv_key = $2 WHERE id = $1`, old, RepoChannel(into).Key)
		return err
	}
	for _, q := range []string{
		`UPDATE messages SET conversation_id = $2 WHERE conversation_id = $1`,
		`UPDATE questions SET conversation_id = $2 WHERE conversation_id = $1`,
		`DELETE FROM conversation_members WHERE conversation_id = $1 AND user_id IN (SELECT user_id FROM conversation_members
			WHERE conversation_id = $2)`,
		`UPDATE conversation_members SET conversation_id = $2 WHERE conversation_id = $1`,
		`UPDATE conversations SET updated_at = (SELECT MAX(x.updated_at) FROM conversations x WHERE x.id IN ($1, $2)) WHERE id = $2`,
		`DELETE FROM conversations WHERE id = $1 AND id <> $2`,
	} {
		if _, err := tx.ExecContext(ctx, q, old, stays); err != nil {
			return fmt.Errorf("%w: %s", err, q)
		}
	}
	return nil
}

// RemoveRepo forgets what is known of a repo and sets its names and remotes
// free. What happened in it stays in the history.
func (tx *Tx) RemoveRepo(ctx context.Context, repo string) error {
	for _, t := range repoTables {
		if !t.forgotten {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+t.name+` WHERE repo_id = $1`, repo); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM repo_twins WHERE first_id = $1 OR second_id = $1`, repo); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE repos SET removed_at = $2, name_key = id, host_id = '' WHERE id = $1`, repo, tx.Now)
	return err
}
