-- What people prove who they are with beside a password. It belongs to the
-- account, whatever orgs the person is in.
CREATE TABLE totps (
	user_id TEXT PRIMARY KEY REFERENCES users (id),
	secret TEXT NOT NULL, -- sealed
	created_at BIGINT NOT NULL,
	confirmed_at BIGINT, -- null until a code has shown that the app has it
	last_step BIGINT NOT NULL DEFAULT 0 -- of the newest code that was taken: none is taken twice
);
CREATE TABLE recovery_codes (
	user_id TEXT NOT NULL REFERENCES users (id),
	hash TEXT NOT NULL,
	PRIMARY KEY (user_id, hash)
);
-- Sign-ins that wait for the second factor.
CREATE TABLE half_signins (
	hash TEXT PRIMARY KEY,
	user_id TEXT NOT NULL REFERENCES users (id),
	method TEXT NOT NULL,
	expires_at BIGINT NOT NULL
);
-- How somebody signed in, whether with a second factor, and when they last
-- proved who they are.
ALTER TABLE web_sessions ADD COLUMN method TEXT NOT NULL DEFAULT 'password';
ALTER TABLE web_sessions ADD COLUMN second BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE web_sessions ADD COLUMN proved_at BIGINT NOT NULL DEFAULT 0;
