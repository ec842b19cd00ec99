package wire

import "github.com/svc-hq/svc/internal/core/coord"

// SignIn asks for a dashboard session.
type SignIn struct {
	Email    string `json:"email" minLength:"1" maxLength:"254"`
	Password string `json:"password" minLength:"1" maxLength:"1024"`
}

// An OrgPlace is an org as one of its members sees it.
type OrgPlace struct {
	coord.Org
	Role  coord.Role       `json:"role"`
	Lacks coord.SignInLack `json:"lacks,omitempty" doc:"What this sign-in lacks to come in; missing if nothing"`
}

// A SignedIn is a dashboard session. The cookie travels beside it.
type SignedIn struct {
	User         *coord.User   `json:"user" doc:"null while the second factor is missing"`
	Orgs         []OrgPlace    `json:"orgs"`
	SecondFactor *HalfSignedIn `json:"second_factor" doc:"What is missing for a session, if somebody has a second factor"`

	MayMakeOrgs bool `json:"may_make_orgs" doc:"Whether you may make another org with POST /v1/orgs, without an invitation"`

	// Secret is the new cookie's value; SignOut deletes the cookie.
	Secret  string `json:"-"`
	SignOut bool   `json:"-"`
}

// NewCookie tells the way in which cookie to set.
func (s SignedIn) NewCookie() (secret string, set bool) { return s.Secret, s.Secret != "" || s.SignOut }

// SignedOut is the answer to signing out.
type SignedOut struct{}

// NewCookie tells the way in to delete the cookie.
func (SignedOut) NewCookie() (secret string, set bool) { return "", true }

// AcceptInvite joins an org.
type AcceptInvite struct {
	Code     string  `json:"code" minLength:"1" maxLength:"100"`
	Email    *string `json:"email" format:"email" maxLength:"254" doc:"Needed when the invite names nobody"`
	Name     string  `json:"name" minLength:"1" maxLength:"200" format:"name"`
	Password string  `json:"password" minLength:"1" maxLength:"1024"`
}

// InviteCode names an invite by its code.
type InviteCode struct {
	Code string `json:"code" minLength:"1" maxLength:"100"`
}

// InvitePreview is what an invite's holder sees before accepting.
type InvitePreview struct {
	OrgName   string     `json:"org_name"`
	Role      coord.Role `json:"role"`
	Email     *string    `json:"email"`
	ExpiresAt coord.Time `json:"expires_at"`
}

// ChangePassword replaces the caller's password.
type ChangePassword struct {
	Current string `json:"current,omitempty" maxLength:"1024" doc:"May be left out by somebody who has none yet"`
	New     string `json:"new" minLength:"1" maxLength:"1024"`
}

// SetUp makes the first org and its owner.
type SetUp struct {
	Code     string `json:"code" minLength:"1" maxLength:"100" doc:"The one-time code that the server printed at its first start"`
	Org      string `json:"org" minLength:"1" maxLength:"100" format:"name"`
	Email    string `json:"email" format:"email" maxLength:"254"`
	Name     string `json:"name" minLength:"1" maxLength:"200" format:"name"`
	Password string `json:"password" minLength:"1" maxLength:"1024"`
}

// SignInOptions tells the sign-in page what to offer.
type SignInOptions struct {
	SetUp bool    `json:"set_up" doc:"The server has no org yet"`
	OIDC  *string `json:"oidc" doc:"Name of the first OpenID provider, if one is configured"`

	Providers []string     `json:"providers" doc:"Names of all OpenID providers"`
	Passkeys  bool         `json:"passkeys" doc:"The server's address is one for which browsers have passkeys"`
	SignUp    coord.SignUp `json:"sign_up" doc:"Who may make an org: everybody, people with an invitation, or the administrator alone"`
}

// SignUp asks for a letter with a link to make an org.
type SignUp struct {
	Email string `json:"email" format:"email" maxLength:"254"`
}

// SignUpPreview is what the holder of such a link sees.
type SignUpPreview struct {
	Email     string     `json:"email"`
	Account   bool       `json:"account" doc:"The address has an account: sign in and make the org with POST /v1/orgs"`
	ExpiresAt coord.Time `json:"expires_at"`
}

// FinishSignUp makes an account and its org.
type FinishSignUp struct {
	Code     string `json:"code" minLength:"1" maxLength:"100"`
	Org      string `json:"org" minLength:"1" maxLength:"100" format:"name"`
	Name     string `json:"name" minLength:"1" maxLength:"200" format:"name"`
	Password string `json:"password" minLength:"1" maxLength:"1024"`
}

// CreateOrg makes another org for somebody who is signed in.
type CreateOrg struct {
	Org  string `json:"org" minLength:"1" maxLength:"100" format:"name" doc:"Its name"`
	Code string `json:"code,omitempty" maxLength:"100" doc:"From the link of an invitation to sign up; where sign-up is open, none is needed"`
}

// StartOIDC begins a sign-in at the OpenID provider.
type StartOIDC struct {
	ReturnTo string `query:"return_to" maxLength:"500" doc:"Path in the dashboard to come back to"`
	Provider string `query:"provider" maxLength:"100" doc:"Name of the provider; default the first"`
	Choose   bool   `query:"choose" doc:"Have the provider ask which account is meant, as after signing out"`
	Fresh    bool   `query:"fresh" doc:"Have the provider ask for a proof again"`
}

// EndOIDC signs out at the OpenID provider.
type EndOIDC struct {
	Provider string `query:"provider" maxLength:"100" doc:"Name of the provider; default the first"`
}

// FinishOIDC is what the OpenID provider sends the browser back with.
type FinishOIDC struct {
	State string `query:"state" maxLength:"1000"`
	Code  string `query:"code" maxLength:"4000"`
	Error string `query:"error" maxLength:"200" doc:"Why the provider did not sign anybody in"`

	// Flow is the value of the cookie that StartOIDC set.
	Flow string `json:"-"`
}

// ReadFlow takes the cookie from the way in.
func (f *FinishOIDC) ReadFlow(value string) { f.Flow = value }

// A Redirect sends a browser elsewhere, with its cookies.
type Redirect struct {
	Location string  `json:"location"`
	Secret   string  `json:"-"` // of a new dashboard session, if any
	Flow     *string `json:"-"` // of a sign-in under way; empty to end it
}

// NewCookie tells the way in which cookie to set.
func (r Redirect) NewCookie() (secret string, set bool) { return r.Secret, r.Secret != "" }

// StartDevice begins the device flow.
type StartDevice struct {
	Hostname   string `json:"hostname" minLength:"1" maxLength:"200"`
	CLIVersion string `json:"cli_version,omitempty" maxLength:"40"`
	Admin      bool   `json:"admin,omitempty" doc:"Ask for an administrator's rights, for 15 minutes"`
	Org        string `json:"org,omitempty" maxLength:"100" doc:"Slug of the org to log in to; default: whichever the person chooses"`
}

// DeviceStarted is the answer to StartDevice. The link never carries the
// code: a person types it.
type DeviceStarted struct {
	DeviceCode      string `json:"device_code"`
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	ExpiresIn       int    `json:"expires_in"`
	Interval        int    `json:"interval"`
}

// DeviceToken polls for the token.
type DeviceToken struct {
	DeviceCode string `json:"device_code" minLength:"1" maxLength:"100"`
}

// DeviceIssued is the token, once approved.
type DeviceIssued struct {
	Token  string `json:"token"`
	WebURL string `json:"web_url"`
	// ExpiresAt is null for a login that lasts.
	ExpiresAt *coord.Time `json:"expires_at" doc:"When the token ends; null for one that lasts"`
}

// UserCode is the code a person types.
type UserCode struct {
	UserCode string `json:"user_code" minLength:"1" maxLength:"20"`
}

// DeviceRequest is what a person sees before approving.
type DeviceRequest struct {
	UserCode   string        `json:"user_code"`
	Hostname   string        `json:"hostname"`
	Address    string        `json:"address"`
	CLIVersion string        `json:"cli_version"`
	CreatedAt  coord.Time    `json:"created_at"`
	ExpiresAt  coord.Time    `json:"expires_at"`
	SameHost   bool          `json:"same_address" doc:"Whether the request came from the address you are at now"`
	Scopes     []coord.Scope `json:"scopes"`
	Admin      bool          `json:"admin" doc:"It asks for an administrator's rights, for 15 minutes"`
	Org        string        `json:"org" doc:"Slug of the org that it asks for; empty if you choose"`
}
