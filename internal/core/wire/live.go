package wire

import "github.com/svc-hq/svc/internal/core/coord"

// GetLive asks what is under way in a file.
type GetLive struct {
	Repo string `query:"repo" required:"true" minLength:"1" maxLength:"500" form:"repo"`
	Path string `query:"path" required:"true" minLength:"1" maxLength:"1024" doc:"A file of the repo"`
	Base string `query:"base" maxLength:"64" doc:"Git blob id of the version whose lines the caller counts: ranges are told in it where svc knows how the two go together"`
}

// A LiveFile is what is under way in a file and has not landed. It changes
// with events of the stream: change.recorded names the paths, and those about
// an intent, a session or a contract may bring or end a claim.
type LiveFile struct {
	Repo      coord.RepoName `json:"repo"`
	Path      string         `json:"path"`
	Work      []LiveWork     `json:"work" doc:"The latest edit first"`
	Contracts []LiveContract `json:"contracts" doc:"What the file provides and code elsewhere uses"`
	Left      int            `json:"left" doc:"How many more are at work there than are listed"`
}

// A LiveWork is one piece of work in the file.
type LiveWork struct {
	SessionID   *string           `json:"session_id"`
	Developer   *coord.User       `json:"developer"`
	Own         bool              `json:"own" doc:"It is the caller's"`
	Tool        string            `json:"tool" peer:"line" doc:"The agent host; editor for a person's own edits"`
	Intent      *coord.IntentName `json:"intent" doc:"A draft shows its title to its own person only"`
	Branch      *string           `json:"branch" peer:"line"`
	Outside     *coord.Outside    `json:"outside,omitempty" doc:"Set for work whose people do not use svc: a pull request or a pushed branch"`
	Status      coord.FileStatus  `json:"status,omitempty" doc:"What became of the file; missing where it is only claimed"`
	Copy        string            `json:"copy,omitempty" doc:"Names the working copy"`
	Base        *string           `json:"base" doc:"Git blob id of the version whose lines are counted; null for a new file and for a claim"`
	Lines       []coord.LineCount `json:"lines" doc:"Lines of base that it replaced; a count of 0 is an insertion before start"`
	Definitions []LiveDefinition  `json:"definitions"`
	Since       coord.Time        `json:"since" doc:"When the work began"`
	EditedAt    *coord.Time       `json:"edited_at" doc:"When it last edited the file"`
	Claim       *coord.Claim      `json:"claim" doc:"What of the file it has claimed"`
	Moved       bool              `json:"moved,omitempty" doc:"The file has another path there, or had one"`
}

// A LiveDefinition is a definition that the work changes.
type LiveDefinition struct {
	Name   string           `json:"name" peer:"line"`
	Kind   string           `json:"kind"`
	Change coord.Change     `json:"change"`
	Lines  *coord.LineCount `json:"lines" doc:"Where it stands in base; null when it is new"`
}

// A LiveContract is a contract of the file with its users.
type LiveContract struct {
	Key   string `json:"key" peer:"line"`
	Line  int    `json:"line" doc:"As of the last scan"`
	Users int    `json:"users"`
	Repos int    `json:"repos" doc:"In how many repositories these are"`
}
