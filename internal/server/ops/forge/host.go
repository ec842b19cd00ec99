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

// hookOf says what the sealed secret of a way in for a host's webhooks is for.
func hookOf(provider coord.Provider, hook string) string {
	if provider == coord.GitLab {
		return "gitlab " + hook
	}
	return "github hook " + hook
}

// GetGitLab tells whether GitLab's webhooks are let in.
func (s *Service) GetGitLab(ctx context.Context, who coord.Caller, _ wire.None) (wire.HostStatus, error) {
	return s.getHost(ctx, who, coord.GitLab)
}

// GetGitHubHook tells whether GitHub's webhooks are let in without an app.
func (s *Service) GetGitHubHook(ctx context.Context, who coord.Caller, _ wire.None) (wire.HostStatus, error) {
	return s.getHost(ctx, who, coord.GitHub)
}

func (s *Service) getHost(ctx context.Context, who coord.Caller, provider coord.Provider) (out wire.HostStatus, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		h, err := tx.HostHookOf(ctx, provider, who.OrgID)
		if err != nil {
			return err
		}
		out, err = s.hostStatus(ctx, tx, h)
		return err
	})
	return out, err
}

func (s *Service) hostStatus(ctx context.Context, tx *store.Tx, h *store.HostHook) (out wire.HostStatus, err error) {
	if h == nil {
		return out, nil
	}
	to := s.URL("v1", string(h.Provider), "webhook?hook="+h.ID)
	out = wire.HostStatus{Connected: true, WebhookURL: &to, ConnectedAt: &h.CreatedAt, LastDeliveryAt: h.DeliveredAt}
	t, err := tx.HostToken(ctx, h.Provider, h.OrgID)
	if t != nil {
		out.Token = &wire.HostToken{
			URL:       t.Web,
			Name:      t.Name,
			ExpiresAt: t.ExpiresAt,
			RefusedAt: t.RefusedAt,
			CreatedAt: t.CreatedAt,
			SyncedAt:  t.SyncedAt,
		}
	}
	return out, err
}

// PutGitLab lets GitLab's webhooks in, or changes their secret.
func (s *Service) PutGitLab(ctx context.Context, who coord.Caller, in wire.PutGitLab) (out wire.HostStatus, err error) {
	secret, err := signingToken(in.SigningToken)
	if err != nil {
		return out, err
	}
	return s.putHost(ctx, who, coord.GitLab, secret)
}

// PutGitHubHook lets in the webhooks of GitHub that somebody sets up on a
// repository or an organization, or changes their secret.
func (s *Service) PutGitHubHook(ctx context.Context, who coord.Caller, _ wire.None) (out wire.HostStatus, err error) {
	return s.putHost(ctx, who, coord.GitHub, rand.Text())
}

func (s *Service) putHost(ctx context.Context, who coord.Caller, provider coord.Provider, secret string) (out wire.HostStatus, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		h, err := tx.HostHookOf(ctx, provider, who.OrgID)
		if err != nil {
			return err
		}
		if h == nil {
			h = &store.HostHook{Provider: provider, ID: ground.NewID(), OrgID: who.OrgID, CreatedAt: tx.Now}
		}
		h.CreatedBy = who.UserID
		if h.Secret, err = s.Config.Vault.Seal(hookOf(provider, h.ID), secret); err != nil {
			return err
		}
		if out, err = s.hostStatus(ctx, tx, h); err != nil {
			return err
		}
		out.Secret = &secret
		return ground.FirstError(tx.SaveHostHook(ctx, *h), tellHost(ctx, tx, who, provider, true))
	})
	return out, err
}

func tellHost(ctx context.Context, tx *store.Tx, who coord.Caller, provider coord.Provider, connected bool) error {
	return ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", wire.IntegrationPayload{
		Integration: string(provider),
		Connected:   &connected,
	})
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
func (s *Service) DeleteGitLab(ctx context.Context, who coord.Caller, _ wire.None) (wire.None, error) {
	return s.deleteHost(ctx, who, coord.GitLab)
}

// DeleteGitHubHook lets GitHub's webhooks in no longer, other than those of
// apps, and forgets the token.
func (s *Service) DeleteGitHubHook(ctx context.Context, who coord.Caller, _ wire.None) (wire.None, error) {
	return s.deleteHost(ctx, who, coord.GitHub)
}

func (s *Service) deleteHost(ctx context.Context, who coord.Caller, provider coord.Provider) (out wire.None, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		h, err := tx.HostHookOf(ctx, provider, who.OrgID)
		if err != nil || h == nil {
			return err
		}
		return ground.FirstError(tx.DropJob(ctx, missedKey(provider, who.OrgID)), tx.DeleteHostHook(ctx, provider, who.OrgID),
			tx.DeleteHostToken(ctx, provider, who.OrgID), tellHost(ctx, tx, who, provider, false))
	})
	return out, err
}

// ReceiveGitLab takes a webhook of GitLab.
func (s *Service) ReceiveGitLab(ctx context.Context, _ coord.Caller, in wire.GitLabHook) (out wire.HookReceipt, err error) {
	d := githost.Delivery{Body: in.Body, Header: in.Header}
	name := ground.Clip(cmp.Or(in.Header("webhook-id"), in.Header("Idempotency-Key"), in.Header("X-Gitlab-Event-UUID")), 100)
	h, err := s.hostSender(ctx, coord.GitLab, in.ID, func(secret string) error { return d.VerifyGitLab(secret, s.Store.Now()) })
	if err != nil {
		return out, s.RefuseHook(ctx, "gitlab", name, err)
	}
	e, err := githost.ReadGitLab(name, in.Header("X-Gitlab-Instance"), in.Body)
	if err != nil {
		return out, s.RefuseHook(ctx, "gitlab", name, problem.Newf(problem.BadRequest, "%v", err))
	}
	return s.hear(ctx, senderOf(h), in.Body, e)
}

// senderOf returns the sender of whatever comes through a way in.
func senderOf(h *store.HostHook) sender {
	return sender{provider: h.Provider, org: h.OrgID, source: string(h.Provider) + " " + h.ID,
		note: func(ctx context.Context, tx *store.Tx) error { return tx.HostDelivered(ctx, h.Provider, h.ID) }}
}

// hostSender finds the way in that a delivery names and has its secret checked.
func (s *Service) hostSender(ctx context.Context, provider coord.Provider, id string,
	verify func(secret string) error) (h *store.HostHook, err error) {
	if err := s.Read(ctx, func(tx *store.Tx) error { h, err = tx.HostHook(ctx, provider, id); return err }); err != nil {
		return nil, err
	}
	if h == nil { // which looks like a wrong secret
		return nil, githost.ErrForged
	}
	secret, err := s.Config.Vault.Open(hookOf(provider, h.ID), h.Secret)
	if err != nil {
		return nil, err
	}
	return h, verify(secret)
}
