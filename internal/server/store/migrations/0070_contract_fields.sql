-- What a use may use of a contract, as a JSON list; NULL if that is not known.
ALTER TABLE contracts ADD COLUMN fields TEXT;
