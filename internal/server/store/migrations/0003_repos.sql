CREATE TABLE repos (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	full_name TEXT NOT NULL,
	name_key TEXT NOT NULL, -- full_name in lower case
	provider TEXT NOT NULL,
	default_branch TEXT NOT NULL,
	index_version BIGINT NOT NULL DEFAULT 0,
	created_at BIGINT NOT NULL,
	UNIQUE (org_id, name_key)
);

CREATE TABLE repo_remotes (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	fingerprint TEXT NOT NULL,
	repo_id TEXT NOT NULL REFERENCES repos (id),
	position BIGINT NOT NULL,
	PRIMARY KEY (org_id, fingerprint)
);
CREATE INDEX repo_remotes_by_repo ON repo_remotes (repo_id, position);

CREATE TABLE projects (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	name TEXT NOT NULL,
	name_key TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	UNIQUE (org_id, name_key)
);

CREATE TABLE project_repos (
	project_id TEXT NOT NULL REFERENCES projects (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	PRIMARY KEY (project_id, repo_id)
);
CREATE INDEX project_repos_by_repo ON project_repos (repo_id);
