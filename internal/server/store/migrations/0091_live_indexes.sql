-- What is under way is little, what is over grows for ever: lists of the first
-- must not walk the second. A partial index is used where a query says its
-- condition in the same words.
CREATE INDEX sessions_unended ON sessions (org_id, last_heartbeat_at, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_unended_by_intent ON sessions (intent_id, last_heartbeat_at, id) WHERE ended_at IS NULL;
CREATE INDEX intents_unclosed ON intents (org_id, number) WHERE closed_at IS NULL;
CREATE INDEX conflicts_unclosed ON conflicts (org_id, number) WHERE closed_at IS NULL;
CREATE INDEX conflicts_unclosed_by_holder ON conflicts (org_id, holder) WHERE closed_at IS NULL;
CREATE INDEX conflicts_unclosed_by_challenger ON conflicts (org_id, challenger) WHERE closed_at IS NULL;
CREATE INDEX conflicts_lasting ON conflicts (org_id, fingerprint, number)
	WHERE status = 'overridden' OR resolution IN ('agreed', 'false_positive', 'withdrawn', 'handed_over');
CREATE INDEX message_recipients_unread ON message_recipients (org_id, user_id, seq) WHERE read_at IS NULL;
CREATE INDEX message_recipients_unread_by_agent ON message_recipients (org_id, user_id, seq) WHERE agent_read_at IS NULL;

-- Who still owes an acknowledgement.
ALTER TABLE message_recipients ADD COLUMN owes_ack BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE message_recipients SET owes_ack = TRUE
	WHERE acked_at IS NULL AND EXISTS (
		SELECT 1 FROM messages m
		WHERE m.id = message_recipients.message_id AND m.requires_ack AND (m.from_user IS NULL OR m.from_user <> message_recipients.user_id));
CREATE INDEX message_recipients_owing ON message_recipients (org_id, user_id, seq) WHERE owes_ack;
