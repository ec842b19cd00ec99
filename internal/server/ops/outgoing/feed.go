package outgoing

import (
	"context"
	"net/url"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// GetFeed returns the audit log with the names of what it mentions.
func (s *Service) GetFeed(ctx context.Context, who coord.Caller, in wire.ListEvents) (out wire.Feed, err error) {
	if out.Page, err = s.ListEvents(ctx, who, in); err != nil {
		return out, err
	}
	ids := map[string]bool{}
	for _, e := range out.Items {
		mention(ids, e.Actor.ID)
		mention(ids, e.Subject.ID)
		mention(ids, e.RepoID)
		mention(ids, e.Payload)
	}
	out.Refs = map[string]wire.FeedRef{}
	err = s.Read(ctx, func(tx *store.Tx) error {
		names, err := tx.Names(ctx, who.OrgID, keys(ids))
		for _, n := range names {
			out.Refs[n.ID] = s.feedRef(n, who)
		}
		return err
	})
	return out, err
}

// mention collects the ids in a part of an event.
func mention(ids map[string]bool, v any) {
	switch v := v.(type) {
	case string:
		if shape.IsUUID(v) {
			ids[v] = true
		}
	case []any:
		for _, x := range v {
			mention(ids, x)
		}
	case map[string]any:
		for _, x := range v {
			mention(ids, x)
		}
	}
}

func (s *Service) feedRef(n store.Named, who coord.Caller) wire.FeedRef {
	ref := wire.FeedRef{Kind: n.Kind, Label: n.Label}
	switch n.Kind {
	case "intent":
		n.Ref = "INT-" + n.Ref
		ref.Label = n.Ref + " " + n.Label
		if n.Owner != "" && n.Owner != who.UserID { // a draft's title is its owner's alone
			ref.Label = n.Ref
		}
	case "conflict":
		n.Ref = "CF-" + n.Ref
		ref.Label = n.Ref + " " + strings.ReplaceAll(n.Label, "_", " ")
	case "webhook":
		if u, err := url.Parse(n.Label); err == nil {
			ref.Label = u.Host // the rest of an address may be a secret
		}
	}
	ref.URL = s.PageURL(n.Kind, n.Ref)
	return ref
}
