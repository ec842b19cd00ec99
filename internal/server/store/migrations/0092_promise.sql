-- Paths whose edit was refused under somebody's exclusive claim.
ALTER TABLE intents ADD COLUMN wanted TEXT NOT NULL DEFAULT '[]';
-- What a conflict says to each of its sides.
ALTER TABLE conflicts ADD COLUMN voices TEXT NOT NULL DEFAULT '{}';
-- When a session's agent was last told what became of its conflicts.
ALTER TABLE sessions ADD COLUMN turns_at BIGINT NOT NULL DEFAULT 0;
-- Whether a client said that the case of paths does not matter.
ALTER TABLE repos ADD COLUMN ignore_case BOOLEAN NOT NULL DEFAULT FALSE;
-- Who waits for whom, so that a circle is seen by whoever closes it.
CREATE TABLE waits (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL,
	worker TEXT NOT NULL,
	target TEXT NOT NULL,
	holders TEXT NOT NULL,
	since BIGINT NOT NULL,
	until BIGINT NOT NULL
);
CREATE INDEX waits_by_org ON waits (org_id, until);
CREATE INDEX conflicts_by_challenger_user ON conflicts (org_id, challenger_user, status);
