package policy

import (
	"maps"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Rules are what one org or repo has set. A nil field is not set.
type Rules struct {
	OverrideRequireReason *bool                                 `json:"override.require_reason,omitempty"`
	OverrideAllowedRoles  *[]coord.Role                         `json:"override.allowed_roles,omitempty"`
	SessionIdleMinutes    *int                                  `json:"session_idle_minutes,omitempty"`
	ExclusiveMaxFiles     *int                                  `json:"exclusive_max_files,omitempty"`
	ExclusiveGraceMinutes *int                                  `json:"exclusive_grace_minutes,omitempty"`
	IgnoreCase            *bool                                 `json:"ignore_case,omitempty"`
	CrossRepoContracts    *coord.Severity                       `json:"cross_repo_contracts,omitempty"`
	Enforcement           *coord.Severity                       `json:"enforcement,omitempty"`
	Severity              map[coord.ConflictKind]coord.Severity `json:"severity,omitempty"`
	SeverityPinned        *[]coord.ConflictKind                 `json:"severity_pinned,omitempty"`
	FeedbackThreshold     *float64                              `json:"feedback_threshold,omitempty"`
	FeedbackMinVerdicts   *int                                  `json:"feedback_min_verdicts,omitempty"`
	RequireIntent         *coord.Severity                       `json:"require_intent,omitempty"`
	ResourceRanges        map[string]string                     `json:"resource_ranges,omitempty"`
	SharedCloneGuard      *coord.Severity                       `json:"shared_clone_guard,omitempty"`
	AutoDraft             *bool                                 `json:"auto_draft,omitempty"`
	IgnorePaths           *[]string                             `json:"ignore_paths,omitempty"`
	IntentExpireHours     *int                                  `json:"intent_expire_hours,omitempty"`
	ReviewExpireDays      *int                                  `json:"review_expire_days,omitempty"`
	PullRequestReport     *string                               `json:"pull_request_report,omitempty"`
	ClaimsAtMerge         *string                               `json:"claims_at_merge,omitempty"`
	RetentionDays         *int                                  `json:"retention_days,omitempty"`
	MergeCheck            *string                               `json:"merge_check,omitempty"`
	SharePatches          *string                               `json:"share_patches,omitempty"`
	StaleWrite            *string                               `json:"stale_write,omitempty"`
	TimeSavedMinutes      *int                                  `json:"time_saved.minutes,omitempty"`
	TimeSavedMinuteWorth  *float64                              `json:"time_saved.minute_worth,omitempty"`
	TimeSavedCurrency     *string                               `json:"time_saved.currency,omitempty"`
}

// Effective is what holds in a repo: every rule has a value. It is not
// changed once made, so it may be shared.
type Effective struct {
	OverrideRequireReason bool                                  `json:"override.require_reason"`
	OverrideAllowedRoles  []coord.Role                          `json:"override.allowed_roles"`
	SessionIdleMinutes    int                                   `json:"session_idle_minutes"`
	ExclusiveMaxFiles     int                                   `json:"exclusive_max_files"`
	ExclusiveGraceMinutes int                                   `json:"exclusive_grace_minutes"`
	IgnoreCase            bool                                  `json:"ignore_case"`
	CrossRepoContracts    coord.Severity                        `json:"cross_repo_contracts"`
	Enforcement           coord.Severity                        `json:"enforcement"`
	Severity              map[coord.ConflictKind]coord.Severity `json:"severity"`
	SeverityPinned        []coord.ConflictKind                  `json:"severity_pinned"`
	FeedbackThreshold     float64                               `json:"feedback_threshold"`
	FeedbackMinVerdicts   int                                   `json:"feedback_min_verdicts"`
	RequireIntent         coord.Severity                        `json:"require_intent"`
	ResourceRanges        map[string]string                     `json:"resource_ranges"`
	SharedCloneGuard      coord.Severity                        `json:"shared_clone_guard"`
	AutoDraft             bool                                  `json:"auto_draft"`
	IgnorePaths           []string                              `json:"ignore_paths"`
	IntentExpireHours     int                                   `json:"intent_expire_hours"`
	ReviewExpireDays      int                                   `json:"review_expire_days"`
	PullRequestReport     string                                `json:"pull_request_report"`
	ClaimsAtMerge         string                                `json:"claims_at_merge"`
	RetentionDays         int                                   `json:"retention_days"`
	MergeCheck            string                                `json:"merge_check"`
	SharePatches          string                                `json:"share_patches"`
	StaleWrite            string                                `json:"stale_write"`
	TimeSavedMinutes      int                                   `json:"time_saved.minutes"`
	TimeSavedMinuteWorth  float64                               `json:"time_saved.minute_worth"`
	TimeSavedCurrency     string                                `json:"time_saved.currency"`

	ignored func() *pathSet // made when first asked: few who merge rules ask
}

// Merge returns what holds where the given rules are set, later ones over
// earlier ones, all of them over the defaults: Merge(org, repo).
func Merge(layers ...Rules) *Effective {
	e := defaults.Get()
	e.Severity, e.ResourceRanges = maps.Clone(e.Severity), maps.Clone(e.ResourceRanges)
	for _, r := range layers {
		set(&e.OverrideRequireReason, r.OverrideRequireReason)
		set(&e.OverrideAllowedRoles, r.OverrideAllowedRoles)
		set(&e.SessionIdleMinutes, r.SessionIdleMinutes)
		set(&e.ExclusiveMaxFiles, r.ExclusiveMaxFiles)
		set(&e.ExclusiveGraceMinutes, r.ExclusiveGraceMinutes)
		set(&e.IgnoreCase, r.IgnoreCase)
		set(&e.CrossRepoContracts, r.CrossRepoContracts)
		set(&e.Enforcement, r.Enforcement)
		maps.Copy(e.Severity, r.Severity)
		maps.Copy(e.ResourceRanges, r.ResourceRanges)
		set(&e.SeverityPinned, r.SeverityPinned)
		set(&e.FeedbackThreshold, r.FeedbackThreshold)
		set(&e.FeedbackMinVerdicts, r.FeedbackMinVerdicts)
		set(&e.RequireIntent, r.RequireIntent)
		set(&e.SharedCloneGuard, r.SharedCloneGuard)
		set(&e.AutoDraft, r.AutoDraft)
		set(&e.IgnorePaths, r.IgnorePaths)
		set(&e.IntentExpireHours, r.IntentExpireHours)
		set(&e.ReviewExpireDays, r.ReviewExpireDays)
		set(&e.PullRequestReport, r.PullRequestReport)
		set(&e.ClaimsAtMerge, r.ClaimsAtMerge)
		set(&e.RetentionDays, r.RetentionDays)
		set(&e.MergeCheck, r.MergeCheck)
		set(&e.SharePatches, r.SharePatches)
		set(&e.StaleWrite, r.StaleWrite)
		set(&e.TimeSavedMinutes, r.TimeSavedMinutes)
		set(&e.TimeSavedMinuteWorth, r.TimeSavedMinuteWorth)
		set(&e.TimeSavedCurrency, r.TimeSavedCurrency)
	}
	e.ignored = ignoredByDefault.Get
	if slices.ContainsFunc(layers, func(r Rules) bool { return r.IgnorePaths != nil }) {
		e.ignored = lazyPathSet(e.IgnorePaths)
	}
	return &e
}

// Restore makes rules whole again that were read from their JSON.
func Restore(e *Effective) *Effective {
	e.ignored = lazyPathSet(e.IgnorePaths)
	return e
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// Ignored reports whether path raises no conflicts.
func (e *Effective) Ignored(path string) bool { return e.ignored().has(path) }

// MayOverride reports whether people of this role may override conflicts.
func (e *Effective) MayOverride(r coord.Role) bool { return slices.Contains(e.OverrideAllowedRoles, r) }

// AtMerge returns what commits do that meet somebody else's claim: no more than
// an edit of the same would.
func (e *Effective) AtMerge() string {
	switch {
	case e.Enforcement == coord.SeverityOff || e.ClaimsAtMerge == MergeOff:
		return MergeOff
	case e.Enforcement != coord.SeverityBlock:
		return MergeWarn
	}
	return e.ClaimsAtMerge
}

// SeverityOf returns what a conflict of this kind does. Across repos a break
// is ruled by cross_repo_contracts.
func (e *Effective) SeverityOf(k coord.ConflictKind, crossRepo bool) coord.Severity {
	if crossRepo && k == coord.ContractBreak {
		return e.CrossRepoContracts
	}
	return e.Severity[k]
}

// MinJudges is how many people must call reports of a kind false before it
// drops: fewer speak for themselves, not for a team.
const MinJudges = 3

// Verdicts are what people said of the reports of one kind.
type Verdicts struct {
	Useful, FalsePositive int
	Judges                int // people who called one of them false
}

// Demotes reports whether the verdicts on a kind make it drop a step: enough
// of them, from enough people, and too many false. Verdicts of too_late do not
// count: the report was right.
func (e *Effective) Demotes(k coord.ConflictKind, v Verdicts) bool {
	all := v.Useful + v.FalsePositive
	return all >= max(1, e.FeedbackMinVerdicts) && v.Judges >= MinJudges && !slices.Contains(e.SeverityPinned, k) &&
		float64(v.FalsePositive) >= e.FeedbackThreshold*float64(all)
}

// WithDemoted returns what holds once feedback has lowered some kinds.
func (e *Effective) WithDemoted(kinds []coord.ConflictKind) *Effective {
	out := *e
	out.Severity = maps.Clone(e.Severity)
	for _, k := range kinds {
		out.Severity[k] = Demoted(out.Severity[k])
	}
	return &out
}

// Demoted returns the severity one step down, but never silence: a kind that
// nobody sees could not win its step back.
func Demoted(s coord.Severity) coord.Severity {
	if s.Rank() <= coord.SeverityInfo.Rank() {
		return s
	}
	return s.Lower()
}
