package daemontest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// byHand are shown by tests that have no World, which ask Promised.
var byHand = map[string][]coord.EventType{"TestAttemptsThatEndLateSettleNothingAnew": {coord.EventWebhookDisabled}}

// Every type of event has a row, and a test that shows one which is held to its
// schema.
func TestEveryTypeOfEventIsShown(t *testing.T) {
	rows, shown := map[coord.EventType]int{}, map[coord.EventType]bool{}
	for _, r := range wire.Events {
		rows[r.Type]++
	}
	for _, tests := range []map[string][]coord.EventType{daemontest.Shown, byHand} {
		for name, types := range tests {
			if !isThere(t, "func "+name+"(t *testing.T)") {
				t.Errorf("there is no %s any more", name)
			}
			for _, e := range types {
				shown[e] = true
			}
		}
	}
	for _, e := range coord.EventTypes() {
		if rows[e] != 1 {
			t.Errorf("%s has %d rows in wire.Events, want 1", e, rows[e])
		}
		if !shown[e] {
			t.Errorf("no test shows an event %s; name one in Shown", e)
		}
	}
	if len(wire.Events) != len(coord.EventTypes()) {
		t.Errorf("%d rows for %d types", len(wire.Events), len(coord.EventTypes()))
	}
}

// An event that says more, or less, or something else than its type, is found.
func TestWhatWasNotPromisedIsFound(t *testing.T) {
	const id = "01936f3e-7c1a-7b32-9d58-2f1f6a0c4e11"
	good := func() coord.Event {
		return coord.Event{ID: "1", Type: coord.EventInviteAccepted, Version: 1, OrgID: id, Actor: coord.Entity{Kind: "user", ID: id},
			Subject: coord.Entity{Kind: "invite", ID: id}, Payload: map[string]any{"role": "member", "user_id": id}}
	}
	if err := daemontest.Promised(good()); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*coord.Event){
		"more":          func(e *coord.Event) { e.Payload["body"] = "secret" },
		"less":          func(e *coord.Event) { delete(e.Payload, "role") },
		"another value": func(e *coord.Event) { e.Payload["role"] = "king" },
		"not an id":     func(e *coord.Event) { e.Payload["user_id"] = "ana" },
		"null":          func(e *coord.Event) { e.Payload["user_id"] = nil },
		"of another":    func(e *coord.Event) { e.Subject.Kind = "token" },
		"by a ghost":    func(e *coord.Event) { e.Actor.Kind = "ghost" },
		"another type":  func(e *coord.Event) { e.Type = coord.EventTokenRevoked },
		"no such type":  func(e *coord.Event) { e.Type = "tea.served" },
	} {
		e := good()
		if spoil(&e); daemontest.Promised(e) == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

// isThere looks for a text in the tests of the server.
func isThere(t *testing.T, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || found || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		found = strings.Contains(string(source), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
