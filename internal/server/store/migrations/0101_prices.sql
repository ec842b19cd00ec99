-- What is paid, and for how many; and whether the price belongs to no plan,
-- which is for the operator to mend.
ALTER TABLE subscriptions ADD COLUMN price TEXT;
ALTER TABLE subscriptions ADD COLUMN seats BIGINT NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN stranger BOOLEAN NOT NULL DEFAULT FALSE;
