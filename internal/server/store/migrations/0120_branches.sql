-- Work of people who do not use svc: open pull requests and pushed branches of
-- the git host. What they changed is in changes, with the row's id as copy.
CREATE TABLE branches (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	provider TEXT NOT NULL,
	name TEXT NOT NULL,
	number BIGINT NOT NULL, -- of the pull request; 0 if there is none
	fork BOOLEAN NOT NULL,
	base_ref TEXT NOT NULL,
	head_sha TEXT NOT NULL,
	url TEXT NOT NULL,
	full_name TEXT NOT NULL,
	app TEXT NOT NULL,
	installation BIGINT NOT NULL,
	author TEXT NOT NULL,
	user_id TEXT, -- the member who wrote it, if it is one
	files BIGINT NOT NULL,
	cut BOOLEAN NOT NULL, -- there are more files than are kept
	since BIGINT NOT NULL,
	pushed_at BIGINT NOT NULL,
	UNIQUE (repo_id, provider, number, name, fork)
);
CREATE INDEX branches_by_org ON branches (org_id, repo_id, pushed_at);
CREATE INDEX branches_by_time ON branches (pushed_at);
