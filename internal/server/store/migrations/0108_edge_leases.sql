-- On which repos a replica lets edges decide by themselves. Who takes a claim
-- there waits until the replica has told them, or its leases have run out.
-- renewed counts up while the replica lives: a row that stands still is of one
-- that died. Merging repos moves none of them: all edges of the org are waited
-- for then.
CREATE TABLE edge_leases (
	replica TEXT NOT NULL,
	org_id TEXT NOT NULL,
	repo TEXT NOT NULL,
	renewed BIGINT NOT NULL,
	seen BIGINT NOT NULL,
	PRIMARY KEY (org_id, repo, replica)
);
