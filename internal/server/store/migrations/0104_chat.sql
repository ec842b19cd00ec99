-- Repos whose chat posts go to a channel of their own, as slacks are for the
-- whole org.
CREATE TABLE slack_repos (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	url TEXT NOT NULL, -- sealed
	seq BIGINT NOT NULL,
	connected_by TEXT NOT NULL,
	connected_at BIGINT NOT NULL,
	last_post_at BIGINT,
	last_error TEXT,
	last_error_at BIGINT,
	UNIQUE (org_id, repo_id)
);

-- When an org's channels are left alone.
CREATE TABLE chat_manners (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	every_minutes BIGINT NOT NULL,
	quiet TEXT -- null: never
);
