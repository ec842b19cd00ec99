-- When a message was sent, so that what came since a session began is found
-- by index.
ALTER TABLE message_recipients ADD COLUMN at BIGINT NOT NULL DEFAULT 0;
UPDATE message_recipients SET at = (SELECT m.created_at FROM messages m WHERE m.id = message_recipients.message_id);
CREATE INDEX message_recipients_by_time ON message_recipients (org_id, user_id, at);
CREATE INDEX message_recipients_fresh ON message_recipients (org_id, user_id, seq) WHERE delivered_at IS NULL AND agent_read_at IS NULL;
CREATE INDEX messages_by_time ON messages (org_id, created_at);

-- What people sent, for the limits; rows older than the longest window go.
CREATE TABLE sends (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	sender TEXT NOT NULL, -- the user, or the service token
	kind TEXT NOT NULL,
	at BIGINT NOT NULL
);
CREATE INDEX sends_by_sender ON sends (org_id, sender, kind, at);

-- to_user is null where the question went to a channel; to_session is whose
-- work it is about, asked first while it lives.
CREATE TABLE questions (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	target TEXT NOT NULL,
	about TEXT,
	question TEXT NOT NULL,
	asked_kind TEXT NOT NULL,
	asked_user TEXT REFERENCES users (id),
	asked_session TEXT,
	asked_tool TEXT,
	repo_id TEXT REFERENCES repos (id),
	status TEXT NOT NULL,
	immediate TEXT,
	private BOOLEAN NOT NULL, -- asked of a person, not of a contract
	to_user TEXT REFERENCES users (id),
	to_session TEXT,
	conversation_id TEXT NOT NULL REFERENCES conversations (id),
	message_id TEXT NOT NULL REFERENCES messages (id),
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX questions_open ON questions (org_id, to_user, status, created_at);
CREATE INDEX questions_by_asker ON questions (org_id, asked_user, updated_at);
CREATE INDEX questions_by_time ON questions (org_id, created_at);

CREATE TABLE answers (
	id TEXT PRIMARY KEY,
	question_id TEXT NOT NULL REFERENCES questions (id),
	answer TEXT NOT NULL,
	by_kind TEXT NOT NULL,
	by_user TEXT REFERENCES users (id),
	by_session TEXT,
	by_tool TEXT,
	at BIGINT NOT NULL
);
CREATE INDEX answers_by_question ON answers (question_id, at, id);

-- Attention items that a person put away. The id names the item as it was: a
-- changed item has another one.
CREATE TABLE dismissals (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	item_id TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (org_id, user_id, item_id)
);
