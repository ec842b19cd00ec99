package api_test

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
)

// What is asked before an edit is refused last, lists and figures first, and
// whether the service is well is always told.
func TestEveryCallHasAClass(t *testing.T) {
	own := map[string]api.Class{
		"GET /healthz":         api.Vital,
		"GET /readyz":          api.Vital,
		"POST /v1/scope-check": api.Deciding,
		"POST /v1/push-check":  api.Deciding,
		"tool wait_for":        api.Waiting,
		"POST /v1/work/follow": api.Waiting,
		"tool channels":        api.Reading,
	}
	for _, op := range api.Table {
		want := api.Recording
		if strings.HasPrefix(op.Route, "GET ") {
			want = api.Reading
		}
		if c, ok := own[op.Key()]; ok {
			want = c
		}
		if got := op.ClassOf(nil); got != want {
			t.Errorf("%s is %s, want %s", op.Key(), got, want)
		}
	}
	hook, inbox := find(t, "POST /v1/hooks/evaluate"), find(t, "tool inbox")
	for _, e := range wire.HookEvents() {
		want := api.Recording
		if strings.HasPrefix(string(e), "pre_") {
			want = api.Deciding
		}
		if got := hook.ClassOf(&wire.EvaluateHook{HookRequest: wire.HookRequest{Event: e}}); got != want {
			t.Errorf("a hook's %s is %s, want %s", e, got, want)
		}
	}
	if got := inbox.ClassOf(&wire.InboxTool{WaitSeconds: 5}); got != api.Waiting {
		t.Errorf("an inbox that waits is %s", got)
	}
	if got := inbox.ClassOf(&wire.InboxTool{}); got != api.Recording {
		t.Errorf("an inbox that does not wait is %s", got)
	}
}

func find(t *testing.T, key string) api.Op {
	for _, op := range api.Table {
		if op.Key() == key {
			return op
		}
	}
	t.Fatalf("there is no %s", key)
	return api.Op{}
}
