-- What the code of a repo provides and uses, as its default branch has it, as
-- far as clients told us.
CREATE TABLE contracts (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	path TEXT NOT NULL,
	key TEXT NOT NULL,
	role TEXT NOT NULL,
	signature TEXT,
	signature_hash TEXT,
	line BIGINT NOT NULL,
	changes BIGINT NOT NULL DEFAULT 0, -- how often its signature changed
	changed_by TEXT,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (org_id, repo_id, path, key, role)
);
CREATE INDEX contracts_by_key ON contracts (org_id, key, role);

-- Workspace packages of a repo.
CREATE TABLE repo_packages (
	repo_id TEXT NOT NULL REFERENCES repos (id),
	name TEXT NOT NULL,
	path TEXT NOT NULL,
	language TEXT NOT NULL,
	PRIMARY KEY (repo_id, name)
);
