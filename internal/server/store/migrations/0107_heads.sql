-- What the default branch was last seen at, oldest first: pushes are found by
-- it whose webhook never came, and those told from ones that came late.
ALTER TABLE repos ADD COLUMN heads TEXT NOT NULL DEFAULT '[]';
