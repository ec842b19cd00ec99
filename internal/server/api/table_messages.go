package api

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/ops/moments"
	"github.com/svc-hq/svc/internal/server/ops/talk"
)

const limited = problem.RateLimited

var (
	readMessages  = scope(coord.ScopeMessagesRead)
	writeMessages = scope(coord.ScopeMessagesWrite)
	anyMemory     = scope(coord.ScopeIntentsRead, coord.ScopeConflictsRead, coord.ScopeMessagesRead)
)

var attention = []Op{
	{
		Route:    "GET /v1/search",
		Summary:  "Search the team's memory of the last 90 days; kinds the token cannot read are skipped",
		Scopes:   anyMemory,
		Personal: true,
		Success:  200,
		Problems: fails(missing),
		Run:      run((*talk.Service).Search),
	},
	{
		Tool:     "history_search",
		Scopes:   anyMemory,
		Personal: true,
		Success:  200,
		Problems: fails(missing),
		Run:      run((*talk.Service).HistorySearch),
	},
	{
		Route:    "GET /v1/attention",
		Summary:  "What wants your attention; kinds the token cannot read are skipped",
		Scopes:   scope(coord.ScopeConflictsRead, coord.ScopeMessagesRead),
		Personal: true,
		Success:  200,
		Run:      run((*talk.Service).GetAttention),
	},
	{
		Route:    "POST /v1/attention/dismiss",
		Summary:  "Hide items until they change",
		Personal: true,
		Success:  204,
		Run:      run((*talk.Service).DismissAttention),
	},
	{
		Route:    "POST /v1/attention/mute",
		Summary:  "Not be asked about a kind, a repo or a thread any more, or be asked again",
		Personal: true,
		Success:  204,
		Problems: fails(missing),
		Run:      run((*talk.Service).MuteAttention),
	},
}

var messages = []Op{
	{
		Route:    "GET /v1/messages",
		Summary:  "Your inbox, newest first; what it returns becomes read",
		Scopes:   readMessages,
		Personal: true,
		Success:  200,
		Run:      run((*talk.Service).ListMessages),
	},
	{Tool: "inbox", Scopes: readMessages, Personal: true, Success: 200, Problems: fails(limited), Run: run((*moments.Service).Inbox)},
	{Route: "POST /v1/messages", Tool: "message_send", Summary: "Send a message", Scopes: writeMessages,
		Success: 201, Events: emits(coord.EventMessageSent), Problems: fails(missing, taken, limited), Run: run((*talk.Service).SendMessage)},
	{Route: "POST /v1/messages/{id}/ack", Summary: "Acknowledge a message", Scopes: writeMessages,
		Success: 200, Events: emits(coord.EventMessageAcked), Problems: fails(missing), Run: run((*talk.Service).AckMessage)},
	{
		Tool:     "message_ack",
		Scopes:   writeMessages,
		Success:  200,
		Events:   emits(coord.EventMessageAcked),
		Problems: fails(missing),
		Run:      run((*talk.Service).MessageAck),
	},
	{
		Route:   "GET /v1/conversations",
		Summary: "Channels and your direct threads, the latest active first",
		Scopes:  readMessages,
		Success: 200,
		Run:     run((*talk.Service).ListConversations),
	},
	{
		Route:    "GET /v1/conversations/{id}",
		Summary:  "One conversation",
		Scopes:   readMessages,
		Success:  200,
		Problems: fails(missing),
		Run:      run((*talk.Service).GetConversation),
	},
	{Route: "GET /v1/conversations/{id}/messages", Summary: "A conversation's messages, oldest first", Scopes: readMessages,
		Success: 200, Problems: fails(missing), Run: run((*talk.Service).ListConversationMessages)},
	{
		Route:    "POST /v1/conversations/{id}/messages",
		Summary:  "Post to a conversation; to a direct thread only as one who takes part",
		Scopes:   writeMessages,
		Success:  201,
		Events:   emits(coord.EventMessageSent),
		Problems: fails(missing, taken, limited),
		Run:      run((*talk.Service).PostToConversation),
	},
	{Tool: "channels", Scopes: readMessages, Success: 200, Class: Reading, Run: run((*talk.Service).ListChannels)},
	{Tool: "channel_read", Scopes: readMessages, Success: 200, Problems: fails(missing), Run: run((*talk.Service).ReadChannel)},
	{
		Route:    "POST /v1/questions",
		Tool:     "ask",
		Summary:  "Ask who works on something; a contract is answered at once from the current state",
		Scopes:   writeMessages,
		Success:  201,
		Events:   emits(coord.EventQuestionAsked, coord.EventMessageSent),
		Problems: fails(missing, taken, limited),
		Run:      run((*talk.Service).Ask),
	},
	{
		Route:    "POST /v1/questions/{id}/answers",
		Summary:  "Answer a question",
		Scopes:   writeMessages,
		Success:  201,
		Events:   emits(coord.EventQuestionAnswered, coord.EventMessageSent),
		Problems: fails(missing, taken),
		Run:      run((*talk.Service).AnswerQuestion),
	},
	{
		Tool:     "answer",
		Scopes:   writeMessages,
		Success:  201,
		Events:   emits(coord.EventQuestionAnswered),
		Problems: fails(missing, taken),
		Run:      run((*talk.Service).AnswerTool),
	},
}
