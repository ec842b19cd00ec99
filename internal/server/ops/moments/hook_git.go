package moments

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
)

// guardKind names what the guard of shared working copies refuses or warns
// about, in events and figures. It is no kind of conflict: no claim is hurt.
const guardKind = "shared_clone_guard"

// sweepsOf returns the git commands of an event that take hold of uncommitted
// work as a whole.
func sweepsOf(e *hookEvent) []engine.Sweep {
	if e.Shell == nil || len(e.Shell.Git) == 0 {
		return nil
	}
	effects := map[wire.GitEffect]engine.SweepEffect{
		wire.GitDiscards: engine.Discards,
		wire.GitSweeps:   engine.Sweeps,
		wire.GitMoves:    engine.Moves,
	}
	out := make([]engine.Sweep, 0, len(e.Shell.Git))
	for _, g := range e.Shell.Git {
		s := engine.Sweep{Verb: g.Verb, Effect: effects[g.Effect], All: g.All}
		for _, f := range g.Files {
			swept := engine.SweptFile{Path: f.Path}
			if f.CommittedAt != nil {
				swept.Committed = *f.CommittedAt
			}
			s.Files = append(s.Files, swept)
		}
		for _, t := range g.Stashes {
			s.Stashes = append(s.Stashes, engine.SweptStash{Name: t.Name, Session: t.SessionID})
		}
		out = append(out, s)
	}
	return out
}

// refuseGit refuses a git command that would take away what another agent of
// this working copy has not committed.
func (h *hook) refuseGit(ctx context.Context, g engine.Guarded) (wire.HookReply, error) {
	reply, err := h.reply(ctx)
	if err != nil {
		return reply, err
	}
	reply.Decision, reply.Reason, reply.InjectContext = wire.Block, marker.Say(g.Reason, maxConflictLine), ""
	reply.Conflicts = []wire.HookConflict{}
	return reply, h.TellOf(ctx, coord.EventHookBlocked, h.session.ID, h.repo.ID,
		wire.HookBlockedPayload{HookPayload: h.answered(wire.Block, guardKind), Refs: []string{}})
}
