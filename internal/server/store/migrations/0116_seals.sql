-- The chain of the audit log: each event is sealed with the hash of the one
-- before. previous is kept with each, so that what is left of the chain can be
-- checked when old events are forgotten.
CREATE TABLE event_seals (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	seq BIGINT NOT NULL,
	salt TEXT NOT NULL, -- gone when a person was taken out of the payload: its digest cannot be guessed then
	digest TEXT NOT NULL DEFAULT '', -- of the payload as it was told, where it is another now
	previous TEXT NOT NULL,
	hash TEXT NOT NULL,
	PRIMARY KEY (org_id, seq)
);
CREATE TABLE event_heads (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	seq BIGINT NOT NULL,
	hash TEXT NOT NULL
);
