package moments

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
)

// learnMaps takes over how versions of files go together, as far as that is
// still wanted: a client tells only what it was asked for, and nobody else can
// fill the index with what no work needs.
func (h *hook) learnMaps(ctx context.Context) error {
	if len(h.event.LineMaps) == 0 {
		return nil
	}
	wanted := map[[2]string]bool{}
	for _, w := range engine.WantedMaps(h.Live.View(), h.worker()) {
		wanted[[2]string{w.Ours, w.Theirs}], wanted[[2]string{w.Theirs, w.Ours}] = true, true
	}
	learnt := 0
	for _, m := range h.event.LineMaps {
		if !wanted[[2]string{m.From, m.To}] || !m.Sound() {
			continue
		}
		if err := h.SaveLineMap(ctx, h.Who.OrgID, h.repo.ID, m); err != nil {
			return err
		}
		h.Live.PutLineMap(h.repo.ID, m)
		learnt++
	}
	if learnt == 0 {
		return nil
	}
	if err := h.TellOf(ctx, coord.EventChangeRecorded, h.worker(), h.repo.ID, wire.ChangePayload{
		Maps:      learnt,
		SessionID: h.session.ID,
	}); err != nil {
		return err
	}
	return h.settleOwn(ctx)
}

// wants returns the versions of files that keep this session's work from being
// compared with that of others.
func (h *hook) wants() []wire.WantedMap {
	var out []wire.WantedMap
	for _, w := range engine.WantedMaps(h.Live.View(), h.worker()) {
		out = append(out, wire.WantedMap{Path: w.Path, Ours: w.Ours, Theirs: w.Theirs})
	}
	return out
}

// watched returns the names that others took away and this session may mention.
func (h *hook) watched() []coord.WatchedName { return engine.WatchedNames(h.Live.View(), h.worker()) }

// mergeChecks returns the work of others that the agent's machine may merge
// with this session's and look at. Who shares no code has none looked at.
func (h *hook) mergeChecks(ctx context.Context) ([]wire.WantedCheck, error) {
	if h.event.Event != wire.HookPostEdit && h.event.Event != wire.HookStop || h.Who.DataMode == coord.DataMetadataOnly {
		return nil, nil
	}
	var out []wire.WantedCheck
	ix := h.Live.View()
	rules, _ := h.Live.Rules(h.repo.ID)
	related, near := engine.NearWork(ix, h.worker())
	for _, r := range related {
		c := wire.WantedCheck{Copy: r.Copy, Who: r.Worker.Ref()}
		if c.Who == "" {
			c.Who = r.Worker.User.Name
		}
		if r.Worker.User.ID != h.Who.UserID {
			if engine.SharesPatches(ix, h.repo.ID) {
				c.Patch = &wire.WantedPatch{Repo: h.repo.ID, Near: near[r][:min(len(near[r]), wire.MaxPatchFiles)]}
			}
			if rules != nil && rules.MergeCheck == policy.MergeCheckPushed {
				c.Branch = r.Worker.Branch // of others only what was pushed may be fetched
			}
			if r.Worker.Intent != nil {
				i, err := h.IntentByID(ctx, h.Who.OrgID, r.Worker.ID)
				if err != nil {
					return nil, err
				}
				if i.PRNumber != nil {
					c.Pull = *i.PRNumber
				}
			}
		}
		out = append(out, c)
	}
	return out, nil
}
