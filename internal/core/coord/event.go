package coord

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
	EventProjectCreated            EventType = "project.created"
	EventProjectUpdated            EventType = "project.updated"
	EventProjectDeleted            EventType = "project.deleted"
	EventSessionStarted            EventType = "session.started"
	EventSessionEnded              EventType = "session.ended"
	EventSessionStatus             EventType = "session.status"
	EventIntentDrafted             EventType = "intent.drafted"
	EventIntentDeclared            EventType = "intent.declared"
	EventIntentUpdated             EventType = "intent.updated"
	EventIntentBlocked             EventType = "intent.blocked"
	EventIntentUnblocked           EventType = "intent.unblocked"
	EventIntentHandedOff           EventType = "intent.handed_off"
	EventIntentAdopted             EventType = "intent.adopted"
	EventIntentClosed              EventType = "intent.closed"
	EventIntentExpired             EventType = "intent.expired"
	EventChangeRecorded            EventType = "change.recorded"
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
	EventHookBlocked               EventType = "hook.blocked"
	EventMessageSent               EventType = "message.sent"
	EventMessageAcked              EventType = "message.acked"
	EventQuestionAsked             EventType = "question.asked"
	EventQuestionAnswered          EventType = "question.answered"
	EventMemberAdded               EventType = "member.added"
	EventMemberUpdated             EventType = "member.updated"
	EventMemberRemoved             EventType = "member.removed"
	EventInviteCreated             EventType = "invite.created"
	EventInviteRevoked             EventType = "invite.revoked"
	EventInviteAccepted            EventType = "invite.accepted"
	EventTokenCreated              EventType = "token.created"
	EventTokenRevoked              EventType = "token.revoked"
	EventPolicyUpdated             EventType = "policy.updated"
	EventOrgUpdated                EventType = "org.updated"
	EventWebhookCreated            EventType = "webhook.created"
	EventWebhookDeleted            EventType = "webhook.deleted"
	EventWebhookDisabled           EventType = "webhook.disabled"
	EventWebhookTested             EventType = "webhook.tested"
	EventIntegrationUpdated        EventType = "integration.updated"
	EventDigestSent                EventType = "digest.sent"
	EventPlanLimitReached          EventType = "plan.limit_reached"
	EventBillingUpdated            EventType = "billing.updated"
	EventSigninSucceeded           EventType = "signin.succeeded"
	EventSigninFailed              EventType = "signin.failed"
)

// EventTypes lists every type.
func EventTypes() []EventType {
	return []EventType{EventRepoRegistered, EventProjectCreated, EventProjectUpdated, EventProjectDeleted,
		EventSessionStarted, EventSessionEnded, EventSessionStatus, EventIntentDrafted, EventIntentDeclared, EventIntentUpdated,
		EventIntentBlocked, EventIntentUnblocked, EventIntentHandedOff, EventIntentAdopted, EventIntentClosed,
		EventIntentExpired, EventChangeRecorded, EventContractChanged, EventConflictDetected, EventConflictUpdated,
		EventConflictAcknowledged, EventConflictResolving, EventConflictResolved, EventConflictOverrideRequested,
		EventConflictOverridden, EventConflictStale, EventConflictFeedback, EventHookWarned, EventHookBlocked,
		EventMessageSent, EventMessageAcked, EventQuestionAsked, EventQuestionAnswered, EventMemberAdded,
		EventMemberUpdated, EventMemberRemoved, EventInviteCreated, EventInviteRevoked, EventInviteAccepted, EventTokenCreated,
		EventTokenRevoked, EventPolicyUpdated, EventOrgUpdated, EventWebhookCreated, EventWebhookDeleted,
		EventWebhookDisabled, EventWebhookTested, EventIntegrationUpdated, EventDigestSent, EventPlanLimitReached,
		EventBillingUpdated, EventSigninSucceeded, EventSigninFailed}
}

// Enum lists the values for the API document.
func (EventType) Enum() []string { return enum(EventTypes()) }
