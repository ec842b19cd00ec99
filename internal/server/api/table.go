package api

import (
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/money"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
	"github.com/svc-hq/svc/internal/server/ops/people"
	"github.com/svc-hq/svc/internal/server/ops/work"
)

// Short names for the table.
var (
	owners  = []coord.Role{coord.Owner}
	admins  = []coord.Role{coord.Owner, coord.Admin}
	missing = problem.NotFound
	taken   = problem.Conflict
)

func scope(s ...coord.Scope) []coord.Scope { return s }

func emits(types ...coord.EventType) []coord.EventType { return types }

// asAdmin is for what takes one if it makes somebody an owner or an admin.
func asAdmin(in any) bool {
	switch in := in.(type) {
	case *wire.AddMember:
		return in.Role.IsAdmin()
	case *wire.CreateInvite:
		return in.Role.IsAdmin()
	}
	return true
}

// wide is for a token that may do more than those of svc login.
func wide(in any) bool {
	usual := coord.DeviceScopes()
	t, is := in.(*wire.CreateToken)
	return !is || slices.ContainsFunc(t.Scopes, func(s coord.Scope) bool { return !slices.Contains(usual, s) })
}

// always is for what takes a fresh proof whatever the input.
func always(any) bool { return true }

func fails(kinds ...problem.Kind) []problem.Kind { return kinds }

// Table is everything the service offers, one operation a row. A row without
// a Route is for agents only; one without a Tool is for people only.
var Table = slices.Concat(hooks, accounts, signIn, repos, intents, conflicts, around, policies, messages, attention, events, sinks,
	gitHosts, payments, health, directory())

var accounts = []Op{
	{Route: "GET /v1/me", Summary: "Who am I?", Success: 200, Run: run((*people.Service).GetMe)},
	{
		Route:    "PATCH /v1/org",
		Summary:  "Change how much about code may leave the machines",
		Scopes:   scope(coord.ScopePolicyWrite),
		Personal: true,
		Roles:    owners,
		Success:  200,
		Events:   emits(coord.EventOrgUpdated),
		Problems: fails(problem.Outdated),
		Run:      run((*people.Service).PatchOrg),
	},
	{Route: "PUT /v1/org/sign-in", Summary: "Say what the org wants of those who sign in", Door: CookieOnly, Roles: owners, Fresh: always,
		Success: 200, Events: emits(coord.EventOrgUpdated), Problems: fails(taken), Run: run((*people.Service).SetSignInRules)},
	{
		Route:   "GET /v1/usage",
		Summary: "How much of the plan is used this month; per developer for admins",
		Scopes:  scope(coord.ScopeMembersRead),
		Success: 200,
		Run:     run((*money.Service).GetUsage),
	},
	{
		Route:   "GET /v1/members",
		Summary: "List members",
		Scopes:  scope(coord.ScopeMembersRead),
		Success: 200,
		Run:     run((*people.Service).ListMembers),
	},
	{
		Route:    "POST /v1/members",
		Summary:  "Add a member",
		Scopes:   scope(coord.ScopeMembersWrite),
		Roles:    admins,
		Who:      "only owners add owners or admins",
		Fresh:    asAdmin,
		Success:  201,
		Events:   emits(coord.EventMemberAdded),
		Problems: fails(taken),
		Run:      run((*people.Service).AddMember),
	},
	{
		Route:    "PATCH /v1/members/{userId}",
		Summary:  "Change a member's role",
		Scopes:   scope(coord.ScopeMembersWrite),
		Personal: true,
		Roles:    admins,
		Who:      "only owners touch owners and admins",
		Fresh:    always,
		Success:  200,
		Events:   emits(coord.EventMemberUpdated),
		Problems: fails(missing, taken),
		Run:      run((*people.Service).SetRole),
	},
	{
		Route:    "DELETE /v1/members/{userId}",
		Summary:  "Remove a member and end their tokens",
		Scopes:   scope(coord.ScopeMembersWrite),
		Personal: true,
		Roles:    admins,
		Who:      "only owners remove owners or admins",
		Success:  204,
		Events:   emits(coord.EventMemberRemoved, coord.EventTokenRevoked, coord.EventSessionEnded),
		Problems: fails(missing, taken),
		Run:      run((*people.Service).RemoveMember),
	},
	{
		Route:    "POST /v1/members/{userId}/unbind",
		Fresh:    always,
		Summary:  "Take a member's account from its OpenID sign-ins; the next one with the verified address has it",
		Scopes:   scope(coord.ScopeMembersWrite),
		Personal: true,
		Roles:    owners,
		Success:  204,
		Events:   emits(coord.EventMemberUpdated),
		Problems: fails(missing, taken),
		Run:      run((*people.Service).UnbindMember),
	},
	{
		Route:    "POST /v1/members/{userId}/erase",
		Fresh:    always,
		Summary:  "Erase a person for good: name, address, sign-ins and all that they wrote; figures and the audit log stay",
		Scopes:   scope(coord.ScopeMembersWrite),
		Personal: true,
		Agent:    PersonOnly,
		Page:     "/settings/members",
		Roles:    owners,
		Success:  200,
		Events:   emits(coord.EventMemberErased, coord.EventMemberRemoved, coord.EventTokenRevoked, coord.EventSessionEnded),
		Problems: fails(missing, taken),
		Run:      run((*people.Service).EraseMember),
	},
	{Route: "POST /v1/members/{userId}/export", Summary: "What the org stores about a person, for an owner", Door: CookieOnly, Roles: owners,
		Fresh: always, Page: "/settings/members", Success: 200, Events: emits(coord.EventMemberUpdated),
		Problems: fails(missing, taken, problem.RateLimited), Run: run((*people.Service).ExportMember)},
	{Route: "POST /v1/me/export", Summary: "What the org stores about you, and your account", Door: CookieOnly, Fresh: always,
		Page: "/settings/profile", Success: 200, Events: emits(coord.EventMemberUpdated),
		Problems: fails(taken, problem.RateLimited), Run: run((*people.Service).ExportMe)},
	{
		Route:   "GET /v1/invites",
		Summary: "List pending invites",
		Scopes:  scope(coord.ScopeMembersRead),
		Roles:   admins,
		Success: 200,
		Run:     run((*people.Service).ListInvites),
	},
	{Route: "POST /v1/invites", Summary: "Invite somebody", Scopes: scope(coord.ScopeMembersWrite), Roles: admins, Fresh: asAdmin,
		Success: 201, Events: emits(coord.EventInviteCreated), Problems: fails(taken), Run: run((*people.Service).CreateInvite)},
	{Route: "POST /v1/invites/{id}/resend", Summary: "Give an invite a new link, and mail it again", Scopes: scope(coord.ScopeMembersWrite),
		Roles: admins, Success: 200, Events: emits(coord.EventInviteCreated), Problems: fails(missing),
		Run: run((*people.Service).ResendInvite)},
	{Route: "DELETE /v1/invites/{id}", Summary: "Take an invite back", Scopes: scope(coord.ScopeMembersWrite), Roles: admins,
		Success: 204, Events: emits(coord.EventInviteRevoked), Problems: fails(missing), Run: run((*people.Service).RevokeInvite)},
	{
		Route:    "GET /v1/tokens",
		Summary:  "List tokens: admins see all, others their own",
		Personal: true,
		Success:  200,
		Run:      run((*people.Service).ListTokens),
	},
	{Route: "POST /v1/tokens", Summary: "Make a token", Scopes: scope(coord.ScopeTokensWrite), Personal: true, Roles: admins, Fresh: wide,
		Success: 201, Events: emits(coord.EventTokenCreated), Problems: fails(missing), Run: run((*people.Service).CreateToken)},
	{Route: "DELETE /v1/tokens/{id}", Summary: "Revoke a token", Who: "token-owner|admin",
		Success: 204, Events: emits(coord.EventTokenRevoked), Problems: fails(missing), Run: run((*people.Service).RevokeToken)},
}

var signIn = []Op{
	{
		Route:   "GET /v1/auth/options",
		Summary: "What the sign-in page offers",
		Door:    Public,
		Success: 200,
		Run:     run((*people.Service).GetSignInOptions),
	},
	{
		Route:    "POST /v1/auth/setup",
		Summary:  "Make the first org and its owner",
		Door:     Public,
		Success:  201,
		Problems: fails(problem.Forbidden, taken, problem.RateLimited),
		Run:      run((*people.Service).SetUp),
	},
	{Route: "POST /v1/auth/sign-up", Summary: "Ask for an email with a link to make an org", Door: Public, Success: 204,
		Problems: fails(problem.Forbidden, problem.RateLimited), Run: run((*people.Service).RequestSignUp)},
	{Route: "POST /v1/auth/sign-up/look", Summary: "Look at such a link before using it", Door: Public, Success: 200,
		Problems: fails(missing, problem.Forbidden, problem.RateLimited), Run: run((*people.Service).PreviewSignUp)},
	{Route: "POST /v1/auth/sign-up/finish", Summary: "Make an account and its org", Door: Public, Success: 201,
		Problems: fails(missing, problem.Forbidden, taken, problem.RateLimited), Run: run((*people.Service).FinishSignUp)},
	{Route: "POST /v1/orgs", Summary: "Make another org, as its owner", Door: SignedIn, Success: 201,
		Problems: fails(missing, problem.Forbidden, problem.RateLimited), Run: run((*people.Service).CreateOrg)},
	{Route: "POST /v1/auth/sign-in", Summary: "Sign in with email and password", Door: Public, Success: 200,
		Problems: fails(problem.InvalidCredentials, problem.RateLimited), Run: run((*people.Service).SignIn)},
	{Route: "POST /v1/auth/sign-out", Summary: "Sign out", Door: SignedIn, Success: 204, Run: run((*people.Service).SignOut)},
	{
		Route:   "GET /v1/auth/session",
		Summary: "Who is signed in, with their orgs",
		Door:    SignedIn,
		Success: 200,
		Run:     run((*people.Service).GetSession),
	},
	{
		Route:    "POST /v1/auth/invite",
		Summary:  "Look at an invite before accepting it",
		Door:     Public,
		Success:  200,
		Problems: fails(missing),
		Run:      run((*people.Service).PreviewInvite),
	},
	{Route: "POST /v1/auth/accept-invite", Summary: "Join an org", Door: Public, Success: 200,
		Problems: fails(missing, problem.InvalidCredentials, problem.Forbidden, problem.RateLimited), Run: run((*people.Service).AcceptInvite)},
	{
		Route:    "POST /v1/auth/password",
		Summary:  "Change your password",
		Door:     SignedIn,
		Success:  204,
		Problems: fails(problem.InvalidCredentials),
		Run:      run((*people.Service).ChangePassword),
	},
	{Route: "POST /v1/auth/second-factor", Summary: "End a sign-in with the code of a second factor", Door: Public, Success: 200,
		Problems: fails(missing, problem.InvalidCredentials, problem.RateLimited), Run: run((*people.Service).ShowSecondFactor)},
	{Route: "POST /v1/auth/passkey", Summary: "Ask for a passkey, to sign in or for a fresh proof", Door: Public, Success: 200,
		Problems: fails(taken, problem.RateLimited), Run: run((*people.Service).AskForPasskey)},
	{Route: "POST /v1/auth/passkey/sign-in", Summary: "Sign in with a passkey, alone or after a password", Door: Public, Success: 200,
		Problems: fails(missing, taken, problem.InvalidCredentials, problem.RateLimited), Run: run((*people.Service).ShowPasskey)},
	{Route: "POST /v1/auth/passkeys", Summary: "Ask for a new passkey", Door: SignedIn, Fresh: always, Success: 200,
		Problems: fails(taken, problem.RateLimited), Run: run((*people.Service).AskForNewPasskey)},
	{Route: "POST /v1/auth/passkeys/add", Summary: "Keep a new passkey; the first second factor brings recovery codes", Door: SignedIn,
		Success: 201, Events: emits(coord.EventSigninFactor), Problems: fails(missing, taken), Run: run((*people.Service).AddPasskey)},
	{Route: "DELETE /v1/auth/passkeys/{id}", Summary: "Remove a passkey of yours", Door: SignedIn, Fresh: always, Success: 204,
		Events: emits(coord.EventSigninFactor), Problems: fails(missing, taken), Run: run((*people.Service).RemovePasskey)},
	{Route: "POST /v1/auth/prove", Summary: "Prove again who you are, for what takes a fresh proof", Door: SignedIn, Success: 204,
		Problems: fails(taken, problem.InvalidCredentials, problem.RateLimited), Run: run((*people.Service).Prove)},
	{Route: "GET /v1/auth/factors", Summary: "What you prove who you are with", Door: SignedIn, Success: 200,
		Run: run((*people.Service).GetFactors)},
	{Route: "POST /v1/auth/totp", Summary: "Begin to set up an app for one-time codes", Door: SignedIn, Fresh: always, Success: 200,
		Problems: fails(taken), Run: run((*people.Service).EnrolTOTP)},
	{Route: "POST /v1/auth/totp/confirm", Summary: "Show that the app has the secret; answers recovery codes", Door: SignedIn, Success: 200,
		Events: emits(coord.EventSigninFactor), Problems: fails(taken, problem.RateLimited), Run: run((*people.Service).ConfirmTOTP)},
	{Route: "DELETE /v1/auth/totp", Summary: "Remove the app for one-time codes", Door: SignedIn, Fresh: always, Success: 204,
		Events: emits(coord.EventSigninFactor), Problems: fails(taken), Run: run((*people.Service).RemoveTOTP)},
	{Route: "POST /v1/auth/recovery-codes", Summary: "Make new recovery codes; the old ones stop working", Door: SignedIn, Fresh: always,
		Success: 200, Events: emits(coord.EventSigninFactor), Problems: fails(taken), Run: run((*people.Service).RemakeRecoveryCodes)},
	{
		Route:    "GET /v1/auth/oidc/start",
		Summary:  "Sign in through the OpenID provider",
		Door:     Public,
		Success:  302,
		Problems: fails(missing, problem.Unavailable),
		Browser:  atSignIn,
		Run:      run((*people.Service).StartOIDC),
	},
	{
		Route:    "GET /v1/auth/oidc/callback",
		Summary:  "Where the OpenID provider sends the browser back to",
		Door:     Public,
		Success:  302,
		Problems: fails(missing, problem.Forbidden, problem.RateLimited, problem.Unavailable),
		Browser:  atSignIn,
		Run:      run((*people.Service).FinishOIDC),
	},
	{
		Route:    "GET /v1/auth/oidc/end",
		Summary:  "Sign out at the OpenID provider, too, where it has such a thing",
		Door:     Public,
		Success:  302,
		Problems: fails(missing, problem.Unavailable),
		Browser:  atSignIn,
		Run:      run((*people.Service).EndOIDC),
	},
	{
		Route:    "POST /v1/auth/link",
		Summary:  "Sign in by a one-time link: mailed to bind another OpenID sign-in, or made with svcd user sign-in",
		Door:     Public,
		Success:  200,
		Problems: fails(missing, problem.RateLimited),
		Run:      run((*people.Service).UseLink),
	},
	{
		Route:    "POST /v1/auth/device",
		Summary:  "Begin the device flow",
		Door:     Public,
		Success:  200,
		Problems: fails(problem.RateLimited),
		Run:      run((*people.Service).StartDevice),
	},
	{
		Route:    "POST /v1/auth/device/token",
		Summary:  "Poll for the device flow's token",
		Door:     Public,
		Success:  200,
		Problems: fails(problem.AuthorizationPending, problem.SlowDown, problem.ExpiredToken, problem.AccessDenied),
		Run:      run((*people.Service).PollDevice),
	},
	{
		Route:    "POST /v1/auth/device/lookup",
		Summary:  "Look at a device's request",
		Door:     CookieOnly,
		Success:  200,
		Problems: fails(missing, problem.RateLimited),
		Run:      run((*people.Service).LookUpDevice),
	},
	{
		Route:    "POST /v1/auth/device/approve",
		Summary:  "Approve a device's request",
		Door:     CookieOnly,
		Success:  204,
		Problems: fails(missing, taken, problem.RateLimited),
		Run:      run((*people.Service).ApproveDevice),
	},
	{
		Route:    "POST /v1/auth/device/deny",
		Summary:  "Deny a device's request",
		Door:     CookieOnly,
		Success:  204,
		Problems: fails(missing, problem.RateLimited),
		Run:      run((*people.Service).DenyDevice),
	},
}

var repos = []Op{
	{
		Route:   "GET /v1/repos",
		Summary: "List repositories",
		Scopes:  scope(coord.ScopeReposRead),
		Success: 200,
		Run:     run((*work.Service).ListRepos),
	},
	{Route: "POST /v1/repos", Summary: "Register a repository", Scopes: scope(coord.ScopeReposWrite), Roles: admins,
		Success: 201, Events: emits(coord.EventRepoRegistered), Problems: fails(taken, problem.PlanLimit), Run: run((*work.Service).CreateRepo)},
	{
		Route:    "GET /v1/repos/{repo}",
		Summary:  "One repository, by id or escaped owner/name; former names lead to it, too",
		Scopes:   scope(coord.ScopeReposRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).GetRepo),
	},
	{
		Route:    "GET /v1/repos/{repo}/gaps",
		Summary:  "How much of a repository's routes and calls could not be read, and where",
		Scopes:   scope(coord.ScopeReposRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).RepoGaps),
	},
	{
		Route:    "GET /v1/repos/{repo}/landing",
		Summary:  "In which order the live work of a repository costs the fewest lines to redo",
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).GetLanding),
	},
	{
		Route:   "GET /v1/branches",
		Summary: "List work of people who do not use svc: open pull requests and pushed branches of the git host",
		Scopes:  scope(coord.ScopeIntentsRead),
		Success: 200,
		Run:     run((*work.Service).ListBranches),
	},
	{
		Route:    "PATCH /v1/repos/{repo}",
		Agent:    PersonOnly,
		Page:     "/repos/{repo}",
		Summary:  "Rename or archive a repository, or change its default branch or remotes",
		Scopes:   scope(coord.ScopeReposWrite),
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventRepoRenamed, coord.EventRepoUpdated),
		Problems: fails(missing, taken, problem.PlanLimit),
		Run:      run((*work.Service).PatchRepo),
	},
	{
		Route:    "DELETE /v1/repos/{repo}",
		Agent:    PersonOnly,
		Page:     "/repos/{repo}",
		Summary:  "Forget a repository without live intents; its history stays",
		Scopes:   scope(coord.ScopeReposWrite),
		Personal: true,
		Roles:    admins,
		Success:  204,
		Events:   emits(coord.EventRepoRemoved, coord.EventSessionEnded),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).RemoveRepo),
	},
	{
		Route:    "POST /v1/repos/{repo}/merge",
		Agent:    PersonOnly,
		Page:     "/repos/{repo}",
		Summary:  "Make one repository of two records of it: claims, intents, contracts and history become the other's",
		Scopes:   scope(coord.ScopeReposWrite),
		Personal: true,
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventRepoMerged, coord.EventConflictDetected, coord.EventConflictResolved),
		Problems: fails(missing, taken),
		Run:      run((*work.Service).MergeRepo),
	},
	{
		Route:    "POST /v1/repos/{repo}/apart",
		Agent:    PersonOnly,
		Page:     "/repos/{repo}",
		Summary:  "Say that two records that look like one repository are two, such as a fork",
		Scopes:   scope(coord.ScopeReposWrite),
		Personal: true,
		Roles:    admins,
		Success:  204,
		Events:   emits(coord.EventRepoUpdated),
		Problems: fails(missing),
		Run:      run((*work.Service).KeepRepoApart),
	},
	{
		Route:   "GET /v1/projects",
		Summary: "List projects",
		Scopes:  scope(coord.ScopeReposRead),
		Success: 200,
		Run:     run((*work.Service).ListProjects),
	},
	{
		Route:    "GET /v1/projects/{id}",
		Summary:  "One project",
		Scopes:   scope(coord.ScopeReposRead),
		Success:  200,
		Problems: fails(missing),
		Run:      run((*work.Service).GetProject),
	},
	{Route: "POST /v1/projects", Summary: "Link repositories into a project", Scopes: scope(coord.ScopeReposWrite), Roles: admins,
		Success: 201, Events: emits(coord.EventProjectCreated), Problems: fails(missing, taken), Run: run((*work.Service).CreateProject)},
	{Route: "POST /v1/projects/{id}/repos", Summary: "Add repositories to a project", Scopes: scope(coord.ScopeReposWrite), Roles: admins,
		Success: 200, Events: emits(coord.EventProjectUpdated), Problems: fails(missing), Run: run((*work.Service).AddProjectRepos)},
	{
		Route:    "DELETE /v1/projects/{id}/repos/{repo}",
		Summary:  "Take a repository out of a project",
		Scopes:   scope(coord.ScopeReposWrite),
		Roles:    admins,
		Success:  204,
		Events:   emits(coord.EventProjectUpdated),
		Problems: fails(missing),
		Run:      run((*work.Service).RemoveProjectRepo),
	},
	{
		Route:    "PUT /v1/projects/{id}/prefixes",
		Agent:    PersonOnly,
		Page:     "/projects/{id}",
		Summary:  "Say which prefixes routes have between repositories of a project",
		Scopes:   scope(coord.ScopeReposWrite),
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventProjectUpdated),
		Problems: fails(missing),
		Run:      run((*work.Service).SetProjectPrefixes),
	},
	{Route: "DELETE /v1/projects/{id}", Summary: "Delete a project", Scopes: scope(coord.ScopeReposWrite), Roles: admins,
		Success: 204, Events: emits(coord.EventProjectDeleted), Problems: fails(missing), Run: run((*work.Service).DeleteProject)},
}

var events = []Op{
	{
		Route:   "GET /v1/events",
		Summary: "The audit log, newest first",
		Scopes:  scope(coord.ScopeEventsRead),
		Success: 200,
		Run:     run((*outgoing.Service).ListEvents),
	},
	{
		Route:    "GET /v1/stream",
		Summary:  "Events as they happen, as Server-Sent Events",
		Scopes:   scope(coord.ScopeEventsRead),
		Success:  200,
		Problems: fails(missing, problem.RateLimited),
		Run:      run((*outgoing.Service).FollowEvents),
	},
}

var health = []Op{
	{Route: "GET /healthz", Summary: "Is the process up?", Door: Public, Success: 200, Class: Vital, Run: run((*outgoing.Service).GetHealth)},
	{
		Route:    "GET /readyz",
		Summary:  "Can the service do its work?",
		Door:     Public,
		Success:  200,
		Class:    Vital,
		Problems: fails(problem.Unavailable),
		Run:      run((*outgoing.Service).GetReady),
	},
}
