-- Figures of days that are over, so that they need not be counted from the log
-- each time, and outlast it. figure is an event's type or what it amounts to;
-- detail is the hour of a heat, the tool of a tool.
CREATE TABLE daily_sums (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	day BIGINT NOT NULL,
	figure TEXT NOT NULL,
	user_id TEXT NOT NULL,
	repo_id TEXT NOT NULL,
	detail TEXT NOT NULL,
	n BIGINT NOT NULL,
	PRIMARY KEY (org_id, day, figure, user_id, repo_id, detail)
);
-- Up to when an org's days are summed up.
CREATE TABLE daily_sums_until (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	until BIGINT NOT NULL
);
-- What is past its time is found by it.
CREATE INDEX sessions_by_end ON sessions (org_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX conflicts_by_end ON conflicts (org_id, closed_at) WHERE closed_at IS NOT NULL;
