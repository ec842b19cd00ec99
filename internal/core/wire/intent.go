package wire

import (
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// An IntentRef is INT-7, or 7 as text or number.
type IntentRef string

// JSONTypes tells what the ref may be written as.
func (IntentRef) JSONTypes() []string { return []string{"string", "integer"} }

// Form tells what the ref is like as text and as number.
func (IntentRef) Form() (pattern string, least, most int) {
	return `^(?:[Ii][Nn][Tt]-)?` + refDigits, 1, coord.MaxRef
}

// refDigits is a number up to coord.MaxRef.
const refDigits = `0*[1-9][0-9]{0,8}$`

// UnmarshalJSON takes a string or a number.
func (r *IntentRef) UnmarshalJSON(b []byte) error {
	*r = IntentRef(unquote(b))
	return nil
}

func unquote(b []byte) string {
	s := string(b)
	if strings.HasPrefix(s, `"`) {
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
	}
	return s
}

// A ConflictRef is CF-7, or 7 as text or number.
type ConflictRef string

// JSONTypes tells what the ref may be written as.
func (ConflictRef) JSONTypes() []string { return []string{"string", "integer"} }

// Form tells what the ref is like as text and as number.
func (ConflictRef) Form() (pattern string, least, most int) {
	return `^(?:[Cc][Ff]-)?` + refDigits, 1, coord.MaxRef
}

// UnmarshalJSON takes a string or a number.
func (r *ConflictRef) UnmarshalJSON(b []byte) error {
	*r = ConflictRef(unquote(b))
	return nil
}

// DeclareIntent announces work.
type DeclareIntent struct {
	Title       string             `json:"title" minLength:"1" maxLength:"200" doc:"What will be done, in one line" example:"Rework token refresh"`
	Summary     *string            `json:"summary" maxLength:"2000"`
	PlanMD      *string            `json:"plan_md" maxLength:"32768" doc:"The plan, as Markdown"`
	Scope       *coord.ScopeSet    `json:"scope" doc:"What will be touched"`
	Mode        coord.Mode         `json:"mode" default:"shared" doc:"exclusive keeps others out of a small scope; observe only listens"`
	DependsOn   []IntentRef        `json:"depends_on" maxItems:"20" doc:"Intents that must land first"`
	Branch      *string            `json:"branch" maxLength:"255" doc:"Default: the session's branch"`
	ExternalRef *coord.ExternalRef `json:"external_ref" doc:"The ticket"`
	SessionID   *string            `json:"session_id" format:"uuid" doc:"Default: your latest session"`
	Repo        *string            `json:"repo" maxLength:"500" form:"repo or empty" doc:"owner/name; default the session's"`
}

// PostIntent announces work over REST.
type PostIntent struct {
	DeclareIntent
	Separate bool `json:"separate" doc:"An intent of its own, of no session and no branch, whatever you have declared before"`
}

// Declared is an intent with what it collides with.
type Declared struct {
	Intent coord.Intent `json:"intent"`
	Met
}

// MostMet is how many conflicts an answer lists.
const MostMet = 10

// Met is what an intent collides with. In a crowd the list would say the same
// sixty times over: it has the worst of it.
type Met struct {
	Conflicts     []coord.Conflict `json:"conflicts" doc:"The ten worst"`
	MoreConflicts int              `json:"more_conflicts,omitempty" doc:"How many there are beside them"`
}

// ListIntents asks for intents.
type ListIntents struct {
	List
	Repo   string   `query:"repo" maxLength:"500" form:"repo or empty"`
	Owner  string   `query:"owner" maxLength:"254" doc:"me or an email"`
	Status []string `query:"status" maxItems:"10" enum:"live,draft,active,blocked,in_review,merged,abandoned,expired" doc:"live is draft, active, blocked and in_review"`
	ChangedSince
}

// GetIntent names an intent.
type GetIntent struct {
	Ref string `path:"ref"`
}

// An IntentPatch is what changes about an intent.
type IntentPatch struct {
	Title           *string         `json:"title" minLength:"1" maxLength:"200"`
	Summary         *string         `json:"summary" maxLength:"2000" clear:"yes"`
	PlanMD          *string         `json:"plan_md" maxLength:"32768" clear:"yes"`
	ScopeAdd        *coord.ScopeSet `json:"scope_add"`
	ScopeRemove     *coord.ScopeSet `json:"scope_remove"`
	DependsOnAdd    []IntentRef     `json:"depends_on_add" maxItems:"20"`
	DependsOnRemove []IntentRef     `json:"depends_on_remove" maxItems:"20"`
	Branch          *string         `json:"branch" maxLength:"255" clear:"yes"`
	PRNumber        *int            `json:"pr_number" minimum:"1" clear:"yes"`
	Status          *string         `json:"status" enum:"active,in_review"`
	Clearing
}

// UpdateIntent changes an intent over REST.
type UpdateIntent struct {
	Ref string `path:"ref"`
	IfMatch
	IntentPatch
	Note *string `json:"note" maxLength:"2000" clear:"yes"`
}

// IntentUpdate changes an intent from a tool.
type IntentUpdate struct {
	Intent    IntentRef   `json:"intent" doc:"INT-n"`
	Patch     IntentPatch `json:"patch" required:"false" doc:"What changes"`
	Note      *string     `json:"note" maxLength:"2000" doc:"Why, for teammates"`
	SessionID *string     `json:"session_id" format:"uuid"`
}

// CloseIntent ends an intent or hands it off, over REST.
type CloseIntent struct {
	Ref       string        `path:"ref"`
	Outcome   coord.Outcome `json:"outcome"`
	Note      *string       `json:"note" maxLength:"2000"`
	HandoffTo *string       `json:"handoff_to" format:"email" maxLength:"254" doc:"With outcome handoff: the new owner"`
}

// IntentClose ends an intent or hands it off from a tool.
type IntentClose struct {
	Intent    IntentRef     `json:"intent" doc:"INT-n"`
	Outcome   coord.Outcome `json:"outcome" doc:"merged, abandoned, or handoff with handoff_to"`
	Note      *string       `json:"note" maxLength:"2000"`
	HandoffTo *string       `json:"handoff_to" format:"email" maxLength:"254"`
	SessionID *string       `json:"session_id" format:"uuid"`
}

// HandOff passes an intent to somebody else, over REST.
type HandOff struct {
	Ref  string  `path:"ref"`
	To   string  `json:"to" format:"email" maxLength:"254"`
	Note *string `json:"note" maxLength:"2000"`
}

// IntentHandoff passes an intent to somebody else from a tool.
type IntentHandoff struct {
	Ref       *IntentRef `json:"ref" doc:"INT-n; default your current intent"`
	To        string     `json:"to" format:"email" maxLength:"254" doc:"A member's email"`
	Note      *string    `json:"note" maxLength:"2000" doc:"What the new owner should know"`
	SessionID *string    `json:"session_id" format:"uuid"`
}

// HandedOff is an intent under its new owner.
type HandedOff struct {
	Intent  coord.Intent   `json:"intent"`
	Handoff *coord.Handoff `json:"handoff" doc:"null when the intent was closed instead"`
}

// AdoptIntent takes up an intent over REST.
type AdoptIntent struct {
	Ref       string `path:"ref"`
	SessionID string `json:"session_id" required:"true" format:"uuid" doc:"A live session of yours in the intent's repo"`
}

// IntentAdopt takes up an intent that was handed to the caller.
type IntentAdopt struct {
	Ref       IntentRef `json:"ref" doc:"INT-n"`
	SessionID *string   `json:"session_id" format:"uuid"`
}
