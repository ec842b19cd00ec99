package wire

import "github.com/svc-hq/svc/internal/core/coord"

// Limits of messages and questions, in characters.
const (
	MaxMessageBody = 4000
	MaxQuestion    = 2000
	MaxAnswer      = 4000
)

// SendMessage posts a message.
type SendMessage struct {
	To          string  `json:"to" minLength:"1" maxLength:"500" doc:"user:<email>, intent:INT-n, conflict:CF-n, thread:<id>, channel:team, channel:<owner/name> or contract:<owner/name>#<key>: everybody who answers for code that uses it" example:"user:ada@example.com"`
	Body        string  `json:"body" minLength:"1" maxLength:"4000"`
	Subject     *string `json:"subject" maxLength:"200"`
	RequiresAck bool    `json:"requires_ack" default:"false" doc:"Ask the recipients to acknowledge it"`
	SessionID   *string `json:"session_id" format:"uuid" doc:"Default: your latest session"`
}

// ListMessages asks for the caller's inbox over REST.
type ListMessages struct {
	List
	UnreadOnly bool `query:"unread_only"`
}

// InboxTool asks for the caller's inbox from a tool.
type InboxTool struct {
	UnreadOnly  bool `json:"unread_only" default:"true"`
	Limit       int  `json:"limit" minimum:"1" maximum:"100" default:"20"`
	WaitSeconds int  `json:"wait_seconds" minimum:"0" maximum:"60" default:"0" doc:"At most 55 s"`
}

// MaxWaitSeconds is the longest that any wait lasts.
const MaxWaitSeconds = 55

// Inbox is what waits for the caller, newest first.
type Inbox struct {
	Items    []coord.Message `json:"items"`
	Unread   int             `json:"unread" doc:"How many more are unread"`
	WaitedMS *int            `json:"waited_ms" doc:"null without waiting"`
	TimedOut *bool           `json:"timed_out" doc:"null without waiting"`
}

// AckMessage acknowledges a message over REST.
type AckMessage struct {
	ID string `path:"id"`
}

// MessageAck acknowledges a message from a tool.
type MessageAck struct {
	Message string `json:"message" format:"uuid" doc:"The message's id"`
}

// Acked tells when a message was acknowledged.
type Acked struct {
	ID      string     `json:"id"`
	AckedAt coord.Time `json:"acked_at"`
}

// ListConversations asks for channels and direct threads.
type ListConversations struct {
	Kind   *coord.ConversationKind `query:"kind"`
	Limit  int                     `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Cursor string                  `query:"cursor" maxLength:"1000" doc:"next_cursor of the page before"`
}

// ConversationMessages asks for a page of a conversation, oldest first.
type ConversationMessages struct {
	ID     string `path:"id"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Before string `query:"before" format:"uuid" doc:"Only messages older than this one; next_cursor of the newer page"`
}

// PostToConversation adds a message to a conversation.
type PostToConversation struct {
	ID          string `path:"id"`
	Body        string `json:"body" minLength:"1" maxLength:"4000"`
	RequiresAck bool   `json:"requires_ack" default:"false"`
}

// Channels are the team's channel and one per repo.
type Channels struct {
	Items []Channel `json:"items"`
}

// A Channel is one channel as an agent sees it.
type Channel struct {
	ID           string          `json:"id"`
	Name         string          `json:"name" peer:"line"`
	To           string          `json:"to" peer:"line" doc:"The target for message_send"`
	Repo         *coord.RepoName `json:"repo"`
	Current      bool            `json:"current" doc:"It is the channel of your session's repo"`
	MessageCount int             `json:"message_count"`
	NewCount     int             `json:"new_count" doc:"Posts that are new to you"`
	LastMessage  *coord.Message  `json:"last_message"`
}

// ChannelRead asks for the latest posts of a channel.
type ChannelRead struct {
	Channel string `json:"channel" minLength:"1" maxLength:"500" doc:"team or owner/name; a leading # is ignored"`
	Limit   int    `json:"limit" minimum:"1" maximum:"50" default:"20"`
}

// ChannelPosts are the latest posts of a channel, oldest first.
type ChannelPosts struct {
	Channel Channel         `json:"channel"`
	Items   []coord.Message `json:"items"`
}

// Ask puts a question.
type Ask struct {
	To        string  `json:"to" minLength:"3" maxLength:"500" doc:"intent:INT-n, user:<email>, or a contract, route or symbol key"`
	Question  string  `json:"question" minLength:"1" maxLength:"2000"`
	About     *string `json:"about" minLength:"1" maxLength:"500" doc:"A contract key, when to is a person or intent"`
	Repo      *string `json:"repo" maxLength:"500" form:"repo or empty"`
	SessionID *string `json:"session_id" format:"uuid"`
}

// AnswerQuestion answers a question over REST.
type AnswerQuestion struct {
	ID        string  `path:"id"`
	Answer    string  `json:"answer" minLength:"1" maxLength:"4000"`
	SessionID *string `json:"session_id" format:"uuid"`
}

// AnswerTool answers a question from a tool.
type AnswerTool struct {
	Question  string  `json:"question" format:"uuid" doc:"The question's id, from your briefing"`
	Answer    string  `json:"answer" minLength:"1" maxLength:"4000"`
	SessionID *string `json:"session_id" format:"uuid"`
}

// GetAttention asks what wants the caller's attention.
type GetAttention struct {
	Limit int `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// Attention is what wants a person's attention, the oldest need first within
// the most pressing kind.
type Attention struct {
	Items  []coord.AttentionItem       `json:"items"`
	Total  int                         `json:"total"`
	ByKind map[coord.AttentionKind]int `json:"by_kind"`
	Mutes  []coord.Mute                `json:"mutes" doc:"What you asked not to be shown"`
	Muted  int                         `json:"muted" doc:"How many items that holds back now"`
}

// MuteAttention stops or starts being asked about something.
type MuteAttention struct {
	coord.Mute
	Off bool `json:"off" doc:"true: ask again"`
}

// DismissAttention hides items until they change.
type DismissAttention struct {
	IDs []string `json:"ids" required:"true" minItems:"1" maxItems:"100" itemMinLength:"1" itemMaxLength:"200"`
}

// Search looks through the team's memory over REST.
type Search struct {
	Q     string             `query:"q" required:"true" minLength:"2" maxLength:"500"`
	Kinds []coord.MemoryKind `query:"kinds" maxItems:"6" doc:"Default: all"`
	Repo  string             `query:"repo" maxLength:"500" form:"repo or empty"`
	Limit int                `query:"limit" minimum:"1" maximum:"50" default:"20"`
}

// HistorySearch looks through the team's memory from a tool.
type HistorySearch struct {
	Q     string             `json:"q" minLength:"2" maxLength:"500" doc:"Words to look for"`
	Kinds []coord.MemoryKind `json:"kinds" maxItems:"6" doc:"Default: all"`
	Repo  *string            `json:"repo" maxLength:"500" form:"repo or empty"`
	Limit int                `json:"limit" minimum:"1" maximum:"50" default:"10"`
}
