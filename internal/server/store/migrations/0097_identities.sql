-- Whom OpenID providers know an account as; an account may have several.
CREATE TABLE identities (
	subject TEXT PRIMARY KEY, -- the issuer, a space, and its name for the person
	issuer TEXT NOT NULL,
	user_id TEXT NOT NULL REFERENCES users (id),
	bound_at BIGINT NOT NULL
);
CREATE INDEX identities_by_user ON identities (user_id);
INSERT INTO identities (subject, issuer, user_id, bound_at)
	SELECT oidc_subject, SUBSTR(oidc_subject, 1, LENGTH(oidc_subject) - LENGTH(LTRIM(oidc_subject, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/?#[]@!$&''()*+,;=._~%-'))), id, created_at
	FROM users WHERE oidc_subject IS NOT NULL;
UPDATE users SET oidc_subject = NULL;

-- Links that sign a person in once: mailed to bind another identity, or made
-- by whoever runs the server.
CREATE TABLE signin_links (
	hash TEXT PRIMARY KEY,
	user_id TEXT NOT NULL REFERENCES users (id),
	subject TEXT NOT NULL, -- the identity to bind; empty to break the glass
	expires_at BIGINT NOT NULL
);
