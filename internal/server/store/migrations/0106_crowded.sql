-- With a thousand agents what is under way is no longer little: what one of them
-- asks for on each edit is found by its own keys.
CREATE INDEX sessions_unended_by_user ON sessions (org_id, user_id, last_heartbeat_at, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_unended_by_lineage ON sessions (lineage_id) WHERE ended_at IS NULL;
CREATE INDEX intents_unclosed_by_owner ON intents (org_id, owner_id, branch) WHERE closed_at IS NULL;
