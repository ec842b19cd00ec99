package forge

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// tokenOf says what the sealed access token of an org is for.
func tokenOf(provider coord.Provider, org string) string { return string(provider) + " token " + org }

// PutGitLabToken takes the access token with which merge requests are written
// to and pushed lines looked up, or forgets it.
func (s *Service) PutGitLabToken(ctx context.Context, who coord.Caller, in wire.PutGitLabToken) (wire.HostStatus, error) {
	return s.putToken(ctx, who, coord.GitLab, in.URL, in.Token)
}

// PutGitHubToken takes the access token with which pull requests are written
// to where there is no app, or forgets it.
func (s *Service) PutGitHubToken(ctx context.Context, who coord.Caller, in wire.PutGitHubToken) (wire.HostStatus, error) {
	web := s.Config.GitHubURL
	if in.URL != nil {
		web = *in.URL
	}
	return s.putToken(ctx, who, coord.GitHub, web, in.Token)
}

func (s *Service) putToken(ctx context.Context, who coord.Caller, provider coord.Provider, web string,
	token *string) (out wire.HostStatus, err error) {
	t := store.HostToken{Provider: provider, OrgID: who.OrgID, Web: strings.TrimSuffix(strings.TrimSpace(web), "/"), CreatedBy: who.UserID}
	if token != nil {
		if err := s.checkToken(ctx, &t, *token); err != nil {
			return out, err
		}
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		h, err := tx.HostHookOf(ctx, provider, who.OrgID)
		if err != nil {
			return err
		}
		if h == nil && token != nil {
			return problem.Newf(problem.Conflict,
				"connect %s first (PUT /v1/integrations/%s): without its webhooks there is nothing to use the token for",
				hostNames[provider], provider)
		}
		t.CreatedAt = tx.Now
		change := func() error {
			return ground.FirstError(tx.DropJob(ctx, missedKey(provider, who.OrgID)), tx.DeleteHostToken(ctx, provider, who.OrgID))
		}
		if token != nil {
			change = func() error {
				return ground.FirstError(tx.SaveHostToken(ctx, t), tx.StartFanout(ctx, who.OrgID), wakeOpen(ctx, tx, who.OrgID, provider),
					askMissed(ctx, tx, provider, who.OrgID))
			}
		}
		if err := ground.FirstError(change(), tellHost(ctx, tx, who, provider, h != nil)); err != nil {
			return err
		}
		out, err = s.hostStatus(ctx, tx, h)
		return err
	})
	return out, err
}

// hostNames are what hosts call themselves.
var hostNames = map[coord.Provider]string{coord.GitHub: "GitHub", coord.GitLab: "GitLab"}

// checkToken asks a host whether a token will do, and seals it.
func (s *Service) checkToken(ctx context.Context, t *store.HostToken, token string) (err error) {
	if err := s.Config.Outbound.CheckURL(t.Web); err != nil {
		return problem.InvalidField("url", "%v", err)
	}
	if strings.Contains(t.Web, "?") {
		return problem.InvalidField("url", "must be where %s is, such as https://%s.example.com", hostNames[t.Provider], t.Provider)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	check := s.checkGitLabToken
	if t.Provider == coord.GitHub {
		check = s.checkGitHubToken
	}
	if err := check(ctx, t, token); err != nil {
		return err
	}
	t.Token, err = s.Config.Vault.Seal(tokenOf(t.Provider, t.OrgID), token)
	return err
}

// checkGitHubToken asks GitHub whether a token will do. What a fine-grained
// one may do GitHub tells nobody.
func (s *Service) checkGitHubToken(ctx context.Context, t *store.HostToken, token string) error {
	login, until, err := s.Config.GitHub.Login(ctx, githost.Access{API: githost.APIOf(t.Web), Token: token})
	switch {
	case githost.Refused(err):
		return problem.InvalidField("token", "GitHub does not take it: it may be mistyped, revoked or expired")
	case err != nil:
		return s.noHost(ctx, "GitHub", t.Web, err)
	}
	t.Name, t.ExpiresAt = ground.Clip(login, 200), until
	return nil
}

func (s *Service) noHost(ctx context.Context, host, url string, err error) error {
	s.Logger.WarnContext(ctx, host+" could not be asked about a token", "url", url, "err", err)
	return problem.InvalidField("url", "no %s answers there; check the address, and that this server can reach it", host)
}

// checkGitLabToken asks GitLab whether a token will do.
func (s *Service) checkGitLabToken(ctx context.Context, t *store.HostToken, token string) error {
	known, err := s.Config.GitLab.Token(ctx, githost.GitLabAccess{Web: t.Web, Token: token})
	switch {
	case githost.Refused(err):
		return problem.InvalidField("token", "GitLab does not take it: it may be mistyped, revoked or expired")
	case err != nil:
		return s.noHost(ctx, "GitLab", t.Web, err)
	case known.Scopes != nil && !slices.Contains(known.Scopes, "api"):
		return problem.InvalidField("token", "has the scopes %s; it needs api, to write notes on merge requests",
			strings.Join(known.Scopes, ", "))
	}
	t.Name, t.ExpiresAt = ground.Clip(known.Name, 200), known.ExpiresAt
	return nil
}

// wakeOpen makes open pull requests tell what they could not before.
func wakeOpen(ctx context.Context, tx *store.Tx, org string, provider coord.Provider) error {
	pulls, err := tx.OpenPulls(ctx, org, provider)
	for _, id := range pulls {
		if err == nil {
			err = wakePull(ctx, tx, org, id)
		}
	}
	return err
}

// A reach is a repository's host as far as an org lets us in.
type reach struct {
	githost.Host
	token *store.HostToken // with which we are let in, if not as an app
}

// reachOf returns the host of something that a webhook told of, which lies at
// an address of it; nil if the org gave us nothing to ask there with, took it
// away or suspended it.
func (s *Service) reachOf(ctx context.Context, tx *store.Tx, org string, provider coord.Provider, url, app string,
	installation int64) (*reach, error) {
	if app == "" || installation == 0 {
		t, err := tx.HostToken(ctx, provider, org)
		if err != nil || t == nil || !strings.HasPrefix(url, t.Web+"/") {
			return nil, err
		}
		return s.reachWith(t)
	}
	a, err := tx.GitHubApp(ctx, app)
	if err != nil {
		return nil, unlessMissing(err)
	}
	i, err := tx.Installation(ctx, app, installation)
	if err != nil || i != nil && (i.Suspended || i.Gone) {
		return nil, err
	}
	access, err := s.access(a, installation)
	return &reach{s.Config.GitHub.At(access), nil}, err
}

// reachWith returns the host that a token is for.
func (s *Service) reachWith(t *store.HostToken) (*reach, error) {
	token, err := s.Config.Vault.Open(tokenOf(t.Provider, t.OrgID), t.Token)
	if t.Provider == coord.GitLab {
		return &reach{s.Config.GitLab.At(githost.GitLabAccess{Web: t.Web, Token: token}), t}, err
	}
	return &reach{s.Config.GitHub.At(githost.Access{API: githost.APIOf(t.Web), Token: token}), t}, err
}

// lookedUp returns what the queue is to make of a host's answer to a question
// about a repository: where we may not look, we never will.
func (s *Service) lookedUp(ctx context.Context, r *reach, err error) error {
	now := s.Store.Now()
	if githost.Refused(err) && r.token != nil {
		s.Logger.WarnContext(ctx, "a git host does not take its token any more; set another under Settings, GitHub and GitLab",
			"url", r.token.Web)
		if err := s.Write(ctx, ground.System(r.token.OrgID), func(tx *store.Tx) error { return tx.HostRefused(ctx, *r.token) }); err != nil {
			return err
		}
	}
	if githost.Wait(err) == 0 && githost.Gone(err) {
		return jobs.Hopeless(err)
	}
	return laterIfAsked(err, now)
}
