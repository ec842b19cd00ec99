-- What svc index could not read of a file, and what it had to leave out.
ALTER TABLE repo_files ADD COLUMN unread BIGINT NOT NULL DEFAULT 0;
ALTER TABLE repo_files ADD COLUMN cut BIGINT NOT NULL DEFAULT 0;
CREATE INDEX repo_files_with_gaps ON repo_files (repo_id) WHERE unread + cut > 0;
