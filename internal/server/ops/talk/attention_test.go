package talk_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

func (x *team) attention(token, query string) (out wire.Attention) {
	x.Helper()
	x.W.Must(200, request{Method: "GET", Path: "/v1/attention" + query, Token: token}, &out)
	return out
}

func (x *team) dismiss(token string, ids ...string) {
	x.Helper()
	x.W.Must(204, request{Method: "POST", Path: "/v1/attention/dismiss", Token: token, Body: map[string]any{"ids": ids}}, nil)
}

func ofKind(a wire.Attention, k coord.AttentionKind) []coord.AttentionItem {
	return slices.DeleteFunc(slices.Clone(a.Items), func(i coord.AttentionItem) bool { return i.Kind != k })
}

func TestWhatWantsAttention(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		if got := x.attention(x.Bob.Token, ""); got.Total != 0 || len(got.Items) != 0 || len(got.ByKind) != 0 {
			t.Errorf("at first = %+v", got)
		}
		clash := x.conflict(x.Bob, x.Cyd)
		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/conflicts/" + clash.Ref + "/actions",
			Token:  x.Cyd.Token,
			Body:   map[string]any{"action": "request_override"},
		}, nil)
		x.W.Must(201, request{
			Method: "POST",
			Path:   "/v1/messages",
			Token:  x.Ada.Token,
			Body:   map[string]any{"to": "user:" + x.Bob.Email, "body": "freeze", "requires_ack": true},
		}, nil)
		x.Send(x.Cyd, "user:"+x.Bob.Email, "hello")
		x.Send(x.Cyd, "user:"+x.Bob.Email, "hello again")
		x.W.Must(201, request{
			Method: "POST",
			Path:   "/v1/questions",
			Token:  x.Ada.Token,
			Body:   map[string]any{"to": "user:" + x.Bob.Email, "question": "why?"},
		}, nil)
		i := x.Intent(x.Cyd, webRepo, "Passed on", "x.ts")
		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/intents/" + i.Ref + "/handoff",
			Token:  x.Cyd.Token,
			Body:   map[string]any{"to": x.Bob.Email},
		}, nil)
		x.W.Must(201, request{
			Method: "POST",
			Path:   "/v1/invites",
			Token:  x.Ada.Token,
			Body:   map[string]any{"role": "member", "email": "new@example.com"},
		}, nil)
		silent := x.Agent(x.Bob, apiRepo)
		x.W.Advance(2 * time.Hour)
		x.Must(silent.Token, "channels", nil, nil) // at work, without hooks
		if err := x.W.D.Ops.Work.FlushBeats(t.Context()); err != nil {
			t.Fatal(err)
		}

		got := x.attention(x.Bob.Token, "")
		want := map[coord.AttentionKind]int{
			coord.AttentionConflict:        1,
			coord.AttentionOverrideRequest: 1,
			coord.AttentionAck:             1,
			coord.AttentionMessage:         2,
			coord.AttentionQuestion:        1,
			coord.AttentionHandoff:         1,
			coord.AttentionInvite:          1,
			coord.AttentionSilentHooks:     1,
		}
		if d := cmp.Diff(want, got.ByKind); d != "" || got.Total != len(got.Items) || got.Total != 9 {
			t.Errorf("by kind (-want +got):\n%s%+v", d, got.Items)
		}
		for _, item := range got.Items {
			if item.Title == "" || item.Detail == "" || item.Ref == nil || item.URL == "" || item.Since == 0 || len(item.Actions) == 0 {
				t.Errorf("incomplete: %+v", item)
			}
		}
		if few := x.attention(x.Bob.Token, "?limit=2"); len(few.Items) != 2 || few.Total != 9 ||
			!slices.Equal(few.Items[0].Actions, got.Items[0].Actions) {
			t.Errorf("limited = %+v", few)
		}
		// A member who is party to nothing of it sees only what is theirs.
		viewer := x.attention(x.O.Tokens[coord.Viewer], "")
		if viewer.Total != 0 {
			t.Errorf("a bystander = %+v", viewer.Items)
		}
		// Kinds that the token cannot read are skipped.
		only := x.attention(x.W.Token(x.O, &x.Bob.User, coord.ScopeMessagesRead), "")
		if kinds := slices.Sorted(maps.Keys(only.ByKind)); !slices.Equal(kinds, []coord.AttentionKind{
			coord.AttentionAck, coord.AttentionMessage, coord.AttentionQuestion,
		}) {
			t.Errorf("with messages:read alone = %v", kinds)
		}
		x.W.Must(403, request{Method: "GET", Path: "/v1/attention", Token: x.W.Token(x.O, &x.Bob.User, coord.ScopeIntentsRead)}, nil)
	})
}

// Who asks for an override is not asked for it; whose agent asks is.
func TestAnOverrideIsAskedOfOthers(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		clash := x.conflict(x.Bob, x.Cyd)
		agent := x.Agent(x.Bob, apiRepo)
		for _, tt := range []struct {
			name, session string
			bob           string // what he is asked
			ada           string
		}{
			{"bob himself", "", "", x.Bob.Name + " asks for an override of " + clash.Ref},
			{
				"bob's agent",
				agent.Session,
				x.Bob.Name + "'s agent asks for an override of " + clash.Ref,
				x.Bob.Name + "'s agent asks for an override of " + clash.Ref,
			},
		} {
			x.W.Must(200, request{
				Method: "POST",
				Path:   "/v1/conflicts/" + clash.Ref + "/actions",
				Token:  agent.Token,
				Body:   map[string]any{"action": "request_override"},
				Header: map[string]string{"X-Svc-Session": tt.session},
			}, nil)
			for token, want := range map[string]string{x.Bob.Token: tt.bob, x.Ada.Token: tt.ada} {
				got := ""
				for _, item := range ofKind(x.attention(token, ""), coord.AttentionOverrideRequest) {
					got += item.Title
				}
				if got != want {
					t.Errorf("%s asks: the item is %q, want %q", tt.name, got, want)
				}
			}
		}
	})
}

// A dismissal holds until the thing changes.
func TestDismissedUntilItChanges(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		clash := x.conflict(x.Bob, x.Cyd)
		item := func() *coord.AttentionItem {
			if got := ofKind(x.attention(x.Bob.Token, ""), coord.AttentionConflict); len(got) == 1 {
				return &got[0]
			}
			return nil
		}
		first := item()
		if first == nil || item().ID != first.ID {
			t.Fatalf("the item is not stable: %+v", first)
		}
		x.dismiss(x.Bob.Token, first.ID, "conflict:CF-1:beef", "whatever")
		if item() != nil {
			t.Error("a dismissed item is shown")
		}
		if got := ofKind(x.attention(x.Cyd.Token, ""), coord.AttentionConflict); len(got) != 1 {
			t.Errorf("somebody else's dismissal hid it: %+v", got)
		}
		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/conflicts/" + clash.Ref + "/actions",
			Token:  x.Cyd.Token,
			Body:   map[string]any{"action": "ack"},
		}, nil)
		changed := item()
		if changed == nil || changed.ID == first.ID {
			t.Fatalf("it changed and is still hidden: %+v", changed)
		}
		x.dismiss(x.Bob.Token, changed.ID)
		var kept int
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			ids, _, err := tx.Dismissed(ctx, x.O.ID, x.Bob.ID)
			kept = len(ids)
			return err
		})
		if kept != 1 {
			t.Errorf("%d dismissals are kept, want only that of what is there", kept)
		}
		for _, bad := range []any{[]string{}, []string{""}, "x", make([]string, 101)} {
			x.W.Must(400, request{Method: "POST", Path: "/v1/attention/dismiss", Token: x.Bob.Token, Body: map[string]any{"ids": bad}}, nil)
		}
		// A thread's item changes with each message.
		x.Send(x.Ada, "user:"+x.Bob.Email, "one")
		a := ofKind(x.attention(x.Bob.Token, ""), coord.AttentionMessage)
		x.dismiss(x.Bob.Token, a[0].ID)
		x.Send(x.Ada, "user:"+x.Bob.Email, "two")
		if b := ofKind(x.attention(x.Bob.Token, ""), coord.AttentionMessage); len(b) != 1 || b[0].ID == a[0].ID || b[0].Detail != "two" {
			t.Errorf("after another message = %+v", b)
		}
	})
}

// What somebody muted is not asked of them, whatever comes, until they unmute
// it; others are asked as before.
func TestMuted(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		clash := x.conflict(x.Bob, x.Cyd)
		x.Send(x.Ada, "user:"+x.Bob.Email, "one")
		mute := func(status int, what, id string, off bool) {
			t.Helper()
			x.W.Must(status, request{Method: "POST", Path: "/v1/attention/mute", Token: x.Bob.Token,
				Body: map[string]any{"what": what, "id": id, "off": off}}, nil)
		}
		shown := func(kind coord.AttentionKind) int { return len(ofKind(x.attention(x.Bob.Token, ""), kind)) }
		letter := ofKind(x.attention(x.Bob.Token, ""), coord.AttentionMessage)[0]
		thread := strings.TrimPrefix(*letter.Ref, "thread:")
		for _, m := range []struct {
			what, id string
			hides    coord.AttentionKind
		}{
			{"kind", "conflict", coord.AttentionConflict},
			{"repo", clash.Repo.ID, coord.AttentionConflict},
			{"thread", thread, coord.AttentionMessage},
		} {
			before := x.attention(x.Bob.Token, "")
			mute(204, m.what, m.id, false)
			mute(204, m.what, m.id, false)
			x.dismiss(x.Bob.Token, "whatever") // forgets what is gone, not what is muted
			after := x.attention(x.Bob.Token, "")
			if shown(m.hides) != 0 || after.Total != before.Total-1 || after.Muted != 1 || after.ByKind[m.hides] != 0 ||
				len(after.Mutes) != 1 || after.Mutes[0] != (coord.Mute{What: m.what, ID: m.id}) {
				t.Errorf("muting %s %s: %+v", m.what, m.id, after)
			}
			x.Send(x.Ada, "user:"+x.Bob.Email, "again") // a muted thread stays quiet, others are heard
			if got := shown(coord.AttentionMessage); (got == 0) != (m.what == "thread") {
				t.Errorf("%s muted, and %d messages are shown", m.what, got)
			}
			if len(ofKind(x.attention(x.Cyd.Token, ""), coord.AttentionConflict)) != 1 {
				t.Errorf("somebody else's mute of %s hid it", m.what)
			}
			mute(204, m.what, m.id, true)
			if got := x.attention(x.Bob.Token, ""); shown(m.hides) != 1 || got.Muted != 0 || len(got.Mutes) != 0 {
				t.Errorf("unmuted %s: %+v", m.what, got)
			}
		}
		mute(400, "kind", "nonsense", false)
		mute(400, "mood", "x", false)
		mute(404, "repo", "nowhere", false)
		mute(404, "thread", "nowhere", false)
	})
}
