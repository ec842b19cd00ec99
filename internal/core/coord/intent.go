package coord

import "slices"

// An IntentStatus is where an intent stands.
type IntentStatus string

const (
	IntentDraft     IntentStatus = "draft"
	IntentActive    IntentStatus = "active"
	IntentBlocked   IntentStatus = "blocked"
	IntentInReview  IntentStatus = "in_review"
	IntentMerged    IntentStatus = "merged"
	IntentAbandoned IntentStatus = "abandoned"
	IntentExpired   IntentStatus = "expired"
)

// IntentStatuses lists every status.
func IntentStatuses() []IntentStatus {
	return []IntentStatus{IntentDraft, IntentActive, IntentBlocked, IntentInReview, IntentMerged, IntentAbandoned, IntentExpired}
}

// LiveIntentStatuses lists the statuses in which an intent holds its claims.
func LiveIntentStatuses() []IntentStatus {
	return []IntentStatus{IntentDraft, IntentActive, IntentBlocked, IntentInReview}
}

// Enum lists the values for validation and the API document.
func (IntentStatus) Enum() []string { return enum(IntentStatuses()) }

// Live reports whether an intent in this status holds its claims.
func (s IntentStatus) Live() bool { return slices.Contains(LiveIntentStatuses(), s) }

// A Mode is how much of its scope an intent wants for itself.
type Mode string

const (
	Shared    Mode = "shared"
	Exclusive Mode = "exclusive"
	Observe   Mode = "observe"
	// Wanted marks a path that was refused under somebody's exclusive claim: it
	// meets that claim and holds nothing. It is the service's own and no value
	// that callers give or see.
	Wanted Mode = "wanted"
)

// Enum lists the values for validation and the API document.
func (Mode) Enum() []string { return []string{string(Shared), string(Exclusive), string(Observe)} }

// An Outcome is how an intent was closed by its owner.
type Outcome string

const (
	OutcomeMerged    Outcome = "merged"
	OutcomeAbandoned Outcome = "abandoned"
	OutcomeHandoff   Outcome = "handoff"
)

// Enum lists the values for validation and the API document.
func (Outcome) Enum() []string {
	return []string{string(OutcomeMerged), string(OutcomeAbandoned), string(OutcomeHandoff)}
}

// A ClaimKind is what a claim is on.
type ClaimKind string

const (
	ClaimPath     ClaimKind = "path"
	ClaimSymbol   ClaimKind = "symbol"
	ClaimContract ClaimKind = "contract"
)

// Enum lists the values for the API document.
func (ClaimKind) Enum() []string {
	return []string{string(ClaimPath), string(ClaimSymbol), string(ClaimContract)}
}

// A ClaimSource tells whether somebody announced a claim or we saw the work.
type ClaimSource string

const (
	Declared ClaimSource = "declared"
	Observed ClaimSource = "observed"
)

// Enum lists the values for the API document.
func (ClaimSource) Enum() []string { return []string{string(Declared), string(Observed)} }

// A Claim is one path, symbol or contract that an intent holds.
type Claim struct {
	Kind      ClaimKind   `json:"kind"`
	Selector  string      `json:"selector" peer:"line"`
	Mode      Mode        `json:"mode"`
	Source    ClaimSource `json:"source"`
	ExpiresAt *Time       `json:"expires_at"`
}

// A ScopeSet is what an intent is about.
type ScopeSet struct {
	Paths     []string `json:"paths" peer:"line" maxItems:"200" itemMinLength:"1" itemMaxLength:"1024" form:"path" doc:"Repo-relative globs: *, ?, [..], {a,b}, **"`
	Symbols   []string `json:"symbols" peer:"line" maxItems:"200" itemMinLength:"1" itemMaxLength:"1024" form:"symbol" doc:"sym:<lang>:<path>#<name> or <path>#<name>"`
	Contracts []string `json:"contracts" peer:"line" maxItems:"200" itemMinLength:"1" itemMaxLength:"1024" form:"contract" doc:"Keys such as http:GET /users/{id}, db:public.users, event:order.paid, config:API_URL, gql:Query.user, proto:pkg.Service/Method; resources that one intent at a time has, such as res:env:staging, res:port:* (the next free) or res:migration:<folder> (the next number)"`
}

// A Lease is something that is no file and that an intent asked for in its
// scope: a port, a test database, the number of a migration. One intent at a
// time has it, until it ends or takes it out of its scope.
type Lease struct {
	Asked    string  `json:"asked" peer:"line" doc:"As the scope asked for it, such as res:port:*"`
	Resource *string `json:"resource" peer:"line" doc:"What the intent has, such as res:port:3001; null while it waits"`
	Name     *string `json:"name" peer:"line" doc:"The port, the number as files there write it, or the name"`
	AskedAt  Time    `json:"asked_at"`
	TakenAt  *Time   `json:"taken_at"`
	Note     *string `json:"note" peer:"clean" doc:"Why it waits"`
}

// An ExternalRef links an intent to a ticket.
type ExternalRef struct {
	Kind string  `json:"kind" peer:"line" minLength:"1" maxLength:"50" doc:"Such as jira, linear or github"`
	URL  string  `json:"url" peer:"line" minLength:"1" maxLength:"2000" format:"uri"`
	ID   *string `json:"id" peer:"line" maxLength:"200"`
}

// An IntentName is an intent where another record mentions it. Title is null
// where it is a draft and the reader is not its owner.
type IntentName struct {
	Ref    string       `json:"ref"`
	Number int          `json:"number"`
	Title  *string      `json:"title" peer:"inline"`
	Status IntentStatus `json:"status"`
}

// A Blocker is one reason why an intent is blocked.
type Blocker struct {
	Kind string `json:"kind" enum:"intent,conflict"`
	Ref  string `json:"ref"`
}

// A Handoff is the passing of an intent from one person to another.
type Handoff struct {
	ID        string  `json:"id"`
	Intent    string  `json:"intent"`
	From      User    `json:"from"`
	To        User    `json:"to"`
	Note      *string `json:"note" peer:"block"`
	ThreadID  *string `json:"thread_id"`
	MessageID *string `json:"message_id"`
	CreatedAt Time    `json:"created_at"`
	AdoptedAt *Time   `json:"adopted_at"`
}

// An Intent is work somebody has announced.
type Intent struct {
	ID             string       `json:"id"`
	Number         int          `json:"number"`
	Ref            string       `json:"ref"`
	Status         IntentStatus `json:"status"`
	Title          string       `json:"title" peer:"inline"`
	Summary        *string      `json:"summary" peer:"block"`
	PlanMD         *string      `json:"plan_md" peer:"block"`
	Mode           Mode         `json:"mode"`
	EffectiveMode  Mode         `json:"effective_mode"`
	ModeNote       *string      `json:"mode_note" peer:"clean"`
	Repo           RepoName     `json:"repo"`
	Owner          User         `json:"owner"`
	SessionID      *string      `json:"session_id"`
	Branch         *string      `json:"branch" peer:"line"`
	PRNumber       *int         `json:"pr_number"`
	ExternalRef    *ExternalRef `json:"external_ref"`
	Scope          ScopeSet     `json:"scope"`
	Claims         []Claim      `json:"claims"`
	Leases         []Lease      `json:"leases" doc:"What of the scope is no file: resources that one intent at a time has"`
	DependsOn      []string     `json:"depends_on"`
	BlockedBy      []Blocker    `json:"blocked_by"`
	Handoff        *Handoff     `json:"handoff"`
	Outcome        *Outcome     `json:"outcome"`
	Note           *string      `json:"note" peer:"block"`
	CreatedAt      Time         `json:"created_at"`
	UpdatedAt      Time         `json:"updated_at"`
	LastActivityAt Time         `json:"last_activity_at"`
	ClosedAt       *Time        `json:"closed_at"`

	OrgID string `json:"-"`
	// Resume is the status to return to when the last blocker ends.
	Resume IntentStatus `json:"-"`
}
