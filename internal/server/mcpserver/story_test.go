package mcpserver_test

import (
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Three agents work in one repository and have nothing but the tools.
func TestThreeAgentsCoordinate(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob, cyd := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api"), s.agent("Cyd", "acme/api")

		// Ana claims the login for herself; Bob wants it too and is told.
		d := do[wire.Declared](ana, "intent_declare", args{
			"title": "Rework login",
			"mode":  "exclusive",
			"scope": args{"paths": []string{"auth/login.go"}, "contracts": []string{"http:POST /login"}},
		})
		if d.Intent.EffectiveMode != coord.Exclusive || len(d.Conflicts) != 0 {
			t.Fatalf("Ana declared %+v", d)
		}
		has(t, bob.call("scope_check", paths("auth/login.go")).Text, "BLOCK", "INT-1")
		told := do[wire.Declared](bob, "intent_declare", args{
			"title": "Lock out after ten tries",
			"mode":  "exclusive",
			"scope": paths("auth/login.go"),
		})
		if told.Intent.Status != coord.IntentBlocked || len(told.Conflicts) == 0 || told.Conflicts[0].Severity != coord.SeverityBlock {
			t.Fatalf("Bob declared %+v", told)
		}
		cf := told.Conflicts[0]

		// He answers the conflict and writes to her; she hears of it while she
		// waits, and answers.
		waits := later(ana, "inbox", args{"wait_seconds": 30})
		waiting(t, s.World, 1)
		do[coord.Message](bob, "message_send", args{"to": "intent:INT-1", "body": "How long will you need?", "requires_ack": true})
		letter := decode[wire.Inbox](t, <-waits).Items[0]
		do[wire.Acked](ana, "message_ack", args{"message": letter.ID})
		do[coord.Conflict](bob, "conflict_respond", args{"conflict": cf.Ref, "action": "propose_sequence", "note": "you first"})
		do[coord.Message](ana, "message_send", args{"to": "thread:" + letter.ConversationID, "body": "An hour; wait for it."})
		has(t, bob.call("inbox", nil).Text, "An hour")

		// Bob waits for the file, Cyd for the conflict of the two.
		file, conflict := later(bob, "wait_for", args{"path": "auth/login.go"}), later(cyd, "wait_for", args{"conflict": cf.Ref})
		waiting(t, s.World, 2)
		do[wire.HandedOff](ana, "intent_close", args{"intent": "INT-1", "outcome": "merged"})
		free := decode[wire.Waited](t, <-file)
		if free.Status != "free" || *free.Outcome != "released" || !free.Granted {
			t.Errorf("Bob waited: %+v", free)
		}
		if w := decode[wire.Waited](t, <-conflict); w.Status != "free" {
			t.Errorf("Cyd waited: %+v", w)
		}
		mine := do[wire.TeamPicture](bob, "team_context", nil)
		if mine.Intent.EffectiveMode != coord.Exclusive || mine.Intent.Status != coord.IntentActive || len(mine.Conflicts) != 0 {
			t.Errorf("Bob's intent now: %+v", mine.Intent)
		}

		// Bob hands his work to Cyd, who takes it up and asks him about it.
		do[wire.HandedOff](bob, "intent_handoff", args{"to": cyd.user.Email, "note": "The counter is in redis."})
		has(t, cyd.call("inbox", nil).Text, told.Intent.Ref, "The counter is in redis.")
		adopted := do[wire.Declared](cyd, "intent_adopt", args{"ref": told.Intent.Ref})
		if *adopted.Intent.SessionID != cyd.session || adopted.Intent.EffectiveMode != coord.Exclusive {
			t.Errorf("Cyd adopted %+v", adopted.Intent)
		}
		q := do[coord.Question](cyd, "ask", args{"to": "user:" + bob.user.Email, "question": "Which key?", "about": "http:POST /login"})
		if q.Immediate == nil {
			t.Error("nothing is known of the contract")
		}
		answer := later(cyd, "inbox", args{"wait_seconds": 30})
		waiting(t, s.World, 1)
		do[coord.Question](bob, "answer", args{"question": q.ID, "answer": "login:<user>"})
		has(t, (<-answer).Text, "login:")
		has(t, bob.call("scope_check", paths("auth/login.go")).Text, "BLOCK", "Cyd")
		do[wire.HandedOff](cyd, "intent_close", args{"intent": told.Intent.Ref, "outcome": "merged"})
		has(t, bob.call("scope_check", paths("auth/login.go")).Text, "ALLOW")
		waiting(t, s.World, 0)
	})
}
