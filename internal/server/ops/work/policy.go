package work

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// GetPolicies returns the rules of the org, and of a repo.
func (s *Service) GetPolicies(ctx context.Context, who coord.Caller, in wire.GetPolicies) (out wire.Policies, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out, err = s.policies(ctx, tx, who, in.Repo)
		return err
	})
	return out, err
}

func (s *Service) policies(ctx context.Context, tx *store.Tx, who coord.Caller, repo string) (out wire.Policies, err error) {
	id := ""
	if repo != "" {
		r, err := RepoField(ctx, tx, who, "repo", repo)
		if err != nil {
			return out, err
		}
		id, out.RepoName = r.ID, &r.FullName
	}
	rules, err := tx.Policies(ctx, who.OrgID)
	if err != nil {
		return out, err
	}
	out.Org, out.Repo = asMap(rules[""]), map[string]any{}
	layers := []policy.Rules{rules[""]}
	if id != "" {
		out.Repo = asMap(rules[id])
		layers = append(layers, rules[id])
	}
	effective := policy.Merge(layers...)
	out.Effective, out.Defaults = *effective, *policy.Merge()
	out.Feedback = []wire.KindFeedback{}
	if id == "" {
		return out, nil
	}
	tallies, err := tx.Tallies(ctx, who.OrgID, id)
	out.Effective = *effective.WithDemoted(live.Demoted(effective, tallies, id))
	for _, t := range tallies {
		out.Feedback = append(out.Feedback, wire.KindFeedback{
			Kind:          string(t.Kind),
			Useful:        t.Useful,
			FalsePositive: t.FalsePositive,
			TooLate:       t.TooLate,
			Demoted:       effective.Demotes(t.Kind, t.Verdicts()),
		})
	}
	return out, err
}

// asMap shows rules as they are stored: only what was set.
func asMap(r policy.Rules) map[string]any {
	out := map[string]any{}
	b, err := json.Marshal(r)
	if err == nil {
		json.Unmarshal(b, &out)
	}
	return out
}

// PutPolicies replaces the rules of the org or of a repo. Conflicts that are
// live are judged again by the new rules.
func (s *Service) PutPolicies(ctx context.Context, who coord.Caller, in wire.PutPolicies) (out wire.Policies, err error) {
	text, err := json.Marshal(in.Rules)
	if err != nil {
		return out, problem.InvalidField("rules", "must be an object")
	}
	rules, bad := policy.Parse(text)
	if err := problem.Invalid(bad); err != nil {
		return out, err
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		id := ""
		if in.Repo != "" {
			r, err := RepoField(ctx, c.Tx, who, "repo", in.Repo)
			if err != nil {
				return err
			}
			id = r.ID
		}
		now, err := s.policies(ctx, c.Tx, who, in.Repo)
		if err == nil {
			err = in.IfMatch.Check(now.Tag())
		}
		if err != nil {
			return err
		}
		if err := c.SavePolicy(ctx, who.OrgID, id, rules); err != nil {
			return err
		}
		scope := "org"
		if id != "" {
			scope = "repo"
		}
		if err := ground.Emit(ctx, c.Tx, who, ground.Happening{
			Type:    coord.EventPolicyUpdated,
			Subject: coord.Entity{Kind: scope, ID: firstText(id, who.OrgID)},
			Repo:    id,
			Payload: wire.PolicyPayload{Rules: new(len(in.Rules))},
		}); err != nil {
			return err
		}
		if err := rejudge(ctx, c, id); err != nil {
			return err
		}
		out, err = s.policies(ctx, c.Tx, who, in.Repo)
		return err
	})
	return out, err
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// rejudge settles every live worker of a repo, or of all, by the rules as they
// are stored now.
func rejudge(ctx context.Context, c *ground.Change, repo string) error {
	repos, err := c.Repos(ctx, c.Who.OrgID)
	if err != nil {
		return err
	}
	rules, err := c.Policies(ctx, c.Who.OrgID)
	if err != nil {
		return err
	}
	tallies, err := c.Tallies(ctx, c.Who.OrgID, "")
	if err != nil {
		return err
	}
	for _, r := range repos {
		if repo != "" && r.ID != repo {
			continue
		}
		p := policy.Merge(rules[""], rules[r.ID])
		was, before := c.Live.Rules(r.ID)
		after := live.Demoted(p, tallies, r.ID)
		if err := tellDemotions(ctx, c, r.ID, p, before, after); err != nil {
			return err
		}
		c.Live.SetRules(r.ID, p, after)
		if !engine.SharesPatches(c.Live.View(), r.ID) {
			if err := c.DeletePatches(ctx, c.Who.OrgID, r.ID); err != nil {
				return err
			}
		}
		if was == nil || was.ExclusiveMaxFiles != p.ExclusiveMaxFiles {
			if err := honourAnew(ctx, c, r.ID); err != nil {
				return err
			}
		}
		for _, id := range c.Live.Workers(r.ID) {
			if _, err := c.Settle(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// honourAnew holds living claims to the number of files that a policy now lets
// an exclusive claim cover: one that covers more is shared from now on, and one
// that was refused for it is granted. The earliest is asked first.
func honourAnew(ctx context.Context, c *ground.Change, repo string) error {
	intents, err := c.Intents(ctx, c.Who.OrgID, store.IntentFilter{Repo: repo, Statuses: coord.LiveIntentStatuses()})
	if err != nil {
		return err
	}
	slices.SortFunc(intents, func(a, b store.IntentRow) int { return a.Number - b.Number })
	for _, i := range intents {
		had, note := i.EffectiveMode, i.ModeNote
		if i.Mode != coord.Exclusive || had != coord.Exclusive && !engine.TooWide(note) {
			continue // never asked for, or let go for another reason
		}
		if err := Honour(ctx, c, &i); err != nil {
			return err
		}
		switch {
		case i.EffectiveMode == had && (had == coord.Exclusive || *i.ModeNote == *note):
			continue
		case i.EffectiveMode == coord.Shared:
			err = c.ShareClaim(ctx, &i, *i.ModeNote)
		default:
			err = ground.FirstError(c.SaveIntent(ctx, &i), TellIntent(ctx, c, coord.EventIntentUpdated, i), c.PutIntent(ctx, i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// NoteCase notes that a client says that the case of a repo's paths does not
// matter. Claims are compared accordingly, unless a policy says otherwise.
func NoteCase(ctx context.Context, c *ground.Change, repo coord.Repo, ignored bool) error {
	if !ignored {
		return nil
	}
	if news, err := c.SetIgnoreCase(ctx, repo.ID); err != nil || !news {
		return err
	}
	if err := ground.Emit(ctx, c.Tx, c.Who, ground.Happening{
		Type:    coord.EventPolicyUpdated,
		Subject: coord.Entity{Kind: "repo", ID: repo.ID},
		Repo:    repo.ID,
		Payload: wire.PolicyPayload{IgnoreCase: true},
	}); err != nil {
		return err
	}
	return rejudge(ctx, c, repo.ID)
}
