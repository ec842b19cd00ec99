package wire

import (
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
)

// An EventRow is what can be said of a type of event before one happened: the
// API document, the page of events and the test that holds every event of
// every test to them read it.
type EventRow struct {
	Type    coord.EventType
	When    string
	Payload any      // a value of the type that its payload has
	About   []string // kinds of its subject, if not the noun of its type
}

// Subjects are the kinds that the subject of such an event may be of.
func (r EventRow) Subjects() []string {
	if r.About == nil {
		return []string{r.Type.Noun()}
	}
	return slices.Clone(r.About)
}

// Events has a row for every type of event.
var Events = []EventRow{
	{coord.EventRepoRegistered, "a repository became known to the org", RepoRegisteredPayload{}, nil},
	{coord.EventRepoRenamed, "a repository has another name or address", RepoRenamedPayload{}, nil},
	{coord.EventRepoUpdated, "a repository's settings changed", RepoUpdatedPayload{}, nil},
	{coord.EventRepoTwins, "two registered repositories look like one", RepoTwinsPayload{}, nil},
	{coord.EventRepoMerged, "two registered repositories were made one", RepoMergedPayload{}, nil},
	{coord.EventRepoRemoved, "a repository was removed", RepoRemovedPayload{}, nil},
	{coord.EventProjectCreated, "repositories were put together into a project", ProjectPayload{}, nil},
	{coord.EventProjectUpdated, "a project's name or repositories changed", ProjectPayload{}, nil},
	{coord.EventProjectDeleted, "a project was removed; its repositories stay", EmptyPayload{}, nil},
	{coord.EventSessionStarted, "an agent's session began", SessionStartedPayload{}, nil},
	{coord.EventSessionEnded, "an agent's session ended, or was found to be gone", SessionEndedPayload{}, nil},
	{coord.EventSessionStatus, "an agent said what it did, as its turn ended", SessionStatusPayload{}, nil},
	{coord.EventSessionTurn, "an agent's turn ended, it waits for its person, or it works again", SessionTurnPayload{}, nil},
	{coord.EventIntentDrafted, "work was noticed that nobody had declared", IntentPayload{}, nil},
	{coord.EventIntentDeclared, "somebody said what they set out to do", IntentPayload{}, nil},
	{coord.EventIntentUpdated, "an intent's scope, branch, title or state changed", IntentUpdatedPayload{}, nil},
	{coord.EventIntentBlocked, "an intent cannot go on because of another", IntentBlockedPayload{}, nil},
	{coord.EventIntentUnblocked, "what an intent waited for is free", IntentBlockedPayload{}, nil},
	{coord.EventIntentHandedOff, "an intent was handed to another person", IntentHandedOffPayload{}, nil},
	{coord.EventIntentAdopted, "an intent that was handed over was taken up", IntentPayload{}, nil},
	{coord.EventIntentClosed, "an intent was merged or abandoned", IntentClosedPayload{}, nil},
	{coord.EventIntentExpired, "an intent ended because nobody worked on it any more", IntentClosedPayload{}, nil},
	{coord.EventIntentUnattended, "an intent still holds something, and no session works on it", IntentUnattendedPayload{}, nil},
	{coord.EventIntentReleased, "an intent's claims were released", IntentPayload{}, nil},
	{coord.EventChangeRecorded, "files of a working copy changed, or a merge brought them", ChangePayload{}, []string{"change", "repo"}},
	{coord.EventBranchPushed, "work of people who do not use svc was looked at: a pull request, or a pushed branch", BranchPayload{}, nil},
	{coord.EventBranchGone, "such work was merged, closed or deleted, or nobody pushed to it for two weeks", BranchPayload{}, nil},
	{coord.EventContractChanged, "a route, table, event, key or exported definition changed", ContractPayload{}, []string{"repo"}},
	{coord.EventConflictDetected, "two pieces of work collide", ConflictDetectedPayload{}, nil},
	{coord.EventConflictUpdated, "what is known of a conflict changed", ConflictUpdatedPayload{}, nil},
	{coord.EventConflictAcknowledged, "one side said that it has seen the conflict", ConflictPayload{}, nil},
	{coord.EventConflictResolving, "one side said how it will end", ConflictPayload{}, nil},
	{coord.EventConflictResolved, "the conflict is over", ConflictEndedPayload{}, nil},
	{coord.EventConflictOverrideRequested, "an agent asks a person to override a block", ConflictPayload{}, nil},
	{coord.EventConflictOverridden, "a person overrode a block", ConflictEndedPayload{}, nil},
	{coord.EventConflictStale, "the conflict ended by itself, because its cause is gone", ConflictEndedPayload{}, nil},
	{coord.EventConflictFeedback, "somebody said whether a conflict was real", ConflictFeedbackPayload{}, nil},
	{coord.EventHookWarned, "an agent was warned before an edit", HookPayload{}, nil},
	{coord.EventHookUnchecked, "agents edited while svc could not be asked", HookUncheckedPayload{}, nil},
	{coord.EventHookBlocked, "an agent's edit was refused", HookBlockedPayload{}, nil},
	{coord.EventHookStaleWrite, "an agent's edit was refused on its machine because it would have undone others' lines there",
		HookStaleWritePayload{}, nil},
	{coord.EventMessageSent, "a message was sent", MessagePayload{}, nil},
	{coord.EventMessageAcked, "a message that asked for it was acknowledged", MessageAckedPayload{}, nil},
	{coord.EventQuestionAsked, "a question was asked", QuestionAskedPayload{}, nil},
	{coord.EventQuestionAnswered, "a question was answered", QuestionAnsweredPayload{}, nil},
	{coord.EventMemberAdded, "a person joined the org", MemberAddedPayload{}, nil},
	{coord.EventMemberUpdated, "a person's role or name changed", MemberUpdatedPayload{}, nil},
	{coord.EventMemberRemoved, "a person left the org", MemberRemovedPayload{}, nil},
	{coord.EventMemberErased, "a person was erased: of what they were and wrote nothing is left", MemberErasedPayload{}, nil},
	{coord.EventInviteCreated, "somebody was invited", InvitePayload{}, nil},
	{coord.EventInviteRevoked, "an invite was taken back", EmptyPayload{}, nil},
	{coord.EventInviteAccepted, "an invite was accepted", InviteAcceptedPayload{}, nil},
	{coord.EventTokenCreated, "an access token was made", TokenPayload{}, nil},
	{coord.EventTokenRevoked, "an access token was revoked, or expired early", EmptyPayload{}, nil},
	{coord.EventPolicyUpdated, "a policy was changed", PolicyPayload{}, []string{"org", "repo"}},
	{coord.EventPolicyDemoted, "a kind of finding was toned down because people called it wrong", PolicyShiftPayload{}, []string{"repo"}},
	{coord.EventPolicyRestored, "a kind of finding counts fully again", PolicyShiftPayload{}, []string{"repo"}},
	{coord.EventOrgUpdated, "the org's name or settings changed", OrgPayload{}, nil},
	{coord.EventWebhookCreated, "an endpoint for events was added", WebhookCreatedPayload{}, nil},
	{coord.EventWebhookUpdated, "an endpoint was changed, paused, resumed, or given a new secret", WebhookUpdatedPayload{}, nil},
	{coord.EventWebhookReplayed, "deliveries of an endpoint were sent again", WebhookReplayedPayload{}, nil},
	{coord.EventWebhookDeleted, "an endpoint was removed", EmptyPayload{}, nil},
	{coord.EventWebhookDisabled, "an endpoint failed for so long that it is left alone", WebhookDisabledPayload{}, nil},
	{coord.EventWebhookTested, "an endpoint's test call was made", WebhookTestedPayload{}, nil},
	{coord.EventIntegrationUpdated, "a connection to GitHub, GitLab or chat changed", IntegrationPayload{}, nil},
	{coord.EventDigestSent, "a digest went out", DigestPayload{}, nil},
	{coord.EventPlanLimitReached, "the plan's limit was reached", PlanLimitPayload{}, []string{"org"}},
	{coord.EventBillingUpdated, "the plan or its payment changed", BillingPayload{}, []string{"org"}},
	{coord.EventSigninSucceeded, "somebody signed in", SigninPayload{}, []string{"user"}},
	{coord.EventSigninFailed, "a sign-in failed", SigninPayload{}, []string{"user"}},
	{coord.EventSigninRebound, "an account was bound to another identity at the provider", SigninPayload{}, []string{"user"}},
	{coord.EventSigninBreakGlass, "an owner signed in by a link made on the server", SigninPayload{}, []string{"user"}},
	{coord.EventSigninFactor, "a second factor was added, removed, reset, or a recovery code used", FactorPayload{}, []string{"user"}},
}
