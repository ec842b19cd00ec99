package api

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/ops/moments"
	"github.com/svc-hq/svc/internal/server/ops/work"
)

// Hook events carry facts about up to 500 files.
const maxHookBody = 4 << 20

var hooks = []Op{
	{
		Route:   "POST /v1/hooks/evaluate",
		Summary: "An agent host's event: may this edit go on, and what should the agent know?",
		Door:    BearerOnly,
		Scopes:  scope(coord.ScopeHooks),
		Success: 200,
		Lenient: true,
		MaxBody: maxHookBody,
		Events: emits(coord.EventRepoRegistered, coord.EventSessionStarted, coord.EventSessionEnded, coord.EventSessionStatus,
			coord.EventSessionTurn,
			coord.EventIntentDrafted,
			coord.EventChangeRecorded, coord.EventHookWarned, coord.EventHookBlocked, coord.EventHookUnchecked,
			coord.EventHookStaleWrite),
		Problems: fails(problem.UnsupportedProtocol, taken),
		Run:      runBy((*moments.Service).EvaluateHook),
	},
	{
		Route:    "POST /v1/work/follow",
		Summary:  "What changed in a repository's live work, with a lease to decide edits on a copy of it",
		Door:     BearerOnly,
		Scopes:   scope(coord.ScopeHooks),
		Success:  200,
		Class:    Waiting,
		Lenient:  true,
		Problems: fails(missing),
		Run:      run((*moments.Service).FollowWork),
	},
	{
		Route:    "POST /v1/patches",
		Summary:  "Hand over work that is not pushed, and get what is related to it, for a merge check (policy share_patches)",
		Door:     BearerOnly,
		Scopes:   scope(coord.ScopeHooks),
		Success:  200,
		MaxBody:  maxPatchBody,
		Problems: fails(missing),
		Run:      run((*work.Service).ExchangePatches),
	},
}

// maxPatchBody is what machines may hand each other at a time, as JSON writes it.
const maxPatchBody = 2 << 20

var around = []Op{
	{
		Route:    "POST /v1/team-context",
		Tool:     "team_context",
		Summary:  "What the team is doing around your work",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*moments.Service).GetTeamContext),
	},
	{
		Route:    "POST /v1/scope-check",
		Tool:     "scope_check",
		Summary:  "What some work would collide with; writes nothing",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Class:    Deciding,
		Problems: fails(missing),
		Run:      run((*moments.Service).CheckScope),
	},
	{
		Route:    "GET /v1/sessions",
		Summary:  "List agent sessions",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*moments.Service).ListSessions),
	},
	{
		Route:    "GET /v1/sessions/{id}",
		Summary:  "One agent session",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*moments.Service).GetSession),
	},
	{
		Route:    "POST /v1/sessions/{id}/end",
		Agent:    PersonOnly,
		Page:     "/sessions",
		Summary:  "End a session whose agent is gone",
		Scopes:   scope(coord.ScopeIntentsWrite),
		Who:      "person of the session or admin",
		Success:  200,
		Events:   emits(coord.EventSessionEnded),
		Problems: fails(missing),
		Run:      run((*moments.Service).EndSession),
	},
	{
		Route:    "GET /v1/territory",
		Summary:  "Where in a repo work happened of late, and where it collided",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).GetTerritory),
	},
	{
		Route:    "GET /v1/live",
		Summary:  "What is under way in a file and has not landed: who, on which lines, since when",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).GetLive),
	},
	{
		Route:    "GET /v1/presence",
		Tool:     "who_is_online",
		Summary:  "Teammates' live agents",
		Scopes:   scope(coord.ScopeIntentsRead),
		Personal: true,
		Success:  200,
		Problems: fails(missing),
		Run:      run((*moments.Service).GetPresence),
	},
	{
		Route:    "GET /v1/contracts",
		Summary:  "List contracts with who provides, uses and changes them",
		Scopes:   scope(coord.ScopeReposRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).ListContracts),
	},
	{
		Route:    "GET /v1/contracts/lookup",
		Tool:     "contract_lookup",
		Summary:  "Who provides a contract, who uses it, who is changing it",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).LookUpContract),
	},
	{
		Route:    "POST /v1/repos/{repo}/index",
		Summary:  "Feed a repo's contract index with a part of a scan",
		Door:     BearerOnly,
		Scopes:   scope(coord.ScopeHooks),
		Success:  200,
		MaxBody:  maxHookBody,
		Events:   emits(coord.EventContractChanged),
		Problems: fails(missing),
		Run:      run((*work.Service).IndexFiles),
	},
	{
		Tool:     "wait_for",
		Scopes:   scope(coord.ScopeIntentsRead),
		Personal: true,
		Success:  200,
		Class:    Waiting,
		Problems: fails(missing),
		Run:      runBy((*moments.Service).WaitFor),
	},
}
