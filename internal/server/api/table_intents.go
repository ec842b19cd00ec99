package api

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/ops/work"
)

var intentEvents = emits(coord.EventIntentDeclared, coord.EventIntentUpdated, coord.EventIntentBlocked, coord.EventIntentUnblocked,
	coord.EventConflictDetected, coord.EventConflictUpdated, coord.EventConflictResolved, coord.EventConflictStale)

const ownerOrAdmin = "intent-owner|admin"

var intents = []Op{
	{
		Route:    "GET /v1/intents",
		Summary:  "List intents, newest first",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).ListIntents),
	},
	{
		Route:    "POST /v1/intents",
		Summary:  "Declare an intent, or update the one on the same branch",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Success:  201,
		Events:   intentEvents,
		Problems: fails(missing),
		Run:      run((*work.Service).PostIntent),
	},
	{
		Tool:     "intent_declare",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Success:  201,
		Events:   intentEvents,
		Problems: fails(missing),
		Run:      run((*work.Service).DeclareIntent),
	},
	{
		Route:    "GET /v1/intents/{ref}",
		Summary:  "One intent",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).GetIntent),
	},
	{Route: "PATCH /v1/intents/{ref}", Summary: "Change an intent", Scopes: scope(coord.ScopeIntentsWrite), Who: ownerOrAdmin,
		Success: 200, Events: intentEvents, Problems: fails(missing, taken, problem.Outdated), Run: run((*work.Service).UpdateIntent)},
	{
		Tool:     "intent_update",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Who:      ownerOrAdmin,
		Success:  200,
		Events:   intentEvents,
		Problems: fails(missing, taken),
		Run:      run((*work.Service).UpdateIntentTool),
	},
	{
		Route:    "POST /v1/intents/{ref}/close",
		Summary:  "Close an intent as merged or abandoned, or hand it off",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Who:      "owner of the intent or admin",
		Success:  200,
		Events:   emits(coord.EventIntentClosed, coord.EventIntentHandedOff),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).CloseIntent),
	},
	{
		Tool:     "intent_close",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Success:  200,
		Events:   emits(coord.EventIntentClosed),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).CloseIntentTool),
	},
	{
		Route:    "POST /v1/intents/{ref}/handoff",
		Summary:  "Hand an intent to another member",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Who:      ownerOrAdmin,
		Success:  200,
		Events:   emits(coord.EventIntentHandedOff, coord.EventMessageSent),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).HandOff),
	},
	{
		Tool:     "intent_handoff",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Who:      ownerOrAdmin,
		Success:  200,
		Events:   emits(coord.EventIntentHandedOff),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).HandOffTool),
	},
	{
		Route:    "POST /v1/intents/{ref}/adopt",
		Summary:  "Let a session of yours take up an intent of yours",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Who:      "owner of the intent",
		Success:  200,
		Events:   emits(coord.EventIntentAdopted),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).AdoptIntentFor),
	},
	{
		Tool:     "intent_adopt",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Success:  200,
		Events:   emits(coord.EventIntentAdopted),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).AdoptIntent),
	},
}

var conflicts = []Op{
	{
		Route:    "GET /v1/conflicts",
		Summary:  "List conflicts, newest first",
		Scopes:   scope(coord.ScopeConflictsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).ListConflicts),
	},
	{
		Tool:     "conflicts",
		Scopes:   scope(coord.ScopeConflictsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).ListConflictsTool),
	},
	{
		Route:    "GET /v1/conflicts/{ref}",
		Summary:  "One conflict",
		Scopes:   scope(coord.ScopeConflictsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).GetConflict),
	},
	{
		Route:   "POST /v1/conflicts/{ref}/actions",
		Summary: "Respond to a conflict; X-Svc-Session acts as one of your agents",
		Scopes:  scope(coord.ScopeConflictsWrite),
		Who:     "participant|admin",
		Success: 200,
		Events: emits(coord.EventConflictAcknowledged, coord.EventConflictResolving, coord.EventConflictResolved,
			coord.EventConflictOverrideRequested),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).ActOnConflict),
	},
	{
		Tool:     "conflict_respond",
		Scopes:   scope(coord.ScopeConflictsWrite),
		Who:      "participant|admin",
		Success:  200,
		Problems: fails(missing, taken),
		Run:      run((*work.Service).ConflictRespond),
	},
	{Route: "POST /v1/conflicts/{ref}/feedback", Summary: "Judge a conflict report", Scopes: scope(coord.ScopeConflictsWrite),
		Success: 204, Events: emits(coord.EventConflictFeedback), Problems: fails(missing), Run: run((*work.Service).GiveFeedback)},
	{
		Route:    "POST /v1/conflicts/{ref}/override",
		Summary:  "Let both sides go on; people only",
		Scopes:   scope(coord.ScopeConflictsWrite),
		Who:      "policy override.allowed_roles",
		Agent:    PersonOnly,
		Page:     "/conflicts/{ref}",
		Instead:  "an agent asks with the action request_override",
		Fresh:    always,
		Success:  200,
		Events:   append(emits(coord.EventConflictOverridden, coord.EventMessageSent), intentEvents...),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).OverrideConflict),
	},
}

var policies = []Op{
	{
		Route:    "GET /v1/policies",
		Summary:  "The rules of the org, of a repo, and what comes of both",
		Scopes:   scope(coord.ScopePolicyRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).GetPolicies),
	},
	{
		Route:    "PUT /v1/policies",
		Summary:  "Replace the rules of the org or of a repo",
		Scopes:   scope(coord.ScopePolicyWrite),
		Agent:    AsScoped,
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventPolicyUpdated),
		Problems: fails(missing, problem.Outdated),
		Run:      run((*work.Service).PutPolicies),
	},
}
