package records

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

const (
	completeFor  = 1500 * time.Millisecond // a shell that waits longer seems to hang
	completeKept = 30 * time.Second        // people press Tab several times
)

// completesArgs offers records of some kinds, as words names them, for the first
// argument. With "paths" among them the shell's own files are offered as well.
func completesArgs(a *app.Run, cmd *cobra.Command, kinds ...string) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		files := slices.Contains(kinds, "paths")
		if len(args) > 0 && !slices.Contains(kinds, "rules") {
			if files {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, kind := range kinds {
			out = append(out, complete(cmd.Context(), a, kind, prefix)...)
		}
		switch {
		case slices.Contains(kinds, "rules"):
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		case files && len(out) == 0:
			return nil, cobra.ShellCompDirectiveDefault
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// Completes offers them for a flag.
func Completes(a *app.Run, cmd *cobra.Command, flag, kind string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return complete(cmd.Context(), a, kind, prefix), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

func complete(ctx context.Context, a *app.Run, kind, prefix string) (out []string) {
	for _, word := range words(ctx, a, kind) {
		if strings.HasPrefix(strings.ToLower(word), strings.ToLower(prefix)) {
			out = append(out, word)
		}
	}
	return out
}

// A wordList is what the cache keeps of one kind.
type wordList struct {
	At    time.Time `json:"at"`
	Words []string  `json:"words"`
}

// words returns the names of a kind, each with what it is after a tab. A shell
// gets no error: whatever fails, nothing is offered.
func words(ctx context.Context, a *app.Run, kind string) []string {
	l, store, err := a.Login(login.Overrides{})
	if err != nil || !l.LoggedIn() {
		return nil
	}
	file, key, kept := filepath.Join(store.Dir, "completion.json"), l.Server+" "+kind, map[string]wordList{}
	if data, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(data, &kept) // one that cannot be read is written anew
	}
	if k, ok := kept[key]; ok && a.Now().Sub(k.At).Abs() < completeKept {
		return k.Words
	}
	c, err := a.Connect(l)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completeFor)
	defer cancel()
	words, err := askWords(ctx, c, kind)
	if err != nil {
		return nil
	}
	kept[key] = wordList{a.Now(), words}
	if data, err := json.Marshal(kept); err == nil {
		_ = os.WriteFile(file, data, 0o600) // the next one asks again
	}
	return words
}

// askWords asks the service what can stand for a kind of argument, each with
// what it is.
func askWords(ctx context.Context, c *remote.Client, kind string) ([]string, error) {
	switch kind {
	case "intents", "my intents":
		f := remote.Filter{Status: "live", Limit: 100}
		if kind == "my intents" {
			f.Owner = "me"
		}
		page, err := c.Intents(ctx, f)
		return wordsOf(page.Items, err, func(i coord.Intent) []string { return []string{word(i.Ref, i.Title)} })
	case "conflicts":
		page, err := c.Conflicts(ctx, remote.Filter{Status: "live", Limit: 100})
		return wordsOf(page.Items, err, func(k coord.Conflict) []string { return []string{word(k.Ref, team.Between(k)+": "+string(k.Kind))} })
	case "people":
		members, err := c.Members(ctx)
		return wordsOf(members, err, wordsOfMember)
	case "my sessions":
		return askOwnSessions(ctx, c)
	case "questions":
		at, err := c.Attention(ctx, 50)
		return wordsOf(at.Items, err, func(it coord.AttentionItem) []string {
			if it.Kind != coord.AttentionQuestion || it.Ref == nil {
				return nil
			}
			return []string{word(*it.Ref, it.Title)}
		})
	case "messages":
		return askPage(ctx, c, "/v1/messages?limit=50", func(m coord.Message) string { return word(m.ID, m.Body) })
	case "threads":
		return askPage(ctx, c, "/v1/conversations?limit=50", func(t coord.Conversation) string { return word(threadWord(t), threadTitle(t)) })
	case "needs":
		at, err := c.Attention(ctx, maxNeeds)
		return wordsOf(at.Items, err, func(it coord.AttentionItem) []string { return []string{word(needWord(it), it.Title)} })
	case "rules":
		return askRules(ctx, c)
	case "tokens":
		return askPage(ctx, c, "/v1/tokens", func(t coord.Token) string { return word(t.ID, t.Name) })
	case "webhooks":
		return askPage(ctx, c, "/v1/webhooks", func(h coord.Webhook) string { return word(h.ID, h.URL) })
	case "contracts":
		return askPage(ctx, c, "/v1/contracts?limit=200", func(k wire.ContractRecord) string { return word(k.Key, k.Criticality.Level) })
	case "repos":
		repos, err := c.Repos(ctx)
		return wordsOf(repos, err, func(r coord.Repo) []string { return []string{word(r.FullName, string(r.Provider))} })
	}
	return nil, nil
}

// word is one choice as shells take it: what to type, and what it is.
func word(text, what string) string { return peertext.Line(text, 200) + "\t" + peertext.Line(what, 60) }

func wordsOf[T any](list []T, err error, of func(T) []string) (words []string, _ error) {
	for _, x := range list {
		words = append(words, of(x)...)
	}
	return words, err
}

func askPage[T any](ctx context.Context, c *remote.Client, path string, of func(T) string) ([]string, error) {
	var page wire.Page[T]
	err := c.Send(ctx, "GET", path, nil, &page)
	return wordsOf(page.Items, err, func(x T) []string { return []string{of(x)} })
}

func wordsOfMember(m coord.Membership) []string {
	words := []string{word(m.Email, m.Name)}
	if name, _, _ := strings.Cut(m.Name, " "); name != "" {
		words = append(words, word("@"+strings.ToLower(name), m.Email))
	}
	return words
}

func askOwnSessions(ctx context.Context, c *remote.Client) ([]string, error) {
	own, err := ownAgents(ctx, c, "")
	return wordsOf(own, err, func(o wire.Online) []string { return []string{word(o.SessionID, o.Tool+" in "+o.Repo.FullName)} })
}

func askRules(ctx context.Context, c *remote.Client) (words []string, err error) {
	var p struct {
		Effective map[string]any `json:"effective"`
	}
	err = c.Send(ctx, "GET", "/v1/policies", nil, &p)
	for name, v := range p.Effective {
		words = append(words, word(name+"=", fmt.Sprint(v)))
	}
	slices.Sort(words)
	return words, err
}
