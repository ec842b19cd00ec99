package work_test

import (
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// A session may declare after it has ended, as when its last call is late. Nobody
// works on that intent, and whoever it keeps out hears so: the index may not take
// the intent over from the write, which does not know when it was left.
func TestAClaimOfASessionThatHasEndedSaysSo(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		bob, ana := x.Agent(x.Bob, teamtest.APIRepo), x.Agent(x.Ada, teamtest.APIRepo)
		x.Hook(ana, wire.HookSessionEnd, nil)
		x.W.Must(201, request{Method: "POST", Path: "/v1/intents", Token: ana.Token, Body: map[string]any{"title": "Rotate the tokens",
			"repo": teamtest.APIRepo, "session_id": ana.Session, "mode": "exclusive", "scope": map[string]any{"paths": []string{"a.go"}}}}, nil)
		reply := x.Hook(bob, wire.HookPreEdit, map[string]any{"paths": []string{"a.go"}})
		if reply.Decision != wire.Block {
			t.Errorf("the edit of what is claimed: %+v", reply)
		}
		teamtest.Contains(t, "the reason", reply.Reason, "INT-1", "the holder's session ended")
	})
}
