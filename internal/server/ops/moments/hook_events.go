package moments

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// handle carries out one event that changes what is known.
func (h *hook) handle(ctx context.Context, event wire.HookEvent) error {
	switch event {
	case wire.HookSessionStart:
		return h.started(ctx)
	case wire.HookPrompt:
		return h.prompted(ctx)
	case wire.HookPlan:
		return h.planned(ctx)
	case wire.HookPostEdit:
		return h.edited(ctx)
	case wire.HookStop:
		return h.stopped(ctx)
	case wire.HookSessionEnd:
		return h.ended(ctx)
	}
	return nil
}

func (h *hook) started(ctx context.Context) error {
	for _, p := range h.event.Repo.Packages {
		if err := h.SavePackage(ctx, h.repo.ID, p.Name, p.Path, p.Language); err != nil {
			return err
		}
	}
	if h.session.Tool == wire.DoctorTool {
		return nil
	}
	if err := h.settleOwn(ctx); err != nil {
		return err
	}
	if h.event.Session.Deaf {
		return h.Tell(ctx, h.session.ID, selfKey, selfOwed)
	}
	if err := h.briefing(ctx); err != nil {
		return err
	}
	return h.news(ctx)
}

// prompted drafts an intent for a session that has none and delivers what is
// new.
func (h *hook) prompted(ctx context.Context) error {
	if err := h.draft(ctx, h.event.PromptExcerpt); err != nil {
		return err
	}
	if err := h.settleOwn(ctx); err != nil {
		return err
	}
	return h.news(ctx)
}

// planned adds what a plan names to the intent's scope.
func (h *hook) planned(ctx context.Context) error {
	if h.event.Task != nil {
		return h.task(ctx, *h.event.Task)
	}
	if err := h.draft(ctx, h.event.PlanText); err != nil {
		return err
	}
	if h.intent != nil {
		if err := h.scopeFromPlan(ctx); err != nil {
			return err
		}
	}
	if err := h.settleOwn(ctx); err != nil {
		return err
	}
	return h.news(ctx)
}

// edited records what was written and raises what it collides with.
func (h *hook) edited(ctx context.Context) error {
	if len(h.event.Paths) == 0 && h.event.Analysis == nil {
		return h.news(ctx)
	}
	if err := h.draft(ctx, ""); err != nil {
		return err
	}
	files := h.facts()
	copy := live.CopyOf(h.session.Session)
	var learnt []string
	for _, f := range files {
		if err := h.recordFile(ctx, copy, f); err != nil {
			return err
		}
		if err := h.learn(ctx, f); err != nil {
			return err
		}
		if len(f.Contracts) > 0 {
			learnt = append(learnt, basePath(f))
		}
	}
	if len(learnt) > 0 {
		if err := h.tellContracts(ctx, learnt); err != nil {
			return err
		}
	}
	if err := h.observe(ctx, files); err != nil {
		return err
	}
	if len(files) > 0 {
		if err := h.TellOf(ctx, coord.EventChangeRecorded, h.worker(), h.repo.ID, wire.ChangePayload{
			Copy:      copy,
			Files:     len(files),
			Paths:     touched(files),
			SessionID: h.session.ID,
		}); err != nil {
			return err
		}
	}
	if err := h.settleOwn(ctx); err != nil {
		return err
	}
	if h.event.Untold {
		if err := h.pastClaims(ctx, files); err != nil {
			return err
		}
	}
	return h.news(ctx)
}

// maxNamed is how many files an event names; one of more says only how many.
const maxNamed = 50

// touched returns the paths that files have and had, nil if they are many.
func touched(files []coord.FileFacts) (out []string) {
	if len(files) > maxNamed {
		return nil
	}
	for _, f := range files {
		out = append(out, f.Path)
		if f.OldPath != nil {
			out = append(out, *f.OldPath)
		}
	}
	return out
}

func (h *hook) tellContracts(ctx context.Context, paths []string) error {
	return ground.Emit(ctx, h.Tx, h.Who, ground.Happening{
		Type:    coord.EventContractChanged,
		Subject: coord.Entity{Kind: "repo", ID: h.repo.ID},
		Repo:    h.repo.ID,
		Payload: wire.ContractPayload{Paths: paths},
	})
}

// facts returns what is known of the written files: the client's analysis,
// and for paths it left out that they were written.
func (h *hook) facts() []coord.FileFacts {
	var files []coord.FileFacts
	seen := map[string]bool{}
	if a := h.event.Analysis; a != nil {
		for _, f := range a.Files {
			p, err := scope.CleanPath(f.Path)
			if err != nil || seen[p] {
				continue
			}
			f.Path = p
			seen[p] = true
			canonical(&f)
			if h.Who.DataMode == coord.DataMetadataOnly {
				f.ClearTexts()
			}
			files = append(files, f)
		}
	}
	for _, p := range h.event.Paths {
		p, err := scope.CleanPath(p)
		if err != nil || seen[p] {
			continue
		}
		seen[p] = true
		files = append(files, coord.FileFacts{Path: p, Status: coord.FileModified})
	}
	return files
}

// canonical writes the names in a file's facts as the engine compares them,
// whatever client sent them.
func canonical(f *coord.FileFacts) {
	if f.OldPath != nil {
		if p, err := scope.CleanPath(*f.OldPath); err == nil && p != f.Path {
			f.OldPath = &p
		} else {
			f.OldPath = nil
		}
	}
	for i := range f.Symbols {
		f.Symbols[i].Key = work.CanonicalKey(f.Symbols[i].Key)
	}
	for i := range f.Contracts {
		f.Contracts[i].Key = work.CanonicalKey(f.Contracts[i].Key)
	}
	for i := range f.References {
		f.References[i].Key = work.CanonicalKey(f.References[i].Key)
	}
}

// basePath returns a file's name before the edit.
func basePath(f coord.FileFacts) string {
	if f.OldPath != nil {
		return *f.OldPath
	}
	return f.Path
}

// recordFile stores a file's difference in the working copy, with this session
// as the latest to touch it.
func (h *hook) recordFile(ctx context.Context, copy string, f coord.FileFacts) error {
	row := store.ChangeRow{RepoID: h.repo.ID, Copy: copy, Facts: f}
	if old := h.Live.Change(h.repo.ID, copy, f.Path); old != nil {
		for _, t := range old.By {
			if t.Session != h.session.ID {
				row.Touched = append(row.Touched, store.Touch(t))
			}
		}
	}
	row.Touched = append(row.Touched, store.Touch{Worker: h.worker(), Session: h.session.ID, At: h.Now})
	if err := h.SaveChange(ctx, h.Who.OrgID, row); err != nil {
		return err
	}
	h.Live.PutChange(live.ChangeOf(row))
	if f.OldPath != nil { // what was recorded under the old name is told by this
		old := store.ChangeRow{RepoID: h.repo.ID, Copy: copy, Facts: coord.FileFacts{Path: *f.OldPath, Status: coord.FileUnchanged}}
		if err := h.SaveChange(ctx, h.Who.OrgID, old); err != nil {
			return err
		}
		h.Live.PutChange(live.ChangeOf(old))
	}
	if f.Status == coord.FileDeleted {
		return h.RemoveRepoFile(ctx, h.repo.ID, f.Path)
	}
	return h.AddRepoFile(ctx, h.repo.ID, f.Path)
}

// observe adds what was edited outside the declared scope to the intent's
// claims, so that a teammate is warned about work nobody declared.
func (h *hook) observe(ctx context.Context, files []coord.FileFacts) error {
	if h.intent == nil {
		return nil
	}
	var paths, undone []string
	for _, f := range files {
		if f.Status != coord.FileUnchanged {
			paths = append(paths, f.Path)
		} else {
			undone = append(undone, f.Path)
		}
	}
	return h.claimObserved(ctx, paths, undone)
}

// claimObserved adds paths to what the intent was seen to work on, and takes
// away those where nothing is left of the work.
func (h *hook) claimObserved(ctx context.Context, paths, undone []string) error {
	before := len(h.intent.Observed)
	h.intent.Observed = slices.DeleteFunc(h.intent.Observed, func(p string) bool { return slices.Contains(undone, p) })
	added := len(h.intent.Observed) != before
	wanted := len(h.intent.Wanted)
	h.intent.Wanted = slices.DeleteFunc(h.intent.Wanted, func(p string) bool { return slices.Contains(paths, p) }) // it is edited now
	added = added || len(h.intent.Wanted) != wanted
	for _, p := range paths {
		covered := slices.Contains(h.intent.Observed, p) || slices.ContainsFunc(h.intent.Scope.Paths, func(glob string) bool {
			g, err := scope.ParseGlob(glob)
			return err == nil && g.Match(p)
		})
		if !covered && len(h.intent.Observed) < work.MaxScope {
			h.intent.Observed = append(h.intent.Observed, p)
			added = true
		}
	}
	if !added {
		return h.TouchIntent(ctx, h.intent.ID, h.Now)
	}
	slices.Sort(h.intent.Observed)
	h.intent.LastActivityAt = h.Now
	if err := h.SaveIntent(ctx, h.intent); err != nil {
		return err
	}
	facts := ground.IntentFacts(*h.intent)
	facts.Observed = len(h.intent.Observed)
	if err := h.TellOf(ctx, coord.EventIntentUpdated, h.intent.ID, h.intent.Repo.ID, facts); err != nil {
		return err
	}
	return h.PutIntent(ctx, *h.intent)
}

// settleOwn brings this session's conflicts up to date.
func (h *hook) settleOwn(ctx context.Context) (err error) {
	h.found, err = h.Settle(ctx, h.worker())
	return err
}

// stopped notes that the turn is over and keeps what the agent said last. It
// releases nothing: an agent stops after every turn.
func (h *hook) stopped(ctx context.Context) error {
	if st := h.event.Status; st != nil && st.Excerpt != "" && h.Who.DataMode == coord.DataFull {
		h.session.StatusText, h.session.StatusAt = &st.Excerpt, h.Now.Ptr()
		if st.Asks == wire.AskPermission { // its host's words, not what became of the turn
			return h.UpdateSession(ctx, h.session)
		}
		id := ground.NewID()
		return ground.FirstError(h.UpdateSession(ctx, h.session), h.AddStatus(ctx, id, h.session, st.Excerpt),
			h.TellOf(ctx, coord.EventSessionStatus, h.session.ID, h.repo.ID, wire.SessionStatusPayload{
				StatusID: id,
				Files:    len(st.Files),
				IntentID: h.session.IntentID,
			}))
	}
	return nil
}

func (h *hook) ended(ctx context.Context) error {
	return endSession(ctx, h.Change, &h.session, h.intent)
}

// endSession ends a session and what only it kept alive. The intent is its live
// one, if that is known already.
func endSession(ctx context.Context, c *ground.Change, sess *store.SessionRow, intent *store.IntentRow) error {
	if sess.EndedAt != nil {
		return nil
	}
	sess.EndedAt = c.Now.Ptr()
	if err := c.UpdateSession(ctx, *sess); err != nil {
		return err
	}
	if err := c.TellOf(ctx, coord.EventSessionEnded, sess.ID, sess.Repo.ID, wire.SessionEndedPayload{Tool: sess.Tool}); err != nil {
		return err
	}
	if intent == nil && sess.IntentID != nil {
		i, err := c.IntentByID(ctx, c.Who.OrgID, *sess.IntentID)
		if err != nil {
			return err
		}
		if i.Status.Live() {
			intent = &i
		}
	}
	c.Live.RemoveWorker(sess.ID)
	worker := sess.ID
	if intent != nil {
		worker = intent.ID
		if err := c.PutIntent(ctx, *intent); err != nil {
			return err
		}
	}
	_, err := c.Settle(ctx, worker)
	return err
}

// learn takes over from an edit what its base provided and used: the default
// branch's state, not the edit's.
func (h *hook) learn(ctx context.Context, f coord.FileFacts) error {
	if len(f.Contracts) == 0 || f.Status == coord.FileAdded {
		return nil
	}
	path := basePath(f)
	for _, k := range f.Contracts {
		if k.Change == coord.Added {
			continue
		}
		known := store.ContractRow{Signature: k.PreviousSignature, SignatureHash: k.PreviousSignatureHash, Worked: true}
		if k.Change == coord.Same || known.SignatureHash == nil {
			known.Signature, known.SignatureHash = k.Signature, k.SignatureHash
		}
		if err := work.SaveFact(ctx, h.Change, h.repo, path, k, known, false); err != nil {
			return err
		}
	}
	return work.Reuse(ctx, h.Change, h.repo, path)
}
