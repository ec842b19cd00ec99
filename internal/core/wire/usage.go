package wire

import "github.com/svc-hq/svc/internal/core/coord"

// Usage tells how much of its plan an org uses this month.
type Usage struct {
	Plan             string            `json:"plan"`
	Period           string            `json:"period" doc:"Calendar month, UTC" example:"2026-11"`
	Limits           UsageLimits       `json:"limits"`
	Repos            int               `json:"repos"`
	ActiveDevelopers int               `json:"active_developers"`
	Developers       []ActiveDeveloper `json:"developers" doc:"For admins; empty for others"`
	Warnings         []UsageWarning    `json:"warnings" doc:"Limits of which at least 80 % are used"`
}

// UsageLimits are what a plan allows; null is no limit.
type UsageLimits struct {
	Repos      *int `json:"repos"`
	Developers *int `json:"developers"`
}

// A UsageWarning is a limit that is near or reached.
type UsageWarning struct {
	Limit   string `json:"limit" enum:"repos,developers"`
	Used    int    `json:"used"`
	Allowed int    `json:"allowed"`
	Reached bool   `json:"reached" doc:"The next one is refused"`
}

// An ActiveDeveloper is somebody whose agent used a tool this month.
type ActiveDeveloper struct {
	coord.User
	FirstActiveAt coord.Time `json:"first_active_at"`
}
