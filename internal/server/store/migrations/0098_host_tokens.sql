-- The way in for GitHub's webhooks where there is no app, and with what it may be asked and written to then.
CREATE TABLE github_hooks (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL UNIQUE REFERENCES orgs (id),
	secret TEXT NOT NULL,     -- sealed
	created_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	delivered_at BIGINT
);
CREATE TABLE github_tokens (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	web TEXT NOT NULL,        -- the GitHub it is for; it goes nowhere else
	token TEXT NOT NULL,      -- sealed
	name TEXT NOT NULL,       -- whose it is
	expires_at BIGINT,
	refused_at BIGINT,        -- when GitHub first did not take it any more
	created_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	synced_at BIGINT          -- when it was last asked what we missed
);
ALTER TABLE gitlab_tokens ADD COLUMN synced_at BIGINT;
