CREATE TABLE conflicts (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	number BIGINT NOT NULL,
	kind TEXT NOT NULL,
	severity TEXT NOT NULL,
	status TEXT NOT NULL,
	repo_id TEXT NOT NULL REFERENCES repos (id),
	dependent_repo_id TEXT,
	holder TEXT NOT NULL,           -- the worker's id; empty where nobody live is that side
	challenger TEXT NOT NULL,
	holder_user TEXT NOT NULL,
	challenger_user TEXT NOT NULL,
	parties TEXT NOT NULL,
	evidence TEXT NOT NULL,
	evidence_keys TEXT NOT NULL,
	explanation TEXT NOT NULL,
	suggestion TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	previous TEXT,
	resolution TEXT,
	override TEXT,
	override_requested TEXT,
	first_seen_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	closed_at BIGINT,
	UNIQUE (org_id, number)
);
CREATE INDEX conflicts_live ON conflicts (org_id, status, number);
CREATE INDEX conflicts_by_fingerprint ON conflicts (org_id, fingerprint, number);
CREATE INDEX conflicts_by_holder ON conflicts (org_id, holder, status);
CREATE INDEX conflicts_by_challenger ON conflicts (org_id, challenger, status);

CREATE TABLE conflict_actions (
	id TEXT PRIMARY KEY,
	conflict_id TEXT NOT NULL REFERENCES conflicts (id),
	action TEXT NOT NULL,
	note TEXT,
	user_id TEXT NOT NULL REFERENCES users (id),
	session_id TEXT,
	at BIGINT NOT NULL
);
CREATE INDEX conflict_actions_by_conflict ON conflict_actions (conflict_id, at, id);

CREATE TABLE conflict_feedback (
	conflict_id TEXT NOT NULL REFERENCES conflicts (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	verdict TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (conflict_id, user_id)
);
