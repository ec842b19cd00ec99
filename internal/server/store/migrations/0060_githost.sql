-- GitHub Apps that orgs made, one or more each.
CREATE TABLE github_apps (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	app_id BIGINT NOT NULL,   -- GitHub's number for it
	slug TEXT NOT NULL,
	name TEXT NOT NULL,
	owner TEXT NOT NULL,
	url TEXT NOT NULL,        -- its page
	web TEXT NOT NULL,        -- the GitHub it is on
	api TEXT NOT NULL,
	secrets TEXT NOT NULL,    -- sealed: private key, webhook secret, client secret
	flow TEXT NOT NULL,       -- of the manifest flow that made it: one makes one app
	created_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	delivered_at BIGINT,      -- when the last webhook came
	synced_at BIGINT,         -- up to when missed webhooks were asked for
	UNIQUE (web, app_id),
	UNIQUE (flow)
);
CREATE INDEX github_apps_by_org ON github_apps (org_id, id);

CREATE TABLE github_installations (
	app TEXT NOT NULL REFERENCES github_apps (id),
	id BIGINT NOT NULL,
	account TEXT NOT NULL,
	selection TEXT NOT NULL,
	repos TEXT NOT NULL,
	suspended BOOLEAN NOT NULL,
	gone BOOLEAN NOT NULL,     -- kept for a while, so that an old webhook does not bring it back
	created_at BIGINT NOT NULL,
	changed_at BIGINT NOT NULL, -- by GitHub's clock
	PRIMARY KEY (app, id)
);

CREATE TABLE gitlab_hooks (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	secret TEXT NOT NULL,     -- sealed
	created_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	delivered_at BIGINT,
	UNIQUE (org_id)
);

-- Pull and merge requests, as far as their hosts told us.
CREATE TABLE pulls (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	provider TEXT NOT NULL,
	number BIGINT NOT NULL,
	state TEXT NOT NULL,
	draft BOOLEAN NOT NULL,
	head_ref TEXT NOT NULL,
	head_sha TEXT NOT NULL,
	same_repo BOOLEAN NOT NULL,
	base_ref TEXT NOT NULL,
	merge_sha TEXT NOT NULL,
	url TEXT NOT NULL,
	full_name TEXT NOT NULL,  -- of the repository, as the host calls it
	private BOOLEAN NOT NULL,
	app TEXT NOT NULL,        -- the GitHub App that told us; empty for none
	installation BIGINT NOT NULL,
	changed_at BIGINT NOT NULL, -- by the host's clock
	report_kind TEXT NOT NULL DEFAULT '',
	report_id BIGINT NOT NULL DEFAULT 0,
	report_sha TEXT NOT NULL DEFAULT '',
	report_hash TEXT NOT NULL DEFAULT '',
	UNIQUE (repo_id, provider, number)
);
CREATE INDEX pulls_open ON pulls (org_id, repo_id, state);
CREATE INDEX pulls_by_merge ON pulls (repo_id, merge_sha);

-- Webhooks that arrived, so that none counts twice.
CREATE TABLE hook_receipts (
	source TEXT NOT NULL,
	name TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (source, name)
);
CREATE INDEX hook_receipts_by_age ON hook_receipts (at);
