-- What keeps a person's work out is asked at every write of their agents.
CREATE INDEX conflicts_keeping ON conflicts (org_id, challenger_user, number)
	WHERE (severity = 'block' OR kind = 'exclusive_claim') AND (status IN ('open', 'acknowledged', 'resolving') OR resolution = 'withdrawn');
DROP INDEX conflicts_by_challenger_user;

-- A conflict that opens is filed once for each side, not twice: a crowd opens many at once.
CREATE INDEX conflicts_closed_by_holder ON conflicts (org_id, holder) WHERE closed_at IS NOT NULL;
CREATE INDEX conflicts_closed_by_challenger ON conflicts (org_id, challenger) WHERE closed_at IS NOT NULL;
DROP INDEX conflicts_by_holder;
DROP INDEX conflicts_by_challenger;
