-- An index of live work begins with what ended conflicts say to their like:
-- from the index alone, since the rows are long. (PostgreSQL bounds how long an
-- entry may be, and keeps long values beside the row anyway.)
DROP INDEX conflicts_lasting;
CREATE INDEX conflicts_lasting ON conflicts (org_id, fingerprint, number, status, resolution, evidence_keys)
	WHERE status = 'overridden' OR resolution IN ('agreed', 'false_positive', 'withdrawn', 'handed_over');
