package talk

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/memory"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// memoryScopes tells what a token must hold to search a kind.
var memoryScopes = map[coord.MemoryKind]coord.Scope{
	coord.MemoryIntents:   coord.ScopeIntentsRead,
	coord.MemoryStatuses:  coord.ScopeIntentsRead,
	coord.MemoryContracts: coord.ScopeIntentsRead,
	coord.MemoryConflicts: coord.ScopeConflictsRead,
	coord.MemoryMessages:  coord.ScopeMessagesRead,
	coord.MemoryQuestions: coord.ScopeMessagesRead,
}

// Search looks through the team's memory: the last 90 days, at most the
// newest 5,000 of each kind. Kinds that the token cannot read are skipped.
func (s *Service) Search(ctx context.Context, who coord.Caller, in wire.Search) (out wire.Page[coord.Memory], err error) {
	q := memory.Question{Text: in.Q, User: who.UserID, Kinds: in.Kinds, Limit: in.Limit}
	if len([]rune(strings.TrimSpace(in.Q))) < 2 {
		return out, problem.InvalidField("q", "must have at least 2 characters besides blanks")
	}
	if len(q.Kinds) == 0 {
		q.Kinds = coord.MemoryKinds()
	}
	q.Kinds = slices.DeleteFunc(slices.Clone(q.Kinds), func(k coord.MemoryKind) bool { return !who.Has(memoryScopes[k]) })
	if in.Repo != "" {
		err := s.Read(ctx, func(tx *store.Tx) error {
			r, err := work.RepoField(ctx, tx, who, "repo", in.Repo)
			q.Repo = r.ID
			return err
		})
		if err != nil {
			return out, err
		}
	}
	out.Items, err = s.Memory.Find(ctx, who.OrgID, q)
	for i := range out.Items {
		out.Items[i].URL = s.memoryURL(out.Items[i])
	}
	return out, err
}

// memoryURL returns where a person sees something that was found.
func (s *Service) memoryURL(m coord.Memory) string {
	switch m.Kind {
	case coord.MemoryIntents:
		return s.PageURL("intent", m.Ref)
	case coord.MemoryConflicts:
		return s.PageURL("conflict", m.Ref)
	case coord.MemoryMessages:
		return s.PageURL("conversation", strings.TrimPrefix(m.Ref, "thread:"))
	case coord.MemoryContracts:
		return s.ContractURL(m.Ref, m.Repo.FullName)
	case coord.MemoryQuestions:
		return s.PageURL("question", "")
	}
	return s.PageURL("status", "")
}

// HistorySearch is Search as an agent calls it.
func (s *Service) HistorySearch(ctx context.Context, who coord.Caller, in wire.HistorySearch) (wire.Page[coord.Memory], error) {
	repo := ""
	if in.Repo != nil {
		repo = *in.Repo
	}
	return s.Search(ctx, who, wire.Search{Q: in.Q, Kinds: in.Kinds, Repo: repo, Limit: in.Limit})
}
