-- What people say stands before the routes of one repository as another calls them.
ALTER TABLE projects ADD COLUMN prefixes TEXT NOT NULL DEFAULT '[]';
