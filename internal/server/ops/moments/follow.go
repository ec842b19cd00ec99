package moments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
)

// FollowWork tells an edge what changed in a repository's live work since it
// last asked, and lets it decide edits on its copy for a while. It waits a
// moment for something to tell, so that an edge hears of a claim within half a
// round trip.
func (s *Service) FollowWork(ctx context.Context, who coord.Caller, in wire.FollowWork) (out wire.WorkFrame, err error) {
	arrived := time.Now()
	f := &following{Service: s, who: who, in: in}
	for _, r := range in.Remotes {
		if fp, ok := scope.Fingerprint(r); ok && !slices.Contains(f.remotes, fp) {
			f.remotes = append(f.remotes, fp)
		}
	}
	if len(f.remotes) == 0 {
		return out, problem.InvalidField("remote_fingerprints", "none of them is a remote such as github.com/owner/name")
	}
	repo, err := f.repo(ctx)
	if err != nil {
		return out, err
	}
	name := who.TokenID + " " + in.Edge // of nobody else
	if in.Release {
		s.Leases.Leave(who.OrgID, repo.ID, name)
		return wire.WorkFrame{Repo: edgeRepo(*repo), Now: s.Store.Now(), Items: []wire.WorkItem{}}, nil
	}
	entry, err := s.Leases.Enter(ctx, who.OrgID, repo.ID, name, in.Seen, in.Epoch != "" && in.Next == "", arrived)
	if err != nil {
		return out, err
	}
	hold := time.NewTimer(s.Leases.Times.Hold)
	defer hold.Stop()
	for held := in.NoWait; ; {
		news := entry.News()
		if out, err = s.Live.Frame(ctx, who.OrgID, repo.ID, in); err == nil {
			err = f.places(ctx, &out)
		}
		if err != nil {
			return wire.WorkFrame{}, err
		}
		if entry.Doubtful() { // it asks again, and is asked who it is
			entry.Void()
			return wire.WorkFrame{Repo: edgeRepo(*repo), Epoch: in.Epoch, At: in.Seen, Next: in.Next, Mark: in.Mark, Now: s.Store.Now(),
				Items: []wire.WorkItem{}}, nil
		}
		if held || out.Reset || out.Next != "" || in.Next != "" || len(out.Items) > 0 || out.Mark != in.Mark || entry.Awaited() {
			break
		}
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-news:
		case <-hold.C:
			held = true
		}
	}
	// A snapshot of several pieces is as of its beginning: one more question
	// brings it to the present.
	if out.Next != "" || in.Next != "" {
		entry.Void()
	}
	out.LeaseMS, out.Now, out.Repo = entry.Lease.Milliseconds(), s.Store.Now(), edgeRepo(*repo)
	if out.Items == nil {
		out.Items = []wire.WorkItem{}
	}
	return out, nil
}

func edgeRepo(r coord.Repo) wire.EdgeRepo {
	return wire.EdgeRepo{ID: r.ID, FullName: r.FullName, IndexVersion: r.IndexVersion}
}

// A following is one question of an edge.
type following struct {
	*Service
	who     coord.Caller
	in      wire.FollowWork
	remotes []string
}

// place returns what is known of one of the edge's sessions, nil if nothing is.
func (f *following) place(ctx context.Context, of wire.EdgeSession) (*live.Place, error) {
	session := wire.HookSession{Tool: of.Tool, ExternalID: of.ExternalID, Key: of.Key}
	e := &hookEvent{HookRequest: &wire.HookRequest{Session: session}, who: &f.who, remotes: f.remotes}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return f.Live.Session(ctx, f.who.OrgID, e.key(), func(*live.Place) bool { return true },
		func(ctx context.Context) (*live.Place, error) { return f.readPlace(ctx, e) })
}

// repo finds the repository: memory knows it from the sessions that work there.
func (f *following) repo(ctx context.Context) (*coord.Repo, error) {
	for _, of := range f.in.Sessions {
		if p, err := f.place(ctx, of); err != nil {
			return nil, err
		} else if p != nil {
			return &p.Repo, nil
		}
	}
	var repo *coord.Repo
	err := f.Read(ctx, func(tx *store.Tx) (err error) {
		repo, err = tx.RepoByRemotes(ctx, f.who.OrgID, f.remotes)
		return err
	})
	if err == nil && (repo == nil || repo.ArchivedAt != nil) {
		err = problem.Newf(problem.NotFound, "no repository with these remotes is watched in this org")
	}
	return repo, err
}

// places tells of the edge's sessions, unless it knows all of it.
func (f *following) places(ctx context.Context, out *wire.WorkFrame) error {
	all := []wire.EdgePlace{}
	for _, of := range f.in.Sessions {
		p, err := f.place(ctx, of)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		if of.Beat {
			f.work.Beats.Note(f.who.OrgID, p.Session.ID, f.Store.Now())
		}
		of.Beat = false // it tells nothing of the place
		x := wire.EdgePlace{
			EdgeSession: of,
			SessionID:   p.Session.ID,
			StartedAt:   p.Session.StartedAt,
			Worker:      p.Session.ID,
			Lineage:     p.Session.LineageID,
			News:        p.Turned,
			Other:       p.Session.TokenID != f.who.TokenID,
		}
		if p.Session.Branch != nil {
			x.Branch = *p.Session.Branch
		}
		if p.Session.WorktreeHash != nil {
			x.WorktreeHash = *p.Session.WorktreeHash
		}
		if p.Session.IntentID != nil {
			x.Worker = *p.Session.IntentID
		}
		if n := p.Session.Intent; n != nil {
			x.Intent = &wire.HookIntent{Number: n.Number, Ref: n.Ref, Status: n.Status}
		}
		all = append(all, x)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	if out.Mark = hex.EncodeToString(sum[:8]); out.Mark != f.in.Mark {
		out.Places = all
	}
	return nil
}
