package forge

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/limit"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// A claim that holds agents back where they edit also holds at the merge: there
// it does not matter where and how an edit was made.

// CheckPush says whether commits may arrive on a branch of a git server. It
// writes nothing.
func (s *Service) CheckPush(ctx context.Context, who coord.Caller, in wire.CheckPush) (out wire.PushChecked, err error) {
	var repo coord.Repo
	var users []string
	err = s.Read(ctx, func(tx *store.Tx) error {
		if repo, err = work.RepoField(ctx, tx, who, "repo", in.Repo); err != nil {
			return err
		}
		users, err = pushers(ctx, tx, who.OrgID, in)
		return err
	})
	if err != nil {
		return out, err
	}
	paths := make([]string, 0, len(in.Paths))
	for i, p := range in.Paths {
		clean, err := scope.CleanPath(p)
		if err != nil {
			return out, problem.InvalidField("paths", "%d: %v", i, err)
		}
		paths = append(paths, clean)
	}
	out = wire.PushChecked{Decision: wire.Allow, Held: []wire.PushHold{}}
	var level string
	var holds []engine.MergeHold
	err = s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
		rules, _ := ix.Rules(repo.ID)
		level = rules.AtMerge()
		m := engine.Merging{Repo: coord.RepoName{ID: repo.ID, FullName: repo.FullName}, Paths: paths, More: in.More, Now: s.Store.Now()}
		for _, id := range ix.Workers(repo.ID) {
			w := ix.Worker(id)
			if w != nil && (slices.Contains(users, w.User.ID) || in.Pusher == "" && in.Branch != "" && w.Branch == in.Branch) {
				m.By = append(m.By, w)
			}
		}
		if level != policy.MergeOff {
			holds = engine.AtMerge(ix, m)
		}
		return nil
	})
	if err != nil || len(holds) == 0 {
		return out, err
	}
	out.Decision = wire.Block
	if level == policy.MergeWarn {
		out.Decision = wire.Warn
	}
	var words []string
	for _, h := range holds {
		held := wire.PushHold{Holder: h.Holder.User, Paths: h.Paths, Untold: h.Untold, Text: engine.MergeWords(h)}
		if in := h.Holder.Intent; in != nil && in.Number != 0 {
			held.Intent = &coord.IntentName{Number: in.Number, Ref: h.Holder.Ref(), Status: in.Status}
		}
		out.Held, words = append(out.Held, held), append(words, held.Text)
	}
	out.Reason = strings.Join(words, "\n")
	return out, nil
}

// pushers returns the members whose commits are pushed.
func pushers(ctx context.Context, tx *store.Tx, org string, in wire.CheckPush) (out []string, err error) {
	addresses := in.Emails
	if in.Pusher != "" {
		addresses = []string{in.Pusher}
	}
	for _, a := range addresses {
		m, err := tx.MemberByEmail(ctx, org, strings.ToLower(strings.TrimSpace(a)))
		switch {
		case err == nil:
			out = append(out, m.User.ID)
		case problem.KindOf(err) != problem.NotFound:
			return nil, err
		}
	}
	if in.Pusher != "" && len(out) == 0 {
		return memberNamed(ctx, tx, org, strings.TrimPrefix(in.Pusher, "@"))
	}
	return out, nil
}

// memberNamed returns the member of a name, nobody if there are several.
func memberNamed(ctx context.Context, tx *store.Tx, org, name string) (out []string, err error) {
	members, err := tx.Members(ctx, org, store.Page{Limit: maxMembers})
	for _, m := range members {
		if strings.EqualFold(m.User.Name, name) {
			out = append(out, m.User.ID)
		}
	}
	if len(out) > 1 {
		out = nil
	}
	return out, err
}

const maxMembers = 1000

// heldAtMerge returns the claims of others that a pull request's commits meet,
// and what follows from that.
func (s *Service) heldAtMerge(ctx context.Context, p store.Pull, rules *policy.Effective, intents []store.IntentRow,
	touched limit.List[string]) (holds []engine.MergeHold, state string, err error) {
	level := rules.AtMerge()
	if level == policy.MergeOff || len(touched.Items) == 0 && !touched.Cut {
		return nil, githost.Success, nil
	}
	err = s.Live.View(ctx, p.OrgID, func(ix *engine.Index) error {
		m := engine.Merging{Repo: coord.RepoName{ID: p.RepoID, FullName: p.FullName}, Paths: touched.Items, More: touched.Cut, Now: s.Store.Now()}
		for _, id := range ix.Workers(p.RepoID) {
			w := ix.Worker(id)
			of := func(i store.IntentRow) bool { return i.ID == id }
			if w != nil && (slices.ContainsFunc(intents, of) || p.SameRepo && w.Branch == p.HeadRef) {
				m.By = append(m.By, w)
			}
		}
		holds = engine.AtMerge(ix, m)
		return nil
	})
	switch {
	case err != nil || len(holds) == 0:
		return nil, githost.Success, err
	case level == policy.MergeWarn:
		return holds, githost.Neutral, nil
	}
	return holds, githost.ActionRequired, nil
}

// holdNote tells of a claim. Who reads a public repository gets no names.
func (s *Service) holdNote(p store.Pull, h engine.MergeHold) bulletin.PullNote {
	n := bulletin.PullNote{Ref: h.Holder.Ref(), URL: s.PageURL("intent", h.Holder.Ref()), Kind: "holds what this changes exclusively"}
	if n.Ref == "" {
		n.Ref, n.URL = "a session", s.URL("conflicts")
	}
	if p.Private {
		n.Text = peertext.Line(engine.MergeWords(h), 1000)
	}
	return n
}
