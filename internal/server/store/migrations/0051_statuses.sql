-- What agents said at the end of their turns, so that the team can find it
-- later; a session keeps only the last.
CREATE TABLE statuses (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	session_id TEXT NOT NULL REFERENCES sessions (id),
	intent_id TEXT,
	excerpt TEXT NOT NULL,
	at BIGINT NOT NULL
);
CREATE INDEX statuses_by_time ON statuses (org_id, at);
INSERT INTO statuses (id, org_id, session_id, intent_id, excerpt, at)
	SELECT id, org_id, id, intent_id, status_excerpt, status_at FROM sessions WHERE status_excerpt IS NOT NULL AND status_at IS NOT NULL;
