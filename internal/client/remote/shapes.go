package remote

import "github.com/svc-hq/svc/internal/core/coord"

// Usage is what the org uses of its plan. A nil limit is none.
type Usage struct {
	Plan             string      `json:"plan"`
	Period           string      `json:"period"`
	Limits           UsageLimits `json:"limits"`
	Repos            int         `json:"repos"`
	ActiveDevelopers int         `json:"active_developers"`
}

// UsageLimits are what the plan allows.
type UsageLimits struct {
	Repos      *int `json:"repos"`
	Developers *int `json:"developers"`
}

// A ScopeCheck asks what editing something would run into.
type ScopeCheck struct {
	Paths     []string `json:"paths,omitempty"`
	Symbols   []string `json:"symbols,omitempty"`
	Contracts []string `json:"contracts,omitempty"`
	Repo      string   `json:"repo,omitempty"`
}

// A ScopeResult is the answer to a ScopeCheck.
type ScopeResult struct {
	Decision string         `json:"decision"`
	Reason   string         `json:"reason"`
	Findings []ScopeFinding `json:"findings"`
}

// A ScopeFinding is one thing that stands in the way.
type ScopeFinding struct {
	Kind        coord.ConflictKind `json:"kind"`
	Severity    coord.Severity     `json:"severity"`
	Blocking    bool               `json:"blocking"`
	Explanation string             `json:"explanation"`
	Suggestion  coord.Suggestion   `json:"suggestion"`
}

// An AttentionItem is something that waits for the caller.
type AttentionItem struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Title  string          `json:"title"`
	Detail *string         `json:"detail"`
	Ref    *string         `json:"ref"`
	Repo   *coord.RepoName `json:"repo"`
	Since  coord.Time      `json:"since"`
	URL    *string         `json:"url"`
}

// Attention is what waits for the caller.
type Attention struct {
	Items  []AttentionItem `json:"items"`
	Total  int             `json:"total"`
	ByKind map[string]int  `json:"by_kind"`
}
