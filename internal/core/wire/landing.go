package wire

import "github.com/svc-hq/svc/internal/core/coord"

// GetLanding asks in which order the live work of a repository is to land.
type GetLanding struct {
	NamedRepo
	If []string `query:"if" maxItems:"50" itemMaxLength:"20" doc:"Intents that land first, in this order, such as INT-4,INT-2: what would that cost?"`
}

// A Landing is an order in which live work lands, and what it costs.
type Landing struct {
	Repo  coord.RepoName `json:"repo"`
	Steps []LandingStep  `json:"steps"`
	LandingPrice
	Best LandingPrice `json:"best" doc:"The price of the order that costs least; the same unless if asks for another"`
}

// A LandingPrice is what an order costs.
type LandingPrice struct {
	LinesRedone int `json:"lines_redone" doc:"Lines that somebody has to write again, after who landed before"`
	Breaks      int `json:"breaks" doc:"Breaks between repositories that no merge would tell of"`
}

// A LandingStep is one piece of work in the order.
type LandingStep struct {
	Place     int               `json:"place"`
	Intent    *coord.IntentName `json:"intent"`
	SessionID *string           `json:"session_id"`
	User      *coord.User       `json:"user"`
	Repo      coord.RepoName    `json:"repo"`
	Branch    *string           `json:"branch" peer:"line"`
	Outside   *coord.Outside    `json:"outside,omitempty" doc:"Set for work whose people do not use svc: a pull request or a pushed branch"`
	Reason    string            `json:"reason" peer:"clean" doc:"Why it lands here"`
	Redo      []LandingRedo     `json:"redo" doc:"What it does again because of who landed before"`
	Conflicts []string          `json:"conflicts" doc:"Live conflicts with who landed before"`
	LandingPrice
}

// A LandingRedo is what one landing makes of another's work.
type LandingRedo struct {
	After string             `json:"after" peer:"line" doc:"The intent that landed before, or the person without one"`
	Kind  coord.ConflictKind `json:"kind"`
	Place string             `json:"place" peer:"line" doc:"A file or a contract"`
	Lines int                `json:"lines"`
	Break bool               `json:"break" doc:"Broken between two repositories, whether or not anybody merges"`
}
