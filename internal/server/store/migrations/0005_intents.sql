CREATE TABLE intents (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	number BIGINT NOT NULL,
	repo_id TEXT NOT NULL REFERENCES repos (id),
	owner_id TEXT NOT NULL REFERENCES users (id),
	session_id TEXT,
	status TEXT NOT NULL,
	resume_status TEXT NOT NULL, -- what a blocked intent returns to
	title TEXT NOT NULL,
	summary TEXT,
	plan_md TEXT,
	mode TEXT NOT NULL,
	effective_mode TEXT NOT NULL,
	mode_note TEXT,
	branch TEXT,
	pr_number BIGINT,
	external_ref TEXT,
	scope TEXT NOT NULL,
	observed TEXT NOT NULL, -- paths really edited outside the scope
	depends_on TEXT NOT NULL,
	blocked_by TEXT NOT NULL,
	outcome TEXT,
	note TEXT,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	last_activity_at BIGINT NOT NULL,
	closed_at BIGINT,
	UNIQUE (org_id, number)
);
CREATE INDEX intents_live ON intents (org_id, status, number);
CREATE INDEX intents_by_owner ON intents (org_id, owner_id, number);
CREATE INDEX intents_by_repo ON intents (org_id, repo_id, number);

CREATE TABLE intent_deps (
	intent_id TEXT NOT NULL REFERENCES intents (id),
	depends_on_id TEXT NOT NULL REFERENCES intents (id),
	PRIMARY KEY (intent_id, depends_on_id)
);
CREATE INDEX intent_deps_back ON intent_deps (depends_on_id);

CREATE TABLE handoffs (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	intent_id TEXT NOT NULL REFERENCES intents (id),
	from_id TEXT NOT NULL REFERENCES users (id),
	to_id TEXT NOT NULL REFERENCES users (id),
	note TEXT,
	thread_id TEXT,
	message_id TEXT,
	created_at BIGINT NOT NULL,
	adopted_at BIGINT
);
CREATE INDEX handoffs_by_intent ON handoffs (intent_id, created_at);

-- A file's difference from its base in one working copy.
CREATE TABLE changes (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	copy TEXT NOT NULL,
	path TEXT NOT NULL,
	facts TEXT NOT NULL,
	touched TEXT NOT NULL, -- who, the latest last
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (org_id, repo_id, copy, path)
);

-- Work that was merged, as far as somebody live may still have to rebase on
-- it.
CREATE TABLE merged_changes (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	merge_id TEXT NOT NULL,
	path TEXT NOT NULL,
	facts TEXT NOT NULL,
	intent_id TEXT,
	at BIGINT NOT NULL,
	PRIMARY KEY (org_id, repo_id, merge_id, path)
);
CREATE INDEX merged_changes_by_time ON merged_changes (at);

-- The files of a repo, as far as clients told us: they bound what a glob
-- covers.
CREATE TABLE repo_files (
	repo_id TEXT NOT NULL REFERENCES repos (id),
	path TEXT NOT NULL,
	PRIMARY KEY (repo_id, path)
);
