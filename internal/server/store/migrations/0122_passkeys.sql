-- Passkeys of people. They belong to the account, whatever orgs the person is in.
CREATE TABLE passkeys (
	id TEXT PRIMARY KEY,
	user_id TEXT NOT NULL REFERENCES users (id),
	credential TEXT NOT NULL UNIQUE, -- what the authenticator calls it
	public_key TEXT NOT NULL,
	name TEXT NOT NULL,
	sign_count BIGINT NOT NULL,
	synced BOOLEAN NOT NULL, -- it may be on several devices of its owner's
	created_at BIGINT NOT NULL,
	last_used_at BIGINT,
	copied_at BIGINT -- when its counter last went back
);
CREATE INDEX passkeys_user ON passkeys (user_id);
-- What was asked of authenticators and is not answered yet.
CREATE TABLE passkey_challenges (
	hash TEXT PRIMARY KEY,
	user_id TEXT NOT NULL, -- for whom a new passkey is made; empty where any may answer
	expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_age ON passkey_challenges (expires_at);
