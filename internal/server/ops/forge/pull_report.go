package forge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/limit"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// JobPull is the kind of the job that makes a pull request tell of its
// conflicts.
const JobPull = "pull"

const (
	// maxReported bounds how many conflicts of an intent a report looks at.
	maxReported = 200
	// maxOthers bounds how many intents it looks for pull requests of.
	maxOthers = 20
)

// A PullJob says which pull request.
type PullJob struct {
	Pull string `json:"pull"`
}

const (
	// reportGather is how long a report waits for company: conflicts often
	// come and go together.
	reportGather = 300 * time.Millisecond
	// reportBack is how long ago work may have ended that a report is about.
	reportBack = 30 * 24 * time.Hour
)

// askReport makes a pull request tell of its conflicts as they now are.
func (s *Service) askReport(ctx context.Context, c *ground.Change, p store.Pull) error {
	host, err := s.reachOf(ctx, c.Tx, c.Who.OrgID, p.Provider, p.URL, p.App, p.Installation)
	if err != nil || host == nil {
		return err
	}
	return wakePull(ctx, c.Tx, c.Who.OrgID, p.ID)
}

func wakePull(ctx context.Context, tx *store.Tx, org, id string) error {
	return jobs.Gather(ctx, tx, jobs.New{Kind: JobPull, Org: org, Key: JobPull + ":" + id, Payload: PullJob{id}, At: tx.Now.Add(reportGather)})
}

// rerun writes the checks of pull requests again, though nothing changed.
func rerun(ctx context.Context, c *ground.Change, from sender, repo coord.Repo, again githost.Rerun) (wire.HookReceipt, error) {
	var pulls []store.Pull
	for _, n := range again.Numbers {
		p, err := c.Pull(ctx, repo.ID, from.provider, n)
		if err != nil {
			return wire.HookReceipt{}, err
		}
		if p != nil {
			pulls = append(pulls, *p)
		}
	}
	if len(again.Numbers) == 0 {
		at, err := c.PullsAt(ctx, repo.ID, from.provider, again.SHA)
		if err != nil {
			return wire.HookReceipt{}, err
		}
		pulls = at
	}
	for _, p := range pulls {
		p.Report.Hash = ""
		if err := ground.FirstError(c.SavePullReport(ctx, p.ID, p.Report), wakePull(ctx, c.Tx, c.Who.OrgID, p.ID)); err != nil {
			return wire.HookReceipt{}, err
		}
	}
	return ground.Done("%d checks are written again", len(pulls)), nil
}

// WakePulls makes the pull requests tell anew that events about conflicts
// concern.
func (s *Service) WakePulls(ctx context.Context, tx *store.Tx, org string, events []coord.Event) error {
	var sides, repos []string
	for _, e := range events {
		if e.Subject.Kind == "intent" && e.RepoID != "" && !slices.Contains(repos, e.RepoID) {
			repos = append(repos, e.RepoID) // claims may have come or gone
		}
		if e.Subject.Kind != "conflict" {
			continue
		}
		for _, role := range []string{"holder", "challenger"} {
			if id, _ := e.Payload[role].(string); id != "" && !slices.Contains(sides, id) {
				sides = append(sides, id)
			}
		}
	}
	var pulls []string
	var err error
	if len(sides) > 0 {
		pulls, err = tx.PullsOf(ctx, org, sides)
	}
	if err == nil && len(repos) > 0 {
		var checked []string
		checked, err = tx.PullsChecked(ctx, org, repos)
		pulls = append(pulls, checked...)
	}
	for _, id := range pulls {
		if err == nil {
			err = wakePull(ctx, tx, org, id)
		}
	}
	return err
}

// RunPullReport makes a pull request tell of its live conflicts, and once it
// has told of some, of their end: in one comment or check run, which is
// changed in place.
func (s *Service) RunPullReport(ctx context.Context, r *jobs.Run) error {
	var in PullJob
	if err := r.Decode(&in); err != nil {
		return err
	}
	var p *store.Pull
	var host *reach
	var report *githost.Report
	var kind string
	var rules *policy.Effective
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		if p, err = tx.PullByID(ctx, in.Pull); err != nil || p == nil {
			return err
		}
		if host, err = s.reachOf(ctx, tx, p.OrgID, p.Provider, p.URL, p.App, p.Installation); err != nil || host == nil {
			return err
		}
		rules, err = tx.EffectivePolicy(ctx, p.OrgID, p.RepoID)
		return err
	})
	if err != nil || p == nil || host == nil {
		return err
	}
	touched, err := s.touched(ctx, host, *p, rules)
	if err != nil {
		return s.lookedUp(ctx, host, err)
	}
	err = s.Read(ctx, func(tx *store.Tx) (err error) {
		kind, report, err = s.pullReport(ctx, tx, *p, rules, touched)
		return err
	})
	if err != nil || report == nil {
		return err
	}
	write := host.Comment
	if kind == policy.ReportCheck {
		write = host.Check
	}
	id, err := write(ctx, *report)
	if err != nil {
		return s.lookedUp(ctx, host, err)
	}
	return s.Write(ctx, ground.System(p.OrgID), func(tx *store.Tx) error {
		return ground.FirstError(tx.SavePullReport(ctx, p.ID, store.PullReport{
			Kind: kind,
			ID:   id,
			SHA:  report.SHA,
			Hash: reportHash(*report),
		}), r.Finish(ctx, tx))
	})
}

// touched asks the host which files a pull request changes, where that matters:
// somebody has a claim in its repository.
func (s *Service) touched(ctx context.Context, host *reach, p store.Pull, rules *policy.Effective) (out limit.List[string], err error) {
	if p.State != coord.PullOpen || rules.PullRequestReport == policy.ReportOff || rules.AtMerge() == policy.MergeOff {
		return out, nil
	}
	claimed := false
	err = s.Live.View(ctx, p.OrgID, func(ix *engine.Index) error {
		claimed = slices.ContainsFunc(ix.Workers(p.RepoID), func(id string) bool { return engine.HoldsExclusively(ix.Worker(id)) })
		return nil
	})
	if err != nil || !claimed {
		return out, err
	}
	return host.Touched(ctx, p.FullName, p.Number)
}

// reportHash names what a report says.
func reportHash(r githost.Report) string {
	sum := sha256.Sum256([]byte(r.State + "\n" + r.Text))
	return hex.EncodeToString(sum[:8])
}

// pullReport returns what a pull request is to say and how, nil if it says so
// already or has nothing to say.
func (s *Service) pullReport(ctx context.Context, tx *store.Tx, p store.Pull, rules *policy.Effective, touched limit.List[string]) (
	kind string, report *githost.Report, err error) {
	kind = rules.PullRequestReport
	if kind == policy.ReportCheck && p.Provider == coord.GitLab && !p.SameRepo { // a fork's commit takes no status of ours
		kind = policy.ReportComment
	}
	found, err := s.standing(ctx, tx, p, rules, touched)
	if err != nil {
		return "", nil, err
	}
	live := found.State != githost.Success
	said := p.Report
	if said.Kind != kind || kind == policy.ReportCheck && said.SHA != p.HeadSHA { // nothing there to change
		said = store.PullReport{}
	}
	switch {
	case kind == policy.ReportOff,
		// A check can be required only if every pull request gets one.
		said.ID == 0 && (!live && kind != policy.ReportCheck || p.State != coord.PullOpen),
		kind == policy.ReportCheck && p.State != coord.PullOpen:
		return kind, nil, nil
	}
	if said.ID != 0 && said.Hash == reportHash(found) {
		return kind, nil, nil
	}
	found.ID = said.ID
	return kind, &found, nil
}

// standing returns what there is to say of a pull request's conflicts.
func (s *Service) standing(ctx context.Context, tx *store.Tx, p store.Pull, rules *policy.Effective, touched limit.List[string]) (
	githost.Report, error) {
	r := githost.Report{
		Repo:   p.FullName,
		Number: p.Number,
		SHA:    p.HeadSHA,
		Branch: p.HeadRef,
		State:  githost.Success,
		URL:    s.URL("conflicts"),
		Marker: bulletin.PullMarker,
	}
	conflicts, err := pullConflicts(ctx, tx, p)
	if err != nil {
		return r, err
	}
	pulls, err := otherPulls(ctx, tx, p, conflicts)
	var notes []bulletin.PullNote
	for _, c := range conflicts {
		notes = append(notes, s.pullNote(p, c, pulls))
		switch {
		case !c.Status.Live():
		case c.Severity == coord.SeverityBlock:
			r.State = githost.ActionRequired
		case r.State == githost.Success:
			r.State = githost.Neutral
		}
	}
	intents, err2 := tx.IntentsOfPull(ctx, p, tx.Now.Add(time.Hour))
	holds, state, err3 := s.heldAtMerge(ctx, p, rules, intents, touched)
	for _, h := range holds {
		notes = append(notes, s.holdNote(p, h))
	}
	if state == githost.ActionRequired || r.State == githost.Success && state != "" {
		r.State = state
	}
	r.Title, r.Text = bulletin.Pull(notes, s.Config.PublicURL)
	return r, ground.FirstError(err, err2, err3)
}

// pullConflicts returns the conflicts of a pull request's work, newest first,
// that are more than information: those that live and those that ended.
func pullConflicts(ctx context.Context, tx *store.Tx, p store.Pull) (out []store.ConflictRow, err error) {
	intents, err := tx.IntentsOfPull(ctx, p, tx.Now.Add(-reportBack))
	for _, i := range intents {
		if err != nil {
			return nil, err
		}
		var rows []store.ConflictRow
		rows, err = tx.Conflicts(ctx, p.OrgID, store.ConflictFilter{Worker: i.ID, Limit: maxReported})
		for _, c := range rows {
			known := slices.ContainsFunc(out, func(x store.ConflictRow) bool { return x.ID == c.ID })
			if !known && c.Severity.Rank() >= coord.SeverityWarn.Rank() {
				out = append(out, c)
			}
		}
	}
	return out, err
}

// otherSides are the refs of the intents that a pull request's conflict is with,
// by their ids.
func otherSides(p store.Pull, c store.ConflictRow) map[string]string {
	out := map[string]string{}
	for _, side := range c.Parties {
		id := c.Challenger
		if side.Role == coord.Holder {
			id = c.Holder
		}
		if mine := side.Branch != nil && *side.Branch == p.HeadRef; side.Intent != nil && !mine {
			out[id] = side.Intent.Ref
		}
	}
	return out
}

// otherPulls are the open pull requests of the same repository that a pull
// request's live conflicts are with, by intent.
func otherPulls(ctx context.Context, tx *store.Tx, p store.Pull, conflicts []store.ConflictRow) (map[string]store.Pull, error) {
	out := map[string]store.Pull{}
	seen := map[string]bool{}
	for _, c := range conflicts {
		if !c.Status.Live() || len(seen) == maxOthers {
			continue
		}
		for intent := range otherSides(p, c) {
			if seen[intent] {
				continue
			}
			seen[intent] = true
			ids, err := tx.PullsOf(ctx, p.OrgID, []string{intent})
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				other, err := tx.PullByID(ctx, id)
				if err != nil {
					return nil, err
				}
				if other != nil && other.ID != p.ID && other.RepoID == p.RepoID && other.State == coord.PullOpen {
					out[intent] = *other
				}
			}
		}
	}
	return out, nil
}

// wakeOthers makes the pull requests tell anew that one is in conflict with:
// they name it, once it is open.
func (s *Service) wakeOthers(ctx context.Context, c *ground.Change, p store.Pull) error {
	conflicts, err := pullConflicts(ctx, c.Tx, p)
	if err != nil {
		return err
	}
	pulls, err := otherPulls(ctx, c.Tx, p, conflicts)
	for _, other := range pulls {
		if err == nil {
			err = wakePull(ctx, c.Tx, c.Who.OrgID, other.ID)
		}
	}
	return err
}

// pullNote tells of one conflict. Who reads a public repository gets no names.
func (s *Service) pullNote(p store.Pull, c store.ConflictRow, pulls map[string]store.Pull) bulletin.PullNote {
	n := bulletin.PullNote{Ref: c.Ref, URL: s.PageURL("conflict", c.Ref), Kind: strings.ReplaceAll(string(c.Kind), "_", " ")}
	var with []string
	for intent, ref := range otherSides(p, c) {
		if other, ok := pulls[intent]; ok {
			ref += fmt.Sprintf(" (pull request %d)", other.Number)
		}
		with = append(with, ref)
	}
	slices.Sort(with)
	n.With = strings.Join(with, ", ")
	if p.Private {
		n.Text = c.Explanation
	}
	if !c.Status.Live() {
		n.Ends = string(c.Status)
		if c.Resolution != nil {
			n.Ends += " (" + strings.ReplaceAll(string(*c.Resolution), "_", " ") + ")"
		}
	}
	return n
}
