package coord

import "slices"

// A ConflictKind is what kind of harm a conflict foretells.
type ConflictKind string

const (
	ExclusiveClaim  ConflictKind = "exclusive_claim"
	EditOverlap     ConflictKind = "edit_overlap"
	SymbolOverlap   ConflictKind = "symbol_overlap"
	ContractOverlap ConflictKind = "contract_overlap"
	ContractBreak   ConflictKind = "contract_break"
	DependencyOrder ConflictKind = "dependency_order"
	PathOverlap     ConflictKind = "path_overlap"
	DuplicateWork   ConflictKind = "duplicate_work"
	RebaseNeeded    ConflictKind = "rebase_needed"
)

// ConflictKinds lists every kind, the most harmful first.
func ConflictKinds() []ConflictKind {
	return []ConflictKind{ExclusiveClaim, EditOverlap, SymbolOverlap, ContractOverlap, ContractBreak,
		DependencyOrder, PathOverlap, DuplicateWork, RebaseNeeded}
}

// Enum lists the values for validation and the API document.
func (ConflictKind) Enum() []string { return enum(ConflictKinds()) }

// A Severity says what is done about a conflict.
type Severity string

const (
	SeverityOff   Severity = "off"
	SeverityInfo  Severity = "info"
	SeverityWarn  Severity = "warn"
	SeverityBlock Severity = "block"
)

var severities = []Severity{SeverityOff, SeverityInfo, SeverityWarn, SeverityBlock}

// Enum lists the values for validation and the API document.
func (Severity) Enum() []string { return enum(severities) }

// Rank orders severities from off to block.
func (s Severity) Rank() int { return slices.Index(severities, s) }

// Lower returns the severity one step down; off stays off.
func (s Severity) Lower() Severity { return severities[max(0, s.Rank()-1)] }

// A ConflictStatus is where a conflict stands.
type ConflictStatus string

const (
	ConflictOpen         ConflictStatus = "open"
	ConflictAcknowledged ConflictStatus = "acknowledged"
	ConflictResolving    ConflictStatus = "resolving"
	ConflictResolved     ConflictStatus = "resolved"
	ConflictOverridden   ConflictStatus = "overridden"
	ConflictStale        ConflictStatus = "stale"
)

// ConflictStatuses lists every status.
func ConflictStatuses() []ConflictStatus {
	return []ConflictStatus{ConflictOpen, ConflictAcknowledged, ConflictResolving, ConflictResolved, ConflictOverridden, ConflictStale}
}

// LiveConflictStatuses lists the statuses of conflicts that still matter.
func LiveConflictStatuses() []ConflictStatus {
	return []ConflictStatus{ConflictOpen, ConflictAcknowledged, ConflictResolving}
}

// Enum lists the values for validation and the API document.
func (ConflictStatus) Enum() []string { return enum(ConflictStatuses()) }

// Live reports whether a conflict in this status still matters.
func (s ConflictStatus) Live() bool { return slices.Contains(LiveConflictStatuses(), s) }

// A Resolution tells how a resolved conflict ended.
type Resolution string

const (
	ResolvedAgreed        Resolution = "agreed"
	ResolvedCleared       Resolution = "cleared"
	ResolvedFalsePositive Resolution = "false_positive"
	ResolvedWithdrawn     Resolution = "withdrawn"   // the side that is kept out took its attempt back; the claim stands
	ResolvedHandedOver    Resolution = "handed_over" // both sides came into one hand; goes with the status stale
)

// Enum lists the values for the API document.
func (Resolution) Enum() []string {
	return enum([]Resolution{ResolvedAgreed, ResolvedCleared, ResolvedFalsePositive, ResolvedWithdrawn, ResolvedHandedOver})
}

// A ConflictAction is what a participant may do about a conflict.
type ConflictAction string

const (
	ActionAck             ConflictAction = "ack"
	ActionProposeSequence ConflictAction = "propose_sequence"
	ActionWillRebase      ConflictAction = "will_rebase"
	ActionResolved        ConflictAction = "resolved"
	ActionFalsePositive   ConflictAction = "false_positive"
	ActionRequestOverride ConflictAction = "request_override"
)

// ConflictActions lists every action.
func ConflictActions() []ConflictAction {
	return []ConflictAction{ActionAck, ActionProposeSequence, ActionWillRebase, ActionResolved, ActionFalsePositive, ActionRequestOverride}
}

// Enum lists the values for validation and the API document.
func (ConflictAction) Enum() []string { return enum(ConflictActions()) }

// After returns the status that action leads to from s, and whether s allows
// it at all.
func (s ConflictStatus) After(a ConflictAction) (ConflictStatus, bool) {
	switch {
	case !s.Live():
		return s, false
	case a == ActionAck:
		return ConflictAcknowledged, s == ConflictOpen
	case a == ActionProposeSequence || a == ActionWillRebase:
		return ConflictResolving, s == ConflictOpen || s == ConflictAcknowledged
	case a == ActionResolved || a == ActionFalsePositive:
		return ConflictResolved, true
	case a == ActionRequestOverride:
		return s, true
	}
	return s, false
}

// A Verdict is what a person thinks of a conflict report.
type Verdict string

const (
	VerdictUseful        Verdict = "useful"
	VerdictFalsePositive Verdict = "false_positive"
	VerdictTooLate       Verdict = "too_late"
)

// Enum lists the values for validation and the API document.
func (Verdict) Enum() []string {
	return []string{string(VerdictUseful), string(VerdictFalsePositive), string(VerdictTooLate)}
}

// A PartyRole tells the sides of a conflict apart. The holder was there
// first; for a break it is the side that depends on the contract.
type PartyRole string

const (
	Holder     PartyRole = "holder"
	Challenger PartyRole = "challenger"
)

// Enum lists the values for the API document.
func (PartyRole) Enum() []string { return []string{string(Holder), string(Challenger)} }

// A Party is one side of a conflict.
type Party struct {
	Role      PartyRole   `json:"role"`
	User      *User       `json:"user"`
	Intent    *IntentName `json:"intent"`
	SessionID *string     `json:"session_id"`
	Repo      RepoName    `json:"repo"`
	Branch    *string     `json:"branch" peer:"line"`
	Outside   *Outside    `json:"outside,omitempty" doc:"Set for work whose people do not use svc: a pull request or a pushed branch"`
}

// A Lines is a range of lines, both ends included.
type Lines struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// An EvidenceVia tells what a piece of evidence rests on.
type EvidenceVia string

const (
	ViaClaim     EvidenceVia = "claim"
	ViaChange    EvidenceVia = "change"
	ViaReference EvidenceVia = "reference"
	ViaContract  EvidenceVia = "contract"
)

// Enum lists the values for the API document.
func (EvidenceVia) Enum() []string {
	return enum([]EvidenceVia{ViaClaim, ViaChange, ViaReference, ViaContract})
}

// An Evidence item is one fact that a conflict rests on.
type Evidence struct {
	Party    PartyRole   `json:"party"`
	Via      EvidenceVia `json:"via"`
	Selector *string     `json:"selector" peer:"line"`
	Path     *string     `json:"path" peer:"line"`
	Symbol   *string     `json:"symbol" peer:"line"`
	Contract *string     `json:"contract" peer:"line"`
	Lines    *Lines      `json:"lines"`
	Before   *string     `json:"before" peer:"line"`
	After    *string     `json:"after" peer:"line"`
	Detail   *string     `json:"detail" peer:"detail"`
}

// AboutToEdit is the detail of evidence that is an edit which was only tried.
const AboutToEdit = "about to edit it"

// OwnDetails lists the details of evidence that the service itself words. All
// others are as a client told them.
func OwnDetails() []string {
	return []string{"added", "removed", "changed inside", "changed its signature", "unchanged", "uses it", AboutToEdit,
		"modified", "deleted", "renamed", "added, binary", "modified, binary", "deleted, binary", "nearly the same title and scope"}
}

// A Suggestion is one concrete next step.
type Suggestion struct {
	Action  string   `json:"action" enum:"wait,sequence,rebase,narrow_scope,coordinate,request_override"`
	Text    string   `json:"text" peer:"clean"`
	WaitFor *WaitFor `json:"wait_for"`
}

// A WaitFor is the argument that the wait_for tool takes.
type WaitFor struct {
	Path     *string `json:"path,omitempty" peer:"line"`
	Symbol   *string `json:"symbol,omitempty" peer:"line"`
	Intent   *string `json:"intent,omitempty"`
	Conflict *string `json:"conflict,omitempty" peer:"line"`
}

// A Conflict is a collision between two pieces of work.
type Conflict struct {
	ID                string           `json:"id"`
	Number            int              `json:"number"`
	Ref               string           `json:"ref"`
	Kind              ConflictKind     `json:"kind"`
	Severity          Severity         `json:"severity"`
	Status            ConflictStatus   `json:"status"`
	Repo              RepoName         `json:"repo"`
	CrossRepo         bool             `json:"cross_repo"`
	DependentRepo     *RepoName        `json:"dependent_repo"`
	Parties           []Party          `json:"parties"`
	Evidence          []Evidence       `json:"evidence"`
	Explanation       string           `json:"explanation" peer:"clean"`
	Suggestion        Suggestion       `json:"suggestion"`
	Fingerprint       string           `json:"fingerprint"`
	Previous          *string          `json:"previous" doc:"Ref of the earlier conflict that this one reopens"`
	FirstSeenAt       Time             `json:"first_seen_at"`
	UpdatedAt         Time             `json:"updated_at"`
	ClosedAt          *Time            `json:"closed_at"`
	Resolution        *Resolution      `json:"resolution"`
	Override          *Override        `json:"override"`
	OverrideRequested *OverrideRequest `json:"override_requested"`
	Actions           []ActionTaken    `json:"actions"`
	Feedback          []FeedbackGiven  `json:"feedback"`

	OrgID string `json:"-"`
}

// An Override is a person's decision to let both sides go on.
type Override struct {
	By     User    `json:"by"`
	Reason *string `json:"reason" peer:"block"`
	At     Time    `json:"at"`
}

// An OverrideRequest is an agent's plea to a person.
type OverrideRequest struct {
	By   User    `json:"by"`
	Note *string `json:"note" peer:"block"`
	At   Time    `json:"at"`
}

// An ActionTaken is one action on a conflict.
type ActionTaken struct {
	Action    ConflictAction `json:"action"`
	Note      *string        `json:"note" peer:"block"`
	By        User           `json:"by"`
	SessionID *string        `json:"session_id"`
	At        Time           `json:"at"`
}

// FeedbackGiven is one person's verdict on a conflict.
type FeedbackGiven struct {
	Verdict Verdict `json:"verdict"`
	By      User    `json:"by"`
	At      Time    `json:"at"`
}
