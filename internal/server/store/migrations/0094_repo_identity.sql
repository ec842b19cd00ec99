-- What a repository is beyond its name. host_id is its number at its host, as
-- <host>#<number>; the host gives it once and keeps it through renames.
ALTER TABLE repos ADD COLUMN host_id TEXT NOT NULL DEFAULT '';
ALTER TABLE repos ADD COLUMN archived_at BIGINT;
ALTER TABLE repos ADD COLUMN removed_at BIGINT;
CREATE UNIQUE INDEX repos_by_host ON repos (org_id, host_id) WHERE host_id <> '';

-- Names and ids under which a repo was known before: they still lead to it.
CREATE TABLE repo_names (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	name_key TEXT NOT NULL,
	name TEXT NOT NULL,
	repo_id TEXT NOT NULL REFERENCES repos (id),
	at BIGINT NOT NULL,
	PRIMARY KEY (org_id, name_key)
);
CREATE INDEX repo_names_by_repo ON repo_names (repo_id, at);

-- The commits without parents, as clones have them. A fork has those of its
-- origin, so they are a hint and no proof.
CREATE TABLE repo_roots (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	commit_id TEXT NOT NULL,
	repo_id TEXT NOT NULL REFERENCES repos (id),
	PRIMARY KEY (org_id, commit_id, repo_id)
);
CREATE INDEX repo_roots_by_repo ON repo_roots (repo_id);

-- Two records that are, or look like, one repository; first_id < second_id.
CREATE TABLE repo_twins (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	first_id TEXT NOT NULL REFERENCES repos (id),
	second_id TEXT NOT NULL REFERENCES repos (id),
	why TEXT NOT NULL, -- host or roots
	at BIGINT NOT NULL,
	apart_at BIGINT, -- when an admin said that they are two
	PRIMARY KEY (org_id, first_id, second_id)
);
