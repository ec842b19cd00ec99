-- Background work. A job waits (lease is null), runs (somebody holds the
-- lease until due_at) or has failed for good (failed_at is set). A finished
-- job is deleted.
CREATE TABLE jobs (
	id TEXT PRIMARY KEY,
	kind TEXT NOT NULL,
	org_id TEXT NOT NULL, -- empty for work of the server itself
	unique_key TEXT UNIQUE, -- given up when the job fails for good
	payload TEXT NOT NULL,
	due_at BIGINT NOT NULL, -- when it may be taken; while leased, when the lease ends
	next_at BIGINT, -- asked for again while it ran: when to run anew
	lease TEXT,
	attempts BIGINT NOT NULL,
	last_error TEXT,
	created_at BIGINT NOT NULL,
	failed_at BIGINT
);
CREATE INDEX jobs_by_due ON jobs (kind, due_at);
CREATE INDEX jobs_by_org ON jobs (org_id);
