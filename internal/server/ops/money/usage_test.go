package money_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// plan puts an org on a plan.
func (x *team) plan(name string) {
	x.Helper()
	x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE orgs SET plan = $2 WHERE id = $1`, x.O.ID, name)
		return err
	})
}

func (x *team) usage(p person) (u wire.Usage) {
	x.Helper()
	x.W.Must(200, request{Method: "GET", Path: "/v1/usage", Token: p.Token}, &u)
	return u
}

// told returns the payloads of events of a type.
func (x *team) told(kind coord.EventType) (out []map[string]any) {
	x.Helper()
	var page wire.Page[coord.Event]
	x.W.Must(200, request{Method: "GET", Path: "/v1/events?type=" + string(kind), Token: x.Ada.Token}, &page)
	for _, e := range page.Items {
		if e.Type == kind {
			out = append(out, e.Payload)
		}
	}
	return out
}

func (x *team) planItems(p person) (out []coord.AttentionItem) {
	x.Helper()
	var a wire.Attention
	x.W.Must(200, request{Method: "GET", Path: "/v1/attention", Token: p.Token}, &a)
	for _, i := range a.Items {
		if i.Kind == coord.AttentionPlan {
			out = append(out, i)
		}
	}
	return out
}

// The limits of a plan warn at 80 percent and refuse beyond; that somebody was
// refused is told once a month.
func TestTheLimitsOfAPlan(t *testing.T) {
	onStripe(t, func(t *testing.T, x *team, _ *fakeStripe) { // on the free plan: 3 repos, 5 developers
		if u := x.usage(x.Ada); u.Repos != 2 || len(u.Warnings) != 0 || len(x.planItems(x.Ada)) != 0 {
			t.Errorf("at the start: %+v", u)
		}
		repo := func(status int) {
			t.Helper()
			x.W.Must(status, request{
				Method: "POST",
				Path:   "/v1/repos",
				Token:  x.Ada.Token,
				Body:   map[string]any{"full_name": fmt.Sprintf("acme/repo-%d", time.Now().UnixNano())},
			}, nil)
		}
		repo(201)
		u := x.usage(x.Ada)
		if len(u.Warnings) != 1 || u.Warnings[0] != (wire.UsageWarning{Limit: "repos", Used: 3, Allowed: 3, Reached: true}) {
			t.Errorf("with the last repo: %+v", u.Warnings)
		}
		if n := len(x.told(coord.EventPlanLimitReached)); n != 0 {
			t.Errorf("nobody was refused, but %d events tell so", n)
		}
		repo(402)
		repo(402)
		told := x.told(coord.EventPlanLimitReached)
		if len(told) != 1 || told[0]["limit"] != "repos" || told[0]["allowed"] != 3.0 || told[0]["plan"] != "free" {
			t.Errorf("two refusals told %v", told)
		}

		people := []person{x.Ada, x.Bob, x.Cyd}
		for range 3 {
			people = append(people, x.Newcomer())
		}
		for k, p := range people[:4] {
			x.Must(p.Token, "team_context", map[string]any{"repo": apiRepo}, nil)
			warned := len(x.usage(x.Ada).Warnings) == 2
			if want := k >= 3; warned != want { // 4 of 5
				t.Errorf("with %d developers warned: %v", k+1, warned)
			}
		}
		if items := x.planItems(x.Ada); len(items) != 2 {
			t.Errorf("an owner's attention: %+v", items)
		}
		if items := x.planItems(x.Cyd); len(items) != 0 {
			t.Errorf("a member's attention: %+v", items)
		}
		if items := x.planItems(x.Person(coord.Billing)); len(items) != 2 {
			t.Errorf("the attention of whoever pays: %+v", items)
		}
		x.Must(people[4].Token, "team_context", map[string]any{"repo": apiRepo}, nil)
		for range 2 {
			if bad := x.Tool(people[5].Token, "team_context", map[string]any{"repo": apiRepo}, nil); bad == nil || bad.Status != 402 {
				t.Errorf("the sixth developer = %+v", bad)
			}
		}
		if told := x.told(coord.EventPlanLimitReached); len(told) != 2 {
			t.Errorf("told %v", told)
		}
		// Hooks are never refused because of a plan.
		x.Hook(x.Agent(people[5], apiRepo), wire.HookPrompt, map[string]any{"prompt_excerpt": "hello"})
		x.Hook(agent{Person: people[5], External: "elsewhere", Repo: "acme/new"}, wire.HookSessionStart, nil)

		other := x.W.Replica()
		other.Must(402, request{Method: "POST", Path: "/v1/repos", Token: x.Ada.Token, Body: map[string]any{"full_name": "acme/replica"}}, nil)
		if told := x.told(coord.EventPlanLimitReached); len(told) != 2 {
			t.Errorf("another replica told of it again: %v", told)
		}
		x.W.Advance(31 * 24 * time.Hour)
		repo(402)
		if told := x.told(coord.EventPlanLimitReached); len(told) != 3 {
			t.Errorf("next month: %v", told)
		}
	})
}
