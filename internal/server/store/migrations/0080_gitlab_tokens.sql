-- With what an org's GitLab may be asked and written to.
CREATE TABLE gitlab_tokens (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	web TEXT NOT NULL,        -- the GitLab it is for; it goes nowhere else
	token TEXT NOT NULL,      -- sealed
	name TEXT NOT NULL,       -- as GitLab calls it; empty if it does not say
	expires_at BIGINT,
	refused_at BIGINT,        -- when GitLab first did not take it any more
	created_by TEXT NOT NULL,
	created_at BIGINT NOT NULL
);
