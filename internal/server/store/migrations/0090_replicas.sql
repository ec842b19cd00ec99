-- The processes that serve this database. Each counts those that came before
-- it; knows is the newest it has heard of.
CREATE TABLE replicas (
	id TEXT PRIMARY KEY,
	number BIGINT NOT NULL UNIQUE,
	knows BIGINT NOT NULL,
	seen_at BIGINT NOT NULL
);
