package records

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A naming says how people call the records of a list.
type naming[T any] struct {
	listing[T]
	lister string // the command that lists them
	id     func(T) string
	names  func(T) []string
}

func tokenNames() naming[coord.Token] {
	return naming[coord.Token]{tokenList, "svc tokens", func(t coord.Token) string { return t.ID }, func(t coord.Token) []string {
		if t.RevokedAt != nil {
			return nil // its name may be another's by now
		}
		return []string{t.Name, t.Prefix}
	}}
}

func webhookNames() naming[coord.Webhook] {
	return naming[coord.Webhook]{webhookList, "svc webhooks", func(h coord.Webhook) string { return h.ID },
		func(h coord.Webhook) []string { return []string{h.URL, hostOf(h.URL)} }}
}

func inviteNames() naming[coord.Invite] {
	return naming[coord.Invite]{inviteList, "svc members invites", func(i coord.Invite) string { return i.ID },
		func(i coord.Invite) []string {
			if i.Email == nil {
				return nil
			}
			return []string{strings.ToLower(*i.Email)}
		}}
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// find returns the one record that a word means: by its id, the beginning of
// it, or a name.
func (n naming[T]) find(ctx context.Context, c *remote.Client, word string) (T, error) {
	var found []T
	var none T
	for cursor := ""; ; {
		var page wire.Page[T]
		if err := c.Send(ctx, "GET", query(n.path, "cursor", cursor), nil, &page); err != nil {
			return none, err
		}
		for _, x := range page.Items {
			if n.id(x) == word {
				return x, nil
			}
			if slices.Contains(n.names(x), word) || len(word) >= shortestID && strings.HasPrefix(n.id(x), strings.ToLower(word)) {
				found = append(found, x)
			}
		}
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return none, fmt.Errorf("no %s is %q; %s lists them", n.noun, peertext.Line(word, 100), n.lister)
	}
	ids := make([]string, len(found))
	for i, x := range found {
		ids[i] = n.id(x)
	}
	return none, term.Usagef("%d %ss are %q; give the id: %s", len(found), n.noun, peertext.Line(word, 100), strings.Join(ids, ", "))
}

// idOf returns the id that a word means; a whole one is taken as it is.
func (n naming[T]) idOf(ctx context.Context, a *app.Run, word string) (string, error) {
	if isID(word) {
		return word, nil
	}
	c, _, err := a.Client()
	if err != nil {
		return "", err
	}
	x, err := n.find(ctx, c, word)
	if err != nil {
		return "", err
	}
	return n.id(x), nil
}

// showRecord is the command that shows one record of a list.
func showRecord[T any](a *app.Run, n naming[T], example, completes string, print func(T)) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show " + strings.ToUpper(n.noun),
		Short:   "Show one " + n.noun,
		Example: example,
		Args:    term.Exactly(1, "one "+n.noun),
		RunE: func(cmd *cobra.Command, args []string) error {
			return shown(cmd.Context(), a, args[0], func(c *remote.Client, ctx context.Context, word string) (T, error) {
				return n.find(ctx, c, word)
			}, print)
		},
	}
	completesArgs(a, cmd, completes)
	return cmd
}
