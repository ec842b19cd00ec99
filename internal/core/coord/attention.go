package coord

// An AttentionKind is why something wants a person's attention.
type AttentionKind string

const (
	AttentionConflict        AttentionKind = "conflict"
	AttentionOverrideRequest AttentionKind = "override_request"
	AttentionAck             AttentionKind = "ack"
	AttentionMessage         AttentionKind = "message"
	AttentionQuestion        AttentionKind = "question"
	AttentionHandoff         AttentionKind = "handoff"
	AttentionInvite          AttentionKind = "invite"
	AttentionSilentHooks     AttentionKind = "silent_hooks"
	AttentionUnchecked       AttentionKind = "unchecked" // an agent of one's own went on while the service was away
	AttentionPlan            AttentionKind = "plan"
	AttentionClaim           AttentionKind = "claim"       // a claim of one's own in somebody's way, with nobody at it
	AttentionOrphan          AttentionKind = "orphan"      // live work of somebody who has left
	AttentionDemotion        AttentionKind = "demotion"    // a kind of conflict that verdicts have lowered
	AttentionTwins           AttentionKind = "twin_repos"  // two records of one repository
	AttentionIntegration     AttentionKind = "integration" // another service does not let us do what we are to do there
)

// AttentionKinds lists every kind, the most pressing first.
func AttentionKinds() []AttentionKind {
	return []AttentionKind{AttentionOverrideRequest, AttentionConflict, AttentionClaim, AttentionAck, AttentionQuestion,
		AttentionHandoff, AttentionOrphan, AttentionTwins, AttentionIntegration, AttentionDemotion,
		AttentionMessage, AttentionSilentHooks, AttentionUnchecked, AttentionPlan, AttentionInvite}
}

// Enum lists the values for the API document.
func (AttentionKind) Enum() []string { return enum(AttentionKinds()) }

// An AttentionItem is one thing that wants a person's attention. Its id
// changes when the thing changes, so that a dismissal holds until then.
type AttentionItem struct {
	ID      string        `json:"id"`
	Kind    AttentionKind `json:"kind"`
	Title   string        `json:"title"`
	Detail  string        `json:"detail"`
	Ref     *string       `json:"ref"`
	Repo    *RepoName     `json:"repo"`
	Since   Time          `json:"since"`
	URL     string        `json:"url"`
	Actions []string      `json:"actions" doc:"What can be done about it here"`

	MessageID *string `json:"message_id" doc:"Of a message that wants an acknowledgement or an answer"`
}

// A Mute is something that a person does not want to be asked about, whatever
// comes: a kind of attention, a repository or a thread.
type Mute struct {
	What string `json:"what" required:"true" enum:"kind,repo,thread"`
	ID   string `json:"id" required:"true" minLength:"1" maxLength:"200" doc:"The kind's name, or the id of the repo or conversation"`
}

// Silences tells whether an item is not to be shown.
func (m Mute) Silences(i AttentionItem) bool {
	switch m.What {
	case "kind":
		return string(i.Kind) == m.ID
	case "repo":
		return i.Repo != nil && i.Repo.ID == m.ID
	default:
		return i.Ref != nil && *i.Ref == "thread:"+m.ID
	}
}

// A MemoryKind is a part of the team's memory.
type MemoryKind string

const (
	MemoryIntents   MemoryKind = "intents"
	MemoryMessages  MemoryKind = "messages"
	MemoryConflicts MemoryKind = "conflicts"
	MemoryStatuses  MemoryKind = "statuses"
	MemoryContracts MemoryKind = "contracts"
	MemoryQuestions MemoryKind = "questions"
)

// MemoryKinds lists every kind.
func MemoryKinds() []MemoryKind {
	return []MemoryKind{MemoryIntents, MemoryMessages, MemoryConflicts, MemoryStatuses, MemoryContracts, MemoryQuestions}
}

// Enum lists the values for validation and the API document.
func (MemoryKind) Enum() []string { return enum(MemoryKinds()) }

// A Memory is something found in the team's memory.
type Memory struct {
	Kind    MemoryKind `json:"kind"`
	ID      string     `json:"id"`
	Ref     string     `json:"ref" peer:"line" doc:"How to name it: INT-7, CF-3, thread:<id>, a contract key, or its id"`
	Title   string     `json:"title" peer:"inline"`
	Snippet string     `json:"snippet" peer:"block"`
	Repo    *RepoName  `json:"repo"`
	By      *User      `json:"by"`
	At      Time       `json:"at"`
	URL     string     `json:"url" peer:"line"`
}
