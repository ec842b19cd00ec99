package coord

// A SenderKind is what sort of sender a message has.
type SenderKind string

const (
	SenderUser    SenderKind = "user"
	SenderSession SenderKind = "session"
	SenderService SenderKind = "service"
	SenderSystem  SenderKind = "system"
)

// Enum lists the values for the API document.
func (SenderKind) Enum() []string {
	return enum([]SenderKind{SenderUser, SenderSession, SenderService, SenderSystem})
}

// A Sender is who wrote a message.
type Sender struct {
	Kind      SenderKind `json:"kind"`
	User      *User      `json:"user"`
	SessionID *string    `json:"session_id"`
	Tool      *string    `json:"tool" peer:"line"`
}

// An About names the record that a message or conversation is about.
type About struct {
	Kind string `json:"kind" enum:"intent,conflict,question,contract"`
	Ref  string `json:"ref" peer:"line"`
}

// An Ack is one person's acknowledgement of a message.
type Ack struct {
	User    User `json:"user"`
	AckedAt Time `json:"acked_at"`
}

// A Message is one post in a conversation.
type Message struct {
	ID             string  `json:"id"`
	ConversationID string  `json:"conversation_id"`
	From           Sender  `json:"from"`
	To             string  `json:"to" peer:"line"`
	Subject        *string `json:"subject" peer:"inline"`
	Body           string  `json:"body" peer:"block"`
	RequiresAck    bool    `json:"requires_ack"`
	Acks           []Ack   `json:"acks"`
	CreatedAt      Time    `json:"created_at"`
	ReadAt         *Time   `json:"read_at" doc:"When the caller read it"`
	DeliveredAt    *Time   `json:"delivered_at" doc:"When it went into one of the caller's agents' context"`
	About          *About  `json:"about"`
	// Receipts tell the sender of a direct message what became of it.
	Receipts []Receipt `json:"receipts" doc:"Of a direct message, for its sender: what became of it"`

	OrgID string `json:"-"`
	Seq   int64  `json:"-"`
}

// A Receipt is what one recipient made of a message. Delivery into an agent's
// context, an agent's reading and the person's own reading are apart.
type Receipt struct {
	User        User  `json:"user"`
	DeliveredAt *Time `json:"delivered_at" doc:"When it went into the context of one of their agents"`
	ReadAt      *Time `json:"read_at" doc:"When the person read it in the dashboard"`
	AgentReadAt *Time `json:"agent_read_at" doc:"When one of their agents read it"`
	AckedAt     *Time `json:"acked_at"`
}

// A ConversationKind tells channels from direct threads.
type ConversationKind string

const (
	Channel ConversationKind = "channel"
	Direct  ConversationKind = "direct"
)

// Enum lists the values for validation and the API document.
func (ConversationKind) Enum() []string { return []string{string(Channel), string(Direct)} }

// A Conversation is a channel or a direct thread.
type Conversation struct {
	ID           string           `json:"id"`
	Kind         ConversationKind `json:"kind"`
	Name         string           `json:"name" peer:"line"`
	To           string           `json:"to" doc:"The target that posts here"`
	Repo         *RepoName        `json:"repo"`
	Subject      *string          `json:"subject" peer:"inline"`
	Participants []User           `json:"participants"`
	About        *About           `json:"about"`
	MessageCount int              `json:"message_count"`
	UnreadCount  int              `json:"unread_count"`
	LastMessage  *Message         `json:"last_message"`
	CreatedAt    Time             `json:"created_at"`
	UpdatedAt    Time             `json:"updated_at"`
}

// A QuestionStatus is where a question stands.
type QuestionStatus string

const (
	QuestionOpen     QuestionStatus = "open"
	QuestionAnswered QuestionStatus = "answered"
	QuestionExpired  QuestionStatus = "expired"
)

// Enum lists the values for the API document.
func (QuestionStatus) Enum() []string {
	return enum([]QuestionStatus{QuestionOpen, QuestionAnswered, QuestionExpired})
}

// An Answer is one reply to a question.
type Answer struct {
	ID     string `json:"id"`
	Answer string `json:"answer" peer:"block"`
	By     Sender `json:"by"`
	At     Time   `json:"at"`
}

// A Question is something one agent wants to know of another's work.
type Question struct {
	ID        string         `json:"id"`
	To        string         `json:"to" peer:"line"`
	About     *string        `json:"about" peer:"line"`
	Question  string         `json:"question" peer:"block"`
	AskedBy   Sender         `json:"asked_by"`
	Repo      *RepoName      `json:"repo"`
	Status    QuestionStatus `json:"status"`
	Immediate *string        `json:"immediate" peer:"text" doc:"The answer from current state"`
	Answers   []Answer       `json:"answers"`
	CreatedAt Time           `json:"created_at"`
}
