package coord

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// A Role is what a member may do in an org.
type Role string

const (
	Owner   Role = "owner"
	Admin   Role = "admin"
	Member  Role = "member"
	Viewer  Role = "viewer"
	Billing Role = "billing"
)

// Roles lists every role, the most powerful first.
func Roles() []Role { return []Role{Owner, Admin, Member, Viewer, Billing} }

// Enum lists the values for validation and the API document.
func (Role) Enum() []string { return enum(Roles()) }

// IsAdmin reports whether r is what the interface calls "admin".
func (r Role) IsAdmin() bool { return r == Owner || r == Admin }

// CanOwnIntents reports whether work may be handed to somebody of this role.
func (r Role) CanOwnIntents() bool { return r == Owner || r == Admin || r == Member }

// MayManage reports whether r may add, change or remove a member of role
// other: only owners touch owners and admins.
func (r Role) MayManage(other Role) bool {
	if other.IsAdmin() {
		return r == Owner
	}
	return r.IsAdmin()
}

// SignUp says who makes orgs on a server.
type SignUp string

const (
	SignUpOff    SignUp = "off"    // whoever runs it
	SignUpInvite SignUp = "invite" // whom they invite, too
	SignUpOpen   SignUp = "open"   // everybody with an address
)

// Enum lists the values.
func (SignUp) Enum() []string { return enum([]SignUp{SignUpOff, SignUpInvite, SignUpOpen}) }

// A Scope is one permission of a token.
type Scope string

const (
	ScopeHooks          Scope = "hooks:evaluate"
	ScopeTools          Scope = "mcp:tools"
	ScopeReposRead      Scope = "repos:read"
	ScopeReposWrite     Scope = "repos:write"
	ScopeIntentsRead    Scope = "intents:read"
	ScopeIntentsWrite   Scope = "intents:write"
	ScopeConflictsRead  Scope = "conflicts:read"
	ScopeConflictsWrite Scope = "conflicts:write"
	ScopeMessagesRead   Scope = "messages:read"
	ScopeMessagesWrite  Scope = "messages:write"
	ScopeMembersRead    Scope = "members:read"
	ScopeMembersWrite   Scope = "members:write"
	ScopePolicyRead     Scope = "policy:read"
	ScopePolicyWrite    Scope = "policy:write"
	ScopeTokensWrite    Scope = "tokens:write"
	ScopeEventsRead     Scope = "events:read"
	ScopeSCIM           Scope = "scim" // of a company's directory, for owners to give
)

// Scopes lists every scope.
func Scopes() []Scope {
	return []Scope{ScopeHooks, ScopeTools, ScopeReposRead, ScopeReposWrite, ScopeIntentsRead, ScopeIntentsWrite,
		ScopeConflictsRead, ScopeConflictsWrite, ScopeMessagesRead, ScopeMessagesWrite, ScopeMembersRead,
		ScopeMembersWrite, ScopePolicyRead, ScopePolicyWrite, ScopeTokensWrite, ScopeEventsRead, ScopeSCIM}
}

// Enum lists the values for validation and the API document.
func (Scope) Enum() []string { return enum(Scopes()) }

// DeviceScopes lists what a token made by the device flow holds: everything
// that hooks, tools and everyday commands need, and nothing that changes who
// may do what, or where.
func DeviceScopes() []Scope {
	return slices.DeleteFunc(Scopes(), func(s Scope) bool {
		return s == ScopeTokensWrite || s == ScopeMembersWrite || s == ScopePolicyWrite || s == ScopeReposWrite || s == ScopeSCIM
	})
}

// AdminScopes lists what a login of svc login --admin holds, for a few minutes:
// what a person does, and nothing that hooks or an agent's tools call.
func AdminScopes() []Scope {
	return slices.DeleteFunc(ServiceScopes(), func(s Scope) bool { return s == ScopeSCIM })
}

// ServiceScopes lists what a service token may hold: a service is nobody's
// agent, so it may not call hooks or tools.
func ServiceScopes() []Scope {
	return slices.DeleteFunc(Scopes(), func(s Scope) bool { return s == ScopeHooks || s == ScopeTools })
}

// A TokenKind tells whose a token is.
type TokenKind string

const (
	PersonalToken TokenKind = "pat"
	ServiceToken  TokenKind = "service"
)

// Enum lists the values for validation and the API document.
func (TokenKind) Enum() []string { return []string{string(PersonalToken), string(ServiceToken)} }

// A DataMode says how much about code an org lets leave its machines.
type DataMode string

const (
	DataFull         DataMode = "full"
	DataMetadataOnly DataMode = "metadata_only"
)

// Enum lists the values for validation and the API document.
func (DataMode) Enum() []string { return []string{string(DataFull), string(DataMetadataOnly)} }

// A User is a person as other members see them.
type User struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name" peer:"person"`
}

// An Org is a team: the boundary that nothing crosses.
type Org struct {
	ID        string   `json:"id"`
	Slug      string   `json:"slug"`
	Name      string   `json:"name"`
	DataMode  DataMode `json:"data_mode"`
	Plan      string   `json:"-"`
	CreatedAt Time     `json:"-"`
	SignInRules
}

// SignInRules are what an org wants of those who come in by the dashboard.
type SignInRules struct {
	RequireSecondFactor bool `json:"require_second_factor" doc:"Who has no second factor can only set one up"`
	PasswordsOff        bool `json:"passwords_off" doc:"A password opens nothing here, with or without a second factor"`
}

// A SignInLack is what somebody who is signed in lacks for an org.
type SignInLack string

const (
	LacksNothing SignInLack = ""
	LacksFactor  SignInLack = "enrol"         // they have no second factor
	LacksProof   SignInLack = "prove"         // they have one, and have not shown it
	LacksMethod  SignInLack = "other_sign_in" // they came by a password
)

// Enum lists the values.
func (SignInLack) Enum() []string { return enum([]SignInLack{LacksFactor, LacksProof, LacksMethod}) }

// Lack returns what a sign-in lacks: how it was, whether with a second factor,
// and whether the account has one. What a provider asks is the provider's to say.
func (r SignInRules) Lack(by SignInMethod, second, has bool) SignInLack {
	switch {
	case r.PasswordsOff && by == ByPassword:
		return LacksMethod
	case !r.RequireSecondFactor || second || by == ByOpenID:
		return LacksNothing
	case has:
		return LacksProof
	}
	return LacksFactor
}

// A Membership is a user's place in an org.
type Membership struct {
	User
	Role     Role `json:"role"`
	JoinedAt Time `json:"joined_at"`
}

// A Token is a credential, without its secret.
type Token struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Kind       TokenKind `json:"kind"`
	Prefix     string    `json:"prefix"`
	UserID     *string   `json:"user_id"`
	Scopes     []Scope   `json:"scopes"`
	CreatedAt  Time      `json:"created_at"`
	LastUsedAt *Time     `json:"last_used_at"`
	ExpiresAt  *Time     `json:"expires_at"`
	RevokedAt  *Time     `json:"revoked_at"`
	OrgID      string    `json:"-"`
	CreatedBy  *string   `json:"-"`
	ByAgent    bool      `json:"-"` // made by something that an agent can use
}

// An Invite is an offer to join an org.
type Invite struct {
	ID        string  `json:"id"`
	URL       *string `json:"url" doc:"The link, shown this once; null in lists"`
	Role      Role    `json:"role"`
	Email     *string `json:"email"`
	EmailSent bool    `json:"email_sent" doc:"The mail server accepted its email"`
	Mail      *Letter `json:"mail" doc:"What became of its email; null if it was not mailed"`
	CreatedAt Time    `json:"created_at"`
	ExpiresAt Time    `json:"expires_at"`
	OrgID     string  `json:"-"`
	CreatedBy string  `json:"-"`
}

// A LetterState is how far a letter came.
type LetterState string

const (
	LetterQueued  LetterState = "queued"  // it is tried again by itself
	LetterSent    LetterState = "sent"    // the mail server took it
	LetterBounced LetterState = "bounced" // the mail server does not know the address
	LetterRefused LetterState = "refused" // the mail server does not take it, or could not be reached for a day
)

// Enum lists the values for the API document.
func (LetterState) Enum() []string {
	return enum([]LetterState{LetterQueued, LetterSent, LetterBounced, LetterRefused})
}

// A Letter is what is known of a mail.
type Letter struct {
	State  LetterState `json:"state"`
	Detail string      `json:"detail" doc:"What the mail server said, or why it was not reached; empty if all went well"`
	At     Time        `json:"at" doc:"Since when it is so"`
}

// A Via says through which door a caller came. Some doors are for people
// only: an agent can never override a conflict, whatever its token holds.
type Via string

const (
	ViaToken  Via = "token"  // bearer token over REST
	ViaCookie Via = "cookie" // a person in the dashboard
	ViaTool   Via = "tool"   // an agent's tool call
	ViaHook   Via = "hook"   // an agent's hook
	ViaSystem Via = "system" // the service itself
)

// A SignInMethod is how somebody signed in to the dashboard.
type SignInMethod string

const (
	ByPassword SignInMethod = "password"
	ByOpenID   SignInMethod = "openid"
	ByPasskey  SignInMethod = "passkey"
	ByLink     SignInMethod = "link"   // made by whoever runs the server
	ByFolder   SignInMethod = "folder" // of a service on one's own machine
)

// A Caller is whoever is asking: a person, an agent acting for one, or a
// service.
type Caller struct {
	OrgID     string
	OrgSlug   string
	DataMode  DataMode
	UserID    string // empty for a service token
	Email     string
	Name      string
	Role      Role // empty for a service token
	TokenID   string
	TokenName string
	TokenKind TokenKind
	Scopes    []Scope
	ByAgent   bool // the token was made by something that an agent can use
	Via       Via
	SessionID string // the agent session the caller named in X-Svc-Session, if any
	// SessionKey is what proves that the caller is that session's agent: hook and
	// bridge of its host have it. Ids of sessions are shown to everybody.
	SessionKey string
	Lineage    string // of the session that the call surely comes from, its key shown; empty if that is not known
	MayFree    bool   // the call may change what others hold exclusively: a person's word, or a row that says so
	ForModel   bool   // svc mcp brings a model's call: it would have named the session if it knew it
	Believed   bool   // the database did not say in time whose the token is; it was good of late
	CookieID   string // the dashboard session, if any
	ProvedAt   Time   // when its person last proved who they are
	SignedInBy SignInMethod
	Second     bool       // they showed a second factor
	HasSecond  bool       // they have one
	Lacks      SignInLack // what their sign-in lacks for the org
	Address    string     // where the request came from
	UserAgent  string
}

// Personal reports whether a person stands behind the call.
func (c Caller) Personal() bool { return c.UserID != "" }

// Has reports whether the caller's token holds s. A dashboard session holds
// every scope; what it may do is decided by role alone.
func (c Caller) Has(s Scope) bool { return c.Via == ViaCookie || slices.Contains(c.Scopes, s) }

// User returns the person behind the call.
func (c Caller) User() User { return User{c.UserID, c.Email, c.Name} }

// IsAgent reports whether the call comes from an agent rather than from a
// person: through a tool, a hook, or under an agent session's name.
func (c Caller) IsAgent() bool {
	return c.Via == ViaTool || c.Via == ViaHook || c.SessionID != ""
}

func enum[T ~string](vs []T) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = string(v)
	}
	return out
}

// AuthorHash names who wrote something in git without telling their address: the
// service knows by it whether that is a member.
func AuthorHash(email string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(email))))
	return hex.EncodeToString(sum[:])
}
