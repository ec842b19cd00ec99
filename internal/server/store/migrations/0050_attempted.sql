-- The worker whose attempted edit a conflict rests on: nothing that is recorded
-- shows it, so it is looked for in another way.
ALTER TABLE conflicts ADD COLUMN attempted_by TEXT NOT NULL DEFAULT '';
