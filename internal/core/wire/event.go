package wire

import "github.com/svc-hq/svc/internal/core/coord"

// ListEvents reads the audit log, newest first.
type ListEvents struct {
	List
	Type    []coord.EventType `query:"type" maxItems:"100"`
	Subject string            `query:"subject" format:"uuid" doc:"Only events about this record"`
	Since   string            `query:"since" format:"date-time" doc:"Only what happened then or later"`
	Until   string            `query:"until" format:"date-time" doc:"Only what happened before it"`
}

// Stream follows the events as they happen.
type Stream struct {
	Types       []coord.EventType `query:"types" maxItems:"100"`
	Repos       []string          `query:"repos" maxItems:"200" form:"repo" doc:"Repo selectors"`
	LastEventID string            `query:"last_event_id" maxLength:"30" doc:"Resume after this id; the header Last-Event-ID does the same"`
}
