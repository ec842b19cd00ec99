package moments

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ruling"
)

// refuseGit refuses a git command that would take away what another agent of
// this working copy has not committed.
func (h *hook) refuseGit(ctx context.Context, g engine.Guarded) (wire.HookReply, error) {
	reply, err := h.reply(ctx)
	if err != nil {
		return reply, err
	}
	ruling.Refuse(&reply, g.Reason)
	return reply, h.TellOf(ctx, coord.EventHookBlocked, h.session.ID, h.repo.ID,
		wire.HookBlockedPayload{HookPayload: h.answered(wire.Block, ruling.GuardKind), Refs: []string{}})
}
