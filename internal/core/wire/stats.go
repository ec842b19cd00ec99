package wire

import "github.com/svc-hq/svc/internal/core/coord"

// GetStats asks for the figures of the last days.
type GetStats struct {
	Days int    `query:"days" enum:"7,30,90" default:"30" doc:"7, 30 or 90; today counts as one"`
	Repo string `query:"repo" maxLength:"500" form:"repo or empty" doc:"Repo selector; all repos if missing"`
}

// Totals count what happened.
type Totals struct {
	Intents        int `json:"intents" doc:"Work declared"`
	Conflicts      int `json:"conflicts" doc:"Conflicts found"`
	Blocked        int `json:"blocked" doc:"Edits stopped"`
	Warned         int `json:"warned" doc:"Edits warned about"`
	Resolved       int `json:"resolved" doc:"Conflicts resolved, false alarms apart"`
	Overridden     int `json:"overridden" doc:"Conflicts overridden by a person"`
	FalsePositives int `json:"false_positives" doc:"Conflicts called a false alarm by a party, each once"`
	Messages       int `json:"messages"`
	Questions      int `json:"questions"`
	Sessions       int `json:"sessions" doc:"Agent sessions begun"`
}

// A Day is one day's totals.
type Day struct {
	Date string `json:"date" doc:"UTC, such as 2026-11-15"`
	Totals
}

// A ClientCount tells how much an agent host was used.
type ClientCount struct {
	Client   string `json:"client"`
	Sessions int    `json:"sessions"`
}

// MemberTotals are one person's totals, with those of their agents.
type MemberTotals struct {
	User coord.User `json:"user"`
	Totals
}

// RepoTotals are one repo's totals.
type RepoTotals struct {
	Repo coord.RepoName `json:"repo"`
	Totals
}

// Stats are the figures of the last days.
type Stats struct {
	Days             int            `json:"days"`
	Since            coord.Time     `json:"since"`
	Totals           Totals         `json:"totals"`
	TimeSavedMinutes int            `json:"time_saved_minutes"`
	TimeSavedBasis   string         `json:"time_saved_basis" doc:"The rule behind the estimate, in words"`
	Daily            []Day          `json:"daily" doc:"Oldest first, every day of the window"`
	Heatmap          [7][24]int     `json:"heatmap" doc:"What was counted, by weekday (Monday first) and hour, UTC"`
	TopClients       []ClientCount  `json:"top_clients"`
	Members          []MemberTotals `json:"members" doc:"The most active first"`
	Repos            []RepoTotals   `json:"repos" doc:"The most active first"`
}

// A FeedRef is how to show something that an event names by id.
type FeedRef struct {
	Kind  string `json:"kind"`
	Label string `json:"label"`
	URL   string `json:"url"`
}

// A Feed is a page of events with the names of what they mention.
type Feed struct {
	Page[coord.Event]
	Refs map[string]FeedRef `json:"refs" doc:"By id"`
}
