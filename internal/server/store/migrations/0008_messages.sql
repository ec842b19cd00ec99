ALTER TABLE orgs ADD COLUMN message_seq BIGINT NOT NULL DEFAULT 0;

-- conv_key finds a conversation by what it is: team, repo:<id>, or
-- direct:<about>:<user ids>.
CREATE TABLE conversations (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	kind TEXT NOT NULL,
	conv_key TEXT NOT NULL,
	repo_id TEXT REFERENCES repos (id),
	subject TEXT,
	about_kind TEXT,
	about_ref TEXT,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	UNIQUE (org_id, conv_key)
);
CREATE INDEX conversations_by_time ON conversations (org_id, updated_at, id);

-- Who takes part in a direct thread.
CREATE TABLE conversation_members (
	conversation_id TEXT NOT NULL REFERENCES conversations (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	PRIMARY KEY (conversation_id, user_id)
);
CREATE INDEX conversation_members_by_user ON conversation_members (user_id);

CREATE TABLE messages (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	conversation_id TEXT NOT NULL REFERENCES conversations (id),
	seq BIGINT NOT NULL, -- counts up in commit order for an org
	from_kind TEXT NOT NULL,
	from_user TEXT REFERENCES users (id),
	from_session TEXT,
	from_tool TEXT,
	target TEXT NOT NULL,
	subject TEXT,
	body TEXT NOT NULL,
	requires_ack BOOLEAN NOT NULL,
	about_kind TEXT,
	about_ref TEXT,
	created_at BIGINT NOT NULL,
	UNIQUE (org_id, seq)
);
CREATE INDEX messages_by_conversation ON messages (conversation_id, seq);
CREATE INDEX messages_by_sender ON messages (org_id, from_user, created_at);

-- To whom a message is addressed, and what they made of it. Read is a
-- person's or an agent's look; delivery into an agent's context is apart.
CREATE TABLE message_recipients (
	message_id TEXT NOT NULL REFERENCES messages (id),
	user_id TEXT NOT NULL REFERENCES users (id),
	org_id TEXT NOT NULL,
	seq BIGINT NOT NULL,
	read_at BIGINT,
	agent_read_at BIGINT,
	delivered_at BIGINT,
	acked_at BIGINT,
	PRIMARY KEY (message_id, user_id)
);
CREATE INDEX message_recipients_by_user ON message_recipients (org_id, user_id, seq);

-- Into which sessions' contexts a message went.
CREATE TABLE deliveries (
	message_id TEXT NOT NULL REFERENCES messages (id),
	session_id TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (message_id, session_id)
);
CREATE INDEX deliveries_by_session ON deliveries (session_id);
