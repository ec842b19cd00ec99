package forge

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/limit"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// JobGroup is the kind of the job that writes the check of a merge group.
const JobGroup = "merge_group"

// A GroupJob says which one.
type GroupJob struct {
	Repo         string         `json:"repo"`
	Provider     coord.Provider `json:"provider"`
	URL          string         `json:"url"` // of the repository
	App          string         `json:"app"`
	Installation int64          `json:"installation"`
	FullName     string         `json:"full_name"`
	Number       int            `json:"number"`
	SHA          string         `json:"sha"`
}

// grouped takes that a merge queue asks for the checks of a group.
func (s *Service) grouped(ctx context.Context, c *ground.Change, from sender, repo coord.Repo, e githost.Event) (wire.HookReceipt, error) {
	job := GroupJob{
		Repo:         repo.ID,
		Provider:     from.provider,
		URL:          e.Repo.URL,
		App:          from.app,
		Installation: e.Installation,
		FullName:     e.Repo.FullName,
		Number:       e.Group.Number,
		SHA:          e.Group.SHA,
	}
	err := jobs.Add(ctx, c.Tx, jobs.New{Kind: JobGroup, Org: c.Who.OrgID, Key: JobGroup + ":" + repo.ID + ":" + job.SHA, Payload: job})
	return ground.Done("the merge group with pull request #%d gets its check", job.Number), err
}

// RunGroup writes the check of a merge group: that of the pull request at its
// end, as it is now. One that we know nothing of is fine, since a queue waits
// for a check that is required until it is there.
func (s *Service) RunGroup(ctx context.Context, r *jobs.Run) error {
	var in GroupJob
	if err := r.Decode(&in); err != nil {
		return err
	}
	var host *reach
	var report *githost.Report
	var rules *policy.Effective
	var p *store.Pull
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		if host, err = s.reachOf(ctx, tx, r.OrgID, in.Provider, in.URL, in.App, in.Installation); err != nil || host == nil {
			return err
		}
		if rules, err = tx.EffectivePolicy(ctx, r.OrgID, in.Repo); err != nil || rules.PullRequestReport != policy.ReportCheck {
			return err
		}
		p, err = tx.Pull(ctx, in.Repo, in.Provider, in.Number)
		return err
	})
	if err != nil || host == nil || rules.PullRequestReport != policy.ReportCheck {
		return err
	}
	var touched limit.List[string]
	if p != nil {
		if touched, err = s.touched(ctx, host, *p, rules); err != nil {
			return s.lookedUp(ctx, host, err)
		}
	}
	err = s.Read(ctx, func(tx *store.Tx) (err error) {
		report, err = s.groupReport(ctx, tx, p, in, rules, touched)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := host.Check(ctx, *report); err != nil {
		return s.lookedUp(ctx, host, err)
	}
	return nil
}

// groupReport returns what to say of a merge group.
func (s *Service) groupReport(ctx context.Context, tx *store.Tx, p *store.Pull, in GroupJob, rules *policy.Effective,
	touched limit.List[string]) (*githost.Report, error) {
	report := githost.Report{State: githost.Success, URL: s.URL("conflicts")}
	report.Title, report.Text = bulletin.Pull(nil, s.Config.PublicURL)
	if p != nil {
		var err error
		if report, err = s.standing(ctx, tx, *p, rules, touched); err != nil {
			return nil, err
		}
	}
	report.Repo, report.Number, report.SHA = in.FullName, in.Number, in.SHA
	return &report, nil
}
