-- seq comes from orgs.event_seq, raised in the same transaction: ids follow
-- commit order, without gaps, so that a resuming reader misses nothing.
CREATE TABLE events (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	seq BIGINT NOT NULL,
	type TEXT NOT NULL,
	occurred_at BIGINT NOT NULL,
	actor_kind TEXT NOT NULL,
	actor_id TEXT NOT NULL,
	subject_kind TEXT NOT NULL,
	subject_id TEXT NOT NULL,
	repo_id TEXT NOT NULL,
	payload TEXT NOT NULL,
	PRIMARY KEY (org_id, seq)
);
CREATE INDEX events_by_subject ON events (org_id, subject_id, seq);
CREATE INDEX events_by_type ON events (org_id, type, seq);
CREATE INDEX events_by_time ON events (org_id, occurred_at);
