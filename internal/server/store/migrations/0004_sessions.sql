-- One run of an agent in one repo. An agent that works in several repos of
-- one folder has a session in each, of one lineage.
CREATE TABLE sessions (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	token_id TEXT NOT NULL,
	repo_id TEXT NOT NULL REFERENCES repos (id),
	tool TEXT NOT NULL,
	external_id TEXT NOT NULL,
	lineage_id TEXT NOT NULL,
	intent_id TEXT,
	model TEXT,
	surface TEXT,
	branch TEXT,
	worktree_hash TEXT,
	head_sha TEXT,
	base_sha TEXT,
	client TEXT NOT NULL,
	status_excerpt TEXT,
	status_at BIGINT,
	started_at BIGINT NOT NULL,
	last_heartbeat_at BIGINT NOT NULL,
	last_tool_at BIGINT,
	ended_at BIGINT,
	UNIQUE (org_id, user_id, tool, external_id, repo_id)
);
CREATE INDEX sessions_by_heartbeat ON sessions (org_id, last_heartbeat_at);
CREATE INDEX sessions_by_intent ON sessions (intent_id);

-- What a session's agent has already been told, so that nothing is repeated
-- unless it changed: the key names the thing, mark its version.
CREATE TABLE told (
	session_id TEXT NOT NULL,
	key TEXT NOT NULL,
	mark TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (session_id, key)
);

-- Answers to hook events, so that a retry gets the same one and changes
-- nothing, whichever replica it reaches.
CREATE TABLE hook_replies (
	org_id TEXT NOT NULL,
	dedupe_key TEXT NOT NULL,
	reply TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (org_id, dedupe_key)
);
CREATE INDEX hook_replies_by_time ON hook_replies (at);
