package api

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
)

// sinks is what leaves the house, and the figures about what happened.
var sinks = []Op{
	{
		Route:    "GET /v1/webhooks",
		Summary:  "List webhooks",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Run:      run((*outgoing.Service).ListWebhooks),
	},
	{Route: "POST /v1/webhooks", Summary: "Add a webhook", Personal: true, Roles: admins, Success: 201,
		Events: emits(coord.EventWebhookCreated), Problems: fails(taken), Run: run((*outgoing.Service).CreateWebhook)},
	{Route: "DELETE /v1/webhooks/{id}", Summary: "Delete a webhook", Personal: true, Roles: admins, Success: 204,
		Events: emits(coord.EventWebhookDeleted), Problems: fails(missing), Run: run((*outgoing.Service).DeleteWebhook)},
	{
		Route:    "POST /v1/webhooks/{id}/test",
		Summary:  "Send a test event, and enable a disabled webhook",
		Personal: true,
		Roles:    admins,
		Success:  202,
		Events:   emits(coord.EventWebhookTested),
		Problems: fails(missing),
		Run:      run((*outgoing.Service).TestWebhook),
	},
	{Route: "GET /v1/webhooks/{id}/deliveries", Summary: "A webhook's deliveries, newest first", Personal: true, Roles: admins, Success: 200,
		Problems: fails(missing), Run: run((*outgoing.Service).ListDeliveries)},
	{
		Route:    "POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver",
		Summary:  "Try a delivery again",
		Personal: true,
		Roles:    admins,
		Success:  202,
		Problems: fails(missing, taken),
		Run:      run((*outgoing.Service).Redeliver),
	},
	{
		Route:    "GET /v1/integrations/slack",
		Summary:  "Chat connection and its last post",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Run:      run((*outgoing.Service).GetSlack),
	},
	{Route: "PUT /v1/integrations/slack", Summary: "Connect chat, or disconnect it with null", Personal: true, Roles: admins, Success: 200,
		Events: emits(coord.EventIntegrationUpdated), Run: run((*outgoing.Service).PutSlack)},
	{
		Route:    "POST /v1/integrations/slack/test",
		Summary:  "Post a greeting to chat",
		Personal: true,
		Roles:    admins,
		Success:  202,
		Problems: fails(taken),
		Run:      run((*outgoing.Service).TestSlack),
	},
	{
		Route:    "GET /v1/integrations/digest",
		Summary:  "When and where the weekly digest goes",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Run:      run((*outgoing.Service).GetDigest),
	},
	{
		Route:    "PUT /v1/integrations/digest",
		Summary:  "Change the weekly digest; what is missing stays",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventIntegrationUpdated),
		Problems: fails(problem.Outdated),
		Run:      run((*outgoing.Service).PutDigest),
	},
	{
		Route:    "POST /v1/integrations/digest/preview",
		Summary:  "The digest as it would go out now; sends nothing",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Run:      run((*outgoing.Service).PreviewDigest),
	},
	{Route: "POST /v1/integrations/digest/send-now", Summary: "Send the digest now", Personal: true, Roles: admins, Success: 200,
		Events: emits(coord.EventDigestSent), Problems: fails(taken, problem.RateLimited), Run: run((*outgoing.Service).SendDigest)},
	{
		Route:   "GET /v1/feed",
		Summary: "The audit log with the names of what it mentions, newest first",
		Scopes:  scope(coord.ScopeEventsRead),
		Success: 200,
		Run:     run((*outgoing.Service).GetFeed),
	},
	{
		Route:    "GET /v1/stats",
		Summary:  "Figures of the last days",
		Scopes:   scope(coord.ScopeEventsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*outgoing.Service).GetStats),
	},
}
