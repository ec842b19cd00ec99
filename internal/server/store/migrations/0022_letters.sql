CREATE TABLE slacks (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	url TEXT NOT NULL, -- sealed
	seq BIGINT NOT NULL, -- events up to here have been told, or are older than the connection
	connected_by TEXT NOT NULL,
	connected_at BIGINT NOT NULL,
	last_post_at BIGINT,
	last_error TEXT,
	last_error_at BIGINT
);

CREATE TABLE digests (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	enabled BOOLEAN NOT NULL,
	day BIGINT NOT NULL, -- 0 is Sunday
	hour BIGINT NOT NULL,
	channels TEXT NOT NULL,
	last_run TEXT
);

CREATE TABLE digest_readers (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	PRIMARY KEY (org_id, user_id)
);

-- One row per digest that was sent: a period has at most one, whatever the
-- number of replicas.
CREATE TABLE digest_runs (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	period TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (org_id, period)
);

-- Mails that wait to be sent. They hold links that open doors, so they are
-- sealed, and deleted once sent.
CREATE TABLE mails (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	content TEXT NOT NULL, -- sealed
	created_at BIGINT NOT NULL
);
