package wire

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
)

// GetPolicies asks for the rules of the org or of a repo.
type GetPolicies struct {
	Repo string `query:"repo" maxLength:"500" form:"repo or empty"`
}

// Policies are the rules of an org, of a repo, and what comes of both.
type Policies struct {
	RepoName  *string          `json:"repo_name"`
	Org       map[string]any   `json:"org" doc:"Rules that the org has set"`
	Repo      map[string]any   `json:"repo" doc:"Rules that the repo has set; empty without a repo"`
	Effective policy.Effective `json:"effective"`
	Defaults  policy.Effective `json:"defaults" doc:"What holds where neither sets a rule"`
	Feedback  []KindFeedback   `json:"feedback" doc:"What people said of each kind in the repo"`
}

// Tag names this version of the rules that were asked for.
func (p Policies) Tag() string {
	if p.RepoName != nil {
		return coord.Tag(p.Repo)
	}
	return coord.Tag(p.Org)
}

// KindFeedback is what people said of one kind of conflict in a repo.
type KindFeedback struct {
	Kind          string `json:"kind"`
	Useful        int    `json:"useful"`
	FalsePositive int    `json:"false_positive"`
	TooLate       int    `json:"too_late"`
	Demoted       bool   `json:"demoted" doc:"False alarms have lowered its severity by a step"`
}

// PutPolicies replaces the rules of the org or of a repo.
type PutPolicies struct {
	Repo  string         `query:"repo" maxLength:"500" form:"repo or empty"`
	Rules map[string]any `json:"rules" required:"true"`
	IfMatch
}
