package coord

import "strings"

// An Event is something that happened, as the audit log, the stream and
// webhooks tell it.
type Event struct {
	ID         string         `json:"id" doc:"Counts up in commit order within the org"`
	Type       EventType      `json:"type"`
	Version    int            `json:"version"`
	OccurredAt Time           `json:"occurred_at"`
	OrgID      string         `json:"org_id"`
	Actor      Entity         `json:"actor"`
	Subject    Entity         `json:"subject"`
	Payload    map[string]any `json:"payload"`

	Seq    int64  `json:"-"` // ID as a number
	RepoID string `json:"-"` // for the stream's repo filter
	Facts  any    `json:"-"` // its payload, while it is being written
}

// EventVersion is the version of the envelope.
const EventVersion = 1

// An Entity is who or what an event is by or about. Kinds: user, session,
// service, system for actors; the noun of the event type for subjects.
type Entity struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// An EventType names what happened.
type EventType string

// The event types. Payloads hold refs and small facts, never free text of
// people or code.
const (
	EventRepoRegistered            EventType = "repo.registered"
	EventRepoRenamed               EventType = "repo.renamed"
	EventRepoUpdated               EventType = "repo.updated"
	EventRepoTwins                 EventType = "repo.twins_found"
	EventRepoMerged                EventType = "repo.merged"
	EventRepoRemoved               EventType = "repo.removed"
	EventProjectCreated            EventType = "project.created"
	EventProjectUpdated            EventType = "project.updated"
	EventProjectDeleted            EventType = "project.deleted"
	EventSessionStarted            EventType = "session.started"
	EventSessionEnded              EventType = "session.ended"
	EventSessionStatus             EventType = "session.status"
	EventSessionTurn               EventType = "session.turn"
	EventIntentDrafted             EventType = "intent.drafted"
	EventIntentDeclared            EventType = "intent.declared"
	EventIntentUpdated             EventType = "intent.updated"
	EventIntentBlocked             EventType = "intent.blocked"
	EventIntentUnblocked           EventType = "intent.unblocked"
	EventIntentHandedOff           EventType = "intent.handed_off"
	EventIntentAdopted             EventType = "intent.adopted"
	EventIntentClosed              EventType = "intent.closed"
	EventIntentExpired             EventType = "intent.expired"
	EventIntentUnattended          EventType = "intent.unattended"
	EventIntentReleased            EventType = "intent.released"
	EventChangeRecorded            EventType = "change.recorded"
	EventBranchPushed              EventType = "branch.pushed"
	EventBranchGone                EventType = "branch.gone"
	EventContractChanged           EventType = "contract.changed"
	EventConflictDetected          EventType = "conflict.detected"
	EventConflictUpdated           EventType = "conflict.updated"
	EventConflictAcknowledged      EventType = "conflict.acknowledged"
	EventConflictResolving         EventType = "conflict.resolving"
	EventConflictResolved          EventType = "conflict.resolved"
	EventConflictOverrideRequested EventType = "conflict.override_requested"
	EventConflictOverridden        EventType = "conflict.overridden"
	EventConflictStale             EventType = "conflict.stale"
	EventConflictFeedback          EventType = "conflict.feedback"
	EventHookWarned                EventType = "hook.warned"
	EventHookUnchecked             EventType = "hook.unchecked"
	EventHookBlocked               EventType = "hook.blocked"
	EventHookStaleWrite            EventType = "hook.stale_write"
	EventMessageSent               EventType = "message.sent"
	EventMessageAcked              EventType = "message.acked"
	EventQuestionAsked             EventType = "question.asked"
	EventQuestionAnswered          EventType = "question.answered"
	EventMemberAdded               EventType = "member.added"
	EventMemberUpdated             EventType = "member.updated"
	EventMemberRemoved             EventType = "member.removed"
	EventMemberErased              EventType = "member.erased"
	EventInviteCreated             EventType = "invite.created"
	EventInviteRevoked             EventType = "invite.revoked"
	EventInviteAccepted            EventType = "invite.accepted"
	EventTokenCreated              EventType = "token.created"
	EventTokenRevoked              EventType = "token.revoked"
	EventPolicyUpdated             EventType = "policy.updated"
	EventPolicyDemoted             EventType = "policy.demoted"
	EventPolicyRestored            EventType = "policy.restored"
	EventOrgUpdated                EventType = "org.updated"
	EventWebhookCreated            EventType = "webhook.created"
	EventWebhookUpdated            EventType = "webhook.updated"
	EventWebhookReplayed           EventType = "webhook.replayed"
	EventWebhookDeleted            EventType = "webhook.deleted"
	EventWebhookDisabled           EventType = "webhook.disabled"
	EventWebhookTested             EventType = "webhook.tested"
	EventIntegrationUpdated        EventType = "integration.updated"
	EventDigestSent                EventType = "digest.sent"
	EventPlanLimitReached          EventType = "plan.limit_reached"
	EventBillingUpdated            EventType = "billing.updated"
	EventSigninSucceeded           EventType = "signin.succeeded"
	EventSigninFailed              EventType = "signin.failed"
	EventSigninRebound             EventType = "signin.rebound"
	EventSigninBreakGlass          EventType = "signin.break_glass"
	EventSigninFactor              EventType = "signin.factor"
)

// A Part is what of the state that replicas keep in memory an event changes:
// what has to be read again once it happened.
type Part int

// The parts. Whoever keeps one in memory switches over these, never over types
// of events: then a new type is told in one place, its row below.
const (
	PartNone         Part = iota
	PartIntent            // the intent that the event is about
	PartSession           // the session that it is about
	PartChanges           // the files of a working copy, or of merged work
	PartBranch            // work of people who do not use svc, with its files
	PartUses              // the index of contracts: what code uses
	PartSuppressions      // findings that are not to be raised
	PartRules             // policies, and what feedback demotes
	PartRepos             // which repos there are, with their rules
	PartLinks             // which repos share a project
	PartMembers           // who is in the org, and as what
	PartTexts             // how much text of code is kept: all of it
	PartAll               // everything: records changed hands
)

var events = []struct {
	Type EventType
	Part Part
}{
	{EventRepoRegistered, PartRepos},
	{EventRepoRenamed, PartAll},
	{EventRepoUpdated, PartRepos},
	{EventRepoTwins, PartNone},
	{EventRepoMerged, PartAll},
	{EventRepoRemoved, PartAll},
	{EventProjectCreated, PartLinks},
	{EventProjectUpdated, PartLinks},
	{EventProjectDeleted, PartLinks},
	{EventSessionStarted, PartSession},
	{EventSessionEnded, PartSession},
	{EventSessionStatus, PartNone},
	{EventSessionTurn, PartNone},
	{EventIntentDrafted, PartIntent},
	{EventIntentDeclared, PartIntent},
	{EventIntentUpdated, PartIntent},
	{EventIntentBlocked, PartIntent},
	{EventIntentUnblocked, PartIntent},
	{EventIntentHandedOff, PartIntent},
	{EventIntentAdopted, PartIntent},
	{EventIntentClosed, PartIntent},
	{EventIntentExpired, PartIntent},
	{EventIntentUnattended, PartNone},
	{EventIntentReleased, PartIntent},
	{EventChangeRecorded, PartChanges},
	{EventBranchPushed, PartBranch},
	{EventBranchGone, PartBranch},
	{EventContractChanged, PartUses},
	{EventConflictDetected, PartNone},
	{EventConflictUpdated, PartNone},
	{EventConflictAcknowledged, PartNone},
	{EventConflictResolving, PartNone},
	{EventConflictResolved, PartSuppressions},
	{EventConflictOverrideRequested, PartNone},
	{EventConflictOverridden, PartSuppressions},
	{EventConflictStale, PartSuppressions},
	{EventConflictFeedback, PartRules},
	{EventHookWarned, PartNone},
	{EventHookUnchecked, PartNone},
	{EventHookBlocked, PartNone},
	{EventHookStaleWrite, PartNone},
	{EventMessageSent, PartNone},
	{EventMessageAcked, PartNone},
	{EventQuestionAsked, PartNone},
	{EventQuestionAnswered, PartNone},
	{EventMemberAdded, PartNone},
	{EventMemberUpdated, PartMembers},
	{EventMemberRemoved, PartMembers},
	{EventMemberErased, PartAll},
	{EventInviteCreated, PartNone},
	{EventInviteRevoked, PartNone},
	{EventInviteAccepted, PartNone},
	{EventTokenCreated, PartNone},
	{EventTokenRevoked, PartNone},
	{EventPolicyUpdated, PartRules},
	{EventPolicyDemoted, PartRules},
	{EventPolicyRestored, PartRules},
	{EventOrgUpdated, PartTexts},
	{EventWebhookCreated, PartNone},
	{EventWebhookUpdated, PartNone},
	{EventWebhookReplayed, PartNone},
	{EventWebhookDeleted, PartNone},
	{EventWebhookDisabled, PartNone},
	{EventWebhookTested, PartNone},
	{EventIntegrationUpdated, PartNone},
	{EventDigestSent, PartNone},
	{EventPlanLimitReached, PartNone},
	{EventBillingUpdated, PartNone},
	{EventSigninSucceeded, PartNone},
	{EventSigninFailed, PartNone},
	{EventSigninRebound, PartNone},
	{EventSigninBreakGlass, PartNone},
	{EventSigninFactor, PartNone},
}

// EventTypes lists every type.
func EventTypes() []EventType {
	out := make([]EventType, len(events))
	for i, e := range events {
		out[i] = e.Type
	}
	return out
}

// Part returns what of the state in memory an event of this type changes.
func (t EventType) Part() Part {
	for _, e := range events {
		if e.Type == t {
			return e.Part
		}
	}
	return PartNone
}

// A Grip says whether an event can turn an allow into a block for somebody.
type Grip int

const (
	Loosens  Grip = iota // never: it lets go, or is about nothing that decides an edit
	MayGrip              // if the work it is about keeps others out, or the repo's rules do
	Tightens             // always taken for it: rules and people change seldom
)

// Grip derives from the part that an event changes whether those who decide
// edits on a copy have to know of it before it counts as done.
func (t EventType) Grip() Grip {
	switch t {
	case EventRepoRegistered, EventSessionStarted: // new, and in nobody's way yet
		return Loosens
	case EventTokenRevoked: // whose copies end
		return Tightens
	}
	switch t.Part() {
	case PartIntent, PartSession, PartChanges:
		return MayGrip
	case PartRules, PartRepos, PartMembers, PartAll:
		return Tightens
	}
	// Work outside keeps nobody out. What people accepted is only ever added to; texts, links and uses decide
	// no edit within a repository.
	return Loosens
}

// Noun returns what events of this type are about.
func (t EventType) Noun() string {
	noun, _, _ := strings.Cut(string(t), ".")
	return noun
}

// Enum lists the values for the API document.
func (EventType) Enum() []string { return enum(EventTypes()) }

// PathsOf returns the files that an event names, nil if it names none.
func PathsOf(e Event) (out []string) {
	switch paths := e.Payload["paths"].(type) {
	case []string:
		return paths
	case []any: // as read from the log
		for _, p := range paths {
			if path, ok := p.(string); ok {
				out = append(out, path)
			}
		}
	}
	return out
}
