package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
)

// A world is an org with two people and two repos, whose records are written
// as the operations write them: each with the event that tells of it.
type world struct {
	t   *testing.T
	ctx context.Context
	st  *store.Store
	set *live.Set // hears of every commit
}

const org = "acme"

var (
	ana = coord.User{ID: "ana", Email: "ana@example.com", Name: "Ana"}
	bob = coord.User{ID: "bob", Email: "bob@example.com", Name: "Bob"}
	api = coord.RepoName{ID: "api", FullName: "acme/api"}
	web = coord.RepoName{ID: "web", FullName: "acme/web"}
)

func newWorld(t *testing.T, st *store.Store) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), st: st, set: live.New(st)}
	w.commit(func(tx *store.Tx) error {
		err := errors.Join(
			tx.InsertOrg(w.ctx, coord.Org{ID: org, Slug: org, Name: "Acme", DataMode: coord.DataFull, Plan: "self_hosted"}),
			tx.InsertUser(w.ctx, ana),
			tx.InsertUser(w.ctx, bob),
		)
		for _, r := range []coord.RepoName{api, web} {
			repo := coord.Repo{ID: r.ID, FullName: r.FullName, Provider: coord.GitHub, DefaultBranch: "main"}
			err = errors.Join(err, tx.InsertRepo(w.ctx, org, repo), w.tell(tx, coord.EventRepoRegistered, r.ID, r.ID, nil))
		}
		return err
	})
	return w
}

// commit writes and lets the set know, as the log's follower does.
func (w *world) commit(fn func(*store.Tx) error) {
	w.t.Helper()
	if err := w.st.Write(w.ctx, org, fn); err != nil {
		w.t.Fatal(err)
	}
	w.set.Stale([]string{org})
}

// undone is a write of which the index knows when it fails.
func (w *world) undone() {
	w.t.Helper()
	no := errors.New("no")
	err := w.st.Write(w.ctx, org, func(tx *store.Tx) error {
		if err := w.tell(tx, coord.EventMessageSent, "m", api.ID, nil); err != nil {
			return err
		}
		return w.set.Within(w.ctx, tx, org, func(*live.Draft) error { return no })
	})
	if !errors.Is(err, no) {
		w.t.Fatal(err)
	}
}

func (w *world) tell(tx *store.Tx, what coord.EventType, id, repo string, payload map[string]any) error {
	return tx.Emit(w.ctx, coord.Event{
		OrgID:   org,
		Type:    what,
		Actor:   coord.Entity{Kind: "system", ID: "svc"},
		Subject: coord.Entity{Kind: what.Noun(), ID: id},
		RepoID:  repo,
		Payload: payload,
	})
}

func (w *world) intent(tx *store.Tx, id string, owner coord.User, status coord.IntentStatus, paths ...string) (store.IntentRow, error) {
	row := store.IntentRow{Intent: coord.Intent{
		ID:            id,
		OrgID:         org,
		Number:        int(id[len(id)-1] - '0'),
		Status:        status,
		Resume:        coord.IntentActive,
		Title:         "Work " + id,
		Mode:          coord.Shared,
		EffectiveMode: coord.Shared,
		Repo:          api,
		Owner:         owner,
		Scope:         coord.ScopeSet{Paths: paths, Symbols: []string{}, Contracts: []string{}},
		DependsOn:     []string{},
		BlockedBy:     []coord.Blocker{},
		CreatedAt:     coord.Time(1000),
	}}
	return row, tx.SaveIntent(w.ctx, &row)
}

func (w *world) session(tx *store.Tx, id string, user coord.User) error {
	return tx.InsertSession(w.ctx, store.SessionRow{Session: coord.Session{
		ID:              id,
		OrgID:           org,
		User:            user,
		Repo:            api,
		Tool:            "codex",
		ExternalID:      id,
		LineageID:       "lineage " + id,
		StartedAt:       coord.Time(1000),
		LastHeartbeatAt: tx.Now,
	}})
}

func change(copy, path, worker, session string, hunks ...coord.Hunk) store.ChangeRow {
	base := "base of " + path
	return store.ChangeRow{
		RepoID:  api.ID,
		Copy:    copy,
		Facts:   coord.FileFacts{Path: path, Status: coord.FileModified, BaseBlob: &base, Hunks: hunks},
		Touched: []store.Touch{{Worker: worker, Session: session, At: coord.Time(2000)}},
	}
}

// seen is all that an index tells of the org, as text.
func (w *world) seen(set *live.Set) map[string]string {
	w.t.Helper()
	var out map[string]string
	err := set.View(w.ctx, org, func(ix *engine.Index) error {
		out = tellAll(ix)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// fingerprints and files are what the tests here suppress and merge.
var (
	fingerprints = []string{"fp1", "fp2"}
	merges       = []string{"int1", "int2", "m1"}
	files        = []string{"a.go", "b.go"}
)

func tellAll(ix *engine.Index) map[string]string {
	out := map[string]string{}
	put := func(v any, name ...any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out[fmt.Sprint(name...)] = string(text)
	}
	for _, repo := range []string{api.ID, web.ID} {
		rules, demoted := ix.Rules(repo)
		put(rules, "rules ", repo)
		put(demoted, "demoted ", repo)
		put(slices.Sorted(slices.Values(ix.Links(repo))), "links ", repo)
		for _, id := range ix.Workers(repo) {
			worker := *ix.Worker(id)
			worker.Lineages = slices.Sorted(slices.Values(worker.Lineages))
			put(worker, "worker ", id)
			put(ix.Changes(id), "changes ", id)
			for _, f := range engine.Detect(ix, id) {
				put([]any{f.Kind, f.Severity, f.Holder.ID, f.Challenger.ID, f.Keys}, "finding ", id, " ", f.Fingerprint)
			}
		}
		for _, file := range files {
			put(ix.Uses(repo, file), "uses ", repo, " ", file)
		}
		put(ix.HasLineMap(repo, "v1", "v2"), "map ", repo)
		for _, id := range merges {
			put(ix.Merged(repo, id), "merged ", repo, " ", id)
		}
	}
	for _, fp := range fingerprints {
		s, ok := ix.Suppression(fp)
		put([]any{s, ok}, "suppressed ", fp)
	}
	return out
}
