package wire

import "github.com/svc-hq/svc/internal/core/coord"

// TeamContext asks what the team is doing around some work.
type TeamContext struct {
	Paths     []string `json:"paths" maxItems:"200" itemMinLength:"1" itemMaxLength:"1024" form:"path" doc:"Paths or globs you work on"`
	Query     *string  `json:"query" maxLength:"500" doc:"What you will do, in words"`
	SessionID *string  `json:"session_id" format:"uuid"`
	Repo      *string  `json:"repo" maxLength:"500" form:"repo or empty"`
}

// A TeamPicture is what the team is doing around the caller's work.
type TeamPicture struct {
	Repo             coord.RepoName   `json:"repo"`
	Intent           *coord.Intent    `json:"intent" doc:"The caller's current intent"`
	Conflicts        []coord.Conflict `json:"conflicts" doc:"The caller's live conflicts in this repo"`
	Nearby           []Nearby         `json:"nearby" doc:"Others' live work, the closest first"`
	CrossRepoChanges []CrossChange    `json:"cross_repo_changes" doc:"Contract changes in flight in linked repos"`
	Landing          *string          `json:"landing" peer:"clean" doc:"Who should land before the caller's work, and why; null if nobody should"`
	UnreadMessages   int              `json:"unread_messages"`
}

// Nearby is somebody else's live work.
type Nearby struct {
	Intent    *coord.IntentName `json:"intent"`
	User      coord.User        `json:"user"`
	SessionID *string           `json:"session_id"`
	Tool      *string           `json:"tool" peer:"line"`
	Branch    *string           `json:"branch" peer:"line"`
	Outside   *coord.Outside    `json:"outside,omitempty" doc:"Set for work whose people do not use svc: a pull request or a pushed branch"`
	Mode      *coord.Mode       `json:"mode"`
	Paths     []string          `json:"paths" peer:"line" doc:"What it claims and changed, at most 20"`
	Since     coord.Time        `json:"since"`
	Overlaps  bool              `json:"overlaps" doc:"It touches the paths you asked about"`
	Kinds     []string          `json:"kinds" peer:"line" doc:"Kinds of conflict that your paths would have with it"`
	// StatusText is what its agent said last as it stopped.
	StatusText *string     `json:"status_text" peer:"inline"`
	StatusAt   *coord.Time `json:"status_at"`
}

// A CrossChange is a contract that is being changed in a linked repo.
type CrossChange struct {
	Repo          coord.RepoName      `json:"repo"`
	Contract      string              `json:"contract" peer:"line"`
	Change        coord.Change        `json:"change"`
	Compatibility coord.Compatibility `json:"compatibility"`
	Detail        *string             `json:"detail" peer:"detail"`
	By            *coord.User         `json:"by"`
	Intent        *coord.IntentName   `json:"intent"`
	Path          string              `json:"path" peer:"line"`
}

// ScopeCheck asks what some work would collide with. It writes nothing.
type ScopeCheck struct {
	Paths     []string `json:"paths" maxItems:"200" itemMinLength:"1" itemMaxLength:"1024" form:"path"`
	Symbols   []string `json:"symbols" maxItems:"200" itemMinLength:"1" itemMaxLength:"1024" form:"symbol"`
	Contracts []string `json:"contracts" maxItems:"200" itemMinLength:"1" itemMaxLength:"1024" form:"contract"`
	SessionID *string  `json:"session_id" format:"uuid"`
	Repo      *string  `json:"repo" maxLength:"500" form:"repo or empty"`
}

// ScopeChecked is the answer to a scope check.
type ScopeChecked struct {
	Decision Decision       `json:"decision"`
	Reason   string         `json:"reason" peer:"clean"`
	Repo     coord.RepoName `json:"repo"`
	Findings []ScopeFinding `json:"findings"`
}

// A ScopeFinding is one thing that the work would collide with.
type ScopeFinding struct {
	Kind        coord.ConflictKind `json:"kind"`
	Severity    coord.Severity     `json:"severity"`
	Blocking    bool               `json:"blocking"`
	With        coord.Party        `json:"with"`
	Place       string             `json:"place" peer:"line" doc:"The path, symbol or contract; empty for the whole scope"`
	Explanation string             `json:"explanation" peer:"clean"`
	Suggestion  coord.Suggestion   `json:"suggestion"`
	Evidence    []coord.Evidence   `json:"evidence"`
}

// ListSessions asks for agent sessions.
type ListSessions struct {
	List
	Active *bool  `query:"active" doc:"true: active ones only; false: all others"`
	Repo   string `query:"repo" maxLength:"500" form:"repo or empty"`
	Person string `query:"person" maxLength:"254" doc:"me or an email; whose agents"`

	Status []string           `query:"status" maxItems:"5" enum:"live,active,idle,ended,expired" doc:"live is active and idle"`
	State  []coord.AgentState `query:"state" maxItems:"8" doc:"Only agents in one of these states"`
	ChangedSince
}

// SessionID names an agent session.
type SessionID struct {
	ID string `path:"id"`
}

// Presence asks who else is at work.
type Presence struct {
	Repo      string `query:"repo" json:"repo" maxLength:"500" form:"repo or empty"`
	SessionID string `query:"session_id" json:"session_id" format:"uuid" doc:"Its repo sorts first"`
	Limit     int    `query:"limit" json:"limit" minimum:"1" maximum:"100" default:"50"`
}

// An Online is a teammate's live agent.
type Online struct {
	SessionID    string              `json:"session_id"`
	Developer    coord.User          `json:"developer"`
	Tool         string              `json:"tool" peer:"line"`
	Repo         coord.RepoName      `json:"repo"`
	Branch       *string             `json:"branch" peer:"line"`
	Intent       *coord.IntentName   `json:"intent" doc:"A draft shows without its title"`
	Status       coord.SessionStatus `json:"status" doc:"active or idle"`
	State        coord.AgentState    `json:"state" doc:"What it is doing, as in a session"`
	LastActivity coord.Time          `json:"last_activity_at"`
	StatusText   *string             `json:"status_text" peer:"inline" doc:"What the agent said last as it stopped"`
	StatusAt     *coord.Time         `json:"status_at"`
}

// WaitFor waits until something is free. Exactly one target is given.
type WaitFor struct {
	Path           *string      `json:"path" minLength:"1" maxLength:"1024" form:"path" doc:"A path or glob, until nobody claims or changes it"`
	Symbol         *string      `json:"symbol" minLength:"1" maxLength:"1024" form:"symbol or resource" doc:"sym:<lang>:<path>#<name> or <path>#<name>; or a resource such as res:port:*, until your intent has it"`
	Intent         *IntentRef   `json:"intent" doc:"INT-n, until it has ended or is handed off"`
	Conflict       *ConflictRef `json:"conflict" doc:"CF-n, until it is settled"`
	TimeoutSeconds int          `json:"timeout_seconds" minimum:"1" maximum:"55" default:"50"`
	SessionID      *string      `json:"session_id" format:"uuid"`
	Repo           *string      `json:"repo" maxLength:"500" form:"repo or empty"`
}

// Waited is how a wait ended.
type Waited struct {
	Status     string       `json:"status" enum:"free,still_busy"`
	Target     string       `json:"target" peer:"line"`
	Outcome    *string      `json:"outcome" doc:"released, merged, abandoned, expired, handoff, resolved, overridden or stale; null while busy"`
	Holder     *WaitHolder  `json:"holder" doc:"Who is in the way, the first of holders"`
	Holders    []WaitHolder `json:"holders"`
	WaitedMS   int          `json:"waited_ms"`
	Granted    bool         `json:"granted" doc:"Your intent's exclusive claim was honoured as it became free, or your intent has the resource"`
	Lease      *coord.Lease `json:"lease,omitempty" doc:"What your intent has of the resource that you waited for"`
	Suggestion string       `json:"suggestion" peer:"clean"`
}

// A WaitHolder is somebody in the way.
type WaitHolder struct {
	coord.Party
	Evidence []HoldEvidence `json:"evidence"`
}

// HoldEvidence tells by what somebody holds a target.
type HoldEvidence struct {
	Via       coord.EvidenceVia `json:"via"`
	Selector  string            `json:"selector" peer:"line"`
	Mode      *coord.Mode       `json:"mode"`
	ExpiresAt *coord.Time       `json:"expires_at"`
}
