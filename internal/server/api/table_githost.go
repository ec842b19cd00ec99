package api

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/ops/forge"
	"github.com/svc-hq/svc/internal/server/ops/money"
)

// maxHook is how large a webhook may be: GitHub sends up to 25 MB, for pushes of
// thousands of commits, and what it would send above that it does not send.
const maxHook = 25 << 20

// payments are what an org pays for. Stripe's webhooks come through a public
// door: their signature tells who sent them.
var payments = []Op{
	{
		Route:   "GET /v1/billing",
		Summary: "The org's plan and subscription",
		Roles:   []coord.Role{coord.Owner, coord.Admin, coord.Billing},
		Success: 200,
		Run:     run((*money.Service).GetBilling),
	},
	{Route: "POST /v1/billing/checkout", Summary: "Where to pay for a plan", Roles: payers, Success: 200,
		Problems: fails(problem.BillingUnavailable, problem.AlreadySubscribed, problem.Unavailable), Run: run((*money.Service).CheckOut)},
	{Route: "POST /v1/billing/portal", Summary: "Where to see invoices, change the plan or cancel", Roles: payers, Success: 200,
		Problems: fails(problem.BillingUnavailable, taken, problem.Unavailable), Run: run((*money.Service).OpenPortal)},
	{
		Route:    "POST /v1/billing/webhook",
		Summary:  "Webhooks of Stripe, signed with Stripe-Signature",
		Door:     Public,
		Success:  200,
		Events:   emits(coord.EventBillingUpdated),
		Problems: fails(problem.Forbidden, problem.BillingUnavailable),
		Run:      run((*money.Service).ReceiveStripe),
	},
}

// The stops of browsers that go to another service and back.
var (
	atSignIn = &Stop{"Sign-in did not work", "/sign-in", "Back to sign-in"}
	atLetter = &Stop{"This link does not work", "/settings/digest", "Open the settings"}
	atGitHub = &Stop{"The GitHub app was not made", "/settings/github", "Back to the settings"}
)

var payers = []coord.Role{coord.Owner, coord.Billing}

// gitHosts connects orgs with the hosts of their repositories. Webhooks come
// through public doors: their signature tells who sent them.
var gitHosts = []Op{
	{
		Route:    "POST /v1/push-check",
		Summary:  "Whether commits may arrive on a branch: whose exclusive claims they meet. Writes nothing; for hooks of a git server",
		Door:     BearerOnly,
		Scopes:   scope(coord.ScopeIntentsRead),
		Success:  200,
		Class:    Deciding,
		Problems: fails(missing),
		Run:      run((*forge.Service).CheckPush),
	},
	{
		Route:    "GET /v1/github/app",
		Summary:  "The org's GitHub apps, where they are installed, and where to install them",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Run:      run((*forge.Service).GetGitHub),
	},
	{
		Route:    "DELETE /v1/github/app/{id}",
		Agent:    PersonOnly,
		Page:     "/settings/github",
		Summary:  "Forget a GitHub app and its secrets; on GitHub it stays until it is deleted there",
		Personal: true,
		Roles:    admins,
		Success:  204,
		Events:   emits(coord.EventIntegrationUpdated),
		Run:      run((*forge.Service).DeleteGitHubApp),
	},
	{
		Route:    "GET /v1/github/app/manifest",
		Summary:  "Begin to make a GitHub app: a manifest to post to GitHub, or a page that does so",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Browser:  atGitHub,
		Run:      run((*forge.Service).GetGitHubManifest),
	},
	{
		Route:    "GET /v1/github/app/callback",
		Summary:  "Where GitHub sends the browser back to with the new app",
		Door:     Public,
		Success:  302,
		Events:   emits(coord.EventIntegrationUpdated),
		Problems: fails(problem.Forbidden, taken),
		Browser:  atGitHub,
		Run:      run((*forge.Service).FinishGitHubManifest),
	},
	{
		Route:   "POST /v1/github/webhook",
		Summary: "Webhooks of GitHub, of apps and without, signed with X-Hub-Signature-256",
		Door:    Public,
		Success: 200,
		MaxBody: maxHook,
		Events: emits(coord.EventIntentUpdated, coord.EventIntentClosed, coord.EventMessageSent, coord.EventIntegrationUpdated,
			coord.EventRepoRenamed, coord.EventRepoUpdated, coord.EventRepoTwins, coord.EventBranchGone),
		Problems: fails(problem.Forbidden),
		Run:      run((*forge.Service).ReceiveGitHub),
	},
	{
		Route:    "GET /v1/integrations/github",
		Summary:  "Whether webhooks of GitHub are let in without an app",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Run:      run((*forge.Service).GetGitHubHook),
	},
	{
		Route:    "PUT /v1/integrations/github",
		Agent:    PersonOnly,
		Page:     "/settings/github",
		Summary:  "Let webhooks of GitHub in without an app, with a new secret",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventIntegrationUpdated),
		Run:      run((*forge.Service).PutGitHubHook),
	},
	{
		Route:    "PUT /v1/integrations/github/token",
		Agent:    PersonOnly,
		Page:     "/settings/github",
		Summary:  "With what to write on pull requests and commits without an app, and look up pushed lines; null forgets it",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventIntegrationUpdated),
		Problems: fails(taken),
		Run:      run((*forge.Service).PutGitHubToken),
	},
	{
		Route:    "DELETE /v1/integrations/github",
		Agent:    PersonOnly,
		Page:     "/settings/github",
		Summary:  "Let webhooks of GitHub in no longer without an app, and forget its token",
		Personal: true,
		Roles:    admins,
		Success:  204,
		Events:   emits(coord.EventIntegrationUpdated),
		Run:      run((*forge.Service).DeleteGitHubHook),
	},
	{
		Route:    "GET /v1/integrations/gitlab",
		Summary:  "Whether GitLab's webhooks are let in",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Run:      run((*forge.Service).GetGitLab),
	},
	{
		Route:    "PUT /v1/integrations/gitlab",
		Agent:    PersonOnly,
		Page:     "/settings/github",
		Summary:  "Let GitLab's webhooks in, with a new secret",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventIntegrationUpdated),
		Run:      run((*forge.Service).PutGitLab),
	},
	{
		Route:    "PUT /v1/integrations/gitlab/token",
		Agent:    PersonOnly,
		Page:     "/settings/github",
		Summary:  "With what to write on merge requests and look up pushed lines; null forgets it",
		Personal: true,
		Roles:    admins,
		Success:  200,
		Events:   emits(coord.EventIntegrationUpdated),
		Problems: fails(taken),
		Run:      run((*forge.Service).PutGitLabToken),
	},
	{
		Route:    "DELETE /v1/integrations/gitlab",
		Agent:    PersonOnly,
		Page:     "/settings/github",
		Summary:  "Let GitLab's webhooks in no longer, and forget its token",
		Personal: true,
		Roles:    admins,
		Success:  204,
		Events:   emits(coord.EventIntegrationUpdated),
		Run:      run((*forge.Service).DeleteGitLab),
	},
	{
		Route:   "POST /v1/gitlab/webhook",
		Summary: "Webhooks of GitLab, signed or with X-Gitlab-Token",
		Door:    Public,
		Success: 200,
		MaxBody: maxHook,
		Events: emits(coord.EventIntentUpdated, coord.EventIntentClosed, coord.EventMessageSent, coord.EventRepoRenamed,
			coord.EventRepoUpdated, coord.EventRepoTwins, coord.EventBranchGone),
		Problems: fails(problem.Forbidden),
		Run:      run((*forge.Service).ReceiveGitLab),
	},
}
