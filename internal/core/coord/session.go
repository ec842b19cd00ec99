package coord

// A SessionStatus tells how alive an agent session is.
type SessionStatus string

const (
	SessionActive  SessionStatus = "active"
	SessionIdle    SessionStatus = "idle"
	SessionEnded   SessionStatus = "ended"
	SessionExpired SessionStatus = "expired"
)

// Enum lists the values for validation and the API document.
func (SessionStatus) Enum() []string {
	return enum([]SessionStatus{SessionActive, SessionIdle, SessionEnded, SessionExpired})
}

// SessionExpiryHours is how long a session may be quiet before it expires.
const SessionExpiryHours = 12

// StatusAt returns what a session that was last heard of at heartbeat, and
// ended at ended if at all, is at the moment now.
func StatusAt(now, heartbeat Time, ended *Time, idleMinutes int) SessionStatus {
	quiet := now.Sub(heartbeat).Minutes()
	switch {
	case quiet >= SessionExpiryHours*60 && (ended == nil || ended.Sub(heartbeat).Hours() >= SessionExpiryHours):
		return SessionExpired
	case ended != nil:
		return SessionEnded
	case quiet >= float64(idleMinutes):
		return SessionIdle
	}
	return SessionActive
}

// A Session is one run of an agent in one repository.
type Session struct {
	ID              string        `json:"id"`
	Repo            RepoName      `json:"repo"`
	User            User          `json:"user"`
	Tool            string        `json:"tool"`
	Model           *string       `json:"model"`
	Branch          *string       `json:"branch" peer:"line"`
	Status          SessionStatus `json:"status"`
	Intent          *IntentName   `json:"intent"`
	StartedAt       Time          `json:"started_at"`
	LastHeartbeatAt Time          `json:"last_heartbeat_at"`
	EndedAt         *Time         `json:"ended_at"`
	StatusText      *string       `json:"status_text" peer:"inline" doc:"What its agent said last as it stopped, for teammates"`
	StatusAt        *Time         `json:"status_at"`
	File            *string       `json:"file" peer:"line" doc:"The file its agent wrote last, or is about to"`
	FailOpens       int           `json:"fail_opens" doc:"Hook events that the service did not answer: its agent went on unchecked"`
	FailOpensAt     *Time         `json:"fail_opens_at" doc:"When the service last heard of such events"`
	StoppedAt       *Time         `json:"stopped_at" doc:"When its agent's turn ended; null while it goes on"`
	Standing

	OrgID        string  `json:"-"`
	ExternalID   string  `json:"-"`
	LineageID    string  `json:"-"` // id of the topmost parent: a lineage never conflicts with itself
	TokenID      string  `json:"-"`
	WorktreeHash *string `json:"-"`
	HeadSHA      *string `json:"-"`
	BaseSHA      *string `json:"-"`
	AskedAt      *Time   `json:"-"` // since when its person is to answer it
	LastToolAt   *Time   `json:"-"`
}
