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

func prefixCommand(a *app.Run) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "prefix REPO OTHER PATH",
		Short: "Confirm a prefix between two repositories",
		Long: "Say that routes of REPO and OTHER which differ by PATH are the same, as where a\n" +
			"gateway adds it. Breaks between them are then sure and no longer probable. Both\n" +
			"must be in one project; it is remembered there for the two.",
		Example: "  svc repos prefix acme/api acme/web /api/v1\n  svc repos prefix acme/api acme/web /api/v1 --remove",
		Args:    term.Exactly(3, "two repositories, and a path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return setPrefix(cmd.Context(), a, [2]string{args[0], args[1]}, "/"+strings.Trim(args[2], "/"), remove)
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take it back")
	completesArgs(a, cmd, "repos")
	return cmd
}

// setPrefix says it in every project that has both repositories.
func setPrefix(ctx context.Context, a *app.Run, repos [2]string, path string, remove bool) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	var all wire.Page[coord.Project]
	if err := c.Send(ctx, "GET", "/v1/projects", nil, &all); err != nil {
		return err
	}
	var done []coord.Project
	for _, p := range all.Items {
		if !hasRepo(p, repos[0]) || !hasRepo(p, repos[1]) {
			continue
		}
		in := map[string]any{"prefixes": prefixesWith(p.Prefixes, repos, path, remove)}
		path := "/v1/projects/" + url.PathEscape(p.ID) + "/prefixes"
		if err := change(ctx, a, "PUT", path, func(c *remote.Client) error { return c.Send(ctx, "PUT", path, in, &p) }); err != nil {
			return err
		}
		done = append(done, p)
	}
	if len(done) == 0 {
		return fmt.Errorf("no project has both %s and %s; an admin links them in the dashboard, under Repositories",
			peertext.Path(repos[0]), peertext.Path(repos[1]))
	}
	if a.JSON {
		return a.PrintJSON(done)
	}
	words := "Routes of %s and %s that differ by %s are the same.\n"
	if remove {
		words = "Routes of %s and %s that differ by %s are probably the same, and no more.\n"
	}
	fmt.Fprintf(a.Stdout, words, peertext.Path(repos[0]), peertext.Path(repos[1]), peertext.Path(path))
	return nil
}

func hasRepo(p coord.Project, name string) bool {
	return slices.ContainsFunc(p.Repos, func(r coord.RepoName) bool { return strings.EqualFold(r.FullName, name) })
}

// prefixesWith returns what is said in a project, with one more or one less.
func prefixesWith(said []coord.Prefix, repos [2]string, path string, remove bool) []wire.ProjectPrefix {
	out := []wire.ProjectPrefix{}
	for _, x := range said {
		a, b := x.Repo.FullName, x.Other.FullName
		same := strings.EqualFold(a, repos[0]) && strings.EqualFold(b, repos[1]) ||
			strings.EqualFold(a, repos[1]) && strings.EqualFold(b, repos[0])
		if x.Prefix != path || !same {
			out = append(out, wire.ProjectPrefix{Repo: a, Other: b, Prefix: x.Prefix})
		}
	}
	if !remove {
		out = append(out, wire.ProjectPrefix{Repo: repos[0], Other: repos[1], Prefix: path})
	}
	return out
}
