package wire

import "github.com/svc-hq/svc/internal/core/coord"

// What events say beside who did what to which record: ids, refs and small
// facts, never free text of people or code. Everybody who may read an org's
// events reads all of them, so nothing of a private conversation is here but
// that it went on.

// An EmptyPayload says nothing: its event's subject is all there is.
type EmptyPayload struct{}

// A RepoRegisteredPayload is of a repository that became known.
type RepoRegisteredPayload struct {
	FullName  string         `json:"full_name" example:"acme/shop"`
	Provider  coord.Provider `json:"provider"`
	Automatic bool           `json:"automatic" doc:"Whether a client that worked in it registered it"`
}

// A RepoRenamedPayload is of a repository with another name.
type RepoRenamedPayload struct {
	FullName string `json:"full_name" example:"acme/shop"`
	Previous string `json:"previous" example:"acme/store"`
	By       string `json:"by" enum:"person,host,client" doc:"Who found out"`
}

// A RepoUpdatedPayload is of settings of a repository: those that changed.
type RepoUpdatedPayload struct {
	FullName      string `json:"full_name" example:"acme/shop"`
	DefaultBranch string `json:"default_branch,omitempty" example:"main"`
	Archived      *bool  `json:"archived,omitempty"`
	Remotes       *int   `json:"remotes,omitempty" doc:"How many addresses it has now"`
	ApartFrom     string `json:"apart_from,omitempty" example:"acme/fork" doc:"The repository that somebody said it is not"`
	By            string `json:"by,omitempty" enum:"host,client" doc:"Who found out, if no person said so"`
}

// A RepoTwinsPayload is of two records that look like one repository.
type RepoTwinsPayload struct {
	FullName string `json:"full_name" example:"acme/shop"`
	Other    string `json:"other" example:"acme/store"`
	OtherID  string `json:"other_id" format:"uuid"`
	Why      string `json:"why" enum:"host,roots" doc:"The git host says so, or they begin with the same commits"`
}

// A RepoMergedPayload is of two records that were made one.
type RepoMergedPayload struct {
	FullName string `json:"full_name" example:"acme/shop"`
	Merged   string `json:"merged" example:"acme/store" doc:"The one that is gone"`
	MergedID string `json:"merged_id" format:"uuid"`
}

// A RepoRemovedPayload is of a repository that was removed.
type RepoRemovedPayload struct {
	FullName string `json:"full_name" example:"acme/shop"`
}

// A ProjectPayload is of a project.
type ProjectPayload struct {
	Repos int `json:"repos" doc:"How many repositories it has"`
}

// A SessionStartedPayload is of an agent's session that began.
type SessionStartedPayload struct {
	Tool    string `json:"tool" example:"claude_code"`
	Resumed bool   `json:"resumed" doc:"Whether it had ended before"`
}

// A SessionEndedPayload is of an agent's session that ended.
type SessionEndedPayload struct {
	Tool    string `json:"tool" example:"claude_code"`
	Expired bool   `json:"expired,omitempty" doc:"It was not heard of any more"`
	Reason  string `json:"reason,omitempty" enum:"repo_removed,member_removed,account_disabled"`
}

// A SessionStatusPayload is of what an agent said last; the words are not here.
type SessionStatusPayload struct {
	StatusID string  `json:"status_id" format:"uuid"`
	Files    int     `json:"files"`
	IntentID *string `json:"intent_id" format:"uuid"`
}

// A SessionTurnPayload is of a turn that ended or goes on.
type SessionTurnPayload struct {
	Tool     string           `json:"tool"`
	State    coord.AgentState `json:"state" doc:"stopped, waits_for_person or working"`
	IntentID *string          `json:"intent_id" format:"uuid"`
}

// An IntentPayload is of an intent.
type IntentPayload struct {
	Ref            string             `json:"ref" example:"INT-12"`
	Status         coord.IntentStatus `json:"status"`
	OwnerID        string             `json:"owner_id" format:"uuid"`
	Mode           coord.Mode         `json:"mode" doc:"As it is granted, which may be less than was asked for"`
	PreviousStatus coord.IntentStatus `json:"previous_status,omitempty"`
	Released       bool               `json:"released,omitempty" doc:"Its exclusive claim became a shared one"`
	Observed       int                `json:"observed,omitempty" doc:"How many files it was seen to change"`
	ScopePaths     int                `json:"scope_paths,omitempty" doc:"How many paths it claims now"`
}

// An IntentClosedPayload is of an intent that ended.
type IntentClosedPayload struct {
	IntentPayload
	Outcome *coord.Outcome `json:"outcome"`
}

// An IntentBlockedPayload is of an intent that waits for others, or does so no
// more.
type IntentBlockedPayload struct {
	IntentPayload
	BlockedBy []coord.Blocker `json:"blocked_by"`
}

// An IntentUpdatedPayload is of an intent that changed; BlockedBy only if what
// it waits for did.
type IntentUpdatedPayload struct {
	IntentPayload
	BlockedBy []coord.Blocker `json:"blocked_by,omitempty"`
}

// An IntentHandedOffPayload is of an intent that went to another person.
type IntentHandedOffPayload struct {
	IntentPayload
	FromID string `json:"from_id" format:"uuid"`
	ToID   string `json:"to_id" format:"uuid"`
}

// An IntentUnattendedPayload is of an intent that is in somebody's way while
// nobody works on it.
type IntentUnattendedPayload struct {
	Conflict string `json:"conflict" example:"CF-3"`
	OwnerID  string `json:"owner_id" format:"uuid"`
}

// A ChangePayload is of files that changed: of a working copy, or of merged
// work.
type ChangePayload struct {
	Files     int      `json:"files"`
	Paths     []string `json:"paths,omitempty" doc:"Which, unless there are many"`
	Copy      string   `json:"copy,omitempty" doc:"Names the working copy"`
	SessionID string   `json:"session_id,omitempty" format:"uuid"`
	Merge     string   `json:"merge,omitempty" doc:"Names the merged work, if that is what changed them"`
	Maps      int      `json:"maps,omitempty" doc:"How many files' lines are known to stand elsewhere on another base"`
}

// A BranchPayload is of work of people who do not use svc.
type BranchPayload struct {
	Number *int `json:"number,omitempty" doc:"Of the pull or merge request; missing for a branch that was only pushed"`
	Files  int  `json:"files" doc:"Whose changed lines are known"`
}

// A ContractPayload is of contracts whose files were read again.
type ContractPayload struct {
	Paths        []string `json:"paths"`
	Complete     *bool    `json:"complete,omitempty" doc:"Whether the whole repository was indexed"`
	IndexVersion *int     `json:"index_version,omitempty"`
}

// A ConflictPayload is of a conflict.
type ConflictPayload struct {
	Ref         string               `json:"ref" example:"CF-3"`
	Kind        coord.ConflictKind   `json:"kind"`
	Severity    coord.Severity       `json:"severity"`
	Status      coord.ConflictStatus `json:"status"`
	Fingerprint string               `json:"fingerprint" doc:"The same for conflicts about the same thing"`
	Holder      string               `json:"holder" example:"01936f3e-7c1a-7b32-9d58-2f1f6a0c4e11" doc:"The work that was first; empty if it is merged"`
	Challenger  string               `json:"challenger" format:"uuid" doc:"The intent or session that came upon it"`
	Users       []string             `json:"users" minItems:"2" maxItems:"2" doc:"Whose they are: the holder's and the challenger's"`
}

// A ConflictDetectedPayload is of a new conflict.
type ConflictDetectedPayload struct {
	ConflictPayload
	Previous *string `json:"previous" example:"CF-2" doc:"The earlier conflict that this one reopens"`
}

// A ConflictUpdatedPayload is of a conflict that is another now.
type ConflictUpdatedPayload struct {
	ConflictPayload
	PreviousSeverity coord.Severity `json:"previous_severity"`
	Grown            bool           `json:"grown" doc:"Whether more is in conflict than was"`
}

// A ConflictEndedPayload is of a conflict that is over.
type ConflictEndedPayload struct {
	ConflictPayload
	Resolution *coord.Resolution `json:"resolution"`
}

// A ConflictFeedbackPayload is of what somebody said of a conflict.
type ConflictFeedbackPayload struct {
	ConflictPayload
	Verdict coord.Verdict `json:"verdict"`
}

// A HookPayload is of an answer to an agent that was about to edit.
type HookPayload struct {
	Decision Decision  `json:"decision"`
	Event    HookEvent `json:"event"`
	Tool     string    `json:"tool" example:"claude_code"`
	Paths    int       `json:"paths" doc:"How many files it was about to change"`
	Kind     string    `json:"kind" example:"edit_overlap" doc:"A kind of conflict, or require_intent, shared_clone_guard"`
	IntentID *string   `json:"intent_id" format:"uuid"`
}

// A HookBlockedPayload is of an edit that was refused.
type HookBlockedPayload struct {
	HookPayload
	Refs []string `json:"refs" doc:"The conflicts that it was refused for"`
}

// A HookUncheckedPayload is of edits while nobody could be asked.
type HookUncheckedPayload struct {
	Tool     string  `json:"tool" example:"claude_code"`
	Events   int     `json:"events" doc:"How many calls went unanswered"`
	IntentID *string `json:"intent_id" format:"uuid"`
}

// A HookStaleWritePayload is of an edit that would have undone others' lines.
type HookStaleWritePayload struct {
	Tool     string  `json:"tool" example:"claude_code"`
	IntentID *string `json:"intent_id" format:"uuid"`
}

// A MessagePayload is of a message that was sent; who reads a direct one is
// theirs alone to know.
type MessagePayload struct {
	ConversationID string                 `json:"conversation_id" format:"uuid"`
	Kind           coord.ConversationKind `json:"kind"`
	Recipients     []string               `json:"recipients,omitempty" doc:"Whom it reaches, unless it is direct"`
	RequiresAck    bool                   `json:"requires_ack"`
}

// A MessageAckedPayload is of a message that somebody acknowledged.
type MessageAckedPayload struct {
	ConversationID string `json:"conversation_id" format:"uuid"`
	UserID         string `json:"user_id" format:"uuid"`
}

// A QuestionAskedPayload is of a question; whom it is for is left out of a
// private one.
type QuestionAskedPayload struct {
	ToUser    *string `json:"to_user" format:"uuid"`
	ToSession *string `json:"to_session" format:"uuid"`
	Immediate bool    `json:"immediate" doc:"Whether it could be answered from what is recorded"`
}

// A QuestionAnsweredPayload is of an answer.
type QuestionAnsweredPayload struct {
	Answers      int     `json:"answers" doc:"How many there are now"`
	AskedSession *string `json:"asked_session" format:"uuid"`
}

// A MemberAddedPayload is of a person who joined.
type MemberAddedPayload struct {
	Role coord.Role `json:"role"`
	By   string     `json:"by,omitempty" enum:"provider,directory" doc:"The sign-in provider or the company's directory let them in"`
}

// A MemberUpdatedPayload is of a person whose role, name, address or sign-in
// changed.
type MemberUpdatedPayload struct {
	Role         coord.Role `json:"role,omitempty"`
	PreviousRole coord.Role `json:"previous_role,omitempty"`
	By           string     `json:"by,omitempty" enum:"provider,operator,directory"`
	Name         bool       `json:"name,omitempty" doc:"Their name changed at the provider, or in the directory"`
	Email        bool       `json:"email,omitempty" doc:"Their address changed there"`
	Unbound      int64      `json:"unbound,omitempty" doc:"How many sign-ins they are no longer bound to"`
	Account      string     `json:"account,omitempty" enum:"disabled,enabled,reset,signed_out,exported" doc:"What was done with their account: exported by an owner or themselves, else by the server's administrator"`
}

// A MemberErasedPayload is of a person of whom nothing is left.
type MemberErasedPayload struct {
	Name string `json:"name" doc:"What they are called from now on: former member 7"`
}

// A MemberRemovedPayload is of a person who left.
type MemberRemovedPayload struct {
	Role          coord.Role `json:"role"`
	RevokedTokens int        `json:"revoked_tokens"`
}

// An InvitePayload is of an invite.
type InvitePayload struct {
	Role coord.Role `json:"role"`
}

// An InviteAcceptedPayload is of an invite that was accepted.
type InviteAcceptedPayload struct {
	Role   coord.Role `json:"role"`
	UserID string     `json:"user_id" format:"uuid"`
}

// A TokenPayload is of an access token.
type TokenPayload struct {
	Kind   coord.TokenKind `json:"kind"`
	Scopes []coord.Scope   `json:"scopes"`
}

// A PolicyPayload is of rules that changed.
type PolicyPayload struct {
	Rules      *int `json:"rules,omitempty" doc:"How many rules are set"`
	IgnoreCase bool `json:"ignore_case,omitempty" doc:"A client found that the case of paths does not matter"`
}

// A PolicyShiftPayload is of a kind of finding that feedback toned down, or no
// more.
type PolicyShiftPayload struct {
	Kind coord.ConflictKind `json:"kind"`
	From coord.Severity     `json:"from"`
	To   coord.Severity     `json:"to"`
}

// An OrgPayload is of an org's settings.
type OrgPayload struct {
	DataMode          coord.DataMode `json:"data_mode"`
	PreviousDataMode  coord.DataMode `json:"previous_data_mode"`
	ClearedSignatures int            `json:"cleared_signatures" doc:"Texts of code that were removed"`
	// Of the rules for signing in, where those changed.
	SignIn *coord.SignInRules `json:"sign_in,omitempty"`
}

// A WebhookCreatedPayload is of a new endpoint.
type WebhookCreatedPayload struct {
	EventTypes []coord.EventChoice `json:"event_types"`
}

// A WebhookUpdatedPayload is of an endpoint that changed.
type WebhookUpdatedPayload struct {
	Changed []string `json:"changed" enum:"url,event_types,description,paused,secret"`
	Paused  bool     `json:"paused"`
}

// A WebhookReplayedPayload is of deliveries that are sent again.
type WebhookReplayedPayload struct {
	Since      coord.Time `json:"since"`
	Until      coord.Time `json:"until"`
	Deliveries int        `json:"deliveries"`
}

// A WebhookDisabledPayload is of an endpoint that is left alone.
type WebhookDisabledPayload struct {
	FailingSince *coord.Time `json:"failing_since"`
	Reason       string      `json:"reason" example:"it failed for five days"`
}

// A WebhookTestedPayload is of a test call.
type WebhookTestedPayload struct {
	EnabledAgain bool `json:"enabled_again"`
}

// An IntegrationPayload is of a connection to another service.
type IntegrationPayload struct {
	Integration  string `json:"integration" enum:"github,gitlab,slack,digest"`
	Connected    *bool  `json:"connected,omitempty"`
	Enabled      *bool  `json:"enabled,omitempty" doc:"Of the digest"`
	EveryMinutes *int   `json:"every_minutes,omitempty" doc:"How often channels are told"`
	Quiet        *bool  `json:"quiet,omitempty" doc:"Whether channels have quiet hours"`
	Installation string `json:"installation,omitempty" example:"4711" doc:"Of GitHub's app"`
	Repo         string `json:"repo,omitempty" example:"acme/shop" doc:"Of a repository's own channel"`
	Repos        *int   `json:"repos,omitempty" doc:"How many repositories the installation has"`
	Removed      *bool  `json:"removed,omitempty"`
	Suspended    *bool  `json:"suspended,omitempty"`
}

// A DigestPayload is of a digest that went out.
type DigestPayload struct {
	Period     string          `json:"period" example:"manual" doc:"The moment it was due, or manual"`
	Channels   []DigestChannel `json:"channels"`
	Recipients int             `json:"recipients"`
}

// A PlanLimitPayload is of a limit that was reached.
type PlanLimitPayload struct {
	Plan    string `json:"plan" example:"free"`
	Limit   string `json:"limit" enum:"repos,developers"`
	Allowed int    `json:"allowed"`
	Month   string `json:"month" example:"2026-11"`
}

// A BillingPayload is of a plan, or of how it is paid.
type BillingPayload struct {
	Plan         string `json:"plan" example:"team"`
	PreviousPlan string `json:"previous_plan" example:"free"`
	Status       string `json:"status" example:"active" doc:"Of the payment, as Stripe calls it, or none"`
}

// A SigninPayload is of a sign-in.
type SigninPayload struct {
	Address string `json:"address" example:"192.0.2.7" doc:"The network address that it came from"`
}

// A FactorPayload is of somebody's second factor.
type FactorPayload struct {
	Factor  string `json:"factor" example:"totp" doc:"totp, passkey, recovery_codes, or all"`
	Change  string `json:"change" example:"added" doc:"added, removed, used, remade, reset, or copied: a passkey was refused"`
	Address string `json:"address,omitempty" example:"192.0.2.7" doc:"The network address that it came from"`
}
