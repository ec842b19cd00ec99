-- Accounts that cannot be used for now, and those of whom nothing is left but
-- that they were there.
ALTER TABLE users ADD COLUMN disabled_at BIGINT;
ALTER TABLE users ADD COLUMN erased_at BIGINT;
