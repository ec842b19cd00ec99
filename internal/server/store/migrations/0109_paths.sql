-- Texts of a file that look like paths, as a JSON list of hashes and places.
ALTER TABLE repo_files ADD COLUMN texts TEXT;
