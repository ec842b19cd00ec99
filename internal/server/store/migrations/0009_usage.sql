-- Who used a tool in a calendar month: the developers that a plan counts.
CREATE TABLE active_developers (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	month TEXT NOT NULL, -- 2026-11, UTC
	user_id TEXT NOT NULL REFERENCES users (id),
	first_at BIGINT NOT NULL,
	PRIMARY KEY (org_id, month, user_id)
);
