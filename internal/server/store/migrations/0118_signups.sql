-- Addresses that were proved, or vouched for by whoever runs the server: each may make an org once.
CREATE TABLE signups (
	hash TEXT PRIMARY KEY, -- of the code in the link
	email TEXT NOT NULL,
	expires_at BIGINT NOT NULL
);

-- The org that svc login --org asks for; empty leaves it to the person who approves.
ALTER TABLE device_codes ADD COLUMN asked_org TEXT NOT NULL DEFAULT '';

-- A letter to somebody who signs up is of no org yet.
CREATE TEMP TABLE mails_before AS SELECT * FROM mails;
DROP TABLE mails;
CREATE TABLE mails (
	id TEXT PRIMARY KEY,
	org_id TEXT REFERENCES orgs (id),
	content TEXT NOT NULL, -- sealed
	created_at BIGINT NOT NULL
);
INSERT INTO mails (id, org_id, content, created_at) SELECT id, org_id, content, created_at FROM mails_before;
DROP TABLE mails_before;
