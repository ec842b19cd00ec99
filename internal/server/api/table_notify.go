package api

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/ops"
)

// outgoing is what leaves the house, and the figures about what happened.
var outgoing = []Op{
	{Route: "GET /v1/webhooks", Summary: "List webhooks", Personal: true, Roles: admins, Success: 200, Run: run((*ops.Service).ListWebhooks)},
	{Route: "POST /v1/webhooks", Summary: "Add a webhook", Personal: true, Roles: admins, Success: 201,
		Events: emits(coord.EventWebhookCreated), Problems: fails(taken), Run: run((*ops.Service).CreateWebhook)},
	{Route: "DELETE /v1/webhooks/{id}", Summary: "Delete a webhook", Personal: true, Roles: admins, Success: 204,
		Events: emits(coord.EventWebhookDeleted), Problems: fails(missing), Run: run((*ops.Service).DeleteWebhook)},
	{Route: "POST /v1/webhooks/{id}/test", Summary: "Send a test event, and enable a disabled webhook", Personal: true, Roles: admins, Success: 202,
		Events: emits(coord.EventWebhookTested), Problems: fails(missing), Run: run((*ops.Service).TestWebhook)},
	{Route: "GET /v1/webhooks/{id}/deliveries", Summary: "A webhook's deliveries, newest first", Personal: true, Roles: admins, Success: 200,
		Problems: fails(missing), Run: run((*ops.Service).ListDeliveries)},
	{Route: "POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver", Summary: "Try a delivery again", Personal: true, Roles: admins, Success: 202,
		Problems: fails(missing, taken), Run: run((*ops.Service).Redeliver)},
	{Route: "GET /v1/feed", Summary: "The audit log with the names of what it mentions, newest first", Scopes: scope(coord.ScopeEventsRead), Success: 200, Run: run((*ops.Service).GetFeed)},
	{Route: "GET /v1/stats", Summary: "Figures of the last days", Scopes: scope(coord.ScopeEventsRead), Success: 200, Problems: fails(missing), Run: run((*ops.Service).GetStats)},
}

var _ = problem.RateLimited
