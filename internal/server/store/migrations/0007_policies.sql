-- repo_id is empty for the org's own rules.
CREATE TABLE policies (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL,
	rules TEXT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (org_id, repo_id)
);
