-- Names of data in a file: hashes, where they stand and lines, between spaces.
ALTER TABLE repo_files ADD COLUMN names TEXT;
