package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/peertext"
)

const (
	completeFor  = 1500 * time.Millisecond // a shell that waits longer seems to hang
	completeKept = 30 * time.Second        // people press Tab several times
)

// completesArgs offers records of a kind for the first argument: intents, my
// intents, conflicts, people or repos.
func (a *app) completesArgs(cmd *cobra.Command, kind string) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return a.complete(cmd.Context(), kind, prefix), cobra.ShellCompDirectiveNoFileComp
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
			put(cf.Ref, parties(cf.Parties)+": "+string(cf.Kind))
		}
		return words, err
	case "people":
		members, err := c.Members(ctx)
		for _, m := range members {
			put(m.Email, m.Name)
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
