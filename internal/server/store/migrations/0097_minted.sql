-- Whether a token was made by something that an agent can use: then it is no person's word either.
ALTER TABLE tokens ADD COLUMN by_agent BOOLEAN NOT NULL DEFAULT FALSE;
