-- What an intent asked for that is no file, as JSON.
ALTER TABLE intents ADD COLUMN leases TEXT NOT NULL DEFAULT '[]';
-- The last number handed out of what is counted upwards: it is never handed out
-- again, whoever had it.
CREATE TABLE resource_numbers (
    repo_id  TEXT NOT NULL REFERENCES repos (id),
    resource TEXT NOT NULL,
    last     BIGINT NOT NULL,
    PRIMARY KEY (repo_id, resource)
);
