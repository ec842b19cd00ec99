package store

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A ContractRow is one place in a repo that provides or uses a contract.
type ContractRow struct {
	Repo          coord.RepoName
	Path          string
	Key           string
	Role          coord.ContractRole
	Signature     *string
	SignatureHash *string
	Line          int
	Fields        []coord.ContractField // of a use: what it may use of it; nil if that is not known
	Worked        bool                  // Fields are of work on it: what is stored of the default branch stays
	Changes       int
	ChangedBy     *coord.User // of a use: who changed its line last, if that is a member
	UpdatedAt     coord.Time
}

const contractColumns = `r.id, r.full_name, c.path, c.key, c.role, c.signature, c.signature_hash, c.line, c.fields, c.changes, u.id,
	u.email, u.name, c.updated_at`

const contractTables = ` FROM contracts c JOIN repos r ON r.id = c.repo_id LEFT JOIN users u ON u.id = c.changed_by
	AND (c.role <> 'uses' OR EXISTS (SELECT 1 FROM members m WHERE m.org_id = c.org_id AND m.user_id = u.id))`

func scanContract(s scanner) (c ContractRow, err error) {
	var id, email, name, fields *string
	err = s.Scan(&c.Repo.ID, &c.Repo.FullName, &c.Path, &c.Key, &c.Role, &c.Signature, &c.SignatureHash, &c.Line, &fields, &c.Changes, &id,
		&email, &name, &c.UpdatedAt)
	if id != nil {
		c.ChangedBy = &coord.User{ID: *id, Email: *email, Name: *name}
	}
	if err == nil && fields != nil {
		err = json.Unmarshal([]byte(*fields), &c.Fields)
	}
	return c, err
}

// SaveContract stores where a contract is provided or used. changed counts one
// more change of its signature.
func (tx *Tx) SaveContract(ctx context.Context, org string, c ContractRow, changed bool) error {
	n, worked := 0, 0
	var by *string
	if changed {
		n = 1
	}
	if c.Worked {
		worked = 1
	}
	if c.ChangedBy != nil {
		by = &c.ChangedBy.ID
	}
	var fields *string
	if len(c.Fields) > 0 {
		text := js(c.Fields)
		fields = &text
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO contracts (org_id, repo_id, path, key, role, signature, signature_hash, line, changes, changed_by, updated_at, fields)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (org_id, repo_id, path, key, role) DO UPDATE SET signature = EXCLUDED.signature, signature_hash = EXCLUDED.signature_hash,
			line = EXCLUDED.line, fields = CASE WHEN $13 = 1 THEN contracts.fields ELSE EXCLUDED.fields END,
			changes = contracts.changes + EXCLUDED.changes, changed_by = COALESCE(EXCLUDED.changed_by, contracts.changed_by),
				updated_at = EXCLUDED.updated_at`,
		org, c.Repo.ID, c.Path, c.Key, c.Role, c.Signature, c.SignatureHash, c.Line, n, by, tx.Now, fields, worked)
	return err
}

// DeleteContract forgets that a file provides or uses a contract.
func (tx *Tx) DeleteContract(ctx context.Context, org, repo, path, key string, role coord.ContractRole) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM contracts WHERE org_id = $1 AND repo_id = $2 AND path = $3 AND key = $4 AND role = $5`, org,
		repo, path, key, role)
	return err
}

// DeleteFileContracts forgets everything known of a file.
func (tx *Tx) DeleteFileContracts(ctx context.Context, org, repo, path string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM contracts WHERE org_id = $1 AND repo_id = $2 AND path = $3`, org, repo, path)
	return err
}

// A ContractFilter narrows a list of contracts.
type ContractFilter struct {
	Repos []string
	Keys  []string
	Path  string
	Role  coord.ContractRole
	HTTP  bool   // routes alone
	After string // keyset: key of the last row
	Limit int
}

// Contracts returns what is known of an org's contracts, by key and place.
func (tx *Tx) Contracts(ctx context.Context, org string, want ContractFilter) ([]ContractRow, error) {
	f := filter{}
	f.and(`c.org_id = ?`, org)
	in(&f, "c.repo_id", want.Repos)
	in(&f, "c.key", want.Keys)
	if want.Path != "" {
		f.and(`c.path = ?`, want.Path)
	}
	if want.Role != "" {
		f.and(`c.role = ?`, want.Role)
	}
	if want.HTTP {
		f.and(`c.key >= 'http:' AND c.key < ?`, "http;") // the next letter
	}
	if want.After != "" {
		f.and(`c.key > ?`, want.After)
	}
	if want.Limit == 0 {
		want.Limit = 200_000
	}
	return all(ctx, tx, scanContract, `SELECT `+contractColumns+contractTables+f.where()+` ORDER BY c.key, c.role, r.name_key, c.path,
		c.line`+f.limit(want.Limit), f.args...)
}

// Gaps returns what is not known of a repo's files, those with most first.
func (tx *Tx) Gaps(ctx context.Context, repo string) ([]wire.FileGap, error) {
	return all(ctx, tx, func(s scanner) (g wire.FileGap, err error) {
		err = s.Scan(&g.Path, &g.Unread, &g.Cut)
		return g, err
	}, `SELECT path, unread, cut FROM repo_files WHERE repo_id = $1 AND unread + cut > 0 ORDER BY unread + cut DESC, path`, repo)
}

// SaveTexts keeps what looks like paths in a file that is known.
func (tx *Tx) SaveTexts(ctx context.Context, repo, path string, texts []coord.Candidate) error {
	var list *string
	if len(texts) > 0 {
		text := js(texts)
		list = &text
	}
	_, err := tx.ExecContext(ctx, `UPDATE repo_files SET texts = $3 WHERE repo_id = $1 AND path = $2
		AND (texts IS NOT NULL OR CAST($3 AS TEXT) IS NOT NULL)`, repo, path, list)
	return err
}

// SaveNames keeps the names of data in a file that is known.
func (tx *Tx) SaveNames(ctx context.Context, repo, path string, names []string) error {
	var list *string
	if len(names) > 0 {
		text := strings.Join(names, " ")
		list = &text
	}
	_, err := tx.ExecContext(ctx, `UPDATE repo_files SET names = $3 WHERE repo_id = $1 AND path = $2
		AND (names IS NOT NULL OR CAST($3 AS TEXT) IS NOT NULL)`, repo, path, list)
	return err
}

// FileTexts are what looks like paths in a file, and the names of its data.
type FileTexts struct {
	Path  string
	Texts []coord.Candidate
	Names []string
}

// Texts returns what looks like paths and names in the files of a repo; in one
// if path is not empty.
func (tx *Tx) Texts(ctx context.Context, repo, path string) ([]FileTexts, error) {
	f := filter{}
	f.and(`repo_id = ?`, repo)
	if path != "" {
		f.and(`path = ?`, path)
	}
	f.and(`(texts IS NOT NULL OR names IS NOT NULL)`)
	return all(ctx, tx, func(s scanner) (out FileTexts, err error) {
		var texts, names *string
		if err = s.Scan(&out.Path, &texts, &names); err == nil && texts != nil {
			err = json.Unmarshal([]byte(*texts), &out.Texts)
		}
		if names != nil {
			out.Names = strings.Fields(*names)
		}
		return out, err
	}, `SELECT path, texts, names FROM repo_files`+f.where()+` ORDER BY path`, f.args...)
}

// BumpIndex notes that a repo's contract index grew.
func (tx *Tx) BumpIndex(ctx context.Context, repo string) (version int, err error) {
	err = tx.QueryRowContext(ctx, `UPDATE repos SET index_version = index_version + 1 WHERE id = $1 RETURNING index_version`,
		repo).Scan(&version)
	return version, err
}

// SavePackage remembers a workspace package of a repo.
func (tx *Tx) SavePackage(ctx context.Context, repo, name, path, language string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO repo_packages (repo_id, name, path, language) VALUES ($1, $2, $3, $4)
		ON CONFLICT (repo_id, name) DO UPDATE SET path = EXCLUDED.path, language = EXCLUDED.language`, repo, name, path, language)
	return err
}

// ClearSignatures removes every signature text of an org and returns how many
// there were; hashes stay.
func (tx *Tx) ClearSignatures(ctx context.Context, org string) (int, error) {
	n, err := tx.exec(ctx, `UPDATE contracts SET signature = NULL WHERE org_id = $1 AND signature IS NOT NULL`, org)
	if err != nil {
		return 0, err
	}
	total := int(n)
	if _, err := tx.ExecContext(ctx, `UPDATE contracts SET fields = NULL WHERE org_id = $1`, org); err != nil {
		return 0, err
	}
	rows, err := tx.Changes(ctx, org, "", "")
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		cleared := row.Facts.ClearTexts()
		if cleared == 0 {
			continue
		}
		total += cleared
		if _, err := tx.ExecContext(ctx, `UPDATE changes SET facts = $5 WHERE org_id = $1 AND repo_id = $2 AND copy = $3 AND path = $4`,
			org, row.RepoID, row.Copy, row.Facts.Path, js(row.Facts)); err != nil {
			return 0, err
		}
	}
	merged, err := tx.Merged(ctx, org, MergedFilter{})
	if err != nil {
		return 0, err
	}
	for _, m := range merged {
		if n := m.Facts.ClearTexts(); n > 0 {
			total += n
			if _, err := tx.ExecContext(ctx, `UPDATE merged_changes SET facts = $5 WHERE org_id = $1 AND repo_id = $2 AND merge_id = $3
				AND path = $4`,
				org, m.RepoID, m.MergeID, m.Facts.Path, js(m.Facts)); err != nil {
				return 0, err
			}
		}
	}
	cleared, err := tx.clearEvidence(ctx, org)
	return total + cleared, err
}

// clearEvidence removes the signature texts that conflicts quote.
func (tx *Tx) clearEvidence(ctx context.Context, org string) (int, error) {
	rows, err := tx.Conflicts(ctx, org, ConflictFilter{})
	if err != nil {
		return 0, err
	}
	total := 0
	for _, c := range rows {
		n := 0
		for i := range c.Evidence {
			for _, text := range []**string{&c.Evidence[i].Before, &c.Evidence[i].After} {
				if *text != nil {
					*text = nil
					n++
				}
			}
		}
		if n == 0 {
			continue
		}
		total += n
		if _, err := tx.ExecContext(ctx, `UPDATE conflicts SET evidence = $2 WHERE id = $1`, c.ID, js(c.Evidence)); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// ContractKeys returns the distinct keys that a filter finds, in order.
func (tx *Tx) ContractKeys(ctx context.Context, org string, want ContractFilter, limit int) ([]string, error) {
	f := filter{}
	f.and(`c.org_id = ?`, org)
	in(&f, "c.repo_id", want.Repos)
	if want.Role != "" {
		f.and(`c.role = ?`, want.Role)
	}
	if want.After != "" {
		f.and(`c.key > ?`, want.After)
	}
	return all(ctx, tx, scanText, `SELECT DISTINCT c.key FROM contracts c`+f.where()+` ORDER BY c.key`+f.limit(limit), f.args...)
}
