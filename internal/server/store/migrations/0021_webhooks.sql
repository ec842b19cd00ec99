-- Up to which event an org's log has been handed on to webhooks and chat. An
-- org without a row never had either.
CREATE TABLE fanouts (
	org_id TEXT PRIMARY KEY REFERENCES orgs (id),
	seq BIGINT NOT NULL
);

CREATE TABLE webhooks (
	id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL REFERENCES orgs (id),
	url TEXT NOT NULL,
	event_types TEXT NOT NULL,
	description TEXT,
	secret TEXT NOT NULL, -- sealed
	after_seq BIGINT NOT NULL, -- events up to here are older than the endpoint
	created_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	disabled_at BIGINT,
	disabled_reason TEXT,
	failures BIGINT NOT NULL DEFAULT 0, -- in a row
	failing_since BIGINT,
	last_failure_at BIGINT,
	last_success_at BIGINT,
	paused_until BIGINT,
	UNIQUE (org_id, url)
);

CREATE TABLE webhook_deliveries (
	id TEXT PRIMARY KEY,
	webhook_id TEXT NOT NULL REFERENCES webhooks (id),
	org_id TEXT NOT NULL REFERENCES orgs (id),
	event_seq BIGINT NOT NULL,
	event_type TEXT NOT NULL,
	status TEXT NOT NULL,
	attempts BIGINT NOT NULL,
	response_status BIGINT,
	response_ms BIGINT,
	error TEXT,
	next_attempt_at BIGINT,
	created_at BIGINT NOT NULL,
	delivered_at BIGINT,
	UNIQUE (webhook_id, event_seq)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at);
CREATE INDEX webhook_deliveries_by_id ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);
