package e2e

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
)

// The page of events is what the API document says of them.
func TestTheReferenceOfEventsIsCurrent(t *testing.T) {
	isCurrent(t, "events.md", eventsPage(t))
}

func eventsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Events\n\n" + generated)
	b.WriteString(`What the audit log, ` + "`GET /v1/stream`, `svc watch`" + ` and [webhooks](../webhooks.md) tell. Payloads
hold refs and small facts, never what people wrote or code, and nothing of a private conversation but that it went on. The same is in
` + "`/openapi.json` under `webhooks`, as JSON Schema; `x-event-types`" + ` there is the list. Every event that the service writes in
its tests is held to it. A later version may add fields and types: ignore what you do not know.

| Type | When |
|---|---|
`)
	for _, row := range wire.Events {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", row.Type, anchor(row.Type), row.When)
	}
	a := api.New(nil)
	a.Document("1", "/")
	for _, row := range wire.Events {
		fmt.Fprintf(&b, "\n## %s\n\nWhen %s. Subject: %s.\n\n", row.Type, row.When, strings.Join(row.Subjects(), " or "))
		s := a.Schemas.Resolve(a.Schemas.Of(reflect.TypeOf(row.Payload), shape.Out))
		if len(s.Names()) > 0 {
			b.WriteString("| Payload | What it is |\n|---|---|\n")
		}
		for _, name := range s.Names() {
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, about(a, s, name))
		}
		text, err := json.MarshalIndent(example(t, a, row), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n```json\n%s\n```\n", text)
	}
	return strings.ReplaceAll(b.String(), "\n\n\n", "\n\n")
}

// example is an event in the order in which they are written.
func example(t *testing.T, a *api.API, row wire.EventRow) (e coord.Event) {
	t.Helper()
	text, err := json.Marshal(a.EventExample(row))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func about(a *api.API, s *shape.Schema, name string) string {
	p := s.Properties[name]
	text := p.Describe()
	if p.Items != nil {
		text += " of " + a.Schemas.Resolve(p.Items).Describe()
	}
	if !slices.Contains(s.Required, name) {
		text += ", if there is something to say"
	}
	if p.Description != "" {
		text += ". " + p.Description
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

func anchor(t coord.EventType) string { return strings.ReplaceAll(string(t), ".", "") }
