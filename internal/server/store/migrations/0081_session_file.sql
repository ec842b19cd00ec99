-- The file that a session's agent wrote last, or is about to.
ALTER TABLE sessions ADD COLUMN file TEXT;
