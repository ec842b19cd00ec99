package forge

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// GitLabOf says what the sealed secret of a way in for GitLab is for.
func GitLabOf(hook string) string { return "gitlab " + hook }

// GetGitLab tells whether GitLab's webhooks are let in.
func (s *Service) GetGitLab(ctx context.Context, who coord.Caller, _ wire.None) (out wire.GitLabStatus, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		h, err := tx.GitLabHookOf(ctx, who.OrgID)
		if err != nil {
			return err
		}
		out, err = s.gitlabStatus(ctx, tx, h)
		return err
	})
	return out, err
}

func (s *Service) gitlabStatus(ctx context.Context, tx *store.Tx, h *store.GitLabHook) (out wire.GitLabStatus, err error) {
	if h == nil {
		return out, nil
	}
	to := s.URL("v1", "gitlab", "webhook?hook="+h.ID)
	out = wire.GitLabStatus{Connected: true, WebhookURL: &to, ConnectedAt: &h.CreatedAt, LastDeliveryAt: h.DeliveredAt}
	t, err := tx.GitLabToken(ctx, h.OrgID)
	if t != nil {
		out.Token = &wire.GitLabToken{URL: t.Web, Name: t.Name, ExpiresAt: t.ExpiresAt, RefusedAt: t.RefusedAt, CreatedAt: t.CreatedAt}
	}
	return out, err
}

// PutGitLab lets GitLab's webhooks in, or changes their secret.
func (s *Service) PutGitLab(ctx context.Context, who coord.Caller, in wire.PutGitLab) (out wire.GitLabStatus, err error) {
	secret, err := signingToken(in.SigningToken)
	if err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		h, err := tx.GitLabHookOf(ctx, who.OrgID)
		if err != nil {
			return err
		}
		if h == nil {
			h = &store.GitLabHook{ID: ground.NewID(), OrgID: who.OrgID, CreatedAt: tx.Now}
		}
		h.CreatedBy = who.UserID
		if h.Secret, err = s.Config.Vault.Seal(GitLabOf(h.ID), secret); err != nil {
			return err
		}
		if out, err = s.gitlabStatus(ctx, tx, h); err != nil {
			return err
		}
		out.Secret = &secret
		return ground.FirstError(tx.SaveGitLabHook(ctx, *h),
			ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", map[string]any{
				"integration": "gitlab",
				"connected":   true,
			}))
	})
	return out, err
}

// signingToken returns the given token, or a new one. It serves as GitLab's
// signing token and as its plain secret token alike.
func signingToken(given *string) (string, error) {
	const prefix = "whsec_"
	if given == nil {
		key := make([]byte, 32)
		rand.Read(key)
		return prefix + base64.StdEncoding.EncodeToString(key), nil
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(*given, prefix))
	if err != nil || len(key) < 24 || !strings.HasPrefix(*given, prefix) {
		return "", problem.InvalidField("signing_token",
			"must be whsec_ and at least 24 bytes in base64, as GitLab shows it; leave it out to have one made")
	}
	return *given, nil
}

// DeleteGitLab lets GitLab's webhooks in no longer and forgets the token.
func (s *Service) DeleteGitLab(ctx context.Context, who coord.Caller, _ wire.None) (out wire.None, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		h, err := tx.GitLabHookOf(ctx, who.OrgID)
		if err != nil || h == nil {
			return err
		}
		return ground.FirstError(tx.DeleteGitLabHook(ctx, who.OrgID), tx.DeleteGitLabToken(ctx, who.OrgID),
			ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", map[string]any{
				"integration": "gitlab",
				"connected":   false,
			}))
	})
	return out, err
}

// ReceiveGitLab takes a webhook of GitLab.
func (s *Service) ReceiveGitLab(ctx context.Context, _ coord.Caller, in wire.GitLabHook) (out wire.HookReceipt, err error) {
	d := githost.Delivery{Body: in.Body, Header: in.Header}
	name := ground.Clip(cmp.Or(in.Header("webhook-id"), in.Header("Idempotency-Key"), in.Header("X-Gitlab-Event-UUID")), 100)
	h, err := s.gitlabSender(ctx, in.ID, d)
	if err != nil {
		return out, s.RefuseHook(ctx, "gitlab", name, err)
	}
	e, err := githost.ReadGitLab(name, in.Header("X-Gitlab-Instance"), in.Body)
	if err != nil {
		return out, s.RefuseHook(ctx, "gitlab", name, problem.Newf(problem.BadRequest, "%v", err))
	}
	from := sender{provider: coord.GitLab, org: h.OrgID, source: "gitlab " + h.ID, note: func(ctx context.Context, tx *store.Tx) error {
		return tx.GitLabDelivered(ctx, h.ID)
	}}
	return s.hear(ctx, from, in.Body, e)
}

func (s *Service) gitlabSender(ctx context.Context, id string, d githost.Delivery) (h *store.GitLabHook, err error) {
	if err := s.Read(ctx, func(tx *store.Tx) error { h, err = tx.GitLabHook(ctx, id); return err }); err != nil {
		return nil, err
	}
	if h == nil { // which looks like a wrong secret
		return nil, githost.ErrForged
	}
	secret, err := s.Config.Vault.Open(GitLabOf(h.ID), h.Secret)
	if err != nil {
		return nil, err
	}
	return h, d.VerifyGitLab(secret, s.Store.Now())
}
