-- Endpoints can be held, and their secrets replaced: the old one signs beside
-- the new for a day.
ALTER TABLE webhooks ADD COLUMN held_at BIGINT;
ALTER TABLE webhooks ADD COLUMN old_secret TEXT; -- sealed
ALTER TABLE webhooks ADD COLUMN old_secret_until BIGINT;
