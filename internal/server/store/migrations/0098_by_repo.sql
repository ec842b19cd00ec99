-- What belongs to a repo is found without a walk through the org's history:
-- for merging two records of one, for the map of where work happened, and for
-- the check that nothing refers to a repo that is deleted.
CREATE INDEX intents_by_repo_change ON intents (repo_id, updated_at);
CREATE INDEX conflicts_by_repo_change ON conflicts (repo_id, updated_at);
CREATE INDEX conflicts_by_dependent ON conflicts (dependent_repo_id) WHERE dependent_repo_id IS NOT NULL;
CREATE INDEX sessions_by_repo ON sessions (repo_id);
CREATE INDEX questions_by_repo ON questions (repo_id) WHERE repo_id IS NOT NULL;
CREATE INDEX conversations_by_repo ON conversations (repo_id) WHERE repo_id IS NOT NULL;
CREATE INDEX events_by_repo ON events (repo_id, seq);
CREATE INDEX daily_sums_by_repo ON daily_sums (repo_id, day);
-- Deliveries go by each org's policy, like its events.
DROP INDEX webhook_deliveries_by_age;
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (org_id, created_at) WHERE next_attempt_at IS NULL;
-- Channels are few among conversations.
CREATE INDEX conversations_by_kind ON conversations (org_id, kind, updated_at, id);
