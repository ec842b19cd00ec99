-- What machines hand each other for merge checks where share_patches says so:
-- the difference of work that is not pushed, sealed, for as long as the work lives.
CREATE TABLE patches (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	copy TEXT NOT NULL,
	user_id TEXT NOT NULL,
	worker_id TEXT NOT NULL,
	base TEXT NOT NULL,
	sealed TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (org_id, repo_id, copy)
);
CREATE INDEX patches_by_worker ON patches (org_id, worker_id);
CREATE INDEX patches_by_time ON patches (at);
