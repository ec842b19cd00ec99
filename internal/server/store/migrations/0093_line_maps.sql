-- How the lines of two versions of a file go together, so that changes of
-- workers who branched at different times can be compared. No text.
CREATE TABLE line_maps (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	repo_id TEXT NOT NULL REFERENCES repos (id),
	from_blob TEXT NOT NULL,
	to_blob TEXT NOT NULL,
	shifts TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (org_id, repo_id, from_blob, to_blob)
);
CREATE INDEX line_maps_by_time ON line_maps (at);
