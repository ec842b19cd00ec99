-- Events of a session that no service answered, so that its agent went on unchecked.
ALTER TABLE sessions ADD COLUMN fail_opens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN fail_opens_at BIGINT;
