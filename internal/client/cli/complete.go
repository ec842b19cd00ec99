package cli

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
func (a *app) completesArgs(cmd *cobra.Command, kinds ...string) {
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
			out = append(out, a.complete(cmd.Context(), kind, prefix)...)
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

// choices offers fixed values for a flag.
func choices(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}

// completes offers them for a flag.
func (a *app) completes(cmd *cobra.Command, flag, kind string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return a.complete(cmd.Context(), kind, prefix), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

func (a *app) complete(ctx context.Context, kind, prefix string) (out []string) {
	for _, word := range a.words(ctx, kind) {
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
func (a *app) words(ctx context.Context, kind string) []string {
	l, store, err := a.login(login.Overrides{})
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
	c, err := a.connect(l)
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

func askWords(ctx context.Context, c *remote.Client, kind string) (words []string, err error) {
	put := func(word, what string) { words = append(words, peertext.Line(word, 200)+"\t"+peertext.Line(what, 60)) }
	switch kind {
	case "intents", "my intents":
		f := remote.Filter{Status: "live", Limit: 100}
		if kind == "my intents" {
			f.Owner = "me"
		}
		page, err := c.Intents(ctx, f)
		for _, in := range page.Items {
			put(in.Ref, in.Title)
		}
		return words, err
	case "conflicts":
		page, err := c.Conflicts(ctx, remote.Filter{Status: "live", Limit: 100})
		for _, cf := range page.Items {
			put(cf.Ref, team.Between(cf)+": "+string(cf.Kind))
		}
		return words, err
	case "people":
		members, err := c.Members(ctx)
		for _, m := range members {
			put(m.Email, m.Name)
			if name, _, _ := strings.Cut(m.Name, " "); name != "" {
				put("@"+strings.ToLower(name), m.Email)
			}
		}
		return words, err
	case "my sessions":
		me, err := c.Me(ctx)
		if err != nil {
			return nil, err
		}
		sessions, err := c.LiveSessions(ctx)
		for _, s := range sessions {
			if me.User != nil && s.User.ID == me.User.ID {
				put(s.ID, s.Tool+" in "+s.Repo.FullName)
			}
		}
		return words, err
	case "questions":
		at, err := c.Attention(ctx, 50)
		for _, it := range at.Items {
			if it.Kind == coord.AttentionQuestion && it.Ref != nil {
				put(*it.Ref, it.Title)
			}
		}
		return words, err
	case "rules":
		var p struct {
			Effective map[string]any `json:"effective"`
		}
		err := c.Send(ctx, "GET", "/v1/policies", nil, &p)
		for name, v := range p.Effective {
			put(name+"=", fmt.Sprint(v))
		}
		slices.Sort(words)
		return words, err
	case "tokens":
		var page wire.Page[coord.Token]
		err := c.Send(ctx, "GET", "/v1/tokens", nil, &page)
		for _, t := range page.Items {
			put(t.ID, t.Name)
		}
		return words, err
	case "webhooks":
		var page wire.Page[coord.Webhook]
		err := c.Send(ctx, "GET", "/v1/webhooks", nil, &page)
		for _, h := range page.Items {
			put(h.ID, h.URL)
		}
		return words, err
	case "contracts":
		var page wire.Page[wire.ContractRecord]
		err := c.Send(ctx, "GET", "/v1/contracts?limit=200", nil, &page)
		for _, k := range page.Items {
			put(k.Key, k.Criticality.Level)
		}
		return words, err
	case "repos":
		repos, err := c.Repos(ctx)
		for _, r := range repos {
			put(r.FullName, string(r.Provider))
		}
		return words, err
	}
	return nil, nil
}
