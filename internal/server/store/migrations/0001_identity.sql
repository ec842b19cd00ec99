-- Times are milliseconds since 1970, lists and objects are JSON text, ids are
-- made by the service: one text for both databases.

CREATE TABLE meta (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL
);

CREATE TABLE orgs (
	id TEXT PRIMARY KEY,
	slug TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL,
	data_mode TEXT NOT NULL,
	plan TEXT NOT NULL,
	event_seq BIGINT NOT NULL DEFAULT 0,
	intent_seq BIGINT NOT NULL DEFAULT 0,
	conflict_seq BIGINT NOT NULL DEFAULT 0,
	created_at BIGINT NOT NULL
);

CREATE TABLE users (
	id TEXT PRIMARY KEY,
	email TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL,
	password_hash TEXT,
	oidc_subject TEXT UNIQUE,
	created_at BIGINT NOT NULL
);

CREATE TABLE members (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	role TEXT NOT NULL,
	joined_at BIGINT NOT NULL,
	PRIMARY KEY (org_id, user_id)
);
CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE tokens (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	user_id TEXT REFERENCES users (id),
	created_by TEXT REFERENCES users (id),
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	prefix TEXT NOT NULL,
	hash TEXT NOT NULL UNIQUE,
	scopes TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	last_used_at BIGINT,
	expires_at BIGINT,
	revoked_at BIGINT
);
CREATE INDEX tokens_by_org ON tokens (org_id, id);

CREATE TABLE invites (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	code_hash TEXT NOT NULL UNIQUE,
	role TEXT NOT NULL,
	email TEXT,
	email_sent BOOLEAN NOT NULL,
	created_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX invites_by_org ON invites (org_id, created_at);

CREATE TABLE web_sessions (
	id TEXT PRIMARY KEY,
	user_id TEXT NOT NULL REFERENCES users (id),
	hash TEXT NOT NULL UNIQUE,
	user_agent TEXT NOT NULL,
	address TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	last_seen_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX web_sessions_by_user ON web_sessions (user_id);

CREATE TABLE device_codes (
	id TEXT PRIMARY KEY,
	device_hash TEXT NOT NULL UNIQUE,
	user_code TEXT NOT NULL UNIQUE,
	status TEXT NOT NULL,
	hostname TEXT NOT NULL,
	cli_version TEXT NOT NULL,
	address TEXT NOT NULL,
	org_id TEXT,
	user_id TEXT,
	interval_seconds BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	last_poll_at BIGINT
);

-- One row per limited key: when its next free moment is (GCRA).
CREATE TABLE rate_limits (
	key TEXT PRIMARY KEY,
	tat BIGINT NOT NULL
);
