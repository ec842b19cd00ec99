package forge

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// JobMissed is the kind of the job that asks a host, with a token, what became
// of pull requests while its webhooks did not arrive. GitHub sends those of
// apps again when it is asked to; GitLab never, and switches off webhooks that
// fail.
const JobMissed = "missed"

// A MissedJob says which host of the org's; or which installation of an app,
// which is then asked once: GitHub neither sends nor keeps webhooks while one
// is suspended, and keeps those that failed for three days only.
type MissedJob struct {
	Provider     coord.Provider `json:"provider"`
	App          string         `json:"app,omitempty"`
	Installation int64          `json:"installation,omitempty"`
	Since        coord.Time     `json:"since,omitempty"` // 0 for what is open now
}

func missedKey(provider coord.Provider, org string) string {
	return JobMissed + ":" + string(provider) + ":" + org
}

// askMissed has a host asked now, and from then on every quarter of an hour.
func askMissed(ctx context.Context, tx *store.Tx, provider coord.Provider, org string) error {
	return jobs.Move(ctx, tx, jobs.New{
		Kind:    JobMissed,
		Org:     org,
		Key:     missedKey(provider, org),
		Payload: MissedJob{Provider: provider},
		At:      tx.Now,
	})
}

// askInstallation has an installation asked once.
func askInstallation(ctx context.Context, tx *store.Tx, org string, i store.Installation, since coord.Time) error {
	return jobs.Add(ctx, tx, jobs.New{
		Kind:    JobMissed,
		Org:     org,
		Key:     JobMissed + ":" + i.App + ":" + strconv.FormatInt(i.ID, 10),
		Payload: MissedJob{coord.GitHub, i.App, i.ID, since},
	})
}

// RunMissed asks a host for the pull requests that changed since it was last
// asked.
func (s *Service) RunMissed(ctx context.Context, r *jobs.Run) error {
	var in MissedJob
	if err := r.Decode(&in); err != nil {
		return err
	}
	if in.App != "" {
		return s.missedByApp(ctx, r, in)
	}
	var t *store.HostToken
	var repos []coord.Repo
	if err := s.Read(ctx, func(tx *store.Tx) (err error) {
		if t, err = tx.HostToken(ctx, in.Provider, r.OrgID); err != nil || t == nil {
			return err
		}
		repos, err = tx.ReposInFull(ctx, r.OrgID)
		return err
	}); err != nil || t == nil {
		return err
	}
	start := s.Store.Now()
	host, err := s.reachWith(t)
	if err != nil {
		return err
	}
	from := sender{provider: in.Provider, org: r.OrgID}
	for _, repo := range repos {
		there, here := hostedAt(repo, t.Web)
		if repo.Provider != in.Provider || !here || repo.ArchivedAt != nil {
			continue
		}
		if err := s.catchUp(ctx, host, from, 0, repo, there, sinceSync(t.SyncedAt)); err != nil {
			return s.lookedUp(ctx, host, err)
		}
	}
	return s.Write(ctx, ground.System(r.OrgID), func(tx *store.Tx) error {
		return ground.FirstError(tx.HostSynced(ctx, *t, start), r.FinishUntil(ctx, tx, tx.Now.Add(syncEvery)))
	})
}

// missedByApp asks for the pull requests of an installation's repositories.
func (s *Service) missedByApp(ctx context.Context, r *jobs.Run, in MissedJob) error {
	var repos []coord.Repo
	var app store.GitHubApp
	var host *reach
	var i *store.Installation
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		if app, err = tx.GitHubApp(ctx, in.App); err != nil {
			return unlessMissing(err)
		}
		if i, err = tx.Installation(ctx, in.App, in.Installation); err != nil || i == nil {
			return err
		}
		if host, err = s.reachOf(ctx, tx, r.OrgID, coord.GitHub, "", in.App, in.Installation); err != nil || host == nil {
			return err
		}
		repos, err = tx.ReposInFull(ctx, r.OrgID)
		return err
	})
	if err != nil || host == nil {
		return err
	}
	from := sender{provider: coord.GitHub, org: r.OrgID, app: in.App}
	for _, repo := range repos {
		there, here := hostedAt(repo, app.Web)
		seen := slices.ContainsFunc(i.Repos, func(name string) bool { return strings.EqualFold(name, there.FullName) })
		if repo.Provider != coord.GitHub || !here || repo.ArchivedAt != nil || !seen && i.Selection != "all" {
			continue
		}
		if err := s.catchUp(ctx, host, from, in.Installation, repo, there, in.Since); err != nil {
			return s.lookedUp(ctx, host, err)
		}
	}
	return nil
}

// sinceSync returns since when to ask, if a host was last asked at a moment;
// 0 for what is open now. What was under way then is asked for again.
func sinceSync(last *coord.Time) coord.Time {
	if last == nil {
		return 0
	}
	return last.Add(-syncEvery)
}

// hostedAt returns a repo as the host at an address knows it, and whether it
// is there at all.
func hostedAt(repo coord.Repo, web string) (githost.Repo, bool) {
	u, err := url.Parse(web)
	if err != nil {
		return githost.Repo{}, false
	}
	at := strings.ToLower(u.Hostname()) + u.Path + "/"
	there := githost.Repo{FullName: repo.FullName}
	here := len(repo.Remotes) == 0 // registered by name only
	for _, r := range repo.Remotes {
		if name, ok := strings.CutPrefix(r, at); ok {
			there.FullName, here = name, true
			break
		}
	}
	if repo.HostID != nil {
		if host, id, _ := strings.Cut(*repo.HostID, "#"); host == strings.ToLower(u.Hostname()) {
			there.ID, _ = strconv.ParseInt(id, 10, 64)
			here = true
		}
	}
	return there, here
}

// catchUp asks a host for a repository's pull requests since a moment, and
// where its default branch is, and takes what is news, as if their webhooks
// had come. A repository that is not there, or not for us, is left aside.
func (s *Service) catchUp(ctx context.Context, host *reach, from sender, installation int64, here coord.Repo, there githost.Repo,
	since coord.Time) error {
	ask, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	now, pulls, err := host.Pulls(ask, there, since)
	if err == nil && len(pulls) > 0 {
		err = s.catchUpPulls(ctx, from, installation, now, pulls)
	}
	if err == nil {
		err = s.catchUpPushes(ask, host, from, installation, here, now)
	}
	if err != nil && githost.Gone(err) && !githost.Refused(err) && githost.Wait(err) == 0 {
		s.Logger.InfoContext(ctx, "a git host does not show a repo", "provider", from.provider, "repo", there.FullName, "err", err)
		return nil
	}
	return err
}

// catchUpPulls takes what is news of pull requests.
func (s *Service) catchUpPulls(ctx context.Context, from sender, installation int64, now githost.Repo, pulls []githost.Pull) error {
	took := 0
	err := s.Alter(ctx, ground.System(from.org), func(c *ground.Change) error {
		took = 0
		for i := len(pulls) - 1; i >= 0; i-- { // oldest first, as they happened
			e := githost.Event{Repo: now, Installation: installation, Pull: &pulls[i]}
			here, err := hostedRepo(ctx, c, from, e)
			if err != nil || here == nil {
				return err
			}
			was, err := c.Pull(ctx, here.ID, from.provider, e.Pull.Number)
			if err != nil {
				return err
			}
			if was != nil && known(*was, pulls[i]) {
				continue
			}
			if _, err := s.pullChanged(ctx, c, from, *here, e); err != nil {
				return err
			}
			took++
		}
		return nil
	})
	if took > 0 {
		s.Logger.InfoContext(ctx, "asked a git host for what was missed", "provider", from.provider, "repo", now.FullName, "pulls", took)
	}
	return err
}

// known reports whether nothing of a pull request is news.
func known(was store.Pull, p githost.Pull) bool {
	return was.State == p.State && was.Draft == p.Draft && was.HeadSHA == p.HeadSHA && was.HeadRef == p.HeadRef && was.BaseRef == p.BaseRef
}
