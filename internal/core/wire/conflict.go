package wire

import "github.com/svc-hq/svc/internal/core/coord"

// ToldConflicts is of how many conflicts the answer to a declaration tells in
// words; the next brief tells of the rest.
const ToldConflicts = 5

// ListConflicts asks for conflicts over REST.
type ListConflicts struct {
	List
	Status []string `query:"status" maxItems:"10" enum:"live,open,acknowledged,resolving,resolved,overridden,stale" doc:"live is open, acknowledged and resolving"`
	Mine   bool     `query:"mine" doc:"Only those the caller is a party of"`
	Repo   string   `query:"repo" maxLength:"500" form:"repo or empty" doc:"Also matches cross-repo conflicts where it is the dependent side"`
	Intent string   `query:"intent" maxLength:"20"`

	Severity []coord.Severity     `query:"severity" maxItems:"4"`
	Kind     []coord.ConflictKind `query:"kind" maxItems:"9"`
	Person   string               `query:"person" maxLength:"254" doc:"me or an email; a party"`
	ChangedSince
}

// ConflictsTool asks for conflicts from a tool.
type ConflictsTool struct {
	Mine   bool     `json:"mine" default:"true" doc:"Only those you are a party of"`
	Status []string `json:"status" maxItems:"10" default:"live" enum:"live,open,acknowledged,resolving,resolved,overridden,stale"`
	Repo   *string  `json:"repo" maxLength:"500" form:"repo or empty"`
	Limit  int      `json:"limit" minimum:"1" maximum:"100" default:"20"`
}

// GetConflict names a conflict.
type GetConflict struct {
	Ref string `path:"ref"`
}

// ActOnConflict responds to a conflict over REST.
type ActOnConflict struct {
	Ref    string               `path:"ref"`
	Action coord.ConflictAction `json:"action"`
	Note   *string              `json:"note" maxLength:"2000"`
}

// ConflictRespond responds to a conflict from a tool.
type ConflictRespond struct {
	Conflict  ConflictRef          `json:"conflict" doc:"CF-n"`
	Action    coord.ConflictAction `json:"action" doc:"propose_sequence, will_rebase: told to the other side; request_override: asks a human"`
	Note      *string              `json:"note" maxLength:"2000" doc:"For the other side"`
	SessionID *string              `json:"session_id" format:"uuid"`
}

// GiveFeedback judges a conflict report.
type GiveFeedback struct {
	Ref     string        `path:"ref"`
	Verdict coord.Verdict `json:"verdict"`
}

// OverrideConflict lets both sides go on.
type OverrideConflict struct {
	Ref    string  `path:"ref"`
	Reason *string `json:"reason" doc:"3-2,000 characters after trimming; may be left out where the policy asks for none"`
	Share  bool    `json:"share" default:"false" doc:"Of an exclusive claim: make the whole claim a shared one instead, so that everybody whom it stops goes on. The person who owns it may, too"`
}
