package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// GitHubOf says what the sealed secrets of an app are for.
func GitHubOf(app string) string { return "github " + app }

// appSecrets are what an app's row holds, sealed.
type appSecrets struct {
	PEM           string `json:"pem"`
	WebhookSecret string `json:"webhook_secret"`
	ClientID      string `json:"client_id"`
	ClientSecret  string `json:"client_secret"`
}

func (s *Service) appSecrets(a store.GitHubApp) (out appSecrets, err error) {
	text, err := s.Config.Vault.Open(GitHubOf(a.ID), a.Secrets)
	if err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	return out, err
}

// access returns what it takes to act as an app, or one of its installations.
func (s *Service) access(a store.GitHubApp, installation int64) (githost.Access, error) {
	secrets, err := s.appSecrets(a)
	return githost.Access{API: a.API, AppID: a.AppID, Installation: installation, PEM: secrets.PEM}, err
}

// GetGitHub tells of the org's apps and where they are installed.
func (s *Service) GetGitHub(ctx context.Context, who coord.Caller, _ wire.None) (out wire.GitHubStatus, err error) {
	out = wire.GitHubStatus{
		Host:          s.Config.GitHubURL,
		WebhookURL:    s.URL("v1", "github", "webhook"),
		Apps:          []wire.GitHubApp{},
		Installations: []wire.GitHubInstallation{},
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		apps, err := tx.GitHubApps(ctx, who.OrgID)
		if err != nil {
			return err
		}
		out.Configured = len(apps) > 0
		for _, a := range apps {
			out.Apps = append(out.Apps, wire.GitHubApp{
				ID:             a.ID,
				AppID:          a.AppID,
				Name:           a.Name,
				Owner:          a.Owner,
				URL:            a.URL,
				InstallURL:     a.URL + "/installations/new",
				CreatedAt:      a.CreatedAt,
				LastDeliveryAt: a.DeliveredAt,
			})
			rows, err := tx.Installations(ctx, a.ID)
			if err != nil {
				return err
			}
			for _, i := range rows {
				if !i.Gone {
					out.Installations = append(out.Installations, wire.GitHubInstallation{ID: strconv.FormatInt(i.ID, 10), App: a.ID, Account: i.Account,
						Selection: i.Selection, Repos: len(i.Repos), Suspended: i.Suspended, CreatedAt: i.CreatedAt})
				}
			}
		}
		return nil
	})
	return out, err
}

// A manifestFlow is what the sealed state of a manifest flow says: whoever
// comes back with it is sent by us, for this org.
type manifestFlow struct {
	ID, Org, User, Web string
	Until              coord.Time
}

const (
	flowPurpose  = "github flow"
	flowLifetime = time.Hour // GitHub's code lives as long
)

// GetGitHubManifest begins the flow by which an admin makes an app on GitHub
// that belongs to the org.
func (s *Service) GetGitHubManifest(ctx context.Context, who coord.Caller, in wire.GetGitHubManifest) (out wire.GitHubManifest, err error) {
	flow, _ := json.Marshal(manifestFlow{
		ID:    ground.NewID(),
		Org:   who.OrgID,
		User:  who.UserID,
		Web:   s.Config.GitHubURL,
		Until: s.Store.Now().Add(flowLifetime),
	})
	state, err := s.Config.Vault.Seal(flowPurpose, string(flow))
	if err != nil {
		return out, err
	}
	out.URL = githost.NewAppURL(s.Config.GitHubURL, in.Owner, state)
	out.Manifest = githost.Manifest(ground.Clip("svc "+who.OrgSlug, 34), s.Config.PublicURL) // GitHub's names have at most 34 characters
	if in.Format == "html" {
		out.HTML = bulletin.ManifestPage(out)
	}
	return out, nil
}

// FinishGitHubManifest takes the app that GitHub made.
func (s *Service) FinishGitHubManifest(ctx context.Context, _ coord.Caller, in wire.FinishGitHubManifest) (out wire.Redirect, err error) {
	flow, err := s.openFlow(in.State)
	if err != nil {
		return out, err
	}
	who := coord.Caller{OrgID: flow.Org, UserID: flow.User}
	if err := s.Read(ctx, func(tx *store.Tx) error { return mayFinish(ctx, tx, flow) }); err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	api := githost.APIOf(flow.Web)
	made, err := s.Config.GitHub.Convert(ctx, api, in.Code)
	if err != nil {
		s.Logger.WarnContext(ctx, "GitHub did not hand over the app that was made", "org", flow.Org, "err", err)
		return wire.Redirect{Location: s.URL("settings", "github?made=failed")}, nil
	}
	id := ground.NewID()
	secrets, _ := json.Marshal(appSecrets{made.PEM, made.WebhookSecret, made.ClientID, made.ClientSecret})
	sealed, err := s.Config.Vault.Seal(GitHubOf(id), string(secrets))
	if err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		app := store.GitHubApp{
			ID:        id,
			OrgID:     flow.Org,
			AppID:     made.ID,
			Slug:      made.Slug,
			Name:      made.Name,
			Owner:     made.Owner,
			URL:       made.URL,
			Web:       flow.Web,
			API:       api,
			Secrets:   sealed,
			Flow:      flow.ID,
			CreatedBy: flow.User,
			CreatedAt: tx.Now,
		}
		return ground.FirstError(mayFinish(ctx, tx, flow), tx.InsertGitHubApp(ctx, app), tx.StartFanout(ctx, flow.Org),
			ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, flow.Org, "",
				wire.IntegrationPayload{Integration: "github", Connected: new(true)}),
			jobs.Move(ctx, tx, jobs.New{
				Kind:    JobGitHub,
				Org:     flow.Org,
				Key:     JobGitHub + ":" + id,
				Payload: GitHubJob{id},
				At:      tx.Now.Add(syncEvery),
			}))
	})
	return wire.Redirect{Location: s.URL("settings", "github?made=app")}, err
}

func (s *Service) openFlow(state string) (flow manifestFlow, err error) {
	text, err := s.Config.Vault.Open(flowPurpose, state)
	if err != nil || json.Unmarshal([]byte(text), &flow) != nil {
		return flow, problem.Newf(problem.Forbidden, "this did not begin here; make the app under Settings, GitHub")
	}
	if s.Store.Now() > flow.Until {
		return flow, problem.Newf(problem.Forbidden, "this took longer than an hour; begin again under Settings, GitHub")
	}
	return flow, nil
}

// mayFinish checks that whoever began a flow is still an admin, and that
// nobody has finished it.
func mayFinish(ctx context.Context, tx *store.Tx, flow manifestFlow) error {
	m, err := tx.Member(ctx, flow.Org, flow.User)
	if err != nil || !m.Role.IsAdmin() {
		return problem.Newf(problem.Forbidden, "the person who started this is no longer an admin of the org")
	}
	apps, err := tx.GitHubApps(ctx, flow.Org)
	if slices.ContainsFunc(apps, func(a store.GitHubApp) bool { return a.Flow == flow.ID }) {
		return problem.Newf(problem.Conflict, "this app was made already; begin again for another")
	}
	return err
}

// DeleteGitHubApp forgets an app and its secrets. On GitHub it stays until
// somebody deletes it there; its webhooks are refused from now on.
func (s *Service) DeleteGitHubApp(ctx context.Context, who coord.Caller, in wire.DeleteGitHubApp) (out wire.None, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		a, err := tx.GitHubApp(ctx, in.ID)
		if err == nil && a.OrgID != who.OrgID {
			err = problem.Newf(problem.NotFound, "no such app")
		}
		if err != nil {
			return err
		}
		if err := ground.FirstError(tx.DropJob(ctx, JobGitHub+":"+a.ID), tx.DeleteGitHubApp(ctx, a.ID)); err != nil {
			return err
		}
		left, err := tx.GitHubApps(ctx, who.OrgID)
		return ground.FirstError(err, ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", wire.IntegrationPayload{
			Integration: "github",
			Connected:   new(len(left) > 0),
		}))
	})
	return out, err
}

// ReceiveGitHub takes a webhook of one of the apps, or of a repository or
// organization that has one without an app.
func (s *Service) ReceiveGitHub(ctx context.Context, _ coord.Caller, in wire.GitHubHook) (out wire.HookReceipt, err error) {
	d := githost.Delivery{Body: in.Body, Header: in.Header}
	name := ground.Clip(in.Header("X-GitHub-Delivery"), 100)
	from, payload, err := s.githubSender(ctx, in.ID, d)
	if err != nil {
		return out, s.RefuseHook(ctx, "github", name, err)
	}
	e, err := githost.ReadGitHub(in.Header("X-GitHub-Event"), name, payload)
	if err != nil {
		return out, s.RefuseHook(ctx, "github", name, problem.Newf(problem.BadRequest, "%v", err))
	}
	if e.Installed != nil && from.app == "" { // no app told us, so it is not ours
		e = githost.Event{Delivery: name, Nothing: "nothing is to be done for another app"}
	}
	return s.hear(ctx, from, in.Body, e)
}

// githubSender finds out who signed a delivery.
func (s *Service) githubSender(ctx context.Context, hook string, d githost.Delivery) (from sender, payload []byte, err error) {
	if hook == "" {
		app, payload, err := s.appSender(ctx, d)
		return sender{provider: coord.GitHub, org: app.OrgID, source: "github " + app.ID, app: app.ID,
			note: func(ctx context.Context, tx *store.Tx) error { return tx.GitHubAppDelivered(ctx, app.ID) }}, payload, err
	}
	h, err := s.hostSender(ctx, coord.GitHub, hook, func(secret string) (err error) { payload, err = d.VerifyGitHub(secret); return err })
	if err != nil {
		return from, nil, err
	}
	return senderOf(h), payload, nil
}

// appSender finds the app whose secret signed a delivery.
func (s *Service) appSender(ctx context.Context, d githost.Delivery) (app store.GitHubApp, payload []byte, err error) {
	var apps []store.GitHubApp
	if err := s.Read(ctx, func(tx *store.Tx) error { apps, err = tx.GitHubApps(ctx, ""); return err }); err != nil {
		return app, nil, err
	}
	err = githost.ErrForged
	if d.Header("X-Hub-Signature-256") == "" {
		err = githost.ErrUnsigned
	}
	for _, a := range apps {
		if id := d.AppID(); id != 0 && id != a.AppID {
			continue
		}
		secrets, broken := s.appSecrets(a)
		if broken != nil {
			return app, nil, broken
		}
		if payload, err = d.VerifyGitHub(secrets.WebhookSecret); err == nil {
			return a, payload, nil
		}
	}
	return app, nil, err
}

// installed takes what GitHub tells of where an app is installed. What is
// older than what is known is left aside.
func installed(ctx context.Context, c *ground.Change, from sender, in githost.Installed) (wire.HookReceipt, error) {
	rows, err := c.Installations(ctx, from.app)
	if err != nil {
		return wire.HookReceipt{}, err
	}
	i := store.Installation{App: from.app, ID: in.ID, CreatedAt: cmp.Or(in.CreatedAt, c.Now)}
	if at := slices.IndexFunc(rows, func(x store.Installation) bool { return x.ID == in.ID }); at >= 0 {
		i = rows[at]
	}
	switch {
	case i.Gone:
		return ground.Ignored("the installation was removed"), nil // a new one has another number
	case in.ChangedAt < i.ChangedAt:
		return ground.Ignored("it is older than what is known of the installation"), nil
	}
	was := i
	i.Account, i.Selection, i.Suspended, i.Gone, i.ChangedAt = in.Account, in.Selection, in.Suspended, in.Gone, in.ChangedAt
	if in.Set != nil {
		i.Repos = in.Set
	}
	i.Repos = slices.DeleteFunc(append(i.Repos, in.Added...), func(name string) bool { return slices.Contains(in.Removed, name) })
	slices.Sort(i.Repos)
	i.Repos = slices.Compact(i.Repos)
	if err := ground.FirstError(c.SaveInstallation(ctx, i), goOn(ctx, c, was, i)); err != nil {
		return wire.HookReceipt{}, err
	}
	err = c.TellOf(ctx, coord.EventIntegrationUpdated, c.Who.OrgID, "", wire.IntegrationPayload{
		Integration:  "github",
		Connected:    new(true),
		Installation: strconv.FormatInt(i.ID, 10),
		Repos:        new(len(i.Repos)),
		Removed:      &i.Gone,
		Suspended:    &i.Suspended,
	})
	if i.Suspended {
		return ground.Done("the app is suspended on %s: nothing is sent there until that ends", i.Account), err
	}
	return ground.Done("the app is installed on %d repos of %s", len(i.Repos), i.Account), err
}

// goOn takes up with an installation where it lets us again, or anew: what
// became of its pull requests was told to nobody, and what they were to tell
// could not be written.
func goOn(ctx context.Context, c *ground.Change, was, now store.Installation) error {
	if now.Suspended || now.Gone {
		return nil
	}
	switch fresh := slices.ContainsFunc(now.Repos, func(name string) bool { return !slices.Contains(was.Repos, name) }); {
	case was.Suspended:
		since := was.ChangedAt.Add(-syncEvery)
		return ground.FirstError(wakeOpen(ctx, c.Tx, c.Who.OrgID, coord.GitHub), askInstallation(ctx, c.Tx, c.Who.OrgID, now, since))
	case fresh:
		return askInstallation(ctx, c.Tx, c.Who.OrgID, now, 0)
	}
	return nil
}

// JobGitHub is the kind of the job that asks GitHub what we missed.
const JobGitHub = "github"

// A GitHubJob says for which app.
type GitHubJob struct {
	App string `json:"app"`
}

const (
	syncEvery = 15 * time.Minute
	// GitHub keeps deliveries for three days.
	syncBack = 3 * 24 * time.Hour
)

// RunGitHub asks GitHub for webhooks that did not arrive, which it never sends
// again by itself, and brings the installations up to date.
func (s *Service) RunGitHub(ctx context.Context, r *jobs.Run) error {
	var in GitHubJob
	if err := r.Decode(&in); err != nil {
		return err
	}
	var app store.GitHubApp
	if err := s.Read(ctx, func(tx *store.Tx) (err error) { app, err = tx.GitHubApp(ctx, in.App); return err }); err != nil {
		return unlessMissing(err)
	}
	start := s.Store.Now()
	since := start.Add(-syncBack)
	if app.SyncedAt != nil {
		since = max(since, app.SyncedAt.Add(-syncEvery)) // what was under way then
	}
	found, err := s.askGitHub(ctx, app, since)
	if err != nil {
		return laterIfAsked(err, start)
	}
	return s.Alter(ctx, ground.System(app.OrgID), func(c *ground.Change) error {
		for _, i := range found {
			if _, err := installed(ctx, c, sender{app: app.ID}, i); err != nil {
				return err
			}
		}
		if app.SyncedAt != nil && *app.SyncedAt < start.Add(-syncBack) { // longer ago than GitHub keeps what failed
			if err := askAll(ctx, c, app); err != nil {
				return err
			}
		}
		return ground.FirstError(c.GitHubAppSynced(ctx, app.ID, start), r.FinishUntil(ctx, c.Tx, c.Now.Add(syncEvery)))
	})
}

// askAll has every installation of an app asked for what changed since it was
// last heard of.
func askAll(ctx context.Context, c *ground.Change, app store.GitHubApp) error {
	rows, err := c.Installations(ctx, app.ID)
	for _, i := range rows {
		if err == nil && !i.Gone && !i.Suspended {
			err = askInstallation(ctx, c.Tx, app.OrgID, i, sinceSync(app.SyncedAt))
		}
	}
	return err
}

// askGitHub makes GitHub send again what failed, and returns the installations
// that changed.
func (s *Service) askGitHub(ctx context.Context, app store.GitHubApp, since coord.Time) (out []githost.Installed, err error) {
	a, err := s.access(app, 0)
	if err != nil {
		return nil, err
	}
	n, err := s.Config.GitHub.Redeliver(ctx, a, since)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		s.Logger.InfoContext(ctx, "GitHub sends webhooks again that did not arrive", "app", app.Slug, "webhooks", n)
	}
	var known []store.Installation
	if err := s.Read(ctx, func(tx *store.Tx) error { known, err = tx.Installations(ctx, app.ID); return err }); err != nil {
		return nil, err
	}
	found, err := s.Config.GitHub.Installations(ctx, a)
	for _, i := range found {
		if slices.ContainsFunc(known, func(k store.Installation) bool { return k.ID == i.ID && k.ChangedAt >= i.ChangedAt }) {
			continue
		}
		if !i.Suspended {
			a.Installation = i.ID
			if i.Set, err = s.Config.GitHub.Repositories(ctx, a); err != nil {
				return nil, err
			}
		}
		out = append(out, i)
	}
	return out, err
}

// laterIfAsked returns what the queue is to make of GitHub's answer.
func laterIfAsked(err error, now coord.Time) error {
	if wait := githost.Wait(err); wait > 0 {
		return jobs.Later(now.Add(wait))
	}
	return err
}
