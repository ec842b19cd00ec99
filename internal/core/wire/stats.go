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
	StaleWrites    int `json:"stale_writes" doc:"Edits stopped on the person's machine because they would have undone lines that others changed there"`
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

// TimeSaved is the estimate of the time that was saved, with all that it is made
// of.
type TimeSaved struct {
	TimeSavedMinutes int         `json:"time_saved_minutes" doc:"The sum of time_saved, at least 0"`
	TimeSavedBasis   string      `json:"time_saved_basis" doc:"The rule behind the estimate, in words"`
	TimeSavedHidden  bool        `json:"time_saved_hidden" doc:"The org does not want the figure shown"`
	TimeSavedWorth   float64     `json:"time_saved_worth" doc:"In money, if the org says what a minute is worth; else 0"`
	TimeSavedIn      string      `json:"time_saved_currency" example:"EUR"`
	TimeSavedItems   []SavedTime `json:"time_saved" doc:"What the minutes are made of, newest first; the newest 500"`
	TimeSavedCount   int         `json:"time_saved_count" doc:"How many there are in all"`
}

// SavedTime is one conflict that was told and settled in time, or that was a
// false alarm.
type SavedTime struct {
	Ref      string             `json:"ref" example:"CF-3"`
	Kind     coord.ConflictKind `json:"kind"`
	Severity coord.Severity     `json:"severity"`
	Repo     coord.RepoName     `json:"repo"`
	Parties  []coord.Party      `json:"parties"`
	By       coord.SavedBy      `json:"by" doc:"How it ended: by a person, a rebase, a wait or a change of plan"`
	Who      *coord.User        `json:"who" doc:"Who acted on it last, if somebody did"`
	Minutes  int                `json:"minutes" doc:"Negative for a false alarm"`
	SeenAt   coord.Time         `json:"first_seen_at"`
	EndedAt  coord.Time         `json:"closed_at"`
}

// Stats are the figures of the last days.
type Stats struct {
	Days   int        `json:"days"`
	Since  coord.Time `json:"since"`
	Totals Totals     `json:"totals"`
	TimeSaved
	Daily      []Day          `json:"daily" doc:"Oldest first, every day of the window"`
	Heatmap    [7][24]int     `json:"heatmap" doc:"What was counted, by weekday (Monday first) and hour, UTC"`
	TopClients []ClientCount  `json:"top_clients"`
	Members    []MemberTotals `json:"members" doc:"The most active first"`
	Repos      []RepoTotals   `json:"repos" doc:"The most active first"`
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
