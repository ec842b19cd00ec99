-- When an agent's turn ended, and since when its person is to answer it: both
-- null while it works.
ALTER TABLE sessions ADD COLUMN stopped_at BIGINT;
ALTER TABLE sessions ADD COLUMN asked_at BIGINT;
