package talk

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// MuteAttention stops, or starts again, asking the caller about a kind, a
// repository or a thread.
func (s *Service) MuteAttention(ctx context.Context, who coord.Caller, in wire.MuteAttention) (out wire.None, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		if in.Off {
			return tx.Unmute(ctx, who.OrgID, who.UserID, in.Mute)
		}
		switch in.What {
		case "kind":
			if !slices.Contains(coord.AttentionKinds(), coord.AttentionKind(in.ID)) {
				return problem.InvalidField("id", "is no kind of attention")
			}
		case "repo":
			if _, err := tx.Repo(ctx, who.OrgID, in.ID); err != nil {
				return err
			}
		case "thread":
			if _, err := s.conversation(ctx, tx, who, in.ID); err != nil {
				return err
			}
		}
		return tx.Mute(ctx, who.OrgID, who.UserID, in.Mute)
	})
	return out, err
}
