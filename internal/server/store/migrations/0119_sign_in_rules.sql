-- What an org wants of those who sign in.
ALTER TABLE orgs ADD COLUMN require_second_factor BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE orgs ADD COLUMN passwords_off BOOLEAN NOT NULL DEFAULT FALSE;
