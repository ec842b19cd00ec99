package api

import (
	"reflect"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
)

// webhooks are the requests that endpoints get, one for each type of event.
func (a *API) webhooks() object {
	out := object{}
	for _, row := range wire.Events {
		s := a.eventSchema(row)
		out[string(row.Type)] = object{"post": object{
			"operationId": "on" + camel(row.Type),
			"summary":     row.When,
			"tags":        []string{"events"},
			"description": "Sent to the endpoints that asked for it, as /v1/webhooks has them; /v1/events and /v1/stream tell the same.",
			"parameters":  signature,
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": s, "example": a.EventExample(row)}}},
			"responses":   object{"2XX": object{"description": "It was taken. Anything else is tried again."}},
			"security":    []object{},
		}}
	}
	return out
}

// signature are the headers of the Standard Webhooks scheme.
var signature = []object{
	signed("webhook-id", "The same at every attempt of a delivery"),
	signed("webhook-timestamp", "Seconds since 1970 of this attempt"),
	signed("webhook-signature", "v1, and the base64 HMAC-SHA256 of id.timestamp.body; two, with a space between, while a secret changes"),
}

func signed(name, text string) object {
	return object{"name": name, "in": "header", "required": true, "schema": object{"type": "string"}, "description": text}
}

// eventSchema returns the schema of the events of a type. It is closed: what a
// payload may hold is all in its type. It stands by itself, since oapi-codegen
// leaves out what no path refers to.
func (a *API) eventSchema(row wire.EventRow) *shape.Schema {
	all := func(reflect.StructField) bool { return true }
	payload := a.Schemas.Inline(a.Schemas.Fields(reflect.TypeOf(row.Payload), shape.Out, all), false)
	payload.AdditionalProperties = false
	s := a.Schemas.Fields(reflect.TypeFor[coord.Event](), shape.Out, all)
	s.AdditionalProperties = false
	s.Description = row.When
	s.Properties["type"] = &shape.Schema{Type: "string", Enum: []any{string(row.Type)}}
	s.Properties["payload"] = payload
	s.Properties["actor"] = entity("user", "session", "service", "system")
	s.Properties["subject"] = entity(row.Subjects()...)
	return s
}

// entity is the schema of who or what an event is by or about.
func entity(kinds ...string) *shape.Schema {
	enum := make([]any, len(kinds))
	for i, k := range kinds {
		enum[i] = k
	}
	return &shape.Schema{Type: "object", AdditionalProperties: false, Required: []string{"kind", "id"},
		Properties: map[string]*shape.Schema{"kind": {Type: "string", Enum: enum}, "id": {Type: "string"}}}
}

// EventExample is an event of a type as an endpoint may get it.
func (a *API) EventExample(row wire.EventRow) any {
	e := a.Schemas.Example(a.eventSchema(row)).(object)
	id := func(kind string) object {
		if kind == "system" {
			return object{"kind": kind, "id": "svc"}
		}
		return object{"kind": kind, "id": "01936f3e-7c1a-7b32-9d58-2f1f6a0c4e11"}
	}
	e["id"], e["org_id"] = "42", "01936f3e-0000-7b32-9d58-2f1f6a0c4e11"
	e["actor"], e["subject"] = id("user"), id(row.Subjects()[0])
	return e
}

// camel makes a name of an event type: conflict.override_requested is
// ConflictOverrideRequested.
func camel(t coord.EventType) (out string) {
	for word := range strings.FieldsFuncSeq(string(t), func(r rune) bool { return r == '.' || r == '_' }) {
		out += strings.ToUpper(word[:1]) + word[1:]
	}
	return out
}
