package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// nouns are the commands whose bare name lists: all of them take list as well.
var nouns = []string{"intents", "conflicts", "messages", "attention", "members", "tokens", "repos", "contracts", "webhooks"}

// withList gives a noun the verb list, with the flags that its bare name has:
// people type either.
func withList(noun *cobra.Command) {
	list := &cobra.Command{
		Use:     "list",
		Short:   noun.Short,
		Long:    noun.Long,
		Example: "  svc " + noun.Name() + " list",
		Args:    noArgs,
		RunE:    noun.RunE,
	}
	if name, ok := strings.CutPrefix(list.Short, "List "); ok {
		name, _, _ = strings.Cut(name, ",")
		list.Short = "List " + name
	}
	list.Flags().AddFlagSet(noun.LocalNonPersistentFlags())
	noun.AddCommand(list)
}

// A naming says how people call the records of a list.
type naming[T any] struct {
	what, path, lister string // "token", where they are listed, by which command
	id                 func(T) string
	names              func(T) []string
}

var (
	tokenNames = naming[coord.Token]{"token", "/v1/tokens", "svc tokens", func(t coord.Token) string { return t.ID },
		func(t coord.Token) []string {
			if t.RevokedAt != nil {
				return nil // its name may be another's by now
			}
			return []string{t.Name, t.Prefix}
		}}
	webhookNames = naming[coord.Webhook]{"webhook", "/v1/webhooks", "svc webhooks", func(h coord.Webhook) string { return h.ID },
		func(h coord.Webhook) []string { return []string{h.URL, hostOf(h.URL)} }}
	inviteNames = naming[coord.Invite]{"invite", "/v1/invites", "svc members invites", func(i coord.Invite) string { return i.ID },
		func(i coord.Invite) []string {
			if i.Email == nil {
				return nil
			}
			return []string{strings.ToLower(*i.Email)}
		}}
)

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
		return none, fmt.Errorf("no %s is %q; %s lists them", n.what, peertext.Line(word, 100), n.lister)
	}
	ids := make([]string, len(found))
	for i, x := range found {
		ids[i] = n.id(x)
	}
	return none, usagef("%d %ss are %q; give the id: %s", len(found), n.what, peertext.Line(word, 100), strings.Join(ids, ", "))
}

// idOf returns the id that a word means; a whole one is taken as it is.
func (n naming[T]) idOf(ctx context.Context, a *app, word string) (string, error) {
	if isID(word) {
		return word, nil
	}
	c, _, err := a.client()
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
func showRecord[T any](a *app, n naming[T], example, completes string, print func(T)) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show " + strings.ToUpper(n.what),
		Short:   "Show one " + n.what,
		Example: example,
		Args:    exactly(1, "one "+n.what),
		RunE: func(cmd *cobra.Command, args []string) error {
			return shown(cmd.Context(), a, args[0], func(c *remote.Client, ctx context.Context, word string) (T, error) {
				return n.find(ctx, c, word)
			}, print)
		},
	}
	a.completesArgs(cmd, completes)
	return cmd
}

func (a *app) printToken(t coord.Token) {
	scopes := make([]string, len(t.Scopes))
	for i, s := range t.Scopes {
		scopes[i] = string(s)
	}
	expires := "never"
	if t.ExpiresAt != nil {
		expires = t.ExpiresAt.String()
	}
	fmt.Fprintln(a.Stdout, a.paint(bold, peertext.Person(t.Name)))
	a.facts([][]string{{"Id", t.ID}, {"Kind", string(t.Kind)}, {"State", a.tokenState(t)}, {"Begins", peertext.Name(t.Prefix)},
		{"Used", a.tokenUse(t)}, {"Expires", expires}})
	fmt.Fprintf(a.Stdout, "  May: %s\n", strings.Join(scopes, " "))
}

// tokenState is whether a token is still taken.
func (a *app) tokenState(t coord.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt != nil && t.ExpiresAt.Std().Before(a.Now()):
		return "expired"
	}
	return "valid"
}

func (a *app) tokenUse(t coord.Token) string {
	if t.LastUsedAt == nil {
		return "never"
	}
	return a.ago(*t.LastUsedAt)
}

func (a *app) printWebhook(h coord.Webhook) {
	fmt.Fprintln(a.Stdout, a.paint(bold, peertext.Line(h.URL, 300)))
	success := "never"
	if h.LastSuccessAt != nil {
		success = a.ago(*h.LastSuccessAt)
	}
	failing := ""
	if h.FailingSince != nil {
		failing = a.ago(*h.FailingSince)
	}
	a.facts([][]string{{"Id", h.ID}, {"State", webhookState(h)}, {"Why", peertext.Line(text(h.DisabledReason), 200)},
		{"For", peertext.Line(text(h.Description), 200)}, {"Events", chosen(h.EventTypes)}, {"Arrived", success}, {"Failing", failing}})
}

func webhookState(h coord.Webhook) string {
	switch {
	case !h.Enabled:
		return "disabled"
	case h.Paused:
		return "paused"
	}
	return "enabled"
}

// showRepoCommand shows one repository by any of its names.
func (a *app) showRepoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show REPO",
		Short:   "Show one repository",
		Example: "  svc repos show acme/shop",
		Args:    exactly(1, "one repository"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return send(cmd.Context(), a, "GET", "/v1/repos/"+url.PathEscape(args[0]), nil, func(r coord.Repo) {
				fmt.Fprintln(a.Stdout, a.paint(bold, peertext.Path(r.FullName)))
				var twins []string
				for _, t := range r.SameAs {
					twins = append(twins, t.FullName)
				}
				a.facts([][]string{{"State", repoState(r)}, {"Provider", string(r.Provider)}, {"Branch", peertext.Branch(r.DefaultBranch)},
					{"Remotes", list(r.Remotes)}, {"Was", list(r.FormerNames)}, {"Same as", list(twins)}})
			})
		},
	}
	a.completesArgs(cmd, "repos")
	return cmd
}

func repoState(r coord.Repo) string {
	if r.ArchivedAt != nil {
		return "archived"
	}
	return "watched"
}

// showMemberCommand shows one member, with what they and their agents do.
func (a *app) showMemberCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show MEMBER",
		Short:   "Show one member, and their work",
		Example: "  svc members show @bob",
		Args:    exactly(1, "one member: @name or an email"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return shown(cmd.Context(), a, args[0], member, func(m memberWork) {
				fmt.Fprintln(a.Stdout, a.paint(bold, peertext.Person(m.Name)))
				a.facts([][]string{{"Email", peertext.Person(m.Email)}, {"Role", string(m.Role)}, {"Joined", a.ago(m.JoinedAt)}})
				a.printIntents(wire.Page[coord.Intent]{Items: m.Intents})
			})
		},
	}
	a.completesArgs(cmd, "people")
	return cmd
}

// A memberWork is a member with their live intents.
type memberWork struct {
	coord.Membership
	Intents []coord.Intent `json:"intents"`
}

func member(c *remote.Client, ctx context.Context, word string) (out memberWork, err error) {
	email, err := recipient(ctx, c, word)
	if err != nil {
		return out, err
	}
	members, err := c.Members(ctx)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(members, func(m coord.Membership) bool { return strings.EqualFold(m.Email, email) })
	if i < 0 {
		return out, fmt.Errorf("no member has the address %s; svc members lists them", peertext.Person(email))
	}
	page, err := c.Intents(ctx, remote.Filter{Owner: members[i].Email, Status: "live", Limit: wire.MaxLimit})
	return memberWork{members[i], append([]coord.Intent{}, page.Items...)}, err
}
