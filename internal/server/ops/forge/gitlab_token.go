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

// GitLabTokenOf says what the sealed access token of an org is for.
func GitLabTokenOf(org string) string { return "gitlab token " + org }

// PutGitLabToken takes the access token with which merge requests are written
// to and pushed lines looked up, or forgets it.
func (s *Service) PutGitLabToken(ctx context.Context, who coord.Caller, in wire.PutGitLabToken) (out wire.GitLabStatus, err error) {
	t := store.GitLabToken{OrgID: who.OrgID, Web: strings.TrimSuffix(strings.TrimSpace(in.URL), "/"), CreatedBy: who.UserID}
	if in.Token != nil {
		if err := s.checkGitLabToken(ctx, &t, *in.Token); err != nil {
			return out, err
		}
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		h, err := tx.GitLabHookOf(ctx, who.OrgID)
		if err != nil {
			return err
		}
		if h == nil && in.Token != nil {
			return problem.Newf(problem.Conflict,
				"connect GitLab first (PUT /v1/integrations/gitlab): without its webhooks there is nothing to use the token for")
		}
		t.CreatedAt = tx.Now
		change := func() error { return tx.DeleteGitLabToken(ctx, who.OrgID) }
		if in.Token != nil {
			change = func() error {
				return ground.FirstError(tx.SaveGitLabToken(ctx, t), tx.StartFanout(ctx, who.OrgID), s.wakeGitLab(ctx, tx, who.OrgID))
			}
		}
		if err := ground.FirstError(change(), ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", map[string]any{
			"integration": "gitlab",
			"connected":   h != nil,
		})); err != nil {
			return err
		}
		out, err = s.gitlabStatus(ctx, tx, h)
		return err
	})
	return out, err
}

// checkGitLabToken asks GitLab whether a token will do, and seals it.
func (s *Service) checkGitLabToken(ctx context.Context, t *store.GitLabToken, token string) (err error) {
	if err := s.Config.Outbound.CheckURL(t.Web); err != nil {
		return problem.InvalidField("url", "%v", err)
	}
	if strings.Contains(t.Web, "?") {
		return problem.InvalidField("url", "must be where GitLab is, such as https://gitlab.example.com")
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	known, err := s.Config.GitLab.Token(ctx, githost.GitLabAccess{Web: t.Web, Token: token})
	switch {
	case githost.Refused(err):
		return problem.InvalidField("token", "GitLab does not take it: it may be mistyped, revoked or expired")
	case err != nil:
		s.Logger.WarnContext(ctx, "GitLab could not be asked about a token", "url", t.Web, "err", err)
		return problem.InvalidField("url", "no GitLab answers there; check the address, and that this server can reach it")
	case known.Scopes != nil && !slices.Contains(known.Scopes, "api"):
		return problem.InvalidField("token", "has the scopes %s; it needs api, to write notes on merge requests",
			strings.Join(known.Scopes, ", "))
	}
	t.Name, t.ExpiresAt = ground.Clip(known.Name, 200), known.ExpiresAt
	t.Token, err = s.Config.Vault.Seal(GitLabTokenOf(t.OrgID), token)
	return err
}

// wakeGitLab makes open merge requests tell what they could not before.
func (s *Service) wakeGitLab(ctx context.Context, tx *store.Tx, org string) error {
	pulls, err := tx.OpenPulls(ctx, org, coord.GitLab)
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
	token *store.GitLabToken // of GitLab
}

// reachOf returns the host of something that a webhook told of, which lies at
// an address of it; nil if the org gave us nothing to ask there with, or took
// it away.
func (s *Service) reachOf(ctx context.Context, tx *store.Tx, org string, provider coord.Provider, url, app string,
	installation int64) (*reach, error) {
	if provider == coord.GitLab {
		t, err := tx.GitLabToken(ctx, org)
		if err != nil || t == nil || !strings.HasPrefix(url, t.Web+"/") {
			return nil, err
		}
		token, err := s.Config.Vault.Open(GitLabTokenOf(org), t.Token)
		return &reach{s.Config.GitLab.At(githost.GitLabAccess{Web: t.Web, Token: token}), t}, err
	}
	if app == "" || installation == 0 {
		return nil, nil
	}
	a, err := tx.GitHubApp(ctx, app)
	if err != nil {
		return nil, unlessMissing(err)
	}
	access, err := s.access(a, installation)
	return &reach{s.Config.GitHub.At(access), nil}, err
}

// lookedUp returns what the queue is to make of a host's answer to a question
// about a repository: where we may not look, we never will.
func (s *Service) lookedUp(ctx context.Context, r *reach, err error) error {
	now := s.Store.Now()
	if githost.Refused(err) && r.token != nil {
		s.Logger.WarnContext(ctx, "GitLab does not take its token any more; set another under Settings, GitHub and GitLab", "url", r.token.Web)
		if err := s.Write(ctx, ground.System(r.token.OrgID), func(tx *store.Tx) error { return tx.GitLabRefused(ctx, *r.token) }); err != nil {
			return err
		}
	}
	if githost.Wait(err, now.Std()) == 0 && githost.Gone(err) {
		return jobs.Hopeless(err)
	}
	return laterIfAsked(err, now)
}
