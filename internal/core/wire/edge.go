package wire

import (
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// The edge is the resident process on a person's machine. It keeps a copy of
// the live work of a repository and decides edits on it, as long as it holds
// the server's lease. These are the shapes of that protocol.

// Times of a lease. Nobody compares clocks: the server counts from when the
// question arrived, the edge from when it asked, which is earlier. Two answers
// in a row fit into a lease even if each is on its way for 700 ms: the second
// arrives before the first has run out.
const (
	LeaseTime   = 5 * time.Second         // how long an edge may decide by itself after it asked
	LeaseMargin = 500 * time.Millisecond  // by which the edge stops earlier, for clocks that run unevenly
	FollowHold  = 1500 * time.Millisecond // how long the server waits for something to tell
)

// FollowWork asks for what changed in the live work of a repository since the
// caller last asked. It says at once what the caller has seen: operations that
// could turn an allow into a block wait for that.
type FollowWork struct {
	Edge     string        `json:"edge" minLength:"8" maxLength:"64" doc:"A random name of this copy; the same in every request for it"`
	Remotes  []string      `json:"remote_fingerprints" minItems:"1" maxItems:"20" itemMinLength:"1" itemMaxLength:"500" doc:"<host>/<owner>/<name> of each remote, origin first"`
	Epoch    string        `json:"epoch,omitempty" maxLength:"64" doc:"Of the answer before; empty asks for a snapshot"`
	Seen     int64         `json:"seen,omitempty" minimum:"0" doc:"at of the answer before, once all of it is in the copy"`
	Next     string        `json:"next,omitempty" maxLength:"2000" doc:"next of the answer before, while a snapshot comes in pieces"`
	Sessions []EdgeSession `json:"sessions,omitempty" maxItems:"100" doc:"The agent sessions on this machine that the caller answers for"`
	Mark     string        `json:"mark,omitempty" maxLength:"64" doc:"mark of the answer before: places that did not change since are left out"`
	NoWait   bool          `json:"no_wait,omitempty" doc:"Answer at once, even if nothing changed"`
	Release  bool          `json:"release,omitempty" doc:"Give the lease back: the caller decides nothing any more"`
}

// An EdgeSession names an agent session as its host does.
type EdgeSession struct {
	Tool       string `json:"tool" minLength:"1" maxLength:"40"`
	ExternalID string `json:"external_id" minLength:"1" maxLength:"200"`
	Key        string `json:"key,omitempty" maxLength:"200" doc:"The session's key, where it has one"`
	Beat       bool   `json:"beat,omitempty" doc:"It has edited since the caller last asked: it is alive"`
}

// A WorkFrame is a piece of a snapshot of a repository's live work, or what
// changed since the one before.
type WorkFrame struct {
	Epoch   string      `json:"epoch" doc:"Positions are comparable within one epoch"`
	Reset   bool        `json:"reset,omitempty" doc:"Forget the copy: a snapshot begins with this answer"`
	At      int64       `json:"at" doc:"The position in the org's log that the copy has after this answer"`
	Next    string      `json:"next,omitempty" doc:"There is more of the snapshot: ask again with this. Until then the copy must not be used"`
	LeaseMS int64       `json:"lease_ms" doc:"How long after asking the caller may decide by itself; 0 while it may not"`
	Now     coord.Time  `json:"now" doc:"The server's clock, for words that say how long ago something was"`
	Repo    EdgeRepo    `json:"repo"`
	Items   []WorkItem  `json:"items"`
	Mark    string      `json:"mark"`
	Places  []EdgePlace `json:"places,omitempty" doc:"The sessions that were asked for and that the server knows; missing if they are as mark says"`
}

// An EdgeRepo is the repository that is followed.
type EdgeRepo struct {
	ID           string `json:"id"`
	FullName     string `json:"full_name"`
	IndexVersion int    `json:"index_version"`
}

// A WorkItem is one thing of the live work: as it is now, or gone.
type WorkItem struct {
	Kind  string `json:"kind" doc:"worker, change, lines, accepted or rules"`
	Key   string `json:"key"`
	Value string `json:"value,omitempty" doc:"JSON, as text; missing once it is gone"`
}

// An EdgePlace is a session of the caller's and what it works on.
type EdgePlace struct {
	EdgeSession
	SessionID    string      `json:"session_id"`
	StartedAt    coord.Time  `json:"started_at"`
	Branch       string      `json:"branch,omitempty"`
	WorktreeHash string      `json:"worktree_hash,omitempty"`
	Worker       string      `json:"worker" doc:"The id of its work: of its intent, else its own"`
	Lineage      string      `json:"lineage"`
	Intent       *HookIntent `json:"intent"`
	News         bool        `json:"news,omitempty" doc:"Something became of its conflicts, which its agent has not been told"`
	Other        bool        `json:"other,omitempty" doc:"It was last heard of with another token"`
}

// The edge's doors on the local service, for svc and its hooks. Whatever comes
// to EdgePath goes on to the server that EdgeServer names, with the caller's
// own Authorization header.
const (
	EdgePath   = "/edge"              // EdgePath + "/v1/hooks/evaluate", and every other path of the API
	EdgeStatus = "/edge/status"       // an EdgeReport
	EdgeKey    = "X-Svc-Edge-Key"     // the local service's token: only its person has it
	EdgeServer = "X-Svc-Edge-Server"  // such as https://svc.example.com
	EdgeBudget = "X-Svc-Edge-Budget"  // milliseconds in which a hook must be answered
	EdgeAnswer = "X-Svc-Edge-Answer"  // of an answer: an EdgeStep
	EdgeTrip   = "X-Svc-Edge-Trip-Ms" // of an answer: the last round trip to the server, in milliseconds
)

// An EdgeStep says how the edge came to an answer.
type EdgeStep string

const (
	EdgeDecided   EdgeStep = "decided"   // here, on a copy under a lease
	EdgeAsked     EdgeStep = "asked"     // by the server, over the warm connection
	EdgeSpooled   EdgeStep = "spooled"   // written down here, to be sent
	EdgeUnchecked EdgeStep = "unchecked" // by nobody
)

// An EdgeReport tells how the edge fares, for doctor, status and top.
type EdgeReport struct {
	Servers []EdgeServerReport `json:"servers"`
}

// An EdgeServerReport is about one server.
type EdgeServerReport struct {
	Server    string             `json:"server"`
	TripMS    int64              `json:"trip_ms" doc:"The last round trip; 0 while there was none"`
	Reached   *coord.Time        `json:"reached" doc:"When it last answered"`
	Problem   string             `json:"problem,omitempty" doc:"Why it does not answer, while it does not"`
	Spooled   int                `json:"spooled" doc:"Reports that wait to be sent"`
	Refused   int                `json:"refused" doc:"Reports that the server did not take"`
	Decided   int64              `json:"decided" doc:"Edits decided here since the edge started"`
	Asked     int64              `json:"asked" doc:"Edits that the server decided"`
	Unchecked int64              `json:"unchecked" doc:"Edits that nobody decided"`
	Repos     []EdgeFollowReport `json:"repos"`
}

// An EdgeFollowReport is about one repository that is followed.
type EdgeFollowReport struct {
	Repo    string `json:"repo"`
	At      int64  `json:"at"`
	LeaseMS int64  `json:"lease_ms" doc:"How long the edge may still decide by itself; 0 if it may not"`
	Items   int    `json:"items" doc:"The size of the copy"`
}

// Variables that name the files of a certificate, which is shown to a server
// that asks for one, and of its key.
const (
	ClientCert = "SVC_CLIENT_CERT"
	ClientKey  = "SVC_CLIENT_KEY"
)
