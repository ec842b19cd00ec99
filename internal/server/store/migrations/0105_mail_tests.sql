-- The last test letter of an org, and what became of it.
CREATE TABLE mail_tests (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	mail_id TEXT NOT NULL,
	email TEXT NOT NULL,
	state TEXT NOT NULL,
	detail TEXT NOT NULL,
	sent_at BIGINT NOT NULL, -- when it was asked for
	at BIGINT NOT NULL
);
