package rest_test

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// The feed names every record that its events are about, and says nothing of
// what people wrote to each other.
func TestTheFeedNamesWhatItsEventsAreAbout(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		post := func(path string, body map[string]any) {
			t.Helper()
			w.Must(201, daemontest.Request{Method: "POST", Path: path, Token: o.Owner(), Body: body}, nil)
		}
		post("/v1/repos", map[string]any{"full_name": "acme/shop"})
		post("/v1/messages", map[string]any{"to": "channel:team", "body": "hunter2"})
		post("/v1/messages", map[string]any{"to": "user:" + o.Users[coord.Member].Email, "body": "hunter2", "subject": "hunter2"})
		post("/v1/questions", map[string]any{"to": "user:" + o.Users[coord.Member].Email, "question": "hunter2?"})
		w.Must(200, daemontest.Request{Method: "PATCH", Path: "/v1/org", Token: o.Owner(),
			Body: map[string]any{"data_mode": "metadata_only"}}, nil)
		var feed wire.Feed
		res := w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/feed?limit=100", Token: o.Tokens[coord.Viewer]}, &feed)
		if strings.Contains(string(res.Body), "hunter2") {
			t.Errorf("the feed tells what was written: %s", res.Body)
		}
		seen := map[coord.EventType]bool{}
		for _, e := range feed.Items {
			seen[e.Type] = true
			if r, ok := feed.Refs[e.Subject.ID]; !ok || r.Label == "" || r.URL == "" {
				t.Errorf("%s: its subject %v has no name: %+v", e.Type, e.Subject, r)
			}
			if id, ok := e.Payload["conversation_id"].(string); ok && feed.Refs[id].Kind != "conversation" {
				t.Errorf("%s: the conversation has no name: %+v", e.Type, feed.Refs[id])
			}
			if e.Type == coord.EventMessageSent && e.Payload["kind"] == "direct" && e.Payload["recipients"] != nil {
				t.Errorf("everybody is told who reads a direct message: %v", e.Payload)
			}
			if e.Type == coord.EventQuestionAsked && (e.Payload["to_user"] != nil || e.Payload["to_session"] != nil) {
				t.Errorf("everybody is told whom a private question is for: %v", e.Payload)
			}
		}
		for _, want := range []coord.EventType{coord.EventRepoRegistered, coord.EventMessageSent, coord.EventQuestionAsked,
			coord.EventOrgUpdated} {
			if !seen[want] {
				t.Errorf("no %s in the feed", want)
			}
		}
	})
}
