-- What was told of a plan's limits: once a month each.
CREATE TABLE plan_notices (
	org_id TEXT NOT NULL REFERENCES orgs (id),
	month TEXT NOT NULL,
	what TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (org_id, month, what)
);

-- What an org pays for, as Stripe last told.
CREATE TABLE subscriptions (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	customer TEXT NOT NULL,       -- Stripe's name for the org
	subscription TEXT NOT NULL,   -- empty before the first
	status TEXT NOT NULL,
	plan TEXT NOT NULL,
	period_end BIGINT,
	cancels BIGINT,               -- when it ends, if it was cancelled
	updated_at BIGINT NOT NULL,
	UNIQUE (customer)
);
