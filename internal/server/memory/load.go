package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/textsearch"
	"github.com/svc-hq/svc/internal/server/store"
)

// load builds an org's index from its records. Each part remembers one kind.
func (o *org) load(ctx context.Context, tx *store.Tx) error {
	o.ix, o.said = textsearch.New(PerKind), tx.Now.Add(-Window)
	for _, part := range []func(context.Context, *store.Tx) error{o.intents, o.conflicts, o.messages, o.questions, o.contracts, o.statuses} {
		if err := part(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (o *org) intents(ctx context.Context, tx *store.Tx) error {
	rows, err := tx.Intents(ctx, o.id, store.IntentFilter{Limit: PerKind})
	for _, i := range slices.Backward(rows) {
		o.intent(i)
	}
	return err
}

// maxPlan is how much of a plan is looked at, in bytes.
const maxPlan = 8000

func (o *org) intent(i store.IntentRow) {
	r := Record{
		Memory: coord.Memory{Kind: coord.MemoryIntents, ID: i.ID, Ref: i.Ref, Title: i.Title, Repo: &i.Repo, By: &i.Owner, At: i.UpdatedAt},
	}
	if i.Status == coord.IntentDraft {
		r.Users = []string{i.Owner.ID}
	}
	o.put(r, int64(i.Number), join(i.Summary, i.Note, i.PlanMD, list(i.Scope.Paths), list(i.Scope.Symbols), list(i.Scope.Contracts)))
}

func list(ss []string) *string {
	s := strings.Join(ss, " ")
	return &s
}

func join(parts ...*string) string {
	var out []string
	for _, p := range parts {
		if p != nil && *p != "" {
			out = append(out, excerpt.Bytes(*p, maxPlan))
		}
	}
	return strings.Join(out, "\n")
}

func (o *org) conflicts(ctx context.Context, tx *store.Tx) error {
	rows, err := tx.Conflicts(ctx, o.id, store.ConflictFilter{Limit: PerKind})
	for _, c := range slices.Backward(rows) {
		o.conflict(c)
	}
	return err
}

func (o *org) conflict(c store.ConflictRow) {
	var text []string
	for _, e := range c.Evidence {
		for _, s := range []*string{e.Path, e.Symbol, e.Contract, e.Detail} {
			if s != nil {
				text = append(text, *s)
			}
		}
	}
	for _, a := range c.Actions {
		if a.Note != nil {
			text = append(text, *a.Note)
		}
	}
	r := Record{
		Memory: coord.Memory{
			Kind:  coord.MemoryConflicts,
			ID:    c.ID,
			Ref:   c.Ref,
			Title: strings.ReplaceAll(string(c.Kind), "_", " "),
			Repo:  &c.Repo,
			At:    c.UpdatedAt,
		},
	}
	for _, p := range c.Parties {
		if p.Role == coord.Challenger {
			r.By = p.User
		}
	}
	o.put(r, int64(c.Number), c.Explanation+"\n"+strings.Join(text, "\n"))
}

func (o *org) messages(ctx context.Context, tx *store.Tx) error {
	rows, err := tx.MessageMemories(ctx, o.id, "", tx.Now.Add(-Window), PerKind)
	for _, m := range slices.Backward(rows) {
		o.message(m)
	}
	return err
}

func (o *org) message(m store.MessageMemory) {
	r := Record{
		Users:  m.Users,
		Memory: coord.Memory{Kind: coord.MemoryMessages, ID: m.ID, Ref: "thread:" + m.Conversation, Repo: m.Repo, By: m.By, At: m.At},
	}
	if m.Subject != nil {
		r.Title = *m.Subject
	} else {
		r.Title = peertext.Line(m.Body, 80)
	}
	o.put(r, m.Seq, m.Body)
}

func (o *org) questions(ctx context.Context, tx *store.Tx) error {
	rows, err := tx.QuestionMemories(ctx, o.id, tx.Now.Add(-Window), PerKind)
	for _, q := range slices.Backward(rows) {
		o.question(q)
	}
	return err
}

func (o *org) question(q store.QuestionRow) {
	r := Record{
		Memory: coord.Memory{
			Kind:  coord.MemoryQuestions,
			ID:    q.ID,
			Ref:   q.ID,
			Title: peertext.Line(q.Question.Question, 200),
			Repo:  q.Repo,
			By:    q.AskedBy.User,
			At:    q.UpdatedAt,
		},
	}
	if q.Private {
		r.Users = []string{}
		if q.AskedBy.User != nil {
			r.Users = append(r.Users, q.AskedBy.User.ID)
		}
		if q.ToUser != nil {
			r.Users = append(r.Users, *q.ToUser)
		}
	}
	text := []*string{q.About, &q.Question.Question}
	for _, a := range q.Answers {
		text = append(text, &a.Answer)
	}
	o.put(r, int64(q.CreatedAt), join(text...))
}

// contracts remembers what repos provide and what was changed about it, in
// work under way and in merged work: the latest of each contract.
func (o *org) contracts(ctx context.Context, tx *store.Tx) error {
	merged, err := tx.Merged(ctx, o.id, store.MergedFilter{Since: tx.Now.Add(-Window)})
	if err != nil {
		return err
	}
	repos, err := o.repoNames(ctx, tx)
	if err != nil {
		return err
	}
	indexed, err := tx.Contracts(ctx, o.id, store.ContractFilter{Role: coord.Provides})
	if err != nil {
		return err
	}
	o.provided(tx.Now, indexed)
	for _, m := range merged {
		o.contractsOf(m.Facts, repos[m.RepoID], m.At)
	}
	changes, err := tx.Changes(ctx, o.id, "", "")
	for _, c := range changes {
		o.contractsOf(c.Facts, repos[c.RepoID], c.UpdatedAt)
	}
	return err
}

func (o *org) repoNames(ctx context.Context, tx *store.Tx) (map[string]coord.RepoName, error) {
	repos, err := tx.Repos(ctx, o.id)
	out := map[string]coord.RepoName{}
	for _, r := range repos {
		out[r.ID] = coord.RepoName{ID: r.ID, FullName: r.FullName}
	}
	return out, err
}

func (o *org) contractsOf(f coord.FileFacts, repo coord.RepoName, at coord.Time) {
	for _, k := range f.Contracts {
		id := contractID(repo.ID, k.Key)
		if old := o.ix.Get(string(coord.MemoryContracts), id); k.Role != coord.Provides || old != nil && old.At > int64(at) {
			continue
		}
		change := string(k.Change) + " in " + f.Path
		o.put(Record{
			Memory: coord.Memory{Kind: coord.MemoryContracts, ID: id, Ref: k.Key, Title: k.Key, Repo: &repo, At: at},
		}, int64(at), join(&change, k.Detail, k.Signature))
	}
}

// provided remembers what the contract index holds.
func (o *org) provided(now coord.Time, rows []store.ContractRow) {
	for _, r := range rows {
		id := contractID(r.Repo.ID, r.Key)
		if old := o.ix.Get(string(coord.MemoryContracts), id); r.UpdatedAt < now.Add(-Window) || old != nil && old.At >= int64(r.UpdatedAt) {
			continue // what a change of the same moment tells is more
		}
		place := "provided in " + r.Path
		o.put(Record{
			Memory: coord.Memory{Kind: coord.MemoryContracts, ID: id, Ref: r.Key, Title: r.Key, Repo: &r.Repo, By: r.ChangedBy, At: r.UpdatedAt},
		}, int64(r.UpdatedAt), join(&place, r.Signature))
	}
}

// indexed remembers again what files provide.
func (o *org) indexed(ctx context.Context, tx *store.Tx, repo string, paths []any) error {
	for _, p := range paths {
		path, _ := p.(string)
		if path == "" {
			continue // all of the repo would be meant
		}
		rows, err := tx.Contracts(ctx, o.id, store.ContractFilter{Repos: []string{repo}, Path: path, Role: coord.Provides})
		if err != nil {
			return err
		}
		o.provided(tx.Now, rows)
	}
	return nil
}

// overlap is how far back statuses are read again: a transaction that began
// earlier may commit later.
const overlap = time.Minute

// statuses remembers what agents said at the end of their turns. No event
// tells of it.
func (o *org) statuses(ctx context.Context, tx *store.Tx) error {
	rows, err := tx.StatusMemories(ctx, o.id, o.said.Add(-overlap), PerKind)
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(rows) {
		if o.ix.Get(string(coord.MemoryStatuses), s.ID) != nil {
			continue
		}
		title := s.Tool
		if s.Intent != "" {
			title += " on " + s.Intent
		}
		o.put(Record{
			Memory: coord.Memory{Kind: coord.MemoryStatuses, ID: s.ID, Ref: s.Session, Title: title, Repo: &s.Repo, By: &s.By, At: s.At},
		}, int64(s.At), s.Excerpt)
		o.said = max(o.said, s.At)
	}
	return nil
}

// apply brings the index forward by events: each names what to read again. Every
// event about a noun whose words are kept counts, so a new type needs no case.
func (o *org) apply(ctx context.Context, tx *store.Tx, events []coord.Event) error {
	if slices.ContainsFunc(events, func(e coord.Event) bool {
		return e.Type.Part() == coord.PartTexts || e.Type.Part() == coord.PartAll
	}) {
		return o.load(ctx, tx) // texts may have been cleared, or belong elsewhere
	}
	todo := map[string]func() error{} // each thing once, however often it changed
	var order []string
	add := func(key string, fn func() error) {
		if todo[key] == nil {
			order = append(order, key)
		}
		todo[key] = fn
	}
	for _, e := range events {
		id := e.Subject.ID
		if e.Type.Part() == coord.PartUses {
			paths, _ := e.Payload["paths"].([]any)
			add("index "+e.ID, func() error { return o.indexed(ctx, tx, e.RepoID, paths) })
		}
		switch e.Subject.Kind {
		case "intent":
			add("intent "+id, func() error { return one(o.intent)(tx.IntentByID(ctx, o.id, id)) })
		case "conflict":
			ref, _ := e.Payload["ref"].(string)
			if n, ok := coord.ParseConflictRef(ref); ok {
				add("conflict "+id, func() error { return one(o.conflict)(tx.Conflict(ctx, o.id, n)) })
			}
		case "message":
			add("message "+id, func() error {
				rows, err := tx.MessageMemories(ctx, o.id, id, tx.Now.Add(-Window), 1)
				for _, m := range rows {
					o.message(m)
				}
				return err
			})
		case "question":
			add("question "+id, func() error { return one(o.question)(tx.Question(ctx, o.id, id)) })
		case "change":
			copy, _ := e.Payload["copy"].(string)
			add("change "+e.RepoID+" "+copy, func() error { return o.copy(ctx, tx, e.RepoID, copy) })
		}
	}
	for _, key := range order {
		if err := todo[key](); err != nil {
			return err
		}
	}
	return nil
}

// one makes a query's answer into something to remember.
func one[T any](put func(T)) func(T, error) error {
	return func(v T, err error) error {
		if err == nil {
			put(v)
		}
		return err
	}
}

// copy remembers the contracts that a working copy changes.
func (o *org) copy(ctx context.Context, tx *store.Tx, repo, copy string) error {
	rows, err := tx.Changes(ctx, o.id, repo, copy)
	if err != nil || len(rows) == 0 {
		return err
	}
	r, err := tx.Repo(ctx, o.id, repo)
	for _, c := range rows {
		o.contractsOf(c.Facts, coord.RepoName{ID: r.ID, FullName: r.FullName}, c.UpdatedAt)
	}
	return err
}

// contractID names what is remembered of a contract. Its key is no part of it:
// keys are as their authors like, ids are read without care.
func contractID(repo, key string) string {
	sum := sha256.Sum256([]byte(key))
	return repo + "-" + hex.EncodeToString(sum[:8])
}
