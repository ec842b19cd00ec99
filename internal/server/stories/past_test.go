package stories

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A claim that one replica acknowledged is known to every other before the
// answer is on its way: no question asked after it is answered from before it.
// With the look at the counter taken out, some are.
func TestNoReplicaAnswersFromThePast(t *testing.T) {
	pairs := 40
	if n, err := strconv.Atoi(os.Getenv("SVC_TEST_PAIRS")); err == nil {
		pairs = n // make chaos
	}
	first := daemontest.Start(t, storetest.Postgres(t))
	replicas := []*daemontest.World{first, first.Replica(), first.Replica()}
	o := first.Org("Acme")
	holder, asker := o.Tokens[coord.Member], o.Tokens[coord.Admin]
	for _, w := range replicas {
		hook(t, w, asker, "asker", wire.HookSessionStart, "")
		if got := hook(t, w, asker, "asker", wire.HookPreEdit, "warm/up.go"); got.Decision != wire.Allow {
			t.Fatalf("an edit nobody minds: %+v", got)
		}
	}
	asks := func(w *daemontest.World, path string) bool {
		return hook(t, w, asker, "asker", wire.HookPreEdit, path).Decision == wire.Allow
	}
	stale := func(folder string) (n int) {
		last := ""
		for i := range pairs {
			path := fmt.Sprintf("%s/file%d.go", folder, i)
			there, here := replicas[i%3], replicas[(i+1+i/3%2)%3]
			if last != "" && !here.D.Live.Trusting.Load() { // quiet: what went before has arrived
				await.True(t, "the claim before to be known", func() (known bool) {
					here.D.Live.Recall(t.Context(), o.ID, func(ix *engine.Index) error { known = ix.Worker(last) != nil; return nil })
					return known
				})
			}
			var made wire.Declared
			there.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: holder, Body: map[string]any{
				"repo": "acme/api", "title": "hold " + path, "mode": "exclusive", "scope": map[string]any{"paths": []string{path}},
			}}, &made)
			if asks(here, path) {
				n++
			}
			last = made.Intent.ID
		}
		return n
	}
	if n := stale("asked"); n > 0 {
		t.Errorf("%d of %d edits were allowed against a claim that had been acknowledged", n, pairs)
	}
	for _, w := range replicas {
		w.D.Live.Trusting.Store(true)
	}
	n := stale("trusted")
	if n == 0 {
		t.Errorf("without asking, none of %d answers was from the past: this test shows nothing", pairs)
	}
	t.Logf("without asking, %d of %d answers were from the past", n, pairs)
}

func hook(t *testing.T, w *daemontest.World, token, session string, event wire.HookEvent, path string) (out wire.HookReply) {
	t.Helper()
	body := map[string]any{"event": event, "session": map[string]any{"tool": "codex", "external_id": session},
		"repo": map[string]any{"remote_fingerprints": []string{"github.com/acme/api"}, "branch": "work"}}
	if path != "" {
		body["paths"] = []string{path}
	}
	w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: token, Body: body}, &out)
	return out
}
