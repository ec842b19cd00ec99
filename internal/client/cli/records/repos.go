package records

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/share"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
)

func ReposCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "repos [show|add|rename|archive|restore|merge|apart|prefix|remove]",
		Short:   "List the repositories that are watched, and look after them",
		Example: "  svc repos\n  svc repos --json\n  svc repos rename acme/shop acme/store",
		Args:    term.NoArgs,
		RunE:    repoList.run(a),
	}
	cmd.AddCommand(showRepoCommand(a), addRepoCommand(a), prefixCommand(a))
	for _, v := range repoVerbs {
		cmd.AddCommand(repoVerb(a, v))
	}
	return cmd
}

func addRepoCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add [OWNER/NAME]",
		Short: "Have a repository watched before an agent first opens it",
		Long: "Register a repository, so that work in it can be declared before an agent first\n" +
			"opens it. Without a name it is the repository of this folder.",
		Example: "  svc repos add acme/docs",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return addRepoHere(cmd.Context(), a)
			}
			return send(cmd.Context(), a, "POST", "/v1/repos", map[string]any{"full_name": args[0]}, func(r coord.Repo) { printWatched(a, r) })
		},
	}
	return cmd
}

// addRepoHere registers the repository of this folder. An agent's first event
// here would do it, too, so it takes no more than a login.
func addRepoHere(ctx context.Context, a *app.Run) error {
	here, err := a.Here()
	if err != nil {
		return fmt.Errorf("%w; name it as owner/name", err)
	}
	_, name, _ := strings.Cut(here.Fingerprint, "/")
	remotes := []string{here.Fingerprint}
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	err = c.Send(ctx, "POST", "/v1/repos", map[string]any{"full_name": name, "remotes": remotes}, nil)
	if problem.KindOf(err) == problem.Forbidden {
		err = share.Introduce(ctx, c, remotes)
	}
	if err != nil {
		return err
	}
	return send(ctx, a, "GET", "/v1/repos/"+url.PathEscape(name), nil, func(r coord.Repo) { printWatched(a, r) })
}

func printWatched(a *app.Run, r coord.Repo) {
	fmt.Fprintf(a.Stdout, "%s is watched.\n", peertext.Path(r.FullName))
}

// A repoAct is something to do with one repository, or with two.
type repoAct struct {
	use, short, long, example string
	second                    string // what the second argument is, if there is one
	method, suffix            string
	body                      func(second string) any
	did                       string
}

var repoVerbs = []repoAct{
	{use: "rename REPO NEW-NAME", short: "Give a repository another name; the old one still leads to it",
		example: "  svc repos rename acme/shop acme/store", second: "its new name",
		method: "PATCH", body: func(to string) any { return map[string]any{"full_name": to} }, did: "%s is now %s.\n"},
	{use: "archive REPO", short: "Archive a repository",
		example: "  svc repos archive acme/shop",
		method:  "PATCH", body: func(string) any { return map[string]any{"archived": true} },
		did: "%s is archived; svc repos restore brings it back.\n"},
	{use: "restore REPO", short: "Watch an archived repository again",
		example: "  svc repos restore acme/shop",
		method:  "PATCH", body: func(string) any { return map[string]any{"archived": false} }, did: "%s is watched again.\n"},
	{use: "merge REPO INTO", short: "Make one of two records of the same repository", second: "the one that stays",
		long:    "Make one repository of two records of it: claims, intents, contracts and history\nof REPO become those of INTO.",
		example: "  svc repos merge acme/shop-old acme/shop",
		method:  "POST", suffix: "/merge", body: func(to string) any { return map[string]any{"into": to} }, did: "%s is now a part of %s.\n"},
	{use: "apart REPO OTHER", short: "Say that two that look like one are two, such as a fork", second: "the other one",
		example: "  svc repos apart acme/shop acme/shop-fork",
		method:  "POST", suffix: "/apart", body: func(to string) any { return map[string]any{"other": to} }, did: "%s and %s stay two.\n"},
	{use: "remove REPO", short: "Forget a repository without live intents; its history stays",
		example: "  svc repos remove acme/shop-old", method: "DELETE", did: "%s is forgotten.\n"},
}

func repoVerb(a *app.Run, v repoAct) *cobra.Command {
	want, what := 1, "a repository"
	if v.second != "" {
		want, what = 2, "a repository, and "+v.second
	}
	cmd := &cobra.Command{
		Use:     v.use,
		Short:   v.short,
		Long:    v.long,
		Example: v.example,
		Args:    term.Exactly(want, what),
		RunE: func(cmd *cobra.Command, args []string) error {
			var in any
			if v.body != nil {
				in = v.body(args[want-1])
			}
			said := make([]any, 0, 2)
			for _, arg := range args {
				said = append(said, peertext.Path(arg))
			}
			return do(cmd.Context(), a, v.method, "/v1/repos/"+url.PathEscape(args[0])+v.suffix, in, fmt.Sprintf(v.did, said...))
		},
	}
	completesArgs(a, cmd, "repos")
	return cmd
}

// showRepoCommand shows one repository by any of its names.
func showRepoCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show REPO",
		Short:   "Show one repository",
		Example: "  svc repos show acme/shop",
		Args:    term.Exactly(1, "one repository"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return send(cmd.Context(), a, "GET", "/v1/repos/"+url.PathEscape(args[0]), nil, func(r coord.Repo) {
				fmt.Fprintln(a.Stdout, a.Paint(term.Bold, peertext.Path(r.FullName)))
				var twins []string
				for _, t := range r.SameAs {
					twins = append(twins, t.FullName)
				}
				a.Facts([][]string{{"State", repoState(r)}, {"Provider", string(r.Provider)}, {"Branch", peertext.Branch(r.DefaultBranch)},
					{"Remotes", paths(r.Remotes)}, {"Was", paths(r.FormerNames)}, {"Same as", paths(twins)}})
			})
		},
	}
	completesArgs(a, cmd, "repos")
	return cmd
}

func repoState(r coord.Repo) string {
	if r.ArchivedAt != nil {
		return "archived"
	}
	return "watched"
}
