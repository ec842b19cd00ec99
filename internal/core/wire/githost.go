package wire

import "github.com/svc-hq/svc/internal/core/coord"

// GitHubStatus is what an org has on GitHub.
type GitHubStatus struct {
	Configured    bool                 `json:"configured" doc:"There is at least one app"`
	Host          string               `json:"host" doc:"The GitHub on which a new app would be made"`
	WebhookURL    string               `json:"webhook_url" doc:"Where GitHub sends webhooks; it must be able to reach it"`
	Apps          []GitHubApp          `json:"apps"`
	Installations []GitHubInstallation `json:"installations"`
}

// A GitHubApp is an app of the org's own on GitHub.
type GitHubApp struct {
	ID             string      `json:"id"`
	AppID          int64       `json:"app_id" doc:"GitHub's number for it"`
	Name           string      `json:"name"`
	Owner          string      `json:"owner" doc:"The GitHub account that owns it"`
	URL            string      `json:"url"`
	InstallURL     string      `json:"install_url" doc:"Where to install it on an account's repositories"`
	CreatedAt      coord.Time  `json:"created_at"`
	LastDeliveryAt *coord.Time `json:"last_delivery_at" doc:"When its last webhook came"`
}

// A GitHubInstallation is an account on whose repositories an app is installed.
type GitHubInstallation struct {
	ID        string     `json:"id"`
	App       string     `json:"app" doc:"The app's id"`
	Account   string     `json:"account"`
	Selection string     `json:"selection" doc:"all or selected repositories"`
	Repos     int        `json:"repos"`
	Suspended bool       `json:"suspended"`
	CreatedAt coord.Time `json:"created_at"`
}

// GetGitHubManifest begins the app manifest flow.
type GetGitHubManifest struct {
	Owner  string `query:"owner" maxLength:"100" pattern:"^[A-Za-z0-9][A-Za-z0-9_.-]*$" doc:"GitHub organization that is to own the app; without it, your own account"`
	Format string `query:"format" enum:"json,html" default:"json" doc:"html is a page that leads on to GitHub"`
}

// A GitHubManifest is what to send to GitHub to make an app: the manifest as
// the form field of that name, to the URL.
type GitHubManifest struct {
	URL      string         `json:"url" doc:"Where a browser posts the form to; it names the flow, which is good for an hour"`
	Manifest map[string]any `json:"manifest" doc:"Value of the form field manifest, as JSON text"`

	HTML string `json:"-"` // a page with the form, if that was asked for
}

// Page tells the way in what to show in place of JSON.
func (m GitHubManifest) Page() (html string, show bool) { return m.HTML, m.HTML != "" }

// FinishGitHubManifest is what GitHub sends the browser back with.
type FinishGitHubManifest struct {
	Code  string `query:"code" maxLength:"200"`
	State string `query:"state" maxLength:"2000"`
}

// A Hook is a webhook as it came: whoever receives it checks its signature.
type Hook struct {
	Body   []byte                   `json:"-"`
	Header func(name string) string `json:"-"`
}

// ReadRaw takes the request from the way in.
func (h *Hook) ReadRaw(body []byte, header func(string) string) { h.Body, h.Header = body, header }

// A GitHubHook is a webhook of GitHub: of an app, or with the id of a way in
// for webhooks that a person set up.
type GitHubHook struct {
	Hook `json:"-"`
	ID   string `query:"hook" maxLength:"100" doc:"As in the address that PUT /v1/integrations/github gave; none for webhooks of apps"`
}

// A GitLabHook is a webhook of GitLab.
type GitLabHook struct {
	Hook `json:"-"`
	ID   string `query:"hook" maxLength:"100" doc:"As in the address that PUT /v1/integrations/gitlab gave"`
}

// HookReceipt says what became of a webhook.
type HookReceipt struct {
	Status string `json:"status" enum:"done,ignored,duplicate" doc:"ignored and duplicate changed nothing"`
	Reason string `json:"reason" doc:"Why, or what was done"`
}

// HostStatus tells whether the webhooks of GitLab, or of GitHub without an app,
// are let in.
type HostStatus struct {
	Connected      bool        `json:"connected"`
	WebhookURL     *string     `json:"webhook_url" doc:"What to enter there as the webhook's URL"`
	Secret         *string     `json:"secret" doc:"What to enter as its secret token or signing token; shown this once"`
	ConnectedAt    *coord.Time `json:"connected_at"`
	LastDeliveryAt *coord.Time `json:"last_delivery_at"`

	Token *HostToken `json:"token" doc:"With what pull requests are written to and pushed lines looked up; null if there is none"`
}

// A HostToken is what is known of the access token for a git host, which itself
// is never shown.
type HostToken struct {
	URL       string      `json:"url" doc:"The host that it is for; it is sent nowhere else"`
	Name      string      `json:"name" doc:"As GitLab calls it, or whose it is on GitHub; empty where the host does not say"`
	ExpiresAt *coord.Time `json:"expires_at" doc:"When the host stops taking it"`
	RefusedAt *coord.Time `json:"refused_at" doc:"Since when the host does not take it any more"`
	CreatedAt coord.Time  `json:"created_at"`
	SyncedAt  *coord.Time `json:"synced_at" doc:"When the host was last asked for pull requests whose webhooks did not arrive"`
}

// PutGitHubToken gives the service an access token for GitHub, or takes it away.
type PutGitHubToken struct {
	Token *string `json:"token" minLength:"8" maxLength:"500" pattern:"^[!-~]+$" doc:"A fine-grained token that may read contents and write pull requests and commit statuses, or a classic one with the scope repo; null forgets the one there is"`
	URL   *string `json:"url" maxLength:"500" doc:"Where the GitHub is; the one that this server was told of if left out"`
}

// PutGitLabToken gives the service an access token for GitLab, or takes it
// away.
type PutGitLabToken struct {
	Token *string `json:"token" minLength:"8" maxLength:"500" pattern:"^[!-~]+$" doc:"A project, group or personal access token with the scope api; null forgets the one there is"`
	URL   string  `json:"url" maxLength:"500" default:"https://gitlab.com" doc:"Where the GitLab is"`
}

// DeleteGitHubApp forgets an app.
type DeleteGitHubApp struct {
	ID string `path:"id"`
}

// PutGitLab lets GitLab's webhooks in, with a new secret.
type PutGitLab struct {
	SigningToken *string `json:"signing_token" maxLength:"200" doc:"A signing token (whsec_...) that GitLab made; without it one is made here"`
}
