package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/records"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/lsp"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/reader"
)

// lspCommand is what editors start.
func lspCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "Show others' work in your editor, as a language server",
		Long: "Speaks the Language Server Protocol on standard input and output. Editors start\n" +
			"it beside the language's own server: it marks the lines that others are\n" +
			"changing, and tells others what you have typed and not saved. Nothing is asked\n" +
			"or told of repositories that are not shared. docs/editors.md has the settings.",
		Example: "  svc lsp",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := lsp.World{In: a.Stdin, Out: a.Stdout, Now: a.Now,
				Log:     func(err error) { cmd.PrintErrln("svc lsp:", err) },
				Connect: func(root string) (lsp.Service, error) { return lspService(a, root) },
			}
			return w.Run(cmd.Context())
		},
	}
}

// lspService is who is asked about the working copy at root.
func lspService(a *app.Run, root string) (s lsp.Service, err error) {
	env := *a.Env
	env.Dir = root
	there := &app.Run{Env: &env, Insecure: a.Insecure}
	here, err := there.Here() // an error where the person shares it with nobody
	if err != nil {
		return s, err
	}
	c, _, err := there.Client()
	if err != nil {
		return s, err
	}
	world := attend.World(reader.Facts)
	typist, err := hook.Type(world, root)
	if err != nil {
		return s, err
	}
	saved, err := hook.Observe(world, root)
	if err != nil {
		return s, err
	}
	store, err := login.Locate(a.Getenv)
	s = lsp.Service{Client: c, Repo: here.Fingerprint, Copy: hook.CopyHash(store.Machine(), root), Typist: typist,
		Saved: saved.Saved,
		Page: func(ctx context.Context, path string) (string, error) {
			address, _, err := records.PageAddress(ctx, there, path)
			return address, err
		},
		End: func(ctx context.Context) {
			typist.End(ctx)
			if repo, ok := gitrepo.At(root); ok && !plain.Locked(hook.WatchLock(store.Dir, repo)) { // svc watch-tree speaks as the same
				saved.End(ctx)
			}
		},
	}
	return s, err
}
