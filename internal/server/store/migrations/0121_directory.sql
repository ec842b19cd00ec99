-- What a company's directory (SCIM) says of people and groups. Who is a member is in members, as ever: an active person is one,
-- and one who was deactivated is not.
CREATE TABLE directory_users (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	user_name TEXT NOT NULL, -- as the directory writes it
	user_key TEXT NOT NULL, -- as it is compared
	external_id TEXT NOT NULL,
	given_name TEXT NOT NULL,
	family_name TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (org_id, user_id),
	UNIQUE (org_id, user_key)
);

CREATE TABLE directory_groups (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	name TEXT NOT NULL,
	name_key TEXT NOT NULL,
	external_id TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	UNIQUE (org_id, name_key)
);

CREATE TABLE directory_seats (
	group_id TEXT NOT NULL REFERENCES directory_groups (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	PRIMARY KEY (group_id, user_id)
);
CREATE INDEX directory_seats_by_user ON directory_seats (user_id);
